#include "hplcast/fit/program_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::fit {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// A factorisation: updates that become smaller, always by blocks of 64.
std::vector<ObservedCall> updates(double per_product, double per_face) {
  std::vector<ObservedCall> calls;
  for (double n = 1024; n >= 64; n -= 64) {
    for (double m = n; m >= 64; m -= 128) {
      const double k = 64;
      calls.push_back({{m, n, k}, per_product * m * n * k + per_face * m * k, 1});
    }
  }
  return calls;
}

ProgramObservation observation_of(const std::string& routine, const std::vector<ObservedCall>& calls) {
  ProgramObservation seen;
  seen.calls[routine] = calls;
  ObservedSum& sum = seen.routines[routine];
  for (const ObservedCall& one : calls) {
    sum.calls += one.calls;
    sum.time_s += one.calls * one.duration_s;
  }
  seen.executed_s = sum.time_s;
  return seen;
}

double predicted_s(const ProgramFit& fit, const std::string& routine, const core::KernelShape& shape) {
  return fit.program.routines.at(routine).cluster_law().at(shape).mean_s(shape);
}

TEST(ProgramFit, RecoversWhatTheCallsWereMadeOf) {
  const ProgramFit fit = fit_program(observation_of("dgemm", updates(5e-11, 0)));
  EXPECT_NEAR(predicted_s(fit, "dgemm", {500, 300, 64}), 5e-11 * 500 * 300 * 64, 1e-12);
}

// Also for another block size than the one that was observed: the main term is the product of all sizes.
TEST(ProgramFit, ExtrapolatesASizeThatNeverVaried) {
  const ProgramFit fit = fit_program(observation_of("dgemm", updates(5e-11, 0)));
  const double expected_s = 5e-11 * 4000 * 4000 * 128;
  EXPECT_NEAR(predicted_s(fit, "dgemm", {4000, 4000, 128}), expected_s, 1e-3 * expected_s);
}

// One of three repetitions was disturbed, another run has calls of other sizes: a third and all of its own counts.
TEST(ProgramFit, TakesTheMedianOfRepetitionsOfARun) {
  ProgramObservation seen;
  const auto rank = [&](const std::string& file, double n, double slower) {
    const double duration_s = 1e-10 * n * n * n * slower, flop = 20 * n * n * n;
    const std::string size = core::shortest(n), duration = core::shortest(duration_s);
    std::istringstream calls("routine,m,n,k,duration_s,calls\ndgemm," + size + "," + size + "," + size + "," +
                             duration + ",10\n");
    std::istringstream times("what,name,calls,time_s,flop\nroutine,dgemm,10," + core::shortest(10 * duration_s) + "," +
                             core::shortest(flop) + "\ntotal,,0," + core::shortest(10 * duration_s) + ",0\n");
    read_observed_rank({calls, "calls.csv"}, {times, file + ":rank-0.times.csv"}, seen);
  };
  for (const double slower : {1.01, 1.6, 1.0}) rank("small.zip", 200, slower);
  for (const double slower : {1.0, 1.01, 3.0}) rank("large.zip", 800, slower);
  const ProgramFit fit = fit_program(seen);
  for (const double n : {200.0, 800.0})
    EXPECT_NEAR(predicted_s(fit, "dgemm", {n, n, n}) / (1.01e-10 * n * n * n), 1, 1e-3) << n;
  // Of two repetitions the one that was not: half of what disturbed the other is too much.
  seen = {};
  for (const double slower : {1.6, 1.01}) rank("small.zip", 200, slower);
  for (const double slower : {1.01, 3.0}) rank("large.zip", 800, slower);
  EXPECT_NEAR(predicted_s(fit_program(seen), "dgemm", {400, 400, 400}) / (1.01e-10 * 6.4e7), 1, 1e-3);
}

/// Of dtrsm with 32 x n x 32, whose products take `rate_s`.
double times_expected(const std::vector<ObservedCall>& calls, double rate_s, double n) {
  const double predicted = predicted_s(fit_program(observation_of("dtrsm/L", calls)), "dtrsm/L", {32, n, 32});
  return predicted / (rate_s * 1024 * n);
}

