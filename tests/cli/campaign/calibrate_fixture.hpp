#pragma once

// Whole campaigns in a folder of their own, for the tests of hplcast calibrate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "tests/support/run_hplcast.hpp"
#include "tests/support/text_of.hpp"

namespace hplcast::test {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// Some seconds: everything small, in several pieces, of which each start of ranks takes most. No thresholds, which
/// take five seconds.
inline const std::string tiny_campaign = R"(name: tiny
warm_up: 0
control: false
chunk: 100ms
steps:
  - dgemm: {nb: 16, max_size: 120, count: 40, rate: 1e8, alone: false, options: [--footprint, 1MB, --warm-up, 10ms]}
  - kernels:
      aliased: false
      runs:
        - {N: 60, NB: 16, P: 1, Q: 1}
        - {N: 60, NB: 16, P: 1, Q: 2}
  - mpi:
      {max_bytes: 4KiB, count: 12, repetitions: 2, operations: [send, isend, recv, pingpong, iprobe, test, wtime],
       background: none}
)";

inline std::multiset<std::string> lines_of(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream in(text);
  std::string line;
  for (std::getline(in, line); std::getline(in, line);) lines.insert(line);  // without the header
  return lines;
}

inline core::Command shell_command(const std::string& line) {
  core::Command command;
  command.program = "/bin/sh";
  command.arguments = {"-c", line};
  return command;
}

class Calibrate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "skipped: two ranks need two cores";
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("hplcast_calibrate_") + test->name() + "_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  Outcome run(const std::vector<std::string>& arguments) const {
    return run_hplcast_words(arguments, folder_.string());
  }

  void expect(const std::vector<std::string>& arguments, int status, const std::string& message) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, status) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(message));
  }
  void expect_campaign(const std::string& yaml, int status, const std::string& message) const {
    write("bad.yaml", yaml);
    fs::remove_all(folder_ / "bad.campaign");
    expect({"calibrate", "bad.yaml", "-o", "bad.zip"}, status, message);
    EXPECT_FALSE(fs::exists(folder_ / "bad.zip"));
  }

  fs::path folder_;
};

/// The tiny campaign with its control measurement, measured once for all tests.
class WholeCampaign {
 public:
  static const WholeCampaign& instance() {
    static const WholeCampaign one;
    return one;
  }

  fs::path folder() const { return folder_.path(); }  ///< has tiny.yaml, tiny.campaign and tiny.zip
  std::string yaml() const { return text_of(folder() / "tiny.yaml"); }
  std::map<std::string, std::string> files() const { return calibration::read_archive(folder() / "tiny.zip"); }

  Outcome outcome;
  std::chrono::duration<double> took{};

 private:
  WholeCampaign() {
    std::string yaml = tiny_campaign;
    yaml.replace(yaml.find("control: false"), 14, "control: true");
    std::ofstream(folder() / "tiny.yaml") << yaml;
    const auto begin = std::chrono::steady_clock::now();
    outcome = run_hplcast_words({"calibrate", "tiny.yaml"}, folder().string());
    took = std::chrono::steady_clock::now() - begin;
  }

  core::TemporaryFolder folder_{"hplcast-whole-campaign"};
};

/// How often each row of a design was measured, by rank.
inline std::map<std::pair<long long, long long>, int> times_measured(const std::string& csv_text) {
  std::map<std::pair<long long, long long>, int> times;
  std::istringstream in(csv_text);
  core::CsvReader csv(in, "measurements");
  while (csv.next()) ++times[{csv.integer(csv.column("rank")), csv.integer(csv.column("order"))}];
  return times;
}

/// Rows of the calls that HPL makes in the tiny campaign: the same in every run. Calls without work are not: updates
/// are cut into as many pieces as there are probes meanwhile.
inline std::size_t kernel_rows_of(const std::map<std::string, std::string>& files) {
  const auto lines = lines_of(files.at("measurements/02-kernels.csv"));
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [](const std::string& line) { return line.find("_empty,") == std::string::npos; }));
}

/// Every row of the designs once on every rank that measures it, and all calls of HPL.
inline void expect_whole(const std::map<std::string, std::string>& files, std::size_t kernel_rows) {
  const std::size_t dgemm_rows = lines_of(files.at("designs/01-dgemm.csv")).size();
  const std::size_t mpi_rows = lines_of(files.at("designs/03-mpi.csv")).size();
  const auto dgemm = times_measured(files.at("measurements/01-dgemm.csv"));
  const auto mpi = times_measured(files.at("measurements/03-mpi.csv"));
  EXPECT_EQ(dgemm.size(), 2 * dgemm_rows);
  EXPECT_EQ(mpi.size(), mpi_rows);
  for (const auto* times : {&dgemm, &mpi}) {
    for (const auto& [row, count] : *times) EXPECT_EQ(count, 1) << "rank " << row.first << ", row " << row.second;
  }
  EXPECT_EQ(kernel_rows_of(files), kernel_rows);
}

}  // namespace hplcast::test
