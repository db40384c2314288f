// hplcast-noise-source and hplcast-measure-detours as a user runs them. What depends on an idle machine looks first
// whether it is one, and is skipped visibly if not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>

#include "hplcast/core/detour_trace.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/fit/detours.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class DetourPrograms : public ::testing::Test {
 protected:
  core::CommandResult run(const std::string& program, const std::vector<std::string>& arguments, int ranks = 0) const {
    core::Command command;
    const std::string path = HPLCAST_BINARY_DIR "/bin/" + program;
    command.program = ranks > 0 ? "mpirun" : path;
    if (ranks > 0) command.arguments = {"-np", std::to_string(ranks), path};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    command.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
    command.directory = folder_.path();
    command.timeout_s = 120;
    return core::run(command);
  }

  core::DetourTrace trace(const std::string& file) const {
    core::DetourTrace result;
    core::read_file(folder_.path() / file,
                    [&](std::istream& in, const std::string& name) { result = core::read_detour_trace(in, name); });
    return result;
  }

  std::vector<core::CollectiveRun> runs(const std::string& file) const {
    std::vector<core::CollectiveRun> result;
    core::read_file(folder_.path() / file, [&](std::istream& in, const std::string& name) {
      core::read_collective_csv(in, name, [&](const core::CollectiveRun& row) { result.push_back(row); });
    });
    return result;
  }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  /// Largest share of time that a core loses without any source.
  double own_share() const {
    const auto result = run("hplcast-measure-detours", {"--for", "1s", "-o", "own.csv"});
    EXPECT_EQ(result.status, 0) << result.output;
    double most = 0;
    for (const core::CoreDetours& core : trace("own.csv").cores)
      most = std::max(most, core.lost_s() / core.watched_s());
    return most;
  }

  core::TemporaryFolder folder_{"hplcast-detours-test"};
};

std::string skipped_at(double share) {
  return "skipped: the machine itself takes " + std::to_string(100 * share) + " % of the time of a core";
}

TEST_F(DetourPrograms, GivesUpAfterTheTimeLimitWithoutMpiToo) {
  const auto result = run("hplcast-measure-detours", {"--for", "60s", "--cores", "0", "--time-limit", "0.5s"});
  EXPECT_EQ(result.status, 6);
  EXPECT_THAT(result.output, HasSubstr("not done within the time limit of 0.5 s"));
}

