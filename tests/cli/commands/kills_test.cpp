// Commands that are killed at random moments: nothing goes on running, nothing temporary stays, no lock is held, and
// the same command again ends with the results of one that nobody disturbed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/support/asked.hpp"
#include "tests/support/killed_program.hpp"
#include "tests/support/sweep_fixture.hpp"
#include "tests/support/text_of.hpp"

namespace hplcast::test {
namespace {

using ::testing::IsEmpty;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Of each of the five commands.
long kills() {
  return asked("HPLCAST_KILLS", 3);
}

/// Guards give programs 2 s to end by themselves.
constexpr auto until_nothing_runs = 5s;

class Kills : public study::testing::SweepFolder {
 protected:
  void SetUp() override {
    SweepFolder::SetUp();
    if (IsSkipped()) return;
    temporary_ = folder_.parent_path() / "tmp of these";
    fs::create_directories(temporary_);
  }

  /// Runs a command undisturbed. @returns the time it takes.
  std::chrono::duration<double> run(const std::vector<std::string>& arguments) {
    const auto begin = std::chrono::steady_clock::now();
    KilledProgram program(arguments, folder_, temporary_);
    EXPECT_EQ(program.wait(), 0) << text_of(folder_ / "killed.log");
    expect_clean(program);
    return std::chrono::steady_clock::now() - begin;
  }

  /// Kills a command after a part of the time that it takes, by one of four signals, mostly by the one that nobody can
  /// catch. It may have ended before.
  void kill(const std::vector<std::string>& arguments, std::chrono::duration<double> whole) {
    constexpr std::array<int, 6> signals = {SIGKILL, SIGTERM, SIGKILL, SIGHUP, SIGKILL, SIGINT};
    const int signal = signals[count_++ % signals.size()];
    KilledProgram program(arguments, folder_, temporary_);
    std::this_thread::sleep_for(whole * std::uniform_real_distribution<>(0.02, 0.9)(random_));
    const int status = program.end_by(signal);
    EXPECT_TRUE(status == 0 || status == 128 + signal) << status << " by signal " << signal << '\n'
                                                       << text_of(folder_ / "killed.log");
    expect_clean(program);
  }

  void expect_clean(const KilledProgram& program) const {
    EXPECT_THAT(program.strays_after(until_nothing_runs), IsEmpty());
    EXPECT_TRUE(fs::is_empty(temporary_)) << *fs::directory_iterator(temporary_);
    EXPECT_THAT(temporary_files(folder_), IsEmpty());
    for (const auto& entry : fs::directory_iterator(folder_)) {
      EXPECT_TRUE(is_free(entry.path())) << entry.path() << " is locked";
    }
  }

  fs::path temporary_;

