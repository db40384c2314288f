// Counts of the published histories of dahu: T. Cornebize's data, with his algorithm and with ours.
#include <gtest/gtest.h>

#include "hplcast/fit/findings.hpp"
#include "hplcast/fit/run_series.hpp"
#include "tests/support/published_history.hpp"

namespace hplcast::fit {
namespace {

using test::Cpu;
using test::published_logs;
using test::published_series;
using test::PublishedSeries;
using test::utc_date;

struct Counts {
  int rows = 0, tested = 0, below = 0, above = 0, logged = 0, logged_tested = 0;
  void add(const RunScore& score, bool outlier) {
    ++rows;
    if (score.region == Region::untested) return;
    ++tested;
    below += score.region == Region::below ? 1 : 0;
    above += score.region == Region::above ? 1 : 0;
    logged_tested += outlier ? 1 : 0;
    logged += outlier && is_flagged(score.region) ? 1 : 0;
  }
  bool operator==(const Counts& other) const {
    return rows == other.rows && tested == other.tested && below == other.below && above == other.above &&
           logged == other.logged;
  }
};

std::ostream& operator<<(std::ostream& out, const Counts& c) {
  return out << c.rows << " rows, " << c.tested << " tested, " << c.below << " below, " << c.above << " above, "
             << c.logged << " of the flagged logged";
}

Counts published_counts(const std::map<Cpu, PublishedSeries>& all, const PublishedTestOptions& options) {
  Counts counts;
  for (const auto& [cpu, series] : all) {
    const auto scores = published_scores(series.runs, options);
    for (std::size_t i = 0; i < scores.size(); ++i) counts.add(scores[i], series.runs.outlier[i]);
  }
  return counts;
}

PublishedTestOptions window_of(std::size_t window, bool count_before_last = false) {
  PublishedTestOptions options;
  options.window = window;
  options.count_before_last = count_before_last;
  return options;
}

TEST(PublishedAlgorithm, HasThePublishedCountsOfAllFactors) {
  HPLCAST_REFERENCE_FILE(file, "non-regression/stats_monitoring_dahu.csv");
  struct Row {
    const char* factor;
    Counts single;
    Counts window;    // with the number of runs of its own reference; `logged` is not published
    Counts last_run;  // with the number of runs before the last one
  };
  const Row rows[] = {
      {"mean_frequency", {5110, 4228, 163, 0, 108}, {5110, 3666, 297, 11, 95}, {5110, 3666, 298, 11, 95}},
      {"mean_temperature", {5110, 4228, 17, 13, 12}, {5110, 3666, 78, 84, 16}, {5110, 3666, 88, 93, 19}},
      {"mean_power_cpu", {2978, 2358, 125, 0, 125}, {2978, 1988, 231, 0, 119}, {2978, 1988, 231, 0, 119}},
      {"mean_power_dram", {2978, 2358, 83, 49, 82}, {2978, 1988, 151, 135, 82}, {2978, 1988, 155, 142, 82}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.factor);
    const auto all = published_series({file}, row.factor, published_logs());
    EXPECT_EQ(published_counts(all, window_of(1)), row.single);
    EXPECT_EQ(published_counts(all, window_of(5)), row.window);
    EXPECT_EQ(published_counts(all, window_of(5, true)), row.last_run);
  }
}

test::PublishedLogs cooling_log() {
  test::PublishedLogs logs;
  logs.changes.push_back({"dahu", "13/14/15/16", test::utc("2019-11-27")});
  return logs;
}

TEST(PublishedAlgorithm, FindsEachRepairedCpuOnceOnly) {
  HPLCAST_REFERENCE_FILE(slow, "dgemm/dgemm_calibration_slownodes.csv");
  HPLCAST_REFERENCE_FILE(good, "dgemm/dgemm_calibration.csv");
  const auto all = published_series({slow, good}, "avg_gflops", cooling_log());
  EXPECT_EQ(published_counts(all, window_of(1)), (Counts{2926, 2246, 0, 6, 0}));
  EXPECT_EQ(published_counts(all, window_of(5)).above, 22);
  EXPECT_EQ(published_counts(all, window_of(5)).below, 1);
  PublishedTestOptions lax = window_of(1);
  lax.confidence = 0.99;
  const Counts counts = published_counts(all, lax);
  EXPECT_EQ(counts.below + counts.above, 67);
  // Masking: the reference takes up the first fast run, so that the second is nothing special any more.
  std::map<Cpu, double> found;
  for (const auto& [cpu, series] : all) {
    const auto scores = published_scores(series.runs, window_of(1));
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (!is_flagged(scores[i].region)) continue;
      EXPECT_EQ(utc_date(series.time_s[i]), "2019-11-27");
      EXPECT_TRUE(found.emplace(cpu, f_tail(scores[i].statistic, 1, scores[i].reference_runs)).second);
    }
  }
  const std::map<Cpu, double> published = {{{13, 0}, 2.3e-5}, {{13, 1}, 1.4e-8}, {{14, 0}, 1.1e-6},
                                           {{14, 1}, 6.4e-6}, {{15, 0}, 2.0e-9}, {{16, 0}, 1.9e-6}};
  ASSERT_EQ(found.size(), published.size());
  for (const auto& [cpu, probability] : published)
    EXPECT_NEAR(found.at(cpu) / probability, 1, 0.05) << cpu.first << ":" << cpu.second;  // two published digits
}

TEST(OurAlgorithm, KeepsSeeingTheRepairedCpusUntilTheChangeIsLogged) {
  HPLCAST_REFERENCE_FILE(slow, "dgemm/dgemm_calibration_slownodes.csv");
  HPLCAST_REFERENCE_FILE(good, "dgemm/dgemm_calibration.csv");
  const auto all = published_series({slow, good}, "avg_gflops", {});
  for (const Cpu& cpu : {Cpu{13, 0}, {13, 1}, {14, 0}, {14, 1}, {15, 0}, {16, 0}}) {
    const PublishedSeries& series = all.at(cpu);
    RunTests tests({});
    const auto scores = tests.scores(series.runs);
    int after = 0, flagged = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (series.time_s[i] < test::utc("2019-11-27")) continue;
      ++after;
      flagged += scores[i].region == Region::above ? 1 : 0;
    }
    EXPECT_GT(flagged, 0.8 * after) << cpu.first << ":" << cpu.second;
  }
}