// The first call, the longest of a factorisation, takes twice as long, because it touches buffers for the first time.
TEST(ProgramFit, LeavesOutCallsThatTouchMemoryForTheFirstTime) {
  const double rate_s = 2e-10;
  std::vector<ObservedCall> calls;
  for (double n = 1440; n >= 32; n -= 32) calls.push_back({{32, n, 32}, rate_s * 1024 * n, 1});
  for (const double n : {1440, 1408, 1376}) calls.push_back({{32, n, 32}, 2 * rate_s * 1024 * n, 1, 90});
  EXPECT_NEAR(times_expected(calls, rate_s, 4000), 1, 1e-3);
  // Where that is how the program calls it, it counts.
  for (ObservedCall& one : calls) one = {one.shape, 2 * rate_s * 1024 * one.shape.n, 1, 90};
  EXPECT_NEAR(times_expected(calls, rate_s, 4000), 2, 2e-3);
}

// The run of the smallest size is over before the core is warm, the larger ones begin so; rates do not depend on sizes.
TEST(ProgramFit, LeavesOutCallsOfAColdCore) {
  const double rate_s = 2e-10;
  std::vector<ObservedCall> calls;
  for (const double size : {500, 1000, 1500})
    for (double n = size; n >= 32; n -= 32) {
      const bool cold = size == 500 || n > size - 100;
      calls.push_back({{32, n, 32}, (cold ? 1.7 : 1) * rate_s * 1024 * n, 1, 0, cold});
    }
  for (const double n : {64, 400, 4000}) EXPECT_NEAR(times_expected(calls, rate_s, n), 1, 1e-3) << n;
  // A program that calls it now and then, in a cold core.
  for (ObservedCall& one : calls) one = {one.shape, 1.7 * rate_s * 1024 * one.shape.n, 1, 0, true};
  for (const double n : {64, 400, 4000}) EXPECT_NEAR(times_expected(calls, rate_s, n), 1.7, 2e-3) << n;
  // Sizes that nothing else tells stay known.
  for (ObservedCall& one : calls) one.cold = one.shape.n < 100;
  EXPECT_EQ(fit_program(observation_of("dtrsm/L", calls)).program.routines.at("dtrsm/L").range()->min.n, 40);
}

// A block of a row takes longer where rows are farther apart, whatever bytes are side by side in longer ones.
TEST(ProgramFit, PacksByBlocksAndTheirDistance) {
  ProgramObservation seen = observation_of("MPI_Pack/strided", {});
  const auto duration_s = [](double n, double k) { return n * (5e-9 + 1e-12 * k); };
  for (double k = 4000; k <= 12000; k += 2000)
    for (double n = 16; n <= k / 8; n *= 2) seen.calls["MPI_Pack/strided"].push_back({{8, n, k}, duration_s(n, k), 10});
  for (double k = 12000; k <= 96000; k *= 2)
    for (double n = 100; n <= k / 8; n *= 2)
      seen.reach["MPI_Pack/strided"].push_back({{8, n, k}, duration_s(n, k), 64});
  for (double n = 1e4; n < 1e6; n *= 2) seen.calls["MPI_Pack"].push_back({{1, n, 1}, 1e-10 * n, 10});
  seen.routines["MPI_Pack"] = seen.routines["MPI_Pack/strided"] = {100, 0.1, 0};
  seen.executed_s = 0.2;
  const ProgramFit fit = fit_program(seen);
  EXPECT_NEAR(predicted_s(fit, "MPI_Pack/strided", {8, 4000, 32000}) / duration_s(4000, 32000), 1, 1e-3);
  EXPECT_NEAR(predicted_s(fit, "MPI_Pack", {1, 2e5, 1}), 2e-5, 1e-7);
}

