#include "hplcast/core/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

TEST(CsvReader, TakesColumnsByName) {
  std::istringstream in("b,a,c\r\n1,2.5,x\r\n\r\n# a comment\n3,-4e-3,\"y,\"\"z\"\"\"\n");
  CsvReader csv(in, "f.csv");
  const std::size_t a = csv.column("a");
  const std::size_t c = csv.column("c");
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.number(a), 2.5);
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.number(a), -4e-3);
  EXPECT_EQ(csv.text(c), "y,\"z\"");
  EXPECT_EQ(csv.line(), 5u);
  EXPECT_FALSE(csv.next());
}

/// Cells were shown as long as they are.
TEST(CsvReader, MessagesDoNotShowAllOfALongName) {
  const std::string column(300000, 'x');
  const std::string message = error_in([&] { CsvReader(TextStream(column + ",b\n"), "f.csv").column("m"); });
  EXPECT_LT(message.size(), 5000U);
  EXPECT_THAT(message, HasSubstr("f.csv:1, field `m`: no such column; the columns are: xxx"));
  EXPECT_EQ(message.substr(message.size() - 6), "xxx, b");
  std::string letters;
  for (int i = 0; i < 10000; ++i) letters += "\u00e4";
  for (const std::string& name : {letters, "x" + letters}) {  // one of them has letters across both cuts
    const std::string cut = error_in([&] { CsvReader(TextStream(name + ",b\n"), "f.csv").column("m"); });
    const std::size_t gap = cut.find(" ... ");
    EXPECT_EQ(cut.substr(gap - 2, 2) + cut.substr(gap + 5, 2), "\u00e4\u00e4");
  }
}

TEST(CsvReader, KeepsATextWhoseStreamIsATemporary) {
  std::string text = "a,b\n1,2\n3,4\n";
  CsvReader csv(TextStream(text), "f.csv");
  const CsvReader copy = csv;
  text.assign(text.size(), 'x');
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.integer(csv.column("b")), 2);
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.integer(csv.column("b")), 4);
  EXPECT_EQ(copy.header().size(), 2u);
}

TEST(Text, IsSplitAtSeparatorsWithoutAnEmptyEnd) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("one\ntwo", '\n'), (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(split("", ',').empty());
}

TEST(Text, IsWhatAFunctionWrites) {
  EXPECT_EQ(written([](std::ostream& out) { out << 1 << "x"; }), "1x");
}

TEST(Errors, HaveNoControlCharactersOfTheFilesThatTheyQuote) {
  EXPECT_STREQ(ParseError({"f", 1, ""}, "found \x1b[31m\r\n\t\x7f\xc3\xa9").what(), "f:1: found ?[31m?\n\t?\xc3\xa9");
}

TEST(CsvReader, SaysWhereWhatAndWhy) {
  const auto reading = [](const std::string& text, const std::string& column) {
    return error_in([&] {
      std::istringstream in(text);
      CsvReader csv(in, "f.csv");
      const std::size_t index = csv.column(column);
      while (csv.next()) csv.positive(index);
    });
  };
  EXPECT_THAT(reading("", "a"), HasSubstr("f.csv: the file is empty"));
  EXPECT_THAT(reading("x,y\n", "a"), HasSubstr("f.csv:1, field `a`: no such column; the columns are: x, y"));
  EXPECT_THAT(reading("a,a\n", "a"), HasSubstr("names this column twice"));
  EXPECT_THAT(reading("a,b\n1\n", "a"), HasSubstr("f.csv:2: 1 fields; expected 2"));
  EXPECT_THAT(reading("a\n1\nnan\n", "a"), HasSubstr("f.csv:3, field `a`: found \"nan\"; expected a finite number"));
  EXPECT_THAT(reading("a;b\n0,5;1\n", "a"), HasSubstr("found \"0,5\"; expected a finite number (1.5e-3)"));
  EXPECT_THAT(reading("a\ninf\n", "a"), HasSubstr("expected a finite number"));
  EXPECT_THAT(reading("a\n-1\n", "a"), HasSubstr("expected a number above 0"));
  EXPECT_THAT(reading("a\n1 2\n", "a"), HasSubstr("expected a finite number"));
  EXPECT_THAT(reading("a\n\"1\n", "a"), HasSubstr("a quoted field does not end"));
}

TEST(CsvReader, TakesColumnsInAnyCaseAndWithBlanksSemicolonsOrTabs) {
  for (const std::string text :
       {"N,nb\n1,2\n", " N , nb \n 1 ,2\n", "\xEF\xBB\xBFN;nb\n1;2\n", "N\tnb\r\n1\t2\r\n", "\"N\", \"nb\"\n1,2\n"}) {
    std::istringstream in(text);
    CsvReader csv(in, "f");
    const std::size_t N = csv.column("N"), NB = csv.column("NB");
    ASSERT_TRUE(csv.next()) << text;
    EXPECT_EQ(csv.integer(N), 1) << text;
    EXPECT_EQ(csv.integer(NB), 2) << text;
  }
}

TEST(CsvReader, AColumnOfThatVeryNameComesBeforeOneInAnotherCase) {
  std::istringstream in("n,N\n1,2\n");
  CsvReader csv(in, "f");
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.integer(csv.column("N")), 2);
}

TEST(CsvReader, RefusesUnknownOrMisspeltColumns) {
  const auto refusal = [](const std::string& header, bool any_others) {
    return error_in([&] {
      std::istringstream in(header + "\n");
      const CsvReader csv(in, "f.csv");
      any_others ? csv.refuse_misspelt({"NB", "BCAST", "m"}) : csv.refuse_unknown({"NB", "BCAST", "m"});
    });
  };
  EXPECT_THAT(refusal("NB,BCST", false),
              HasSubstr("f.csv:1, field `BCST`: unknown column\n  hint: did you mean `BCAST`?"));
  EXPECT_THAT(refusal("NB,colour", false), HasSubstr("expected one of NB, BCAST, m"));
  EXPECT_THAT(refusal("NB,nb", false), HasSubstr("twice"));
  EXPECT_THAT(refusal("NB,BCST", true), HasSubstr("did you mean `BCAST`?"));
  EXPECT_EQ(refusal("NB,BCAST,BCST,colour,k", true), "") << "programs write more columns, some near to others";
}

TEST(CsvField, QuotesWhatMustBe) {
  for (const std::string text : {"plain", "a,b", "say \"x\"", "two\nlines", "#not a comment", ""}) {
    std::istringstream in("a,b\n" + csv_field(text) + ",1\n");
    CsvReader csv(in, "f");
    ASSERT_TRUE(csv.next());
    EXPECT_EQ(csv.text(0), text);
  }
}

TEST(Shortest, RoundTripsDoubles) {
  for (const double value : {0.1, 1e-300, 123456789.123456789, -0.0, 1.0 / 3}) {
    double back = 0;
    ASSERT_TRUE(parse_double(shortest(value), back));
    EXPECT_EQ(back, value);
  }
}

}  // namespace
}  // namespace hplcast::core
