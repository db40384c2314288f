#include "hplcast/core/text.hpp"

#include <gtest/gtest.h>

#include <set>

#include "hplcast/core/statistics.hpp"

namespace hplcast::core {
namespace {

const std::vector<std::string> names = {"N", "NB", "BCAST", "PFACT", "memory_bytes"};

/// Pictures with a control character in the name of a host could not be opened.
TEST(XmlEscaped, HasNoCharacterThatXmlDoesNotHave) {
  EXPECT_EQ(xml_escaped("a<\"b\">&'\t\n\xC3\xA4"), "a&lt;&quot;b&quot;&gt;&amp;&#39;\t\n\xC3\xA4");
  EXPECT_EQ(xml_escaped(std::string("a\x01\x1B") + '\0' + "b"), "a???b");
}

TEST(WordsOf, AreWhatIsBetweenBlanks) {
  EXPECT_EQ(words_of(" a  b\tc\n"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(words_of(" ").empty());
}

TEST(NearestName, ForgivesAThirdOfTheLetters) {
  EXPECT_EQ(nearest_name("NBs", names), "NB");
  EXPECT_EQ(nearest_name("bcst", names), "BCAST");
  EXPECT_EQ(nearest_name("BCSAT", names), "BCAST") << "two letters swapped";
  EXPECT_EQ(nearest_name("memory_byte", names), "memory_bytes");
}

TEST(NearestName, DoesNotGuess) {
  EXPECT_EQ(nearest_name("colour", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'N'), names), "");
}

TEST(NameHint, ListsAllNamesIfNoneIsNear) {
  EXPECT_EQ(name_hint("BCST", names), "did you mean `BCAST`?");
  EXPECT_EQ(name_hint("colour", {"a", "b"}), "expected one of a, b");
}

TEST(Folded, LosesCaseAndBlanksAtTheEnds) {
  EXPECT_EQ(folded(" \tSwap_Threshold \r\n"), "swap_threshold");
  EXPECT_EQ(folded("  "), "");
}

TEST(Mapped, TakesFunctionsAndMembers) {
  const std::vector<std::pair<std::string, int>> items = {{"a", 1}, {"bc", 2}};
  EXPECT_EQ(mapped(items, &std::pair<std::string, int>::second), (std::vector<int>{1, 2}));
  EXPECT_EQ(mapped(names, folded).front(), "n");
  EXPECT_TRUE(mapped(std::set<int>(), [](int number) { return 2 * number; }).empty());
}

TEST(ByNumber, IsTheOrderOfNumbers) {
  const std::set<std::string, ByNumber> hosts = {"node10", "node2", "node1"};
  EXPECT_EQ(std::vector<std::string>(hosts.begin(), hosts.end()),
            (std::vector<std::string>{"node1", "node2", "node10"}));
}

}  // namespace
}  // namespace hplcast::core
