#include "hplcast/study/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/distributions.hpp"

namespace hplcast::study {
namespace {

core::HplParameters with_N(long long N) {
  core::HplParameters parameters;
  parameters.N = N;
  return parameters;
}

core::HplRun real_run(long long N, double gflops) {
  core::HplRun run;
  run.parameters = with_N(N);
  run.gflops = gflops;
  return run;
}

core::Prediction prediction(long long N, double gflops) {
  core::Prediction result;
  result.parameters = with_N(N);
  result.gflops = gflops;
  return result;
}

// Three configurations worked out by hand: errors +10 %, -20 % and +50 %.
Comparison by_hand() {
  return compare({real_run(100, 10), real_run(100, 12), real_run(100, 8), real_run(200, 20), real_run(300, 30)},
                 {prediction(300, 45), prediction(100, 11), prediction(200, 16)});
}

TEST(Compare, ErrorsAreThoseOfTheMediansRelativeToTheRealOnes) {
  const auto comparison = by_hand();
  ASSERT_EQ(comparison.rows.size(), 3U);
  EXPECT_EQ(comparison.rows[0].real_median, 10.0);
  EXPECT_DOUBLE_EQ(comparison.rows[0].real_spread, 0.4);
  EXPECT_DOUBLE_EQ(comparison.rows[0].error, 0.1);
  EXPECT_DOUBLE_EQ(comparison.rows[1].error, -0.2);
  EXPECT_DOUBLE_EQ(comparison.rows[2].error, 0.5);
}

core::HplRun with_control(core::HplRun run, double low_s, double high_s, double cpu_s) {
  run.control = core::Control{"640x640x640", (low_s + high_s) / 2, low_s, high_s, cpu_s, 0};
  return run;
}

TEST(Validity, ADisturbedMachineIsToldFirst) {
  const core::Prediction predicted = prediction(100, 11);
  // Spread: 10.9 / 10.5 / 9.8; the limit is 10 %.
  const Comparison calm = compare({real_run(100, 10.5), real_run(100, 10.6), real_run(100, 9.8)}, {predicted});
  EXPECT_TRUE(calm.disturbances.empty());
  EXPECT_EQ(validity_text(calm), "");
  const Comparison scattered = compare({real_run(100, 10), real_run(100, 6)}, {predicted});
  ASSERT_EQ(scattered.disturbances.size(), 1U);
  EXPECT_EQ(scattered.disturbances.front(), "runs of one configuration differ by 50 %");
  EXPECT_THAT(validity_text(scattered), testing::StartsWith("Not valid: the machine was disturbed"));
  EXPECT_THAT(validity_text(scattered), testing::HasSubstr("run again when the machine is idle"));
  std::ostringstream json;
  write_comparison(json, scattered);
  EXPECT_FALSE(nlohmann::json::parse(json.str()).at("valid"));
}

TEST(Validity, ControlsTellContentionAndChanges) {
  core::Prediction predicted = prediction(100, 11);
  predicted.control = core::Control{"640x640x640", 0.010, 0.010, 0.010, 0.010, 0};
  const auto reasons = [&](double low_s, double high_s, double cpu_s) {
    return compare({with_control(real_run(100, 10), low_s, high_s, cpu_s)}, {predicted}).disturbances;
  };
  EXPECT_TRUE(reasons(0.0100, 0.0105, 0.0100).empty());
  EXPECT_EQ(reasons(0.0150, 0.0150, 0.0100).size(), 2U);  // shared cores, slower than at the calibration
  EXPECT_EQ(reasons(0.0120, 0.0120, 0.0120),
            std::vector<std::string>{"the control changed since the calibration by 20 %"});
  EXPECT_EQ(reasons(0.0095, 0.0110, 0.0102), std::vector<std::string>{"the control changed during a run by 15.8 %"});
}

TEST(Compare, SummarizesOverConfigurations) {
  const auto summary = by_hand().summary;
  EXPECT_EQ(summary.n, 3U);
  EXPECT_DOUBLE_EQ(summary.mean_abs_error, 0.8 / 3);
  EXPECT_DOUBLE_EQ(summary.median_abs_error, 0.2);
  EXPECT_DOUBLE_EQ(summary.max_abs_error, 0.5);
  EXPECT_DOUBLE_EQ(summary.bias, 0.4 / 3);
  EXPECT_DOUBLE_EQ(summary.rank_correlation.value(), 1.0);
}

core::HplRun measured_run(long long N, double gflops, double power_w, double time_s) {
  core::HplRun run = real_run(N, gflops);
  run.time_s = time_s;
  run.mean_power_w = power_w;
  run.energy_j = power_w * time_s;
  return run;
}

core::Prediction predicted_watts(long long N, double gflops, double power_w, double time_s) {
  core::Prediction result = prediction(N, gflops);
  result.time_s = time_s;
  result.energy = core::Energy();
  result.energy->energy_j = power_w * time_s;
  result.energy->mean_power_w = power_w;
  return result;
}

TEST(Compare, EnergyIsComparedWhereBothSidesHaveIt) {
  auto wrong = measured_run(100, 10, 1000, 5);
  wrong.residual_checked = true;
  const auto comparison =
      compare({measured_run(100, 10, 200, 5), measured_run(100, 10, 210, 5), measured_run(100, 10, 190, 5), wrong,
               measured_run(200, 20, 200, 7), real_run(300, 30)},
              {predicted_watts(100, 10, 220, 4), prediction(200, 20), predicted_watts(300, 30, 200, 9)});
  ASSERT_EQ(comparison.rows.size(), 3U);
  ASSERT_TRUE(comparison.rows[0].energy);
  const ComparedEnergy& energy = *comparison.rows[0].energy;
  EXPECT_EQ(energy.real.runs, 3U) << "what HPL calls wrong does not count";
  EXPECT_DOUBLE_EQ(energy.real.mean_power_w, 200);
  EXPECT_DOUBLE_EQ(energy.power_error, 220.0 / 200 - 1);
  EXPECT_DOUBLE_EQ(energy.energy_error, 880.0 / 1000 - 1);
  EXPECT_DOUBLE_EQ(energy.real.gflops_per_w, 10.0 / 200);
  EXPECT_DOUBLE_EQ(energy.predicted.gflops_per_w, 10.0 / 220);
  EXPECT_FALSE(comparison.rows[1].energy) << "not predicted";
  EXPECT_FALSE(comparison.rows[2].energy) << "not measured";
  std::ostringstream json;
  write_comparison(json, comparison);
  const auto rows = nlohmann::json::parse(json.str()).at("rows");
  EXPECT_DOUBLE_EQ(rows[0].at("energy").at("real_mean_power_w").get<double>(), 200);
  EXPECT_FALSE(rows[1].contains("energy"));
}

TEST(Compare, MatchesOnAllParametersAndNamesWhatIsLeft) {
  auto other = real_run(100, 10);
  other.parameters.SWAP = 2;
  const auto comparison = compare({real_run(100, 10), other}, {prediction(100, 10), prediction(500, 10)});
  EXPECT_EQ(comparison.rows.size(), 1U);
  ASSERT_EQ(comparison.unmatched_real.size(), 1U);
  EXPECT_EQ(comparison.unmatched_real[0].SWAP, 2);
  ASSERT_EQ(comparison.unmatched_predicted.size(), 1U);
  EXPECT_EQ(comparison.unmatched_predicted[0].N, 500);
}

TEST(Compare, TheThresholdCountsOnlyForTheMixedSwap) {
  auto real = real_run(100, 10);
  real.parameters.swap_threshold = 128;
  EXPECT_EQ(compare({real}, {prediction(100, 10)}).rows.size(), 1U);
  real.parameters.SWAP = 2;
  auto predicted = prediction(100, 10);
  predicted.parameters.SWAP = 2;
  EXPECT_EQ(compare({real}, {predicted}).rows.size(), 0U);
}

TEST(Compare, SaysInWhatTheNearestOneDiffers) {
  auto near = with_N(100), far = with_N(200), run = with_N(100);
  run.SWAP = 2;
  far.NB = 64;
  EXPECT_EQ(nearest_difference(run, {far, near}), "SWAP is 2, not 1");
  EXPECT_EQ(nearest_difference(run, {}), "");
  core::HplParameters small = run, large = run;
  small.N = run.N - 500;
  large.N = run.N + 100;
  EXPECT_THAT(nearest_difference(run, {small, large}), ::testing::HasSubstr("not " + std::to_string(large.N)));
}

TEST(Compare, ModelsThatAreMixedInAConfigurationAreFound) {
  auto a = prediction(100, 10), b = prediction(100, 11), c = prediction(200, 12);
  a.cluster = b.cluster = "dahu";
  a.model_sha256 = "0123456789";
  b.model_sha256 = c.model_sha256 = "abcdef";
  EXPECT_TRUE(mixed_models({a, b}).has_value());
  EXPECT_FALSE(mixed_models({a, c}).has_value());
  EXPECT_FALSE(mixed_models({a, a}).has_value());
  EXPECT_EQ(models_of({a, b, a}), (std::vector<std::string>{"dahu (01234567)", "dahu (abcdef)"}));
}

TEST(Compare, SeveralSeedsCountByTheirMedian) {
  const auto comparison =
      compare({real_run(100, 10)}, {prediction(100, 9), prediction(100, 30), prediction(100, 11), prediction(100, 12)});
  EXPECT_DOUBLE_EQ(comparison.rows[0].predicted_median, 11.5);
}

TEST(Compare, ASingleSampledPredictionIsAsUncertainAsItsError) {
  auto sampled = prediction(100, 10);
  sampled.time_s = 50;
  sampled.error_95_s = 1;
  sampled.sampling.emplace();
  const auto comparison = compare({real_run(100, 10), real_run(100, 10)}, {sampled});
  EXPECT_DOUBLE_EQ(comparison.rows[0].sampling_error_95.value(), 0.02);
  ASSERT_TRUE(comparison.rows[0].error_interval);
  // The real runs do not scatter: 2 % to both sides, of the logarithm.
  EXPECT_DOUBLE_EQ(comparison.rows[0].error_interval->upper, std::exp(0.02) - 1);
  EXPECT_DOUBLE_EQ(comparison.rows[0].error_interval->lower, std::exp(-0.02) - 1);
  EXPECT_FALSE(compare({real_run(100, 10)}, {prediction(100, 10)}).rows[0].sampling_error_95);
}

TEST(Compare, CountsRealRunsInsideThePredictedIntervals) {
  const auto with_interval = [](long long N, double low, double high, double level) {
    core::Prediction one = prediction(N, 10);
    core::PredictiveInterval& interval = one.interval.emplace();
    interval.level_percent = level;
    interval.low_gflops = low;
    interval.high_gflops = high;
    return one;
  };
  const std::vector<core::HplRun> real = {real_run(100, 9), real_run(100, 10), real_run(100, 12), real_run(200, 8)};
  // Of two seeds the medians: 9 to 11. The prediction of N=200 has none.
  Comparison comparison =
      compare(real, {with_interval(100, 8, 10, 90), with_interval(100, 10, 12, 90), prediction(200, 10)});
  EXPECT_EQ(comparison.rows[0].interval->runs_inside, 2u);
  EXPECT_FALSE(comparison.rows[1].interval);
  EXPECT_EQ(count_inside(comparison).runs, 3u);
  EXPECT_EQ(count_inside(comparison).inside, 2u);
  std::ostringstream json;
  write_comparison(json, comparison);
  EXPECT_EQ(nlohmann::json::parse(json.str()).at("interval").at("inside"), 2);
  comparison = compare(real, {with_interval(100, 9, 11, 90), with_interval(200, 1, 9, 50)});
  EXPECT_EQ(count_inside(comparison).runs, 0u) << "90 and 50 percent have no share in common";
}

TEST(Compare, RunsWithAWrongResultAreLeftOutAndCounted) {
  auto wrong = real_run(100, 1000);
  wrong.residual_checked = true;
  const auto comparison = compare({real_run(100, 10), wrong}, {prediction(100, 10)});
  EXPECT_EQ(comparison.failed_residuals, 1U);
  EXPECT_EQ(comparison.rows[0].error, 0.0);
}

TEST(Compare, NothingInCommonGivesAnEmptySummary) {
  const auto comparison = compare({real_run(100, 10)}, {prediction(200, 10)});
  EXPECT_EQ(comparison.summary.n, 0U);
  EXPECT_FALSE(comparison.summary.rank_correlation.has_value());
}

TEST(Compare, TheIntervalOfTheErrorIsThatOfStudentOnLogarithms) {
  // Logarithms -0.1, 0, 0.1: sd 0.1, t(0.975, 2) = 4.302653, half-width 4.302653 * 0.1 / sqrt(3) = 0.248414.
  const auto rows = compare({real_run(100, 10 * std::exp(-0.1)), real_run(100, 10), real_run(100, 10 * std::exp(0.1))},
                            {prediction(100, 11)})
                        .rows;
  ASSERT_TRUE(rows[0].error_interval.has_value());
  EXPECT_NEAR(rows[0].error_interval->lower, 1.1 * std::exp(-0.248414) - 1, 1e-5);
  EXPECT_NEAR(rows[0].error_interval->upper, 1.1 * std::exp(0.248414) - 1, 1e-5);
  EXPECT_FALSE(compare({real_run(100, 10)}, {prediction(100, 11)}).rows[0].error_interval.has_value());
}

/// Configurations of two runs that differ by 2 percent, and of which the prediction is right.
std::vector<core::HplRun> pairs_of_runs(int configurations) {
  std::vector<core::HplRun> runs;
  for (int i = 1; i <= configurations; ++i)
    for (const double error : {-0.01, 0.01}) runs.push_back(real_run(100 * i, 10 * std::exp(error)));
  return runs;
}

TEST(Compare, TheScatterOfRunsIsThatOfAllConfigurations) {
  std::vector<core::HplRun> runs = pairs_of_runs(6);
  std::vector<core::Prediction> predictions;
  for (int i = 1; i <= 7; ++i) predictions.push_back(prediction(100 * i, 10));
  runs.push_back(real_run(700, 10));
  // sd = 0.02 / 0.9538726, nu = 6 * 0.36752 (Student's t as the fits have it), means of two runs and of one.
  const double quantile = fit::students_t_quantile(6 * 0.36752, 0.975), sd = 0.02 / 0.9538726;
  const auto half = [&](const ComparedConfiguration& row) { return std::log(1 + row.error_interval->upper); };
  const auto rows = compare(runs, predictions).rows;
  EXPECT_NEAR(half(rows[0]), quantile * sd / std::sqrt(2), 1e-4 * quantile * sd);
  EXPECT_NEAR(half(rows[6]), quantile * sd, 1e-4 * quantile * sd) << "a single run scatters like the others";
  runs[0] = real_run(100, 6);  // interrupted: two thirds longer
  EXPECT_NEAR(half(compare(runs, predictions).rows[1]), half(rows[1]), 1e-12);
}

TEST(Compare, ThreePairsOfRunsKnowMoreThanEachByItself) {
  // sd = 0.02 / sqrt(2) of three degrees of freedom, means of two runs. Of one pair Student's quantile is 12.7.
  const auto rows = compare(pairs_of_runs(3), {prediction(100, 10), prediction(200, 10), prediction(300, 10)}).rows;
  for (const ComparedConfiguration& row : rows)
    EXPECT_NEAR(std::log(1 + row.error_interval->upper), fit::students_t_quantile(3, 0.975) * 0.01, 1e-9);
}

TEST(Compare, TheScatterOfSeedsIsThatOfAllConfigurations) {
  const std::vector<core::HplRun> runs = pairs_of_runs(8);
  std::vector<core::Prediction> one, two;
  for (int i = 1; i <= 8; ++i)
    for (const double error : {-0.02, 0.02}) {
      two.push_back(prediction(100 * i, 10 * std::exp(error)));
      if (error > 0) one.push_back(prediction(100 * i, 10));
    }
  const auto half = [&](const std::vector<core::Prediction>& predictions, std::size_t row) {
    const fit::Bounds bounds = *compare(runs, predictions).rows[row].error_interval;
    return std::log((1 + bounds.upper) / (1 + bounds.lower)) / 2;
  };
  const double of_runs = half(one, 0);  // seeds scatter twice as much as runs
  EXPECT_NEAR(half(two, 0), std::hypot(of_runs, 2 * of_runs), 1e-9);
  two.erase(two.begin());  // one seed of the first, two of the others: nu of seven pairs in place of eight
  EXPECT_GT(half(two, 0), std::hypot(of_runs, 2 * of_runs * std::sqrt(2))) << "a single seed scatters like the others";
}

/// Share of configurations whose interval of the error holds 0, of right predictions and normal runs.
double coverage(int configurations, int runs_each) {
  core::RandomStream random({1, core::stream_design, 0, 0, 0});
  int held = 0;
  constexpr int comparisons = 600;
  for (int i = 0; i < comparisons; ++i) {
    std::vector<core::HplRun> runs;
    std::vector<core::Prediction> predictions;
    for (int c = 1; c <= configurations; ++c) {
      predictions.push_back(prediction(100 * c, 10));
      for (int run = 0; run < runs_each; ++run)
        runs.push_back(real_run(100 * c, 10 * std::exp(0.02 * random.normal())));
    }
    const fit::Bounds bounds = *compare(runs, predictions).rows[0].error_interval;
    held += bounds.lower <= 0 && 0 <= bounds.upper ? 1 : 0;
  }
  return static_cast<double>(held) / comparisons;
}

TEST(Compare, TheIntervalOfTheErrorHoldsTheTruthAsOftenAsItSays) {
  // The binomial standard deviation of 600 is 0.9 percent, three are 2.7. With few pairs of runs, and for medians of
  // three, the interval may be too wide, never too narrow.
  for (const auto& [configurations, runs] : {std::pair(1, 3), std::pair(12, 2), std::pair(36, 2), std::pair(14, 8)}) {
    const double held = coverage(configurations, runs);
    EXPECT_GT(held, 0.95 - 0.027) << configurations << " x " << runs;
    EXPECT_LT(held, 0.99) << configurations << " x " << runs;
  }
}

TEST(Compare, SaysWhereTheBestPredictedStandsAmongTheRealOnes) {
  const auto at = [](auto run, int NB) {
    run.parameters.NB = NB;
    return run;
  };
  const auto comparison =
      compare({at(real_run(100, 10), 64), at(real_run(100, 9.8), 128), at(real_run(100, 8), 256)},
              {at(prediction(100, 11), 64), at(prediction(100, 12), 128), at(prediction(100, 9), 256)});
  ASSERT_TRUE(comparison.best.has_value());
  EXPECT_EQ(comparison.best->parameters.NB, 128);
  EXPECT_EQ(comparison.best->real_rank, 2U);
  EXPECT_NEAR(comparison.best->loss, 0.02, 1e-12);
  EXPECT_FALSE(comparison.best->among_best);
  EXPECT_FALSE(by_hand().best.has_value());  // every N has one configuration only
}

TEST(Compare, RatesThatAreNotPositiveAreRefused) {
  EXPECT_THROW(compare({real_run(100, 0)}, {prediction(100, 10)}), core::DomainError);
  EXPECT_THROW(compare({real_run(100, 1)}, {prediction(100, NAN)}), core::DomainError);
}

TEST(Compare, JsonHasTheFieldsOfTheContract) {
  std::ostringstream text;
  write_comparison(text, by_hand());
  const auto json = nlohmann::json::parse(text.str());
  for (const char* field :
       {"rows", "mean_abs_error", "median_abs_error", "max_abs_error", "bias", "rank_correlation", "n"}) {
    EXPECT_TRUE(json.contains(field)) << field;
  }
  const auto& row = json["rows"][2];
  EXPECT_EQ(row["N"], 300);
  EXPECT_EQ(row["BCAST"], 1);
  EXPECT_EQ(row["real_gflops"], 30.0);
  EXPECT_EQ(row["real_spread"], 0.0);
  EXPECT_EQ(row["predicted_gflops"], 45.0);
  EXPECT_EQ(row["error"], 0.5);
}

TEST(DifferingSoftware, IsToldWhereBothSayWhichItIs) {
  core::HplRun run;
  core::Prediction prediction;
  run.parameters = prediction.parameters;
  prediction.blas = "BLIS 0.9.0";
  const auto told = [&] { return core::joined(differing_software({run}, {prediction, prediction}), "\n"); };
  EXPECT_EQ(told(), "") << "the run does not say which BLAS";
  run.blas = "BLIS 0.9.0";
  EXPECT_EQ(told(), "");
  run.blas = "OpenBLAS 0.3.21";
  EXPECT_THAT(told(), testing::HasSubstr("run with OpenBLAS 0.3.21, predicted from kernels measured with BLIS 0.9.0"));
  ++run.parameters.swap_threshold;  // without SWAP = 2 it is not used
  run.threads_per_rank = 2;
  const std::string both = told();
  EXPECT_THAT(both, testing::HasSubstr("run with 2 threads per rank, predicted with 1"));
  EXPECT_THAT(both, testing::HasSubstr("predicted from kernels"));
  EXPECT_EQ(std::count(both.begin(), both.end(), '\n'), 1) << "each once";
  ++run.parameters.N;
  EXPECT_EQ(told(), "");
}

TEST(RankCorrelation, IsThatOfTheRanksWithTiesAtTheirMean) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {10, 100, 1000}).value(), 1.0);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {3, 2, 1}).value(), -1.0);
  // Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5.
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 2, 3}, {1, 2, 3, 4}).value(), 4.5 / std::sqrt(4.5 * 5));
}

TEST(RankCorrelation, NeedsTwoDifferentValuesOnBothSides) {
  EXPECT_FALSE(rank_correlation({1}, {1}).has_value());
  EXPECT_FALSE(rank_correlation({1, 1, 1}, {1, 2, 3}).has_value());
}

TEST(Median, OfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2.0);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace hplcast::study