// Rows of larger matrices cost more per element than any that the run swapped.
TEST(ProgramFit, FollowsWhatWasMeasuredBeyondTheSizesOfTheRun) {
  const auto duration_s = [](double n, double k) { return n * (1e-9 + 2e-12 * k + 4e-12 * n); };
  std::vector<ObservedCall> calls;
  for (double n = 100; n <= 1500; n += 50) calls.push_back({{1, n, 1500}, duration_s(n, 1500), 10});
  ProgramObservation seen = observation_of("dswap/strided", calls);
  for (double k = 1500; k <= 9000; k += 1500) {
    for (double n = 100; n <= k; n *= 2) seen.reach["dswap/strided"].push_back({{1, n, k}, duration_s(n, k), 64});
  }
  const double expected_s = duration_s(4000, 4000);
  EXPECT_NEAR(predicted_s(fit_program(seen), "dswap/strided", {1, 4000, 4000}), expected_s, 0.02 * expected_s);
  // At sizes that the run had, what was measured later does not count.
  for (ObservedCall& one : seen.reach["dswap/strided"])
    if (one.shape.k <= 1500) one.duration_s *= 100;
  EXPECT_NEAR(predicted_s(fit_program(seen), "dswap/strided", {1, 4000, 4000}), expected_s, 0.02 * expected_s);
  seen.reach.clear();
  EXPECT_GT(std::abs(predicted_s(fit_program(seen), "dswap/strided", {1, 4000, 4000}) / expected_s - 1), 0.05)
      << "else the rows would not be needed";
}

// Rows of whole pages: the observed matrix had none, the predicted one has.
TEST(ProgramFit, HasModelsOfStridesThatTheRunDidNotHave) {
  std::vector<ObservedCall> calls;
  for (double n = 100; n <= 1500; n += 50) calls.push_back({{1, n, 1500}, 4e-9 * n, 10});
  ProgramObservation seen = observation_of("dswap/strided", calls);
  for (double n = 100; n <= 3000; n *= 1.5) seen.reach["dswap/aliased"].push_back({{1, n, 2048}, 15e-9 * n, 64});
  const ProgramFit fit = fit_program(seen);
  EXPECT_NEAR(predicted_s(fit, "dswap/strided", {1, 2000, 2001}), 4e-9 * 2000, 1e-3 * 4e-9 * 2000);
  EXPECT_NEAR(predicted_s(fit, "dswap/aliased", {1, 2000, 2048}), 15e-9 * 2000, 1e-3 * 15e-9 * 2000);
  EXPECT_EQ(fit.errors.count("dswap/aliased"), 0U) << "no observed call";
}

TEST(ProgramFit, NamesTheRowOfReachThatIsWrong) {
  std::istringstream file("routine,m,n,k,duration_s,calls\ndswap/strided,1,10,20,0,64\n");
  ProgramObservation seen;
  try {
    read_reach({file, "rank-0.reach.csv"}, seen);
    FAIL() << "expected an error";
  } catch (const core::ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank-0.reach.csv"));
  }
}

TEST(ProgramFit, AddsFacesWhereTheyMatter) {
  const ProgramFit fit = fit_program(observation_of("dgemm", updates(5e-11, 2e-9)));
  const double expected_s = 5e-11 * 2000 * 1000 * 64 + 2e-9 * 2000 * 64;
  EXPECT_NEAR(predicted_s(fit, "dgemm", {2000, 1000, 64}), expected_s, 1e-6 * expected_s);
}

// A sample of 3 calls in 3000 must count as these, not as much as 3 that are all there are.
TEST(ProgramFit, LetsSamplesStandForTheirCalls) {
  std::vector<ObservedCall> calls;
  for (int i = 0; i < 8; ++i) calls.push_back({{1, 10, 1}, 2e-6, 1000});
  for (int i = 0; i < 8; ++i) calls.push_back({{1, 10, 1}, 4e-6, 3000});
  const ProgramFit fit = fit_program(observation_of("ddot", calls));
  EXPECT_NEAR(predicted_s(fit, "ddot", {1, 10, 1}), 3.5e-6, 1e-9) << "(2 us * 1000 + 4 us * 3000) / 4000";
}

TEST(ProgramFit, SaysHowMuchIsNotModelled) {
  ProgramObservation seen = observation_of("dgemm", updates(5e-11, 0));
  const double routines_s = seen.executed_s;
  seen.rest_s = routines_s;
  seen.executed_s = 2 * routines_s;
  const ProgramFit fit = fit_program(seen);
  EXPECT_THAT(fit.warnings, Contains(HasSubstr("50 % of the CPU time outside of MPI")));
}

