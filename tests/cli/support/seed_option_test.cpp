#include "cli/support/options.hpp"

#include <gtest/gtest.h>

#include "cli/support/command.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::cli {
namespace {

TEST(Seed, IsAnyWholeNumberBelow2To64) {
  EXPECT_EQ(parse_seed("0"), 0U);
  EXPECT_EQ(parse_seed("18446744073709551615"), 18446744073709551615U);
  for (const char* text : {"-1", "18446744073709551616", "1.5", "", "x", " 1", "0x10"})
    EXPECT_THROW(parse_seed(text), core::UsageError) << text;
}

struct Lists {
  std::vector<std::string> by, one_each;
  std::vector<int> nb;
  std::vector<std::string> files;
};

Lists parsed(const std::vector<const char*>& arguments) {
  Command program("test", "program");
  Lists lists;
  program.add_option("--by", lists.by, "");
  program.add_option("--nb", lists.nb, "", by_commas);
  program.add_option("--sbatch", lists.one_each, "", one_each);
  program.add_option("files", lists.files, "");
  std::vector<const char*> argv = {"program"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  EXPECT_EQ(run_program(program, static_cast<int>(argv.size()), argv.data()), 0);
  return lists;
}

TEST(ListOptions, TakeCommasOrAreGivenAgainAndLeaveFileNamesAlone) {
  const Lists lists = parsed({"--by", "node,cpu", "--nb", "64", "--nb", "128,256", "a.csv", "b.csv"});
  EXPECT_EQ(lists.by, (std::vector<std::string>{"node", "cpu"}));
  EXPECT_EQ(lists.nb, (std::vector<int>{64, 128, 256}));
  EXPECT_EQ(lists.files, (std::vector<std::string>{"a.csv", "b.csv"}));
  EXPECT_EQ(parsed({"--by", "node", "a.csv"}).files, (std::vector<std::string>{"a.csv"}));
}

TEST(ListOptions, ThatTakeOneValueEachTimeKeepTheirCommas) {
  EXPECT_EQ(parsed({"--sbatch=--nodes=1,2", "--sbatch=--exclusive"}).one_each,
            (std::vector<std::string>{"--nodes=1,2", "--exclusive"}));
}

}  // namespace
}  // namespace hplcast::cli
