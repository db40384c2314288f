// The interval of predict, and the ledger of compare that it learns from, as a user meets them.
#include <fstream>
#include <sstream>

#include "hplcast/core/cluster_model.hpp"
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
  EXPECT_THAT(predicted({"--seed", "1,2"}), HasSubstr("Gflop/s: mean of 2 seeds, with its 95 % interval"));
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
  EXPECT_THAT(predicted({"--ledger", "ledger.csv"}), HasSubstr("ledger.csv has no comparison of"));
  file("empty.csv", "date,cluster,model_sha256,kind,N,real_gflops,predicted_gflops\n");
  EXPECT_THAT(predicted({"--ledger", "empty.csv"}), HasSubstr("empty.csv has no comparison of"));
}

TEST_F(IntervalCommands, PredictSaysHowSureTheOrderOfConfigurationsIs) {
  // The faked simulator gives every configuration the same rate.
  const std::string works = study::testing::print_hpl_result("2.00", "9.0") + study::testing::good_statistics;
  const auto result = run_hplcast_words(
      {"predict", example_cluster, "--hpl-dat", file("two.csv", "N,NB\n100,10\n100,20\n"), "--xhpl",
       programs_.script("xhpl", "true").string(), "--smpirun", programs_.script("smpirun", works).string()},
      programs_.folder().string());
  EXPECT_THAT(result.output, HasSubstr("with probability 0.50"));
}

TEST_F(IntervalCommands, PredictTakesTheMachineAsItsControlsSay) {
  const auto predicted = [&](const std::string& cluster, const std::string& control) {
    return run_hplcast_words({"predict", cluster, "-N", "100", "--estimate", "--control", control},
                             programs_.folder().string());
  };
  const std::string header = "rank,host,core,start_s,shape,calls,wall_s,cpu_s,sd_s,round_trip_s\n";
  const std::string controls = file("control.csv", header + "0,a,0,1,640x640x640,9,0.024,0.024,0,0\n");
  expect({"predict", example_cluster, "-N", "100", "--control", controls}, 3, "has no control measurement");
  expect({"predict", example_cluster, "-N", "100", "--control", "yesterday"}, 3, "yesterday");
  std::ifstream in(example_cluster);
  core::ClusterModel cluster = core::read_cluster(in, example_cluster);
  cluster.provenance = R"({"control": {"shape": "640x640x640", "wall_s": 0.02, "low": 0.02, "high": 0.02, "cpu_s": 0.02,
                           "message_s": 0}})";
  std::ostringstream text;
  core::write_cluster(text, cluster);
  const std::string measured = file("measured.json", text.str());
  const auto result = predicted(measured, controls);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("takes 24.00 ms now, and took 20.00 ms at the calibration: +20.0 %"),
                                   HasSubstr("the machine is busy or throttled")));
  EXPECT_THAT(predicted(measured, file("faster.csv", header + "0,a,0,1,640x640x640,9,0.016,0.016,0,0\n")).output,
              AllOf(HasSubstr("-20.0 %"), HasSubstr("the machine was busy or throttled at the calibration")));
  expect({"predict", measured, "-N", "100", "--control",
          file("other.csv", header + "0,a,0,1,512x512x512,9,0.024,0.024,0,0\n")},
         3, "640x640x640");
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