TEST(ProgramFit, SplitsTheRestIntoCallsElementsAndTheStart) {
  ProgramObservation seen = observation_of("dgemm", updates(5e-11, 0));
  for (const auto& [calls, elements] : {std::pair{1e3, 1e6}, {4e3, 2e6}, {3e3, 9e6}, {9e3, 3e7}})
    seen.rests.push_back({0.002 + 1e-7 * calls + 2e-9 * elements, calls, elements});
  const core::ProgramModel program = fit_program(seen).program;
  EXPECT_NEAR(program.rest_s_per_call, 1e-7, 1e-12);
  EXPECT_NEAR(program.rest_s_per_element, 2e-9, 1e-14);
}

// 2 ns an element in the cache, and more the more memory the vector spans.
TEST(ProgramFit, LetsStridedVectorsBecomeSlowerWithTheirSpan) {
  const auto truth_s = [](double n, double stride) { return n * 2e-9 + n * n * stride * 5e-15; };
  std::vector<ObservedCall> calls;
  for (double stride : {200.0, 500.0, 1000.0, 4000.0})
    for (double n = 50; n <= stride; n += stride / 10) calls.push_back({{1, n, stride}, truth_s(n, stride), 10});
  const ProgramFit fit = fit_program(observation_of("dswap/strided", calls));
  EXPECT_NEAR(predicted_s(fit, "dswap/strided", {1, 300, 700}), truth_s(300, 700), 1e-4 * truth_s(300, 700));
  EXPECT_NEAR(predicted_s(fit, "dswap/strided", {1, 8000, 8000}), truth_s(8000, 8000), 1e-4 * truth_s(8000, 8000));
}

TEST(ProgramFit, WarnsOfThreadsAndOfStaticBlas) {
  ProgramObservation seen;
  seen.executed_s = 1;
  seen.rest_s = 1;
  seen.other_threads_s = 3;
  const ProgramFit fit = fit_program(seen);
  EXPECT_THAT(fit.warnings, Contains(testing::AllOf(HasSubstr("100 % of the CPU time"), HasSubstr("--rest bench"),
                                                    testing::Not(HasSubstr("--rest model")))));
  EXPECT_THAT(fit.warnings, Contains(HasSubstr("other threads of the program took 3 s")));
  EXPECT_THAT(fit.warnings, Contains(HasSubstr("no routine of BLAS was seen")));
}

TEST(ProgramFit, RefusesAnEmptyObservation) {
  EXPECT_THROW(fit_program({}), core::Error);
}

/// Calls of vectors of n elements: rates in ns per element by n, each 40 times, which scatter by 4 %.
std::vector<ObservedCall> vectors(const std::map<double, double>& rates_ns) {
  std::vector<ObservedCall> calls;
  for (const auto& [n, rate_ns] : rates_ns)
    for (int i = 0; i < 40; ++i) calls.push_back({{1, n, 1}, 1e-9 * rate_ns * n * (i % 2 == 0 ? 0.96 : 1.04), 1});
  return calls;
}

/// 5 %: that by which runs vary, below which nothing is split.
void expect_rates(const core::PiecewiseLaw& law, const std::map<double, double>& rates_ns) {
  for (const auto& [n, rate_ns] : rates_ns)
    EXPECT_NEAR(law.at({1, n, 1}).mean_s({1, n, 1}), 1e-9 * rate_ns * n, 0.05e-9 * rate_ns * n) << n;
}

const core::PiecewiseLaw& law_of(const ProgramFit& fit, const std::string& routine) {
  return fit.program.routines.at(routine).cluster_law();
}