TEST_F(DetourPrograms, MakeNoFilesOfMachinesWithoutMpiAndSaySo) {
  const auto refused = run("hplcast-measure-detours", {"--for", "0.1s", "--machine", "machine.json"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.output, HasSubstr("--machine, --monitoring and --position go with --method collectives"));
  const auto described = run("hplcast-measure-detours", {"--describe", "-o", "machine.json"});
  EXPECT_EQ(described.status, 0) << described.output;
  EXPECT_THAT(core::read_text(folder_.path() / "machine.json"), HasSubstr("\"machines\""));
}

TEST_F(DetourPrograms, TheSourceTellsWhatItReallyDid) {
  // An event ends within one piece of work, some microseconds. What the scheduler adds is not processor time, but what
  // other virtual machines take is: so the least of some runs counts.
  double most_busy_s = INFINITY;
  for (int run_number = 0; run_number < 5 && most_busy_s > 0.021; ++run_number) {
    const auto result =
        run("hplcast-noise-source", {"--period", "100ms", "--duration", "2ms", "--for", "1050ms", "--json"});
    ASSERT_EQ(result.status, 0) << result.output;
    const auto json =
        nlohmann::json::parse(result.output.substr(result.output.find('{'), result.output.rfind('}') + 1));
    ASSERT_EQ(json["cores"].size(), std::max(1U, std::thread::hardware_concurrency()));
    double busy_s = 0;
    for (const auto& core : json["cores"]) {
      EXPECT_EQ(core["periods"], 10);  // whole ones
      if (core["events"].get<double>() < 10) GTEST_SKIP() << "skipped: others took a core for a whole period of 100 ms";
      EXPECT_GE(core["busy_s"].get<double>(), 0.02 - 1e-6);
      EXPECT_NEAR(core["duty"], core["busy_s"].get<double>(), 1e-3 * core["busy_s"].get<double>()) << "of 1 s";
      busy_s = std::max(busy_s, core["busy_s"].get<double>());
    }
    most_busy_s = std::min(most_busy_s, busy_s);
  }
  EXPECT_LT(most_busy_s, 0.021);
}

TEST_F(DetourPrograms, SynchronousSourcesBeginAtMultiplesOfThePeriod) {
  const auto result = run("hplcast-noise-source", {"--period", "50ms", "--duration", "100us", "--for", "500ms",
                                                   "--synchronous", "--cores", "0", "--json"});
  ASSERT_EQ(result.status, 0) << result.output;
  const auto json = nlohmann::json::parse(result.output.substr(result.output.find('{'), result.output.rfind('}') + 1));
  EXPECT_EQ(json["synchronous"], true);
  EXPECT_EQ(json["cores"].size(), 1U);
  EXPECT_GE(json["cores"][0]["mean_lateness_s"], 0);  // counted from the multiples
}

TEST_F(DetourPrograms, GapsMeasureTheDutyOfTheSource) {
  const double own = own_share();
  if (own > 0.002) GTEST_SKIP() << skipped_at(own);
  // 20 events of 2 ms, one more or less; what the machine does is not the same for so short a time.
  constexpr double wanted = 0.02;
  const double tolerance = 0.1 * wanted + own;
  // One pause of some milliseconds by others is more than that: the run with the fewest counts.
  double error = INFINITY;
  for (int run_number = 0; run_number < 5 && error > tolerance; ++run_number) {
    std::thread beside([&] { run("hplcast-noise-source", {"--period", "100ms", "--duration", "2ms", "--for", "3s"}); });
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto result = run("hplcast-measure-detours", {"--for", "2s", "-o", "gaps.csv"});
    beside.join();
    ASSERT_EQ(result.status, 0) << result.output;
    double most = 0;
    for (const core::CoreDetours& core : trace("gaps.csv").cores)
      most = std::max(most, std::abs(core.lost_s() / core.watched_s() - own - wanted));
    error = std::min(error, most);
  }
  if (error > tolerance) {
    const double own_after = own_share();
    if (own_after > 0.002) GTEST_SKIP() << skipped_at(own_after);
  }
  EXPECT_LE(error, tolerance);
}

TEST_F(DetourPrograms, GapsOfALoopThatComputesAreThoseOfItsPasses) {
  const auto result = run("hplcast-measure-detours", {"--work", "dgemm", "--for", "1s", "--cores", "0", "-o", "g.csv"});
  ASSERT_EQ(result.status, 0) << result.output;
  const core::DetourTrace read = trace("g.csv");
  ASSERT_EQ(read.cores.size(), 1U);
  EXPECT_LT(read.cores[0].lost_s(), read.cores[0].watched_s());
  std::ifstream in(folder_.path() / "g.csv");
  std::string last;
  for (std::string line; std::getline(in, line);) last = line;
  // The shortest pass, beside one that only reads a clock: 2 Mflop take more than 1 us on any core.
  EXPECT_GT(std::stod(last.substr(last.rfind(',') + 1)), 1e-6);
}

TEST_F(DetourPrograms, FixedWorkAndFixedTimeAreReadAsTheyWereWritten) {
  for (const std::string method : {"fwq", "ftq"}) {
    const auto result = run("hplcast-measure-detours",
                            {"--method", method, "--for", "300ms", "--cores", "0", "-o", method + "-%h.csv"});
    ASSERT_EQ(result.status, 0) << result.output;
    std::string file;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      if (entry.path().filename().string().find(method) == 0) file = entry.path().filename();
    ASSERT_THAT(file, testing::Not(HasSubstr("%h")));
    const core::DetourTrace read = trace(file);
    ASSERT_EQ(read.cores.size(), 1U);
    EXPECT_GT(read.cores[0].watched_s(), 0);  // it may begin late on a busy core
    EXPECT_LT(read.cores[0].watched_s(), 30);
    EXPECT_GT(read.epoch_unix_s, 1.7e9);
    EXPECT_LE(read.cores[0].lost_s(), read.cores[0].watched_s());
  }
}

TEST_F(DetourPrograms, GapsBecomeSourcesOfDetours) {
  ASSERT_EQ(run("hplcast-measure-detours", {"--for", "1s", "-o", "gaps.csv"}).status, 0);
  double lost_s = 0, most_lost = 0, least_watched_s = INFINITY, most_watched_s = 0, longest_s = 0;
  for (const core::CoreDetours& core : trace("gaps.csv").cores) {
    lost_s += core.lost_s();
    most_lost = std::max(most_lost, core.lost_s() / core.watched_s());
    least_watched_s = std::min(least_watched_s, core.watched_s());
    most_watched_s = std::max(most_watched_s, core.watched_s());
    for (const core::DetourEvent& event : core.events) longest_s = std::max(longest_s, event.duration_s);
  }
  if (lost_s == 0) GTEST_SKIP() << "skipped: no detour in a second";
  const auto fitted = run("hplcast", {"fit", "detours", "gaps.csv", "-o", "detours.json"});
  // Sources whose events lie too near to each other are refused, which is no error of the programs.
  if (most_lost > 0.4 && fitted.status != 0) GTEST_SKIP() << skipped_at(most_lost);
  ASSERT_EQ(fitted.status, 0) << fitted.output;
  std::ifstream in(folder_.path() / "detours.json");
  const auto json = nlohmann::json::parse(in);
  ASSERT_FALSE(json["detours"].empty());
  // All events belong to a source: together they take what was measured, but for one event of each periodic source at
  // the ends of the trace, and for cores that were watched for different times. A source on a part of the cores may be
  // modelled on all of them.
  double periodic = 0;
  for (const auto& source : json["detours"]) periodic += source["kind"] == "periodic" ? 1 : 0;
  const double lost_share = json["report"]["lost_share"];
  EXPECT_GE(json["report"]["explained_share"],
            (lost_share - periodic * longest_s / least_watched_s) * least_watched_s / most_watched_s - 1e-9)
      << fitted.output;
}

TEST_F(DetourPrograms, PicturesOfTheFitAddUpSourcesOfSomeCores) {
  std::ofstream gaps(folder_.path() / "gaps.csv");
  gaps << core::detour_csv_header << '\n';
  for (int i = 0; i < 200; ++i) gaps << "gap,a,0," << 0.05 + 0.1 * i << ",0.001,0,0\n";
  for (int core = 0; core < 4; ++core) gaps << "window,a," << core << ",0,20,0,1e-8\n";
  gaps.close();
  const auto fitted = run("hplcast", {"fit", "detours", "gaps.csv", "-o", "detours.json", "--plot", "fit.svg"});
  ASSERT_EQ(fitted.status, 0) << fitted.output;
  const std::string svg = core::read_text(folder_.path() / "fit.svg");
  const std::string panel = svg.substr(svg.find("aria-label=\"Time lost"));
  const auto highest = [&](const std::string& line) {  // y of the longest time lost
    std::string path = panel.substr(panel.find("class=\"" + line + "\" d=\""));
    path = path.substr(0, path.find("/>"));
    double least = INFINITY;
    const std::regex point("[ML][0-9.]+ ([0-9.]+)");
    for (std::sregex_iterator one(path.begin(), path.end(), point), end; one != end; ++one)
      least = std::min(least, std::stod((*one)[1]));
    return least;
  };
  constexpr double most_off = 5;  // of 242 pixels: steps of the fitted law
  EXPECT_NEAR(highest("s1-line"), highest("s2-line"), most_off);
}

TEST_F(DetourPrograms, WrongUseLeavesNothing) {
  struct Row {
    std::string program, arguments, words;
    int status;
  };
  for (const Row& row :
       std::vector<Row>{{"hplcast-noise-source", "--period 10ms --duration 20ms", "below the period", 2},
                        {"hplcast-noise-source", "--period 0", "above 0", 2},
                        {"hplcast-noise-source", "--duration=-1ms", "--duration", 2},
                        {"hplcast-noise-source", "--duration 1us", "at least 5 us", 2},
                        {"hplcast-noise-source", "--period 1s --for 500ms", "at least one period", 2},
                        {"hplcast-noise-source", "--cores 99999", "may be pinned to", 3},
                        {"hplcast-noise-source", "--cores 0,0", "there twice", 2},
                        {"hplcast-noise-source", "--cores 1-0", "numbers of cores", 2},
                        {"hplcast-noise-source", "--cores x", "numbers of cores", 2},
                        {"hplcast-noise-source", "--clock moon", "--clock", 2},
                        {"hplcast-measure-detours", "--cores 99999 -o out.csv", "may be pinned to", 3},
                        {"hplcast-measure-detours", "--for 0 -o out.csv", "above 0", 2},
                        {"hplcast-measure-detours", "--for=-1s -o out.csv", "--for", 2},
                        {"hplcast-measure-detours", "--threshold 0 -o out.csv", "threshold", 2},
                        {"hplcast-measure-detours", "--threshold 1ns --for 100ms -o out.csv", "clock is too coarse", 3},
                        {"hplcast-measure-detours", "--method fwq --quantum 1s --for 2s -o out.csv", "quantum", 2},
                        {"hplcast-measure-detours", "--method ear -o out.csv", "--method", 2},
                        {"hplcast-measure-detours", "--work moon -o out.csv", "--work", 2},
                        {"hplcast-measure-detours", "--method fwq --work dgemm -o out.csv", "--work goes with", 2},
                        {"hplcast-measure-detours", "--method collectives --work dgemm", "--work goes with", 2},
                        {"hplcast-measure-detours", "-o nowhere/out.csv", "nowhere", 3},
                        {"hplcast-measure-detours", "--json", "--evaluate", 2},
                        {"hplcast-measure-detours", "--evaluate missing.csv", "missing.csv", 3},
                        {"hplcast-measure-detours", "--method collectives --runs 1", "--runs", 2}}) {
    std::istringstream words(row.arguments);
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    const auto result = run(row.program, arguments);
    EXPECT_EQ(result.status, row.status) << row.program << " " << row.arguments << "\n" << result.output;
    EXPECT_THAT(result.output, HasSubstr(row.words)) << row.arguments;
    EXPECT_EQ(files(), 0U) << row.arguments;
  }
}

TEST_F(DetourPrograms, RunsThatDecideNothingAreRefused) {
  const std::string header = core::collective_csv_header;
  for (const auto& [rows, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "no runs"},
           {"barrier,0,9,2,1,0,0,0,0,1.0,0,\n", "expected at least 2 clean runs"},
           {"barrier,0,9,2,1,0,0,0,0,-1,0,\n", "duration_s"},
           {"barrier,0,9,2,1,1.5,0,0,0,1,0,\n", "ratio below 1"}}) {
    std::ofstream(folder_.path() / "runs.csv") << header << '\n' << rows;
    std::vector<std::string> arguments = {"--evaluate", "runs.csv"};
    for (int format = 0; format < 2; ++format, arguments.push_back("--json")) {
      const auto result = run("hplcast-measure-detours", arguments);
      EXPECT_EQ(result.status, 3) << result.output;
      EXPECT_THAT(result.output, HasSubstr(words));
    }
  }
  std::ofstream(folder_.path() / "runs.csv") << core::detour_csv_header << "\nepoch,,,0,,,\n";
  const auto result = run("hplcast-measure-detours", {"--evaluate", "runs.csv"});
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, HasSubstr("expected series of a collective"));
}

