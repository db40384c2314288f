// hplcast-measure-power and run-real --power as a user runs them, on an emulated sysfs tree whose counter of energy
// grows while they run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "hplcast/calibration/power_design.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

/// Counters of two packages that grow by 80 and 50 W, from just below their wrap.
class EmulatedRapl {
 public:
  explicit EmulatedRapl(const fs::path& root) : root_(root) {
    for (int package = 0; package < 2; ++package) {
      write(package, "name", "package-" + std::to_string(package));
      write(package, "max_energy_range_uj", "262143328850");
      count(package, 0);
    }
    thread_ = std::thread([this] { run(); });
  }
  ~EmulatedRapl() {
    stop_ = true;
    thread_.join();
  }
  EmulatedRapl(const EmulatedRapl&) = delete;
  EmulatedRapl& operator=(const EmulatedRapl&) = delete;

  /// From now on there is no second package.
  void take_away() { vanished_ = true; }

 private:
  fs::path zone(int package) const { return root_ / "sys/class/powercap" / ("intel-rapl:" + std::to_string(package)); }

  /// Whole or not at all, as the kernel does it.
  void write(int package, const std::string& file, const std::string& text) const {
    fs::create_directories(zone(package));
    std::ofstream(zone(package) / ("." + file)) << text << '\n';
    fs::rename(zone(package) / ("." + file), zone(package) / file);
  }

  void count(int package, double energy_j) const {
    // Wraps after some seconds.
    const double uj = 262143328850 - 200e6 + energy_j * 1e6;
    write(package, "energy_uj", std::to_string(static_cast<long long>(uj < 262143328850 ? uj : uj - 262143328850)));
  }

