// The folder of `emit --run`: its one smpirun line takes the time that `predict` says, for the same engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hplcast/core/files.hpp"
#include "tests/study/simulated_cluster.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast::study {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class RunFolder : public testing::SimulatedCluster {
 protected:
  void SetUp() override {
    SimulatedCluster::SetUp();
    if (IsSkipped()) return;
    request_.parameters.N = 500;
    request_.parameters.NB = 32;
    request_.parameters.P = 4;
    request_.parameters.Q = 10;  // two hosts
    request_.parameters.DEPTH = 1;
    request_.mode = SimulationMode::exact;
    request_.seed = 3;
    core::write_file(folder_.path() / "cluster.json",
                     [&](std::ostream& out) { core::write_cluster(out, request_.cluster); });
  }

  test::Outcome emit(std::vector<std::string> more) const {
    more.insert(more.begin(), {"emit", "cluster.json", "--run", "a folder"});
    return test::run_hplcast_words(more, folder_.path().string());
  }

  /// The time in s that run.sh finds, started from somewhere else and without cluster.json.
  double run_s(const fs::path& run_sh) const {
    fs::remove(folder_.path() / "cluster.json");
    core::Command command;
    command.program = run_sh.string();
    command.directory = "/";
    command.timeout_s = 120;
    const core::CommandResult result = core::run(command);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("W"));
    const auto statistics = nlohmann::json::parse(core::read_text(run_sh.parent_path() / "statistics.json"));
    EXPECT_EQ(statistics.at("model_source"), "model.h");
    return statistics.at("times_s").at(0);
  }

  core::TemporaryFolder folder_{"hplcast-run \"folder"};
};

TEST_F(RunFolder, TakesTheTimeOfPredictOnTheSamePlatform) {
  const auto emitted = emit({"-N", "500", "--nb", "32", "-P", "4", "-Q", "10", "--depth", "1", "--seed", "3"});
  ASSERT_EQ(emitted.status, 0) << emitted.output;
  // What platform.xml loses here, with sizes.
  EXPECT_THAT(emitted.output, AllOf(HasSubstr("warning: a folder/platform.xml loses a part of the cluster: "),
                                    HasSubstr("f is 0."), HasSubstr(" in place of ")));
  const double run = run_s(folder_.path() / "a folder" / "run.sh");
  setenv("HPLCAST_PLATFORM_LIBRARY", "/nowhere.so", 1);
  request_.programs.platform_library.clear();
  request_.force = true;  // this network's links are shared in another way on platform.xml
  EXPECT_EQ(predict(request_).time_s, run);
  unsetenv("HPLCAST_PLATFORM_LIBRARY");
}

TEST_F(RunFolder, HasTheKernelsOfAsManyBusyRanksAsRun) {
  request_.cluster.provenance =
      R"({"ranks_per_host": 32, "alone": {"dgemm": 0.5, "standard_error": 0.001, "calls": 100}})";
  core::write_file(folder_.path() / "cluster.json",
                   [&](std::ostream& out) { core::write_cluster(out, request_.cluster); });
  const auto emitted = emit({"-N", "500", "--nb", "32", "-P", "1", "-Q", "1", "--depth", "1", "--seed", "3"});
  ASSERT_EQ(emitted.status, 0) << emitted.output;
  EXPECT_THAT(emitted.output, HasSubstr("with 32 busy cores per host, and this run has 1: they take so many times"));
  const double run = run_s(folder_.path() / "a folder" / "run.sh");
  request_.parameters.P = request_.parameters.Q = 1;
  EXPECT_NEAR(run, predict(request_).time_s, 1e-9 * run);  // platform.xml rounds
}

TEST_F(RunFolder, HasSmpisSettingsInThePlatformAndOneShortLineOfSmpirun) {
  ASSERT_EQ(emit({"-N", "500", "-P", "4", "-Q", "10"}).status, 0);
  const std::string platform = core::read_text(folder_.path() / "a folder" / "platform.xml");
  for (const char* setting : {"smpi/simulate-computation\" value=\"no", "smpi/host-speed\" value=\"1f",
                              "smpi/grow-injected-times\" value=\"no", "smpi/async-small-thresh"})
    EXPECT_THAT(platform, HasSubstr(setting));
  const std::string script = core::read_text(folder_.path() / "a folder" / "run.sh");
  EXPECT_THAT(script, HasSubstr("smpirun -np 40 -platform platform.xml -hostfile hostfile --cfg=smpi/privatization:no "
                                "--cfg=surf/precision:1e-12 ./xhpl\n"));
}