class CollectivePrograms : public DetourPrograms {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "skipped: two ranks need two cores";
  }
};

TEST_F(CollectivePrograms, MakeTheirSeriesInRandomOrderAndSetTheWarmUpAside) {
  for (const std::string operation : {"barrier", "allreduce", "alltoall"}) {
    const auto result =
        run("hplcast-measure-detours",
            {"--method", "collectives", "--operation", operation, "--size", "1KiB", "--count", "300", "--levels",
             "10%,5%", "--period", "10ms", "--runs", "3", "--warm-up", "1", "-o", "runs.csv"},
            2);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("limit: "));
    const auto made = runs("runs.csv");
    ASSERT_EQ(made.size(), 1U + 3 * 3);
    EXPECT_TRUE(made[0].warm_up);
    std::map<double, int> counts;
    for (const core::CollectiveRun& one : made) {
      EXPECT_EQ(one.operation, operation);
      EXPECT_EQ(one.count, 300);
      EXPECT_EQ(one.ranks, 2);
      if (!one.warm_up) ++counts[one.level];
    }
    EXPECT_EQ(counts, (std::map<double, int>{{0, 3}, {0.05, 3}, {0.1, 3}}));
    EXPECT_EQ(run("hplcast-measure-detours", {"--evaluate", "runs.csv"}).status, 0);
  }
}