  void run() {
    const auto begin = std::chrono::steady_clock::now();
    while (!stop_) {
      const double time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      count(0, 80 * time_s);
      if (!vanished_) count(1, 50 * time_s);
      if (vanished_) fs::remove_all(zone(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  fs::path root_;
  std::atomic<bool> stop_{false}, vanished_{false};
  std::thread thread_;
};

/// As `measure` has them.
constexpr double set_aside_s = 0.2, set_aside_end_s = 0.1;

class PowerPrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "skipped: two ranks need two cores";
    fs::create_directories(root());
  }

  fs::path root() const { return folder_.path() / "root"; }
  fs::path file(const std::string& name) const { return folder_.path() / name; }

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

  /// Short pieces of few states, on two ranks.
  core::CommandResult measure(const std::vector<std::string>& more, int repetitions = 1,
                              const std::string& states = "dgemm,polling,blocked,messages") const {
    std::vector<std::string> arguments = {
        "--states", states,     "--piece", "1s",        "--set-aside", "200ms",         "--set-aside-end",
        "100ms",    "--period", "50ms",    "--warm-up", "100ms",       "--repetitions", std::to_string(repetitions)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run("hplcast-measure-power", arguments, 2);
  }

  std::vector<core::PowerSample> samples(const std::string& name) const {
    std::vector<core::PowerSample> result;
    core::read_file(file(name),
                    [&](std::istream& in, const std::string& from) { result = core::read_power_csv(in, from); });
    return result;
  }

  std::vector<PieceRun> pieces_of(const std::string& name) const {
    std::vector<PieceRun> result;
    core::read_file(file(name), [&](std::istream& in, const std::string& from) { result = read_pieces(in, from); });
    return result;
  }

  core::TemporaryFolder folder_{"hplcast-power-test"};
};

/// A counter of energy: each sample begins where the one before ended, however late it was read.
void expect_covered_without_gaps(const std::vector<core::PowerSample>& samples, double power_w) {
  double energy_j = 0, time_s = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    energy_j += samples[i].power_w * samples[i].covered_s;
    time_s += samples[i].covered_s;
    if (i > 0) {
      EXPECT_NEAR(samples[i].time_s - samples[i].covered_s, samples[i - 1].time_s, 1e-5) << samples[i].sensor;
    }
  }
  // Over some seconds; the counter is written every 5 ms, later on a machine that others use.
  EXPECT_NEAR(energy_j / time_s, power_w, power_w / 10) << "it has wrapped meanwhile";
}

/// What samples of one sensor say of a piece, without what is set aside.
struct Coverage {
  int used = 0;
  double kept_s = 0;     ///< of the piece, without what is set aside
  double longest_s = 0;  ///< of the samples that are in it in part or whole, and of what the last one does not reach
};

Coverage coverage_of(const PieceRun& piece, const std::vector<core::PowerSample>& samples) {
  const double begin_s = piece.begin_s + set_aside_s, end_s = piece.end_s - set_aside_end_s;
  constexpr double rounding_s = 1e-5;  // of moments in the files
  Coverage result;
  result.kept_s = end_s - begin_s;
  if (!samples.empty()) result.longest_s = std::max(0.0, end_s - samples.back().time_s);
  for (const core::PowerSample& sample : samples) {
    const double sample_begin_s = sample.time_s - sample.covered_s;
    if (sample.used && sample.piece == piece.piece.number) {
      ++result.used;
      EXPECT_GE(sample_begin_s, begin_s - rounding_s);
      EXPECT_LE(sample.time_s, end_s + rounding_s);
    }
    if (sample_begin_s < end_s && sample.time_s > begin_s)
      result.longest_s = std::max(result.longest_s, sample.covered_s);
  }
  return result;
}

TEST_F(PowerPrograms, AMachineWithoutSensorsIsToldSo) {
  const auto result = measure({"--root", root().string(), "-o", "samples.csv"});
  EXPECT_EQ(result.status, 3) << result.output;
  for (const char* words : {"no sensor", "RAPL", "hwmon", "IPMI", "Cray", "--meter"})
    EXPECT_THAT(result.output, HasSubstr(words));
  EXPECT_FALSE(fs::exists(file("samples.csv")));
}

TEST_F(PowerPrograms, SamplesOfAllPiecesAcrossTheWrapAndTheirFit) {
  const EmulatedRapl rapl(root());
  const auto result = measure({"--root", root().string(), "-o", "samples.csv", "--pieces", "pieces.csv"});
  ASSERT_EQ(result.status, 0) << result.output;
  const std::vector<PieceRun> pieces = pieces_of("pieces.csv");
  ASSERT_EQ(pieces.size(), 8U) << "with the warm-up";
  std::multiset<std::string> states;
  for (const PieceRun& piece : pieces) {
    if (piece.piece.number == 0) continue;
    states.insert(piece.piece.state + " " + std::to_string(piece.piece.active_cores));
    EXPECT_LE(piece.end_s - piece.begin_s, 1 + 1e-5);
    EXPECT_GT(piece.end_s - piece.begin_s, 0) << "ranks leave a barrier that sleeps within some 5 ms";
  }
  EXPECT_THAT(states, ElementsAre("blocked 1", "dgemm 1", "dgemm 2", "idle 0", "messages 2", "polling 1", "polling 2"));
  std::map<std::string, std::vector<core::PowerSample>> by_sensor;
  for (const core::PowerSample& sample : samples("samples.csv")) by_sensor[sample.sensor].push_back(sample);
  expect_covered_without_gaps(by_sensor["package-0"], 80);
  expect_covered_without_gaps(by_sensor["package-1"], 50);
  for (const char* package : {"package-0", "package-1"})
    for (const PieceRun& piece : pieces) {
      if (piece.piece.number == 0) continue;
      const Coverage coverage = coverage_of(piece, by_sensor[package]);
      // A busy machine reads late, and readings cost at most 1 % of a core: so samples may be long. But if none is
      // longer than half of what is not set aside, one lies within it.
      if (coverage.longest_s >= coverage.kept_s / 2)
        GTEST_SKIP() << "skipped: sensors were read " << coverage.longest_s << " s apart on this machine";
      EXPECT_GE(coverage.used, 1) << package << ", " << piece.piece.state;
    }
  const auto fit = run("hplcast", {"fit", "power", "samples.csv", "-o", "power.json"});
  EXPECT_EQ(fit.status, 0) << fit.output;
  EXPECT_THAT(core::read_text(file("power.json")), HasSubstr("\"package-0\""));
}

TEST_F(PowerPrograms, AZoneThatVanishesIsToldAndItsPiecesDoNotCount) {
  EmulatedRapl rapl(root());
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::seconds(6));  // of 8 and some for the start
    rapl.take_away();
  });
  const auto result = measure({"--root", root().string(), "-o", "samples.csv"});
  later.join();
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("package-1: vanished"));
  const auto fit = run("hplcast", {"fit", "power", "samples.csv", "-o", "power.json"});
  EXPECT_THAT(fit.output, HasSubstr("no used sample of some sensor"));
}

