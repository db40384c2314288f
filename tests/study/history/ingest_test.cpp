// Histories that are killed while they grow.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "tests/study/history/database_rows.hpp"
#include "tests/support/killed_program.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast::study {
namespace {

namespace fs = std::filesystem;

/// Some files with the runs of 24 CPUs.
std::vector<std::string> write_runs(const fs::path& folder, int files, int jobs) {
  std::vector<std::string> names;
  std::mt19937_64 engine(1);
  std::normal_distribution<double> noise(0, 0.003);
  std::int64_t time_s = 1500000000;
  for (int file = 0; file < files; ++file) {
    names.push_back((folder / ("runs" + std::to_string(file) + ".csv")).string());
    std::ofstream out(names.back());
    out << "cluster,node,cpu,jobid,start_time,mean_frequency,mean_temperature\n";
    for (int job = 0; job < jobs; ++job, time_s += 3600)
      for (int cpu = 0; cpu < 24; ++cpu)
        out << "c," << cpu / 2 << ',' << cpu % 2 << ',' << time_s << ',' << time_s << ','
            << core::shortest(2 + noise(engine)) << ',' << core::shortest(70 + noise(engine)) << '\n';
  }
  return names;
}

TEST(HistoryImport, EndsTheSameAfterTwentyKills) {
  const core::TemporaryFolder folder("hplcast-ingest");
  const auto files = write_runs(folder.path(), 4, 300);
  std::vector<std::string> words = {"history", "import", "--database", (folder.path() / "whole.db").string()};
  words.insert(words.end(), files.begin(), files.end());
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(test::run_hplcast_words(words).status, 0);
  std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  words[3] = (folder.path() / "killed.db").string();
  std::mt19937 engine(2);
  std::uniform_real_distribution<double> share(0.05, 0.8);
  int killed = 0;
  for (int round = 0; killed < 20 && round < 100; ++round) {
    const bool from_nothing = !fs::exists(words[3]);
    const auto round_begin = std::chrono::steady_clock::now();
    test::KilledProgram program(words, folder.path(), folder.path());
    std::this_thread::sleep_for(share(engine) * whole);
    if (program.end_by(SIGKILL) == 128 + SIGKILL) {
      ++killed;
    } else {
      fs::remove(words[3]);  // it was through: from the beginning
      if (from_nothing)      // else a part of it was there, which says nothing of whole runs
        whole = std::min<std::chrono::duration<double>>(whole, std::chrono::steady_clock::now() - round_begin);
    }
  }
  EXPECT_EQ(killed, 20);
  const auto last = test::run_hplcast_words(words);
  ASSERT_EQ(last.status, 0) << last.output;
  EXPECT_EQ(all_rows(folder.path() / "killed.db"), all_rows(folder.path() / "whole.db"));
}

}  // namespace
}  // namespace hplcast::study
