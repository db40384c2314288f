// The interval of predict, and the ledger of compare that it learns from, as a user meets them.
#include <sstream>

#include "hplcast/core/prediction.hpp"
#include "tests/cli/commands/study_commands_fixture.hpp"

namespace hplcast::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using IntervalCommands = StudyCommands;

TEST_F(IntervalCommands, PredictGivesAnIntervalThatChangesNothingElse) {
  const std::string works = study::testing::print_hpl_result("2.00", "9.0") + study::testing::good_statistics;
  const auto predicted = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"predict",   example_cluster,
                                          "-N",        "100",
                                          "--xhpl",    programs_.script("xhpl", "true").string(),
                                          "--smpirun", programs_.script("smpirun", works).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_hplcast_words(arguments, programs_.folder().string()).output;
  };
  EXPECT_THAT(predicted({}),
              AllOf(HasSubstr("90 % of runs"), HasSubstr("90 % of real runs from"), HasSubstr("model 2.0 %*")));
  EXPECT_THAT(predicted({"--interval", "off"}), Not(HasSubstr("of runs")));
  predicted({"--interval", "50%", "-o", "with.json"});
  predicted({"--interval", "off", "-o", "without.json"});
  const auto read = [&](const char* name) {
    std::istringstream in(text_of(name));
    core::Prediction one = core::read_prediction(in, name);
    one.wall_s = one.peak_pss_bytes = 0;
    return one;
  };
  core::Prediction with = read("with.json");
  ASSERT_TRUE(with.interval);
  EXPECT_EQ(with.interval->level_percent, 50);
  with.interval.reset();
  std::ostringstream rest, without;
  core::write_prediction(rest, with);
  core::write_prediction(without, read("without.json"));
  EXPECT_EQ(rest.str(), without.str());
  file("ledger.csv", "date,cluster,model_sha256,kind,N,real_gflops,predicted_gflops\n2026-11-25,other,a,plain,1,5,5\n");
  EXPECT_THAT(predicted({"--ledger", "ledger.csv"}), HasSubstr("has no comparison of"));
}

TEST_F(IntervalCommands, CompareKeepsALedger) {
  const auto compare = [&] {
    return run_hplcast_words({"compare", real_file(), "--predicted", prediction_file(), "--append-to-ledger", "l.csv",
                              "--ledger-date", "2019-03"},
                             programs_.folder().string())
        .output;
  };
  EXPECT_THAT(compare(), HasSubstr("1 runs were added to l.csv, which has 1"));
  const std::string ledger = text_of("l.csv");
  EXPECT_THAT(ledger, AllOf(StartsWith("date,cluster,model_sha256,kind,N,NB,"), HasSubstr("\n2019-03,")));
  EXPECT_THAT(compare(), HasSubstr("0 runs were added"));
  EXPECT_EQ(text_of("l.csv"), ledger);
}

}  // namespace
}  // namespace hplcast::test