// Small sizes take hardly any of the observed time, and all of it on more ranks.
TEST(ProgramFit, FollowsAStepAtTheSizeOfACache) {
  const std::map<double, double> rates_ns = {{1e4, 0.25}, {2e4, 0.25}, {5e4, 0.25}, {1e5, 0.75},
                                             {2e5, 0.75}, {4e5, 0.75}, {8e5, 0.75}};
  const ProgramFit fit = fit_program(observation_of("daxpy", vectors(rates_ns)));
  expect_rates(law_of(fit, "daxpy"), rates_ns);
  EXPECT_LT(fit.errors.at("daxpy").by_size, 0.01);
  // One size on either side tells it, too.
  const std::map<double, double> two_ns = {{8e4, 0.2}, {5e5, 0.6}};
  expect_rates(law_of(fit_program(observation_of("daxpy", vectors(two_ns))), "daxpy"), two_ns);
  // So does a step back, where larger vectors have better instructions.
  const std::map<double, double> back_ns = {{1e4, 0.9}, {2e4, 0.3}, {5e4, 0.3}, {1e5, 0.9}, {2e5, 0.9}};
  expect_rates(law_of(fit_program(observation_of("daxpy", vectors(back_ns))), "daxpy"), back_ns);
}

// It is measured in memory, where the program may be in a cache.
TEST(ProgramFit, KeepsObservedSizesWhateverWasMeasuredBeyond) {
  const std::map<double, double> rates_ns = {{2e4, 0.25}, {5e4, 0.25}, {2e5, 0.25}},
                                 reach_ns = {{3e5, 1}, {4e5, 1}, {8e5, 1}, {1.6e6, 1}};
  ProgramObservation seen = observation_of("daxpy", vectors(rates_ns));
  seen.reach["daxpy"] = vectors(reach_ns);
  for (ObservedCall& one : seen.reach["daxpy"]) one.calls = 64;
  const ProgramFit fit = fit_program(seen);
  expect_rates(law_of(fit, "daxpy"), rates_ns);
  expect_rates(law_of(fit, "daxpy"), reach_ns);
  expect_rates(law_of(fit, "daxpy"), {{1.6e7, 1}});
  // With a step of the run's own before it.
  const std::map<double, double> step_ns = {{1e4, 0.2}, {2e4, 0.2}, {1e5, 0.6}, {2e5, 0.6}};
  seen.calls["daxpy"] = vectors(step_ns);
  const ProgramFit both = fit_program(seen);
  expect_rates(law_of(both, "daxpy"), step_ns);
  expect_rates(law_of(both, "daxpy"), reach_ns);
}

TEST(ProgramFit, FollowsAStepOfARegion) {
  ProgramObservation seen;
  const auto rate_ns = [](double n) { return n <= 200 ? 0.5 : 1.5; };
  for (double n : {50.0, 100.0, 200.0, 400.0, 800.0})
    for (int i = 0; i < 20; ++i) seen.calls["region:stencil"].push_back({{n, n, 1}, 1e-9 * rate_ns(n) * n * n, 1});
  seen.regions["stencil"] = {100, 1, 0};
  seen.executed_s = 1;
  const ProgramFit fit = fit_program(seen);
  const core::PiecewiseLaw& law = fit.program.regions.at("stencil").model.cluster_law();
  for (double n : {50.0, 200.0, 400.0, 800.0, 3200.0})
    EXPECT_NEAR(law.at({n, n, 1}).mean_s({n, n, 1}), 1e-9 * rate_ns(n) * n * n, 0.05e-9 * rate_ns(n) * n * n) << n;
}

// Pieces are for steps, not for scatter: another size would be predicted worse.
TEST(ProgramFit, DoesNotTakeScatterForSteps) {
  std::vector<ObservedCall> calls, single;
  core::RandomStream stream({1, core::stream_fit, 0, 41});
  for (double n = 1e4; n < 1e6; n *= 2) {
    for (int i = 0; i < 20; ++i) calls.push_back({{1, n, 1}, 5e-10 * n * std::exp(0.3 * stream.normal()), 1});
    single.push_back({{1, n, 1}, 5e-10 * n, 1});
  }
  EXPECT_EQ(fit_program(observation_of("daxpy", calls)).program.routines.at("daxpy").level(), "M1");
  single[2].duration_s *= 3;  // one call that was interrupted
  expect_rates(law_of(fit_program(observation_of("daxpy", single)), "daxpy"), {{64e4, 0.5}});
}