TEST_F(RunFolder, SeveralConfigurationsHaveFoldersOfTheirOwn) {
  std::ofstream(folder_.path() / "two.csv") << "N,P,Q\n200,1,2\n300,2,2\n";
  ASSERT_EQ(emit({"--configurations", "two.csv"}).status, 0);
  EXPECT_THAT(core::read_text(folder_.path() / "a folder" / "2" / "run.sh"), HasSubstr("-np 4 "));
  EXPECT_THAT(core::read_text(folder_.path() / "a folder" / "1" / "HPL.dat"), HasSubstr("200 Ns"));
}

TEST_F(RunFolder, RefusesWhatPredictRefusesAndItsOwnInput) {
  EXPECT_THAT(emit({"-N", "500", "-P", "100", "-Q", "100"}).output, HasSubstr("10000 ranks"));
  EXPECT_FALSE(fs::exists(folder_.path() / "a folder"));
  fs::create_directory(folder_.path() / "a folder");
  core::write_file(folder_.path() / "a folder" / "HPL.dat",
                   [&](std::ostream& out) { core::write_hpl_dat(out, request_.parameters, false); });
  const auto outcome = emit({"--hpl-dat", "a folder/HPL.dat"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, HasSubstr("is a file that is read"));
  EXPECT_FALSE(fs::exists(folder_.path() / "a folder" / "run.sh"));
}

TEST_F(RunFolder, RunsOfAnEarlierEmitDoNotStayBesideNewOnes) {
  core::write_file(folder_.path() / "three.csv",
                   [](std::ostream& out) { out << "N,P,Q\n100,1,1\n200,1,2\n300,2,2\n"; });
  core::write_file(folder_.path() / "two.csv", [](std::ostream& out) { out << "N,P,Q\n100,1,1\n200,1,2\n"; });
  ASSERT_EQ(emit({"--hpl-dat", "three.csv"}).status, 0);
  EXPECT_EQ(emit({"--hpl-dat", "three.csv", "--seed", "2"}).status, 0);
  test::Outcome outcome = emit({"--hpl-dat", "two.csv"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr(": a folder/3\n"), HasSubstr("hint: remove")));
  outcome = emit({"-N", "100"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, HasSubstr("a folder/1, a folder/2, a folder/3\n"));
  EXPECT_FALSE(fs::exists(folder_.path() / "a folder" / "run.sh"));

  for (const char* one : {"1", "3"}) fs::remove_all(folder_.path() / "a folder" / one);
  // A script of somebody else is none of ours.
  core::write_file(folder_.path() / "a folder" / "2" / "run.sh", [](std::ostream& out) { out << "#!/bin/sh\nxhpl\n"; });
  ASSERT_EQ(emit({"-N", "100"}).status, 0);
  EXPECT_THAT(emit({"--hpl-dat", "two.csv"}).output, HasSubstr("beside the new ones: a folder\n"));
}

TEST_F(RunFolder, PredictFindsItsHplInThePath) {
  const fs::path bin = folder_.path() / "bin";
  fs::create_directory(bin);
  fs::create_symlink(HPLCAST_BINARY_DIR "/bin/xhpl-smpi", bin / "my-xhpl");
  core::Command command;
  command.program = HPLCAST_BINARY_DIR "/bin/hplcast";
  command.arguments = {"predict", "cluster.json", "-N", "200", "--xhpl", "my-xhpl", "--quiet"};
  command.directory = folder_.path();
  command.environment = {{"PATH", bin.string() + ":" + std::getenv("PATH")}};
  const core::CommandResult result = core::run(command);
  EXPECT_EQ(result.status, 0) << result.output;
}

}  // namespace
}  // namespace hplcast::study
