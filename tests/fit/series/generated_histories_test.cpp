// Histories of 24 CPUs and 200 campaigns with normal noise: false alarms, power, and whose change it is. Five
// histories, or as many as HPLCAST_SEEDS says.
#include <gtest/gtest.h>

#include <boost/math/distributions/non_central_t.hpp>
#include <cmath>
#include <random>

#include "hplcast/fit/findings.hpp"
#include "hplcast/fit/run_series.hpp"
#include "tests/support/asked.hpp"

namespace hplcast::fit {
namespace {

const int seeds = static_cast<int>(test::asked("HPLCAST_SEEDS", 5));
constexpr std::size_t cpus = 24, campaigns = 200;
constexpr double mean = 100, sd = 1;

std::vector<double> noise(std::mt19937_64& engine) {
  std::normal_distribution<double> law(mean, sd);
  std::vector<double> values(campaigns);
  for (double& value : values) value = law(engine);
  return values;
}

RunSeries series_of(std::vector<double> values) {
  RunSeries series;
  series.outlier.resize(values.size());
  series.epoch.resize(values.size());
  series.values = std::move(values);
  return series;
}

/// A count of independent events: the chance of being farther off is below 1e-5 (normal approximation; plus one for
/// small counts).
void expect_binomial(double count, double tests, double probability) {
  const double expected = tests * probability;
  EXPECT_NEAR(count, expected, 4.5 * std::sqrt(expected * (1 - probability)) + 1);
  std::cout << count << " of " << tests << ", expected " << expected << '\n';
}

TEST(FalseAlarms, AreAsOftenAsTheConfidenceSays) {
  for (const double confidence : {0.999, 0.9999}) {
    for (const std::size_t window : {1, 5}) {
      double tests = 0, alarms = 0;
      RunTestOptions options;
      options.confidence = confidence;
      options.window = window;
      RunTests test(options);
      for (int seed = 0; seed < seeds; ++seed) {
        std::mt19937_64 engine(static_cast<unsigned>(seed));
        for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
          const auto scores = test.scores(series_of(noise(engine)));
          for (std::size_t i = window - 1; i < campaigns; i += window) {  // windows that share no run
            if (scores[i].region == Region::untested) continue;
            ++tests;
            alarms += is_flagged(scores[i].region) ? 1 : 0;
          }
        }
      }
      // Runs beyond the limit leave the reference, which makes its variance 1.2 % too small at 0.999: 6 % more alarms.
      expect_binomial(alarms, tests, (1 - confidence) * (confidence < 0.9999 ? 1.06 : 1));
    }
  }
}

/// Chance that Chew's test of the mean of r runs after n sees a shift: non-central t with n - 1 degrees of freedom.
double power(double shift_sd, std::size_t n, std::size_t r, double confidence) {
  const double count = static_cast<double>(n), runs = static_cast<double>(r);
  const boost::math::non_central_t law(count - 1, shift_sd * std::sqrt(count * runs / (count + runs)));
  const double limit = std::sqrt(f_limit(confidence, 1, n));
  return boost::math::cdf(boost::math::complement(law, limit)) + boost::math::cdf(law, -limit);
}

TEST(Power, OfFiveRunsIsThatOfTheFDistribution) {
  constexpr std::size_t shifted = 100;
  for (const double shift : {1.0, 2.0}) {
    RunTestOptions options;
    options.window = 5;
    RunTests test(options);
    double trials = 0, found = 0, predicted = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      std::mt19937_64 engine(static_cast<unsigned>(seed));
      for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
        std::vector<double> values = noise(engine);
        for (std::size_t i = shifted; i < campaigns; ++i) values[i] += shift * sd;
        const RunScore score = test.scores(series_of(values))[shifted + 4];
        ++trials;
        found += score.region == Region::above ? 1 : 0;
        predicted += power(shift, score.reference_runs, 5, options.confidence);
      }
    }
    expect_binomial(found, trials, predicted / trials);
  }
}

FactorHistory history(unsigned seed, std::size_t first_shifted, std::size_t last_shifted, double shift_sd) {
  FactorHistory result;
  std::mt19937_64 engine(seed);
  for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
    CpuHistory one;
    one.value = noise(engine);
    for (std::size_t i = 0; i < campaigns; ++i) {
      one.time_s.push_back(static_cast<std::int64_t>(86400 * i));
      if (i >= 150 && cpu >= first_shifted && cpu < last_shifted) one.value[i] -= shift_sd * sd;
    }
    one.outlier.resize(campaigns);
    one.own_epoch = one.ratio_epoch = one.common_epoch = std::vector<std::size_t>(campaigns);
    result.cpus.push_back(std::move(one));
  }
  return result;
}

/// What the newest campaign shows.
std::vector<Finding> open_findings(const FactorHistory& factor) {
  std::vector<Finding> open;
  for (const Finding& one : find_changes({factor}, {}).all)
    if (one.open) open.push_back(one);
  return open;
}

TEST(Findings, TellAShiftOfAllCpusFromThatOfOne) {
  const int trials = std::min(100, 4 * seeds);
  int all = 0, one = 0, quiet = 0;
  for (int seed = 0; seed < trials; ++seed) {
    const auto label = static_cast<unsigned>(seed);
    const auto of_all = open_findings(history(label, 0, cpus, 3));
    all += of_all.size() == 1 && of_all[0].cpu == Finding::all_cpus ? 1 : 0;
    const auto of_one = open_findings(history(label, 7, 8, 3));
    one += of_one.size() == 1 && of_one[0].cpu == 7 ? 1 : 0;
    quiet += open_findings(history(label, 0, 0, 0)).empty() ? 1 : 0;
  }
  std::cout << all << ", " << one << " and " << quiet << " of " << trials << '\n';
  EXPECT_GE(all, 0.99 * trials);
  EXPECT_GE(one, 0.99 * trials);
  EXPECT_GE(quiet, 0.99 * trials);
}

TEST(Findings, AreFalseInNoMoreDaysThanTheConfidenceSays) {
  // Corrected over the tests of a day: 190 days with tests and 0.0001 each. A window is confirmed by its own runs.
  double found = 0;
  for (int seed = 0; seed < seeds; ++seed)
    found += static_cast<double>(find_changes({history(static_cast<unsigned>(seed), 0, 0, 0)}, {}).all.size());
  const double expected = 190 * seeds * 1e-4;
  std::cout << found << " in " << seeds << " histories, expected at most " << expected << '\n';
  EXPECT_LE(found, expected + 4.5 * std::sqrt(expected) + 1);
}

}  // namespace
}  // namespace hplcast::fit