TEST(ProgramFit, SaysHowFarModelsAreOff) {
  std::map<double, double> rates_ns;  // up and down, more often than there are pieces
  for (int i = 0; i < 12; ++i) rates_ns[1e3 * std::pow(2, i)] = i % 2 == 0 ? 1 : 3;
  ProgramObservation seen = observation_of("ddot", vectors(rates_ns));
  const double time_s = seen.executed_s;
  for (const ObservedCall& one : seen.calls.at("ddot"))
    seen.calls["region:sum"].push_back({{one.shape.n, 1, 1}, one.duration_s, 1});
  seen.regions["sum"] = seen.routines.at("ddot");
  const ProgramFit fit = fit_program(seen);
  EXPECT_GT(fit.errors.at("ddot").by_time, 0.15);
  EXPECT_THAT(far_off(seen, fit.errors), testing::ElementsAre(testing::StartsWith("ddot: its model is off by"),
                                                              testing::StartsWith("region sum: its model is off by")));
  seen.executed_s = 1000 * time_s;
  EXPECT_TRUE(far_off(seen, fit.errors).empty()) << "a thousandth of the time";
}

TEST(ProgramFit, WarnsOfRunsThatOthersStarved) {
  const auto warnings = [](const std::string& wall_s) {
    std::istringstream calls("routine,m,n,k,duration_s,calls\n"),
        times("what,name,calls,time_s,flop\nmpi,MPI_Sendrecv,1,0.73,0\ntotal,,0,0.15,0\nwall,,0," + wall_s + ",0\n");
    ProgramObservation seen;
    read_observed_rank({calls, "calls"}, {times, "a.zip:rank-0.times.csv"}, seen);
    return fit_program(seen).warnings;
  };
  EXPECT_THAT(warnings("5.2"), Contains(testing::AllOf(HasSubstr("a.zip:rank-0"), HasSubstr("hplcast doctor"))));
  EXPECT_THAT(warnings("1.5"), testing::Not(Contains(HasSubstr("hplcast doctor")))) << "MPI starts for some time";
}

// What NAS LU, class W, shows on two ranks: 15 and 16 columns, means of 192 calls. A line through them says that half
// of them take 96 % of the time.
TEST(ProgramFit, NeighbouringSizesAreOneSize) {
  ProgramObservation seen;
  seen.executed_s = 1;
  seen.calls["region:scale"] = {{{15, 31, 31}, 12.8242e-6, 300}, {{16, 31, 31}, 12.8564e-6, 300}};
  seen.regions["scale"] = {600, 600 * 12.84e-6, 0};
  seen.calls["dgemm"] = {{{15, 31, 31}, 25e-6, 300}, {{16, 31, 31}, 24e-6, 300}};
  seen.routines["dgemm"] = {600, 600 * 24.5e-6, 0};
  const ProgramFit fit = fit_program(seen);
  const core::KernelShape half{8, 31, 31}, twice{32, 31, 31};
  const core::PiecewiseLaw& scale = fit.program.regions.at("scale").model.cluster_law();
  const double per_column_s = 12.84e-6 / 15.5, difference = 1.0 / 31;  // of 15 or 16 from their mean
  EXPECT_NEAR(scale.at(half).mean_s(half), 8 * per_column_s, difference * 8 * per_column_s);
  EXPECT_NEAR(scale.at(twice).mean_s(twice), 32 * per_column_s, difference * 32 * per_column_s);
  EXPECT_NEAR(predicted_s(fit, "dgemm", twice), 32 * 24.5e-6 / 15.5, 2 * difference * 32 * 24.5e-6 / 15.5);
}

