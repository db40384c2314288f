// The ledger of earlier comparisons: its file, and what it teaches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/study/interval.hpp"

namespace hplcast::study {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

LedgerRow row(int N, double real, double predicted, const std::string& date = "2026-11-01") {
  LedgerRow one;
  one.date = date;
  one.cluster = "dahu";
  one.model_sha256 = "abc";
  one.kind = "plain";
  one.parameters.N = N;
  one.real_gflops = real;
  one.predicted_gflops = predicted;
  return one;
}

core::Prediction prediction() {
  core::Prediction one;
  one.cluster = "dahu";
  one.model_sha256 = "abc";
  return one;
}

std::string text_of(const std::vector<LedgerRow>& rows) {
  std::ostringstream out;
  write_ledger(out, rows);
  return out.str();
}

std::vector<LedgerRow> read(const std::string& text) {
  std::istringstream in(text);
  return read_ledger(in, "ledger.csv");
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const core::ParseError& error) {
    return error.what();
  }
  return "no error";
}

// All differences of 20,000 runs took 3.2 GB; some tell as much.
// They were added, and the ledger was refused from then on.
TEST(Ledger, HasNoRunsThatItsReaderRefuses) {
  Comparison comparison;
  ComparedConfiguration& one = comparison.rows.emplace_back();
  one.parameters = core::without_unused(prediction().parameters);
  one.predicted_median = 21;
  one.real_gflops = {20, 0.276, 0.71};
  const auto rows = ledger_rows(comparison, {prediction()}, "2026-11-29");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(read(text_of(rows)).at(1).real_gflops, 0.71);
}

TEST(PooledSd, OfThousandsOfRunsIsThatOfSomeOfTheirDifferences) {
  std::vector<double> values;
  for (int i = 0; i < 20000; ++i) values.push_back(0.01 * std::sin(12345.678 * i));  // as good as drawn
  const auto some = pooled_sd({{values.begin(), values.begin() + 900}}), all = pooled_sd({values});
  ASSERT_TRUE(some && all);
  EXPECT_NEAR(all->sd, some->sd, 0.05 * some->sd) << "the error of 900 values is 2 %";
  EXPECT_NEAR(all->nu / some->nu, 20000.0 / 900, 0.05 * 20000 / 900);
}

TEST(Ledger, ReadsWhatItWrites) {
  LedgerRow with_interval = row(1000, 12.5, 1 / 0.07);
  with_interval.cluster = "dahu, \"cooled\"";
  with_interval.low_gflops = 11;
  with_interval.high_gflops = 15;
  with_interval.level_percent = 90;
  const std::string text = text_of({with_interval, row(2000, 20, 21)});
  EXPECT_EQ(text_of(read(text)), text);
  EXPECT_EQ(read(text).front().cluster, "dahu, \"cooled\"");
  EXPECT_EQ(*read(text).front().high_gflops, 15);
  EXPECT_FALSE(read(text).back().low_gflops);
}

TEST(Ledger, RefusesOtherColumnsAndUnits) {
  EXPECT_THAT(refusal("date,cluster,model_sha256,kind,N,real_tflops,predicted_gflops\n"),
              AllOf(HasSubstr("ledger.csv:1"), HasSubstr("real_tflops")));
  EXPECT_THAT(refusal("date,cluster,model_sha256,kind,N,predicted_gflops\n"),
              AllOf(HasSubstr("real_gflops"), HasSubstr("no such column"), HasSubstr("--append-to-ledger")));
  EXPECT_THAT(refusal("date,cluster,model_sha256,kind,N,real_gflops,predicted_gflops\nd,c,s,plain,1000,12.5,12500\n"),
              AllOf(HasSubstr("ledger.csv:2"), HasSubstr("12.5"), HasSubstr("both in Gflop/s")));
  EXPECT_THAT(refusal("date,cluster,model_sha256,kind,N,real_gflops,predicted_gflops\nd,c,s,plain,1000,-1,2\n"),
              HasSubstr("ledger.csv:2"));
  const std::string header =
      "date,cluster,model_sha256,kind,N,real_gflops,predicted_gflops,interval_percent,low_gflops,high_gflops\n";
  EXPECT_EQ(refusal(header + "d,c,s,plain,1000,12,13,90,12,15\n"), "no error");
  EXPECT_THAT(refusal(header + "d,c,s,plain,1000,12,13,90,15,12\n"),
              AllOf(HasSubstr("ledger.csv:2"), HasSubstr("found 15 to 12 with 90 %"), HasSubstr("lower bound first")));
  EXPECT_THAT(refusal(header + "d,c,s,plain,1000,12,13,190,12,15\n"), HasSubstr("less than 100 %"));
}