TEST_F(CollectivePrograms, OfOneRankAreRefused) {
  const auto result = run("hplcast-measure-detours", {"--method", "collectives", "-o", "runs.csv"}, 1);
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, HasSubstr("waits for nobody"));
  EXPECT_EQ(files(), 0U);
  const auto level =
      run("hplcast-measure-detours", {"--method", "collectives", "--levels", "0.3", "-o", "runs.csv"}, 2);
  EXPECT_EQ(level.status, 2) << level.output;
  EXPECT_THAT(level.output, HasSubstr("percent sign"));
}

fit::Sensitivity detector_of(const std::vector<core::CollectiveRun>& made, bool sham) {
  std::vector<double> clean, noisy;
  bool odd = false;
  for (const core::CollectiveRun& one : made) {
    if (one.warm_up) continue;
    odd = !odd;
    (sham ? odd : one.level > 0) ? noisy.push_back(one.duration_s) : clean.push_back(one.duration_s);
  }
  return fit::detector_sensitivity(fit::summarize(clean), {{0.01, fit::summarize(noisy)}});
}

TEST_F(CollectivePrograms, SeeOnePercentAndNothingWhereNothingIs) {
  const double own = own_share();
  if (own > 0.002) GTEST_SKIP() << skipped_at(own);
  const std::vector<std::string> common = {"--method",    "collectives", "--run-time", "500ms", "--period", "100ms",
                                           "--source-on", "core",        "--runs",     "10",    "-o",       "runs.csv"};
  auto arguments = common;
  arguments.insert(arguments.end(), {"--levels", "1%"});
  ASSERT_EQ(run("hplcast-measure-detours", arguments, 2).status, 0);
  const fit::Sensitivity seen = detector_of(runs("runs.csv"), false);
  arguments = common;
  arguments.insert(arguments.end(), {"--levels", "0%"});
  ASSERT_EQ(run("hplcast-measure-detours", arguments, 2).status, 0);
  const fit::Sensitivity sham = detector_of(runs("runs.csv"), true);
  EXPECT_NE(sham.levels[0].detection, fit::Detection::seen);
  // Ten runs see 1 % if they scatter by less than half of that.
  for (const fit::SampleSummary& runs : {seen.clean, seen.levels[0].runs})
    if (runs.sd > 0.005 * runs.mean) GTEST_SKIP() << "skipped: series scatter by " << 100 * runs.sd / runs.mean << " %";
  EXPECT_LT(seen.levels[0].p_value, 0.01);
  EXPECT_GT(seen.levels[0].increase, 0.005);
}

}  // namespace
}  // namespace hplcast::calibration