// A matrix C that no cache holds is read and written by each product that is added to it.
TEST(ProgramFit, ProductsBeyondTheRunTakeWhatWasMeasuredAfterIt) {
  const double per_product = 3.4e-11, per_element = 0.2e-9, begin = 1.5e6;
  const auto memory_s = [&](double m, double n) { return per_element * std::max(0.0, m * n - begin); };
  ProgramObservation seen = observation_of("dgemm", updates(per_product, 0));  // m = n = 1024 at most
  const auto alone_s = [&](const core::KernelShape& shape) { return predicted_s(fit_program(seen), "dgemm", shape); };
  const double inside_s = alone_s({1024, 1024, 64}), far_s = alone_s({4000, 2000, 64});
  for (double factor = 1.5; factor <= 6; factor *= 1.5) {
    const double m = 1024 * factor, n = 1024 * factor;
    seen.reach["dgemm"].push_back({{m, n, 64}, per_product * m * n * 64 + memory_s(m, n), 2});
  }
  const ProgramFit fit = fit_program(seen);
  const auto expect = [&](const core::KernelShape& shape, double expected_s) {
    EXPECT_NEAR(predicted_s(fit, "dgemm", shape), expected_s, 1e-6 * expected_s) << shape.m << ' ' << shape.k;
  };
  expect({1024, 1024, 64}, inside_s);
  expect({4000, 2000, 64}, far_s + memory_s(4000, 2000));
  expect({4000, 2000, 128}, 2 * far_s + memory_s(4000, 2000));
  expect({1200, 1200, 64}, far_s * 1200 * 1200 / (4000 * 2000));
  for (ObservedCall& one : seen.reach["dgemm"]) one.duration_s *= 0.5;  // faster than the run: a clock that rose
  EXPECT_DOUBLE_EQ(alone_s({4000, 2000, 64}), far_s);
}

// Small products are slower, by a step at 4096: the model has pieces along m n k.
TEST(ProgramFit, ProductsInPiecesGetOneMoreBeyondTheRun) {
  std::vector<ObservedCall> calls;
  for (const double size : {8, 10, 12, 14, 32, 64, 100, 128, 256})
    calls.push_back({{size, size, 32}, (size < 16 ? 3e-10 : 5e-11) * size * size * 32, 100});
  ProgramObservation seen = observation_of("dgemm", calls);
  const double inside_s = predicted_s(fit_program(seen), "dgemm", {256, 256, 32});
  const double far_s = predicted_s(fit_program(seen), "dgemm", {1000, 1000, 32});
  for (const double size : {384, 512, 768, 1024})
    seen.reach["dgemm"].push_back({{size, size, 32}, 5e-11 * size * size * 32 + 1e-10 * size * size, 2});
  const ProgramFit fit = fit_program(seen);
  ASSERT_GT(law_of(fit, "dgemm").pieces().size(), 2U);
  EXPECT_DOUBLE_EQ(predicted_s(fit, "dgemm", {256, 256, 32}), inside_s);
  EXPECT_NEAR(predicted_s(fit, "dgemm", {1000, 1000, 32}), far_s + 1e-10 * 1e6, 0.01 * far_s);
}

TEST(ProgramFit, WarnsOfRunsThatDisagree) {
  ProgramObservation seen;
  const auto add = [&](const std::string& name, double size, double gflops) {
    const double flop = 2 * size * size * size, time_s = flop / gflops / 1e9;
    const std::string sizes = core::shortest(size);
    std::istringstream calls("routine,m,n,k,duration_s,calls\ndgemm," + sizes + ',' + sizes + ',' + sizes + ',' +
                             core::shortest(time_s / 10) + ",10\n"),
        times("what,name,calls,time_s,flop\nroutine,dgemm,10," + core::shortest(time_s) + ',' + core::shortest(flop) +
              "\ntotal,,0," + core::shortest(time_s) + ",0\n");
    read_observed_rank({calls, name}, {times, name}, seen);
  };
  const auto disagreement = HasSubstr("with calls that are no larger");
  add("small.zip", 100, 30);
  add("large.zip", 1000, 50);
  EXPECT_THAT(fit_program(seen).warnings, testing::Not(Contains(disagreement))) << "small calls are slower";
  add("again.zip", 1000, 40);
  EXPECT_THAT(fit_program(seen).warnings, testing::Not(Contains(disagreement))) << "within what runs differ by";
  add("disturbed.zip", 1200, 29);
  EXPECT_THAT(fit_program(seen).warnings,
              Contains(testing::AllOf(disagreement, HasSubstr("dgemm made 29 Gflop/s in disturbed.zip"),
                                      HasSubstr("50 Gflop/s in large.zip"))));
}