TEST(Ledger, TakesTheSameComparisonOnce) {
  // Two runs of the same rate are two runs.
  const std::vector<LedgerRow> rows = {row(1000, 12, 13), row(1000, 12, 13), row(1000, 11, 13)};
  std::vector<LedgerRow> ledger;
  EXPECT_EQ(append(ledger, rows), 3u);
  std::vector<LedgerRow> later = rows;
  for (LedgerRow& one : later) one.date = "2026-11-02";
  EXPECT_EQ(append(ledger, later), 0u) << "the same runs, another day";
  later.push_back(row(1000, 10, 13, "2026-11-02"));
  later.push_back(row(2000, 20, 21, "2026-11-02"));
  EXPECT_EQ(append(ledger, later), 2u) << "a run more, and a prediction more";
  EXPECT_EQ(append(ledger, later), 0u);
  EXPECT_EQ(append(ledger, {}), 0u);
}

TEST(Ledger, TakesRunsOfAnotherOccasionThatArePrintedAlike) {
  std::vector<LedgerRow> ledger = {row(1000, 12, 13), row(1000, 11, 13), row(2000, 20, 21)};
  const std::vector<LedgerRow> other = {row(1000, 12, 13, "2026-11-02"), row(1000, 11.5, 13, "2026-11-02"),
                                        row(2000, 20, 21, "2026-11-02")};
  EXPECT_EQ(append(ledger, other), 3u);
  EXPECT_EQ(append(ledger, other), 0u);
  std::vector<LedgerRow> later = other;
  for (LedgerRow& one : later) one.date = "2026-11-03";
  EXPECT_EQ(append(ledger, later), 0u) << "the same runs, another day";
  // On one date they are of one occasion: the file has grown, or is another one of the same runs.
  EXPECT_EQ(append(ledger, {row(1000, 12, 13), row(1000, 11.7, 13)}), 1u);
}

TEST(PastErrors, AreThoseOfTheClusterAndKindOnly) {
  LedgerRow other_cluster = row(1000, 10, 20), other_kind = row(2000, 10, 20);
  other_cluster.cluster = "taurus";
  other_kind.kind = "noise=off";
  const PastErrors past = past_errors({other_cluster, other_kind}, prediction());
  EXPECT_EQ(past.configurations, 0u);
  EXPECT_FALSE(past.discrepancy);
  EXPECT_FALSE(past.run);
  EXPECT_EQ(past.bias, 0);
}

TEST(PastErrors, OfThreeConfigurationsGiveBiasAndScatter) {
  // Errors of 1, 2 and 3 percent: mean 0.02, variance 1e-4; the bias has a third of that.
  std::vector<LedgerRow> ledger;
  for (const int i : {1, 2, 3}) ledger.push_back(row(1000 * i, 10, 10 * std::exp(0.01 * i)));
  PastErrors past = past_errors(ledger, prediction());
  EXPECT_NEAR(past.bias, 0.02, 1e-12);
  ASSERT_TRUE(past.discrepancy);
  EXPECT_NEAR(past.discrepancy->sd, std::sqrt(1e-4 * 4 / 3), 1e-12);
  EXPECT_EQ(past.discrepancy->nu, 2);
  EXPECT_TRUE(past.has_model_errors);
  EXPECT_FALSE(past.machine);
  EXPECT_FALSE(past.run);
  ledger.pop_back();
  past = past_errors(ledger, prediction());
  EXPECT_FALSE(past.discrepancy) << "two configurations say too little";
  EXPECT_EQ(past.bias, 0);
}

