#include "cli/support/options.hpp"

#include <gtest/gtest.h>

#include "cli/support/command_line.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::cli {
namespace {

TEST(Seed, IsAnyWholeNumberBelow2To64) {
  EXPECT_EQ(parse_seed("0"), 0U);
  EXPECT_EQ(parse_seed("18446744073709551615"), 18446744073709551615U);
  for (const char* text : {"-1", "18446744073709551616", "1.5", "", "x", " 1", "0x10"})
    EXPECT_THROW(parse_seed(text), core::UsageError) << text;
}

struct Command {
  CLI::App app;
  std::vector<std::string> by, one_each;
  std::vector<int> nb;
  std::vector<std::string> files;
  Command() {
    app.add_option("--by", by);
    app.add_option("--nb", nb)->delimiter(',');
    app.add_option("--sbatch", one_each)->allow_extra_args(false);
    app.add_option("files", files);
    unify_list_options(app);
  }
};

TEST(ListOptions, TakeCommasOrAreGivenAgainAndLeaveFileNamesAlone) {
  Command command;
  command.app.parse("--by node,cpu --nb 64 --nb 128,256 a.csv b.csv");
  EXPECT_EQ(command.by, (std::vector<std::string>{"node", "cpu"}));
  EXPECT_EQ(command.nb, (std::vector<int>{64, 128, 256}));
  EXPECT_EQ(command.files, (std::vector<std::string>{"a.csv", "b.csv"}));
  Command other;
  other.app.parse("--by node a.csv");
  EXPECT_EQ(other.files, (std::vector<std::string>{"a.csv"}));
}

TEST(ListOptions, ThatTakeOneValueEachTimeKeepTheirCommas) {
  Command command;
  command.app.parse("--sbatch=--nodes=1,2 --sbatch=--exclusive");
  EXPECT_EQ(command.one_each, (std::vector<std::string>{"--nodes=1,2", "--exclusive"}));
}

}  // namespace
}  // namespace hplcast::cli