 private:
  std::mt19937 random_{7};  // of the moments; how far a command has come by then depends on the machine
  std::size_t count_ = 0;
};

TEST_F(Kills, OfASweepLoseNothing) {
  plan("fixed: {N: 1500}\nseeds: [1, 2]\nfactors:\n  NB: [32, 64]\n  grid: [2x4, 3x2]\n");
  const auto whole = run({"sweep", "plan.yaml", "--database", "calm.db", "--jobs", "2"});
  std::size_t done = 0;
  for (long i = 0; i < kills(); ++i) {
    kill({"sweep", "plan.yaml", "--jobs", "2"}, whole / 2);
    if (!fs::exists(folder_ / "plan.db") || fs::file_size(folder_ / "plan.db") == 0) continue;
    const core::CommandResult status = hplcast({"sweep", "status", "plan.db"});
    EXPECT_EQ(status.status, 0) << status.output;
    const core::CommandResult csv = hplcast({"sweep", "export", "plan.db"});
    EXPECT_EQ(csv.status, 0) << csv.output;
    const auto rows = static_cast<std::size_t>(std::count(csv.output.begin(), csv.output.end(), '\n'));
    EXPECT_GE(rows, done);
    done = rows;
  }
  run({"sweep", "plan.yaml", "--jobs", "2"});
  EXPECT_EQ(rows("plan.db"), rows("calm.db"));
}

/// Without what differs between two equal predictions.
nlohmann::json comparable(const fs::path& predictions) {
  nlohmann::json json = nlohmann::json::parse(text_of(predictions));
  for (nlohmann::json& one : json) {
    one.erase("wall_s");
    one.erase("peak_pss_bytes");
  }
  return json;
}

TEST_F(Kills, OfPredictLeaveWhatItHas) {
  write("runs.csv", "N,NB,P,Q\n1500,32,2,4\n1500,64,2,4\n1500,32,3,2\n1500,64,3,2\n");
  const auto command = [](const char* output, bool resume) {
    std::vector<std::string> words = {
        "predict", HPLCAST_SOURCE_DIR "/examples/dahu-like.json", "--hpl-dat", "runs.csv", "--seed", "1,2", "-o",
        output};
    if (resume) words.push_back("--resume");
    return words;
  };
  const auto whole = run(command("calm.json", false));
  for (long i = 0; i < kills(); ++i) {
    kill(command("disturbed.json", true), whole);
    if (!fs::exists(folder_ / "disturbed.json")) continue;
    EXPECT_TRUE(nlohmann::json::accept(text_of(folder_ / "disturbed.json"))) << "whole or not at all";
  }
  run(command("disturbed.json", true));
  EXPECT_EQ(comparable(folder_ / "disturbed.json"), comparable(folder_ / "calm.json"));
}

TEST_F(Kills, OfTuneLeaveNoResultOrAWholeOne) {
  const std::vector<std::string> command = {"tune",     HPLCAST_SOURCE_DIR "/examples/dahu-like.json",
                                            "--grid",   "2x2",
                                            "-N",       "1000",
                                            "--budget", "8",
                                            "--jobs",   "2",
                                            "-o",       "HPL.dat"};
  const auto whole = run(command);
  const std::string calm = text_of(folder_ / "HPL.dat");
  for (long i = 0; i < kills(); ++i) {
    fs::remove(folder_ / "HPL.dat");
    kill(command, whole);
    const std::string text = text_of(folder_ / "HPL.dat");
    EXPECT_TRUE(text.empty() || text.back() == '\n') << text;
  }
  run(command);
  // How much a budget allows depends on the machine; the form of the answer does not.
  EXPECT_EQ(std::count(calm.begin(), calm.end(), '\n'), 31);
  const std::string after = text_of(folder_ / "HPL.dat");
  EXPECT_EQ(std::count(after.begin(), after.end(), '\n'), 31);
}

TEST_F(Kills, OfACampaignLoseNoRow) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "skipped: two ranks need two cores";
  write(
      "tiny.yaml",
      "name: tiny\nwarm_up: 0\ncontrol: false\nchunk: 100ms\nranks_per_host: 2\nsteps:\n"
      "  - dgemm: {nb: 16, max_size: 120, count: 40, rate: 1e8, alone: false, options: [--footprint, 1MB, --warm-up, "
      "10ms]}\n"
      "  - kernels: {runs: [{N: 60, NB: 16, P: 2, Q: 1}], aliased: false}\n"
      "  - mpi: {max_bytes: 4KiB, count: 12, repetitions: 2, operations: [send, recv, pingpong], background: none}\n");
  const auto whole = run({"calibrate", "tiny.yaml", "--folder", "calm", "-o", "calm.zip"});
  std::vector<std::string> command = {"calibrate", "tiny.yaml"};
  for (long i = 0; i < kills(); ++i) {
    kill(command, whole);
    if (fs::exists(folder_ / "tiny.campaign")) command = {"calibrate", "tiny.yaml", "--resume"};
    EXPECT_TRUE(is_free(folder_ / "tiny.campaign" / "lock"));
  }
  run(command);
  // One process column: between several an update is done in as many pieces as probes fail.
  for (const char* file : {"01-dgemm.csv", "02-kernels.csv", "03-mpi.csv"}) {
    const auto lines = [&](const char* folder) {
      const std::string text = text_of(folder_ / folder / "measurements" / file);
      return std::count(text.begin(), text.end(), '\n');
    };
    EXPECT_EQ(lines("tiny.campaign"), lines("calm")) << file;
  }
}

// Its estimates take seconds and start no program: it went on to the end, with status 0.
TEST_F(Kills, EndAnOfferThatIsBeingEstimated) {
  KilledProgram program({"offer", HPLCAST_SOURCE_DIR "/examples/offers/offers.yaml"}, folder_, temporary_);
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(program.end_by(SIGTERM), 128 + SIGTERM);
  expect_clean(program);
}

TEST_F(Kills, OfCommandsThatReadADatabaseLeaveItAlone) {
  plan("fixed: {N: 300}\nseeds: [1, 2]\nfactors:\n  NB: [32, 64]\n");
  run({"sweep", "plan.yaml"});
  const std::string database = text_of(folder_ / "plan.db");
  const std::vector<std::vector<std::string>> commands = {{"sweep", "export", "plan.db", "-o", "out.csv"},
                                                          {"report", "plan.db", "-o", "report.html"},
                                                          {"sweep", "status", "plan.db"}};
  for (long i = 0; i < kills(); ++i) kill(commands[static_cast<std::size_t>(i) % commands.size()], 60ms);
  for (const auto& command : commands) run(command);
  EXPECT_EQ(text_of(folder_ / "plan.db"), database);
}

}  // namespace
}  // namespace hplcast::test