TEST(PastErrors, OfRepeatedRunsGiveTheirScatterThatTheModelDoesNotHave) {
  // Three pairs of runs that differ by 2 percent; the centres of the configurations are alike.
  std::vector<LedgerRow> ledger;
  for (const int i : {1, 2, 3})
    for (const double error : {-0.01, 0.01}) ledger.push_back(row(1000 * i, 10, 10 * std::exp(error)));
  const PastErrors past = past_errors(ledger, prediction());
  ASSERT_TRUE(past.run);
  EXPECT_NEAR(past.run->sd, 0.02 / std::sqrt(2), 1e-12);  // too few for medians
  EXPECT_DOUBLE_EQ(past.run->nu, 3);
  EXPECT_NEAR(past.bias, 0, 1e-12);
  EXPECT_NEAR(past.discrepancy->sd, 0, 1e-12);
}

TEST(PastErrors, OfSixPairsAreTheirMedian) {
  std::vector<LedgerRow> ledger;
  for (const int i : {1, 2, 3, 4, 5, 6})
    for (const double error : {-0.01, 0.01}) ledger.push_back(row(1000 * i, 10, 10 * std::exp(error)));
  const PastErrors past = past_errors(ledger, prediction());
  EXPECT_NEAR(past.run->sd, 0.02 / 0.9538726, 1e-12);
  EXPECT_NEAR(past.run->nu, 6 * 0.36752, 1e-4);  // the efficiency of the median of absolute normal values
}

TEST(PastErrors, OfAnInterruptedRunDoNotCount) {
  std::vector<LedgerRow> ledger;
  for (const double error : {0., 0.01, 0.02, 0.01, 0.5}) ledger.push_back(row(1000, 10, 10 * std::exp(error)));
  // Ten pairs; the six without the interrupted run differ by 0 to 0.02, the other four by 0.48 to 0.5: median 0.015.
  EXPECT_NEAR(past_errors(ledger, prediction()).run->sd, 0.015 / 0.9538726, 1e-12);
}

TEST(PastErrors, OfOneModelStandForItsOwnParts) {
  std::vector<LedgerRow> ledger;
  for (const int i : {1, 2, 3, 4}) ledger.push_back(row(1000 * i, 10, 10.1 + 0.1 * i, "day " + std::to_string(i)));
  const auto names = [&](const core::Prediction& of) {
    core::Prediction one = of;
    one.time_s = one.gflops = 1;
    IntervalBasis basis;
    basis.past = past_errors(ledger, one);
    std::string all;
    for (const core::ErrorTerm& term : predictive_interval(one, {}, basis, 90).terms) all += term.name + " ";
    return all;
  };
  EXPECT_EQ(names(prediction()), "simulation model run ") << "its groups and the machine are in the errors of the past";
  core::Prediction recalibrated = prediction();
  recalibrated.model_sha256 = "def";
  EXPECT_EQ(names(recalibrated), "dgemm dgemm_scatter other_kernels messages simulation machine model run ");
}

TEST(PastErrors, OfAnOccasionAreOneValueOfWhatTheNextWillBe) {
  // Three occasions, -3, 0 and +3 percent off, each of three configurations that are -1, 0 and +1 percent off that.
  std::vector<LedgerRow> ledger;
  for (const int occasion : {-1, 0, 1})
    for (const int i : {1, 2, 3})
      ledger.push_back(row(1000 * i, 10, 10 * std::exp(0.03 * occasion + 0.01 * (i - 2)), std::to_string(occasion)));
  const PastErrors past = past_errors(ledger, prediction());
  EXPECT_NEAR(past.bias, 0, 1e-12);
  ASSERT_TRUE(past.machine);
  // The sample standard deviation of three means, whose median is uncertain.
  EXPECT_NEAR(past.machine->sd, 0.03 * std::sqrt(1 + M_PI / 2 / 3), 1e-8);
  EXPECT_NEAR(past.machine->nu, 2, 1e-12) << "nine configurations, but three occasions";
  EXPECT_NEAR(past.discrepancy->sd, 0.01 / 0.9538726, 1e-8);
  EXPECT_TRUE(past.has_model_errors) << "all of this cluster.json";
  for (LedgerRow& one : ledger) one.model_sha256 = "another";
  EXPECT_FALSE(past_errors(ledger, prediction()).has_model_errors) << "one other model says nothing of this one's";
  for (LedgerRow& one : ledger) one.model_sha256 = "of " + one.date;
  EXPECT_TRUE(past_errors(ledger, prediction()).has_model_errors) << "three models, calibrated anew each time";
}