TEST_F(PowerPrograms, AWattmeterIsJoinedWithThePieces) {
  const EmulatedRapl rapl(root());
  // Pieces that come once could be any other ones.
  const auto result =
      measure({"--root", root().string(), "-o", "samples.csv", "--pieces", "pieces.csv"}, 2, "dgemm,messages");
  ASSERT_EQ(result.status, 0) << result.output;
  const std::vector<PieceRun> pieces = pieces_of("pieces.csv");
  std::ofstream meter(file("meter.csv"));
  meter << "time_s,power_w\n";
  for (double time_s = pieces.front().begin_s - 5; time_s < pieces.back().end_s + 5; time_s += 0.1) {
    double watts = 90;
    for (const PieceRun& run : pieces)
      if (time_s >= run.begin_s && time_s < run.end_s)
        watts = 90 + 20 * run.piece.active_cores + (run.piece.state == "dgemm" ? 30 : 0) +
                (run.piece.state == "messages" ? 15 : 0);
    char row[80];
    std::snprintf(row, sizeof row, "%.3f,%.3f\n", time_s + 12.5, watts);
    meter << row;
  }
  meter.close();
  const auto joined =
      run("hplcast-measure-power", {"--join", "--pieces", "pieces.csv", "--meter", "meter.csv", "-o", "joined.csv"});
  ASSERT_EQ(joined.status, 3) << "pieces of 1 s and 4 s set aside: " << joined.output;
  const auto shorter = run("hplcast-measure-power", {"--join", "--pieces", "pieces.csv", "--meter", "meter.csv", "-o",
                                                     "joined.csv", "--set-aside", "100ms", "--set-aside-end", "100ms"});
  ASSERT_EQ(shorter.status, 0) << shorter.output;
  EXPECT_THAT(shorter.output, HasSubstr("ahead by 12.5"));
  EXPECT_THAT(shorter.output, HasSubstr("off by"));
  for (const core::PowerSample& sample : samples("joined.csv")) {
    if (!sample.used || (sample.state != "idle" && sample.state != "dgemm")) continue;
    EXPECT_DOUBLE_EQ(sample.power_w, sample.state == "idle" ? 90 : 120 + 20 * sample.active_cores);
  }
}

TEST_F(PowerPrograms, WhatWasMeasuredIsKeptWithoutTheWattmeter) {
  // No sensors: the pieces are all there is.
  auto result = measure({"--root", root().string(), "--meter", "mistyped.csv", "-o", "a.csv"}, 1, "polling");
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, HasSubstr("--join takes a.csv.pieces.csv"));
  EXPECT_GE(pieces_of("a.csv.pieces.csv").size(), 3U);
  const EmulatedRapl rapl(root());
  result = measure({"--root", root().string(), "--meter", "mistyped.csv", "-o", "b.csv", "--pieces", "pieces.csv"}, 1,
                   "polling");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("mistyped.csv"));
  EXPECT_THAT(result.output, HasSubstr("--join takes pieces.csv"));
  EXPECT_GE(pieces_of("pieces.csv").size(), 3U);
  EXPECT_FALSE(samples("b.csv").empty());
}

TEST_F(PowerPrograms, PiecesThatCannotBeWrittenAreRefusedAtOnce) {
  const EmulatedRapl rapl(root());
  const auto result = measure({"--root", root().string(), "--check", "--pieces", "nowhere/pieces.csv"});
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, HasSubstr("there is no folder"));
}

TEST_F(PowerPrograms, RunRealKnowsWhatHplTook) {
  if (!fs::exists(HPLCAST_BINARY_DIR "/bin/xhpl")) GTEST_SKIP() << "skipped: xhpl is not built";
  const EmulatedRapl rapl(root());
  std::ofstream(file("runs-to-make.csv")) << "N,NB,P,Q\n5000,128,1,1\n";
  const auto result =
      run("hplcast", {"run-real", "runs-to-make.csv", "--repetitions", "1", "--control", "off", "-o", "real.csv",
                      "--power", "--power-root", root().string(), "--power-period", "50ms"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("Gflop/s per W (package-0, package-1)"));
  std::vector<core::HplRun> runs;
  core::read_file(file("real.csv"),
                  [&](std::istream& in, const std::string& name) { runs = core::read_hpl_csv(in, name, {}); });
  ASSERT_EQ(runs.size(), 1U);
  ASSERT_TRUE(runs.front().energy_j);
  // A tenth: begin and end of a run of a second or two fall between readings that are 50 ms apart.
  EXPECT_NEAR(*runs.front().mean_power_w, 130, 13);
  EXPECT_NEAR(*runs.front().energy_j, *runs.front().mean_power_w * runs.front().time_s, 1e-9 * *runs.front().energy_j);
}

TEST_F(PowerPrograms, RunRealWithoutSensorsRunsNothing) {
  std::ofstream(file("runs-to-make.csv")) << "N,NB,P,Q\n1000,128,1,1\n";
  const auto result =
      run("hplcast", {"run-real", "runs-to-make.csv", "-o", "real.csv", "--power", "--power-root", root().string()});
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, HasSubstr("no sensor"));
  EXPECT_FALSE(fs::exists(file("real.csv.d")));
}

}  // namespace
}  // namespace hplcast::calibration