TEST(ProgramFit, WarnsOfStaticBlasBesideRegions) {
  ProgramObservation seen;
  seen.executed_s = 1;
  seen.calls["region:setup"] = {{{1, 1, 1}, 1, 1}};
  seen.regions["setup"] = {1, 1, 0};
  EXPECT_THAT(fit_program(seen).warnings, Contains(HasSubstr("no routine of BLAS was seen")));
}

TEST(ProgramFit, RefusesRowsThatAreNoObservation) {
  const auto refused = [](const std::string& text, const std::string& of_times = "") {
    std::istringstream in(text), times("what,name,calls,time_s,flop\n" + of_times);
    ProgramObservation seen;
    try {
      read_observed_rank({in, "calls.csv"}, {times, "times.csv"}, seen);
    } catch (const core::Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refused("routine,m,n,duration_s,calls\n"), HasSubstr("k"));
  EXPECT_THAT(refused("routine,m,n,k,duration_s,calls\ndgemm,0,1,1,1e-3,1\n"), HasSubstr("calls.csv:2"));
  EXPECT_THAT(refused("routine,m,n,k,duration_s,calls\ndgemm,1,1,1,-1,1\n"), HasSubstr("calls.csv:2"));
  EXPECT_THAT(refused("routine,m,n,k,duration_s,calls\ndgemm,1,1,1,nan,1\n"), HasSubstr("calls.csv:2"));
  EXPECT_THAT(refused("routine,m,n,k,duration_s,calls,faults\ndgemm,1,1,1,1e-3,1,-1\n"), HasSubstr("faults"));
  const std::string header = "routine,m,n,k,duration_s,calls\n";
  EXPECT_EQ(refused(header, "wall,,0,1,0\n"), "accepted");
  EXPECT_THAT(refused(header, "wall,,0,-1,0\n"), HasSubstr("times.csv:2"));
}

TEST(ProgramFit, KnowsWhichFunctionsOfMpiExchangeMessages) {
  for (const char* name : {"MPI_Send", "MPI_Irecv", "MPI_Sendrecv_replace", "MPI_Waitall", "MPI_Iprobe", "MPI_Test",
                           "MPI_Startall", "MPI_Barrier", "MPI_Allreduce", "MPI_Reduce_scatter", "MPI_Gatherv",
                           "MPI_Scatter", "MPI_Alltoall", "MPI_Exscan", "MPI_Isend"})
    EXPECT_TRUE(exchanges_messages(name)) << name;
  for (const char* name : {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Comm_split", "MPI_Type_commit",
                           "MPI_Pack", "MPI_Wtime", "dgemm", "rest", "other", "ended", "stretches"})
    EXPECT_FALSE(exchanges_messages(name)) << name;
}

// Samples stand for all calls: some that are missing would make a model of the others only, or none.
TEST(ProgramFit, RefusesRanksThatHaveLostSamples) {
  const std::string header = "routine,m,n,k,duration_s,calls\n";
  const std::string samples = "dgemm,1,1,1,1e-6,33.3333333\ndgemm,1,1,1,1e-6,33.3333333\n";
  const std::string last = "dgemm,1,1,1,1e-6,33.3333333\n", region = "region:sum,1,1,1,1e-3,2\n";
  const std::string times = "what,name,calls,time_s,flop\nroutine,dgemm,100,1e-4,200\nregion,sum,2,2e-3,0\n";
  const auto said = [&](const std::string& calls) {
    std::istringstream in(header + calls), sums(times);
    ProgramObservation seen;
    try {
      read_observed_rank({in, "calls.csv"}, {sums, "times.csv"}, seen);
    } catch (const core::ParseError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(said(samples + last + region), "accepted");
  EXPECT_THAT(said(samples + region),
              testing::AllOf(HasSubstr("times.csv:2"), HasSubstr("100 of dgemm"), HasSubstr("stand for 66.6")));
  EXPECT_THAT(said(region), HasSubstr("stand for 0"));
  EXPECT_THAT(said(samples + last), testing::AllOf(HasSubstr("times.csv:3"), HasSubstr("region:sum")));
}

}  // namespace
}  // namespace hplcast::fit