/// Frequencies of dahu, and what the CPUs have in common.
struct Frequencies {
  std::map<Cpu, PublishedSeries> all;
  std::map<Cpu, RunSeries> ratios;

  explicit Frequencies(const std::filesystem::path& file)
      : all(published_series({file}, "mean_frequency", published_logs())) {
    std::vector<DatedValues> dated;
    for (const auto& [cpu, series] : all) {
      DatedValues& one = dated.emplace_back();
      one.value = series.runs.values;
      for (std::int64_t time_s : series.time_s) one.day.push_back(time_s / 86400);
    }
    const CommonFactor common = common_factor(dated);
    std::size_t index = 0;
    for (const auto& [cpu, series] : all) {
      const std::vector<std::size_t> no_changes(series.runs.runs());
      ratios[cpu] = {1, common.ratios[index++], series.runs.outlier, no_changes};
    }
  }
};

TEST(OurAlgorithm, HasTheCountsOfTheFactsOnFrequencies) {
  HPLCAST_REFERENCE_FILE(file, "non-regression/stats_monitoring_dahu.csv");
  const Frequencies dahu(file);
  Counts own, ratio;
  RunTests tests({});
  for (const auto& [cpu, series] : dahu.all) {
    const auto alone = tests.scores(series.runs);
    for (std::size_t i = 0; i < alone.size(); ++i) own.add(alone[i], series.runs.outlier[i]);
    const auto compared = tests.scores(dahu.ratios.at(cpu));
    for (std::size_t i = 0; i < compared.size(); ++i) ratio.add(compared[i], series.runs.outlier[i]);
  }
  EXPECT_EQ(own, (Counts{5110, 3558, 58, 0, 56})) << own;  // 2 not logged, both of 2020-10-05
  EXPECT_EQ(own.logged_tested, 72);
  EXPECT_EQ(ratio, (Counts{5110, 4870, 208, 3, 108})) << ratio;  // 103 not logged
  EXPECT_EQ(ratio.logged_tested, 130);
}