TEST(PastErrors, OfQuickstartsDifferAsIfTheyHadFewDegreesOfFreedom) {
  // nu_of_virtual of study/interval/interval.cpp: what ln(sd) differs by beyond what its own nu says.
  const std::string name = HPLCAST_SOURCE_DIR "/docs/measurements/ledger/ledger.csv";
  std::ifstream in(name);
  std::map<std::string, std::vector<LedgerRow>> occasions;
  for (const LedgerRow& one : read_ledger(in, name))
    if (one.cluster == "vm" && one.date <= "2026-11-28T04:02") occasions[one.date].push_back(one);
  ASSERT_EQ(occasions.size(), 23u);
  core::Prediction asked = prediction();
  asked.cluster = "vm";
  std::vector<double> logs;
  double known = 0;
  for (const auto& [date, rows] : occasions) {
    const core::EstimatedSd run = *past_errors(rows, asked).run;
    logs.push_back(std::log(run.sd));
    known += boost::math::trigamma(run.nu / 2) / 4 / static_cast<double>(occasions.size());
  }
  const double sd = fit::summarize(logs).sd;
  EXPECT_NEAR(boost::math::trigamma(3.8 / 2) / 4, sd * sd - known, 0.01);
}

TEST(PastErrors, OfOtherQuickstartsGiveIntervalsThatHold) {
  // Leave one out: docs/models/interval.md#an-ordinary-day.
  const std::string name = HPLCAST_SOURCE_DIR "/docs/measurements/ledger/ledger.csv";
  std::ifstream in(name);
  std::vector<LedgerRow> quickstarts;
  std::set<std::string> occasions;
  for (const LedgerRow& one : read_ledger(in, name)) {
    if (one.cluster != "vm" || one.date > "2026-11-26T20:45") continue;  // later ones are no part of the figures
    quickstarts.push_back(one);
    occasions.insert(one.date);
  }
  ASSERT_EQ(occasions.size(), 14u);
  core::Prediction of_all = prediction();
  of_all.cluster = "vm";
  // The defaults of virtual machines (study/interval/interval.cpp), to their digits.
  const PastErrors all = past_errors(quickstarts, of_all);
  EXPECT_NEAR(all.machine->sd / std::sqrt(1 + M_PI / 2 / 14), 0.046, 0.0005);
  EXPECT_NEAR(all.machine->nu, 9.4, 0.05);
  EXPECT_NEAR(all.run->sd, 0.070, 0.0005);
  double inside = 0;
  std::vector<double> half_widths;
  for (const std::string& left_out : occasions) {
    std::vector<LedgerRow> others, own;
    for (const LedgerRow& one : quickstarts) (one.date == left_out ? own : others).push_back(one);
    core::Prediction asked = prediction();
    asked.cluster = "vm";
    asked.time_s = asked.gflops = 1;
    IntervalBasis basis;
    basis.past = past_errors(others, asked);
    const core::PredictiveInterval interval = predictive_interval(asked, {}, basis, 90);
    half_widths.push_back(std::log(interval.high_time_s / interval.low_time_s) / 2);
    for (const LedgerRow& one : own) {
      const double time_s = one.predicted_gflops / one.real_gflops;
      inside += interval.low_time_s <= time_s && time_s <= interval.high_time_s ? 1 : 0;
    }
  }
  const double share = inside / static_cast<double>(quickstarts.size()), half_width = core::median(half_widths);
  std::cout << inside << " of " << quickstarts.size() << " inside, half width " << half_width << '\n';
  EXPECT_GE(share, 0.85);
  EXPECT_LE(share, 0.95);
  EXPECT_LT(half_width, 0.165);  // 0.21 if an occasion that went wrong made all others wide
}

}  // namespace
}  // namespace hplcast::study
