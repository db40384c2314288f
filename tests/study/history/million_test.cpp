// A million observations: time and memory. Limits are five to ten times what an idle machine of two cores needs.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <random>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/study/history.hpp"
#include "hplcast/study/history_check.hpp"

namespace hplcast::study {
namespace {

using Access = HistoryDatabase::Access;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

double peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

TEST(MillionObservations, TakeSecondsAndLittleMemory) {
  const core::TemporaryFolder folder("hplcast-million");
  const auto csv = folder.path() / "runs.csv", database = folder.path() / "h.db";
  {
    std::ofstream out(csv);
    out << "host,cpu,job,start_time,dgemm_gflops,frequency_ghz,temperature_celsius,power_cpu_w\n";
    std::mt19937_64 engine(1);
    std::normal_distribution<double> noise(0, 0.003);
    for (int run = 0; run < 1250; ++run)
      for (int cpu = 0; cpu < 200; ++cpu)
        out << 'n' << cpu / 2 << ',' << cpu % 2 << ',' << run << ',' << 1262304000 + run * 86400 << ','
            << core::shortest(25 + noise(engine)) << ',' << core::shortest(2 + noise(engine)) << ','
            << core::shortest(70 + noise(engine)) << ',' << core::shortest(125 + noise(engine)) << '\n';
  }
  const Stopwatch ingest;
  {
    HistoryDatabase history(database, Access::write);
    core::read_file(csv, [&](std::istream& in, const std::string& name) {
      history.add_source({name, name}, [&](const auto& add) { import_runs(in, name, "c", add); });
    });
    EXPECT_EQ(history.counts().observations, 1000000U);
  }
  const double ingest_s = ingest.seconds();
  const Stopwatch checking;
  const HistoryDatabase history(database, Access::read);
  const HistoryCheck check = check_history(history, {});
  const double check_s = checking.seconds();
  EXPECT_EQ(check.open(), 0U);
  const Stopwatch writing;
  const SiteSize site = write_site(history, {}, folder.path() / "site");
  std::cout << "ingest " << ingest_s << " s, check " << check_s << " s, site " << writing.seconds() << " s, "
            << peak_bytes() / 1e6 << " MB\n";
  EXPECT_LT(ingest_s, 60);
  EXPECT_LT(check_s, 10);
  EXPECT_LT(writing.seconds(), 60);
  EXPECT_LE(site.largest_bytes, 2000000U);
  EXPECT_LT(peak_bytes(), 500e6);
}

}  // namespace
}  // namespace hplcast::study