TEST(OurAlgorithm, FindsDahu26WithoutTheChangeLog) {
  HPLCAST_REFERENCE_FILE(file, "non-regression/stats_monitoring_dahu.csv");
  const Frequencies dahu(file);
  const RunSeries& runs = dahu.ratios.at({26, 0});
  const auto scores = RunTests({}).scores(runs);
  std::vector<std::string> dates;
  double ratio = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (runs.outlier[i] || scores[i].region != Region::below) continue;
    dates.push_back(utc_date(dahu.all.at({26, 0}).time_s[i]));
    ratio += scores[i].observed / scores[i].expected;
  }
  ASSERT_EQ(dates.size(), 31U);
  EXPECT_EQ(dates.front(), "2020-04-02");
  EXPECT_LT(dates.back(), "2020-05-19");
  EXPECT_NEAR(ratio / 31 - 1, -0.065, 0.001);
}

TEST(FindingsOfDahu, NameEachEventOnce) {
  HPLCAST_REFERENCE_FILE(file, "non-regression/stats_monitoring_dahu.csv");
  const auto all = published_series({file}, "mean_frequency", published_logs());
  FactorHistory history;
  std::vector<Cpu> cpus;
  for (const auto& [cpu, series] : all) {
    const std::vector<std::size_t> none(series.runs.runs());
    history.cpus.push_back({series.time_s, series.runs.values, series.runs.outlier, none, none, none});
    cpus.push_back(cpu);
  }
  std::map<std::pair<Cpu, std::string>, Finding> found;
  const Cpu everyone{-1, -1};
  for (const Finding& one : find_changes({history}, {}).all) {
    const Cpu cpu = one.cpu == Finding::all_cpus ? everyone : cpus[one.cpu];
    EXPECT_TRUE(found.emplace(std::pair(cpu, utc_date(one.since_s)), one).second);
  }
  // The two of dahu-26, until its power drain.
  ASSERT_EQ(found.count({{26, 0}, "2020-04-02"}), 1U);
  const Finding& dahu26 = found.at({{26, 0}, "2020-04-02"});
  EXPECT_NEAR(dahu26.effect, -0.065, 0.001);
  EXPECT_EQ(dahu26.runs, 31U);
  EXPECT_EQ(utc_date(dahu26.last_s), "2020-05-18");
  EXPECT_FALSE(dahu26.open);
  EXPECT_NEAR((found.at({{26, 1}, "2020-04-02"}).effect), -0.031, 0.001);
  // The upgrade of all, one finding, and the CPUs that it hit harder.
  const Finding& upgrade = found.at({everyone, "2021-03-01"});
  EXPECT_TRUE(upgrade.open);
  EXPECT_NEAR(upgrade.effect, -0.204, 0.001);
  EXPECT_EQ(upgrade.also_cpus, 19U);
  for (const Cpu& cpu : {Cpu{2, 0}, {7, 1}, {15, 1}, {29, 1}}) EXPECT_LT((found.at({cpu, "2021-03-01"}).effect), -0.03);
  EXPECT_EQ(found.size(), 10U);  // among them 7:0, 1.5 % up at the upgrade, with a probability of just below 1e-4
}

}  // namespace
}  // namespace hplcast::fit
