#include "hplcast/fit/detours.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hplcast/core/errors.hpp"
#include "tests/support/generated_detours.hpp"

namespace hplcast::fit {
namespace {

using core::DetoursPer;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using Values = core::DetourSource::Values;

Values periodic(double period_s, double jitter_s, core::DetourDuration duration, DetoursPer per) {
  Values values;
  values.name = "agent";
  values.period_s = period_s;
  values.times = core::PeriodicDetours{jitter_s, {}};
  values.duration = std::move(duration);
  values.per = per;
  return values;
}

DetourFit fit_of(const std::vector<Values>& sources, tests::GeneratedPlace place, unsigned seed = 1) {
  return fit_detours(tests::GeneratedDetours(sources, place, seed).trace());
}

Values with_phase(Values values, double phase_s) {
  std::get<core::PeriodicDetours>(values.times).phase_s = phase_s;
  return values;
}

TEST(DetourSources, OfOneAgentAreThatAgent) {
  const DetourFit fit = fit_of({periodic(1, 1e-3, core::ConstantDuration{0.01}, DetoursPer::core)}, {1, 2, 60, 0.3});
  ASSERT_TRUE(fit.ok) << fit.reason;
  ASSERT_EQ(fit.sources.size(), 1U);
  const Values& found = fit.sources[0].source.values();
  EXPECT_EQ(found.name, "periodic-1");
  EXPECT_NEAR(found.period_s, 1, 1e-4);
  EXPECT_NEAR(std::get<core::PeriodicDetours>(found.times).jitter_s, 1e-3, 1e-4);
  EXPECT_EQ(found.per, DetoursPer::core);
  EXPECT_NEAR(core::mean_s(found.duration), 0.01, 1e-12);
  EXPECT_NEAR(fit.lost_share, 0.01, 0.0002);  // one of 60 may begin beyond the end
}

/// Every event is there with a probability.
core::DetourTrace thinned(core::DetourTrace trace, double probability, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::bernoulli_distribution is_there(probability);
  for (core::CoreDetours& core : trace.cores) {
    std::vector<core::DetourEvent> kept;
    for (const core::DetourEvent& event : core.events)
      if (is_there(engine)) kept.push_back(event);
    core.events = std::move(kept);
  }
  return trace;
}

// Without periods left out the source would take 1 / 0.7 times as much.
TEST(DetourSources, WithMissingDetoursTakeTheTimeThatWasMeasured) {
  int found = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const tests::GeneratedDetours all({periodic(1, 1e-3, core::UniformDuration{4e-3, 6e-3}, DetoursPer::core)},
                                      {2, 4, 60, 0.3}, seed);
    const DetourFit fit = fit_detours(thinned(all.trace(), 0.7, seed));
    ASSERT_TRUE(fit.ok) << fit.reason;
    EXPECT_FALSE(fit.too_much);
    EXPECT_NEAR(fit.explained_share / fit.lost_share, 1, 0.05) << seed;  // more is warned of
    const FoundDetours& source = fit.sources.front();
    if (source.cores < 8 || std::abs(source.source.values().period_s - 1) > 1e-3) continue;
    ++found;
    EXPECT_NEAR(source.occupancy, 0.7, 4 * std::sqrt(0.7 * 0.3 / 480));  // of 480 events
    EXPECT_EQ(core::sample_s(source.source.values().duration, 0.2), 0);
    EXPECT_NEAR(core::sample_s(source.source.values().duration, 0.65), 5e-3, 1.2e-3);
  }
  EXPECT_GE(found, 3);  // of others each second or third detour is taken for a source, or some cores have too few
}

TEST(DetourSources, OfOneAndTwoPerSecondAlikeTakeTheTimeThatWasMeasured) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const DetourFit fit = fit_of({periodic(1, 1e-3, core::ConstantDuration{5e-3}, DetoursPer::core),
                                  periodic(0.5, 1e-3, core::ConstantDuration{5e-3}, DetoursPer::core)},
                                 {2, 4, 60, 0.3}, seed);
    ASSERT_TRUE(fit.ok) << fit.reason;
    EXPECT_FALSE(fit.too_much) << seed;
    EXPECT_LT(fit.explained_share / fit.lost_share, 1.05) << seed;
    EXPECT_GT(fit.explained_share / fit.lost_share, 0.9) << seed;  // two that overlap may count as one
  }
}

Values on_cores(Values values, std::vector<int> cores) {
  values.cores = std::move(cores);
  return values;
}

Values poisson(const std::string& name, double interval_s, double mean_s) {
  Values values;
  values.name = name;
  values.times = core::PoissonDetours{};
  values.period_s = interval_s;
  values.duration = core::ExponentialDuration{mean_s};
  return values;
}

const FoundDetours* find(const DetourFit& fit, const std::string& name) {
  for (const FoundDetours& one : fit.sources)
    if (one.source.values().name == name) return &one;
  return nullptr;
}

// An agent pinned to some cores of each host, as of few as one of eight: no other core loses anything to it.
TEST(DetourSources, OfSomeCoresOnlyAreOfTheseCores) {
  const Values agent = periodic(1, 1e-3, core::ConstantDuration{0.01}, DetoursPer::core);
  const Values rest = poisson("rest", 0.05, 2e-5);
  for (const std::vector<int>& cores : {std::vector<int>{0}, {5}, {0, 4}, {0, 1, 2, 3}, {1, 2, 3, 4, 5, 6, 7}}) {
    for (const int hosts : {1, 3}) {
      SCOPED_TRACE(std::to_string(cores.front()) + "... " + std::to_string(hosts) + " hosts");
      const DetourFit fit = fit_of({on_cores(agent, cores), rest}, {hosts, 8, 60, 0.3});
      ASSERT_TRUE(fit.ok) << fit.reason;
      ASSERT_EQ(fit.sources.size(), 2U);
      const FoundDetours* found = find(fit, "periodic-1");
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->source.values().cores, cores);
      EXPECT_EQ(found->cores, cores.size() * static_cast<std::size_t>(hosts));
      EXPECT_NEAR(found->source.values().period_s, 1, 1e-4);
      EXPECT_NEAR(core::mean_s(found->source.values().duration), 0.01, 2e-4);  // asked of the fit: 2 %
      // Of all cores; one event of 60 may begin beyond the end.
      EXPECT_NEAR(found->share, 0.01 * static_cast<double>(cores.size()) / 8, 0.02 * 0.01);
      EXPECT_NEAR(fit.explained_share, fit.lost_share, 0.02 * fit.lost_share);
    }
  }
}

TEST(DetourSources, ThatComeAtRandomOnOneCoreMoreOftenAreASourceOfThatCore) {
  const DetourFit fit =
      fit_of({on_cores(poisson("interrupts", 0.01, 5e-5), {2}), poisson("rest", 0.2, 5e-5)}, {2, 4, 60, 0.3});
  ASSERT_TRUE(fit.ok) << fit.reason;
  ASSERT_EQ(fit.sources.size(), 2U);
  const FoundDetours *own = find(fit, "rest-core-2"), *all = find(fit, "rest");
  ASSERT_NE(own, nullptr);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(own->source.values().cores, std::vector<int>{2});
  EXPECT_TRUE(all->source.values().cores.empty());
  // 12,000 events on two cores, and 300 on each of the others: three standard deviations.
  EXPECT_NEAR(own->source.values().period_s, 0.01, 3 * 0.01 / std::sqrt(12000.0));
  EXPECT_NEAR(all->source.values().period_s, 0.2, 3 * 0.2 / std::sqrt(1800.0));
  EXPECT_NEAR(fit.explained_share, fit.lost_share, 0.02 * fit.lost_share);
}

// Long ones on one core, short ones on all, a few times as many events on that core: what is told apart by the number
// of events takes the time that was measured all the same.
TEST(DetourSources, ThatComeAtRandomTakeTheTimeThatWasMeasured) {
  for (const double mean_s : {2e-4, 5e-5, 5e-6}) {
    const DetourFit fit =
        fit_of({on_cores(poisson("others", 0.02, mean_s), {1}), poisson("rest", 0.05, 2e-5)}, {1, 2, 60, 0.3});
    ASSERT_TRUE(fit.ok) << fit.reason;
    ASSERT_NE(find(fit, "rest-core-1"), nullptr);
    EXPECT_NEAR(fit.explained_share, fit.lost_share, 1e-9 * fit.lost_share) << mean_s;
  }
}

TEST(DetourSources, WithTheSamePhaseOnAllCoresButJitterOfTheirOwnShareThePhase) {
  const auto agent = with_phase(periodic(0.5, 0.01, core::ConstantDuration{2e-3}, DetoursPer::core), 0.123);
  const DetourFit fit = fit_of({agent}, {2, 4, 60, 0.25});
  ASSERT_EQ(fit.sources.size(), 1U);
  const Values& found = fit.sources[0].source.values();
  EXPECT_EQ(found.per, DetoursPer::core);
  const auto& times = std::get<core::PeriodicDetours>(found.times);
  ASSERT_TRUE(times.phase_s);
  // After the trace's epoch; its window begins at 0.25 s. Within a tenth of the jitter: 960 events tell their mean.
  EXPECT_NEAR(*times.phase_s, 0.373, 1e-3);
}

TEST(DetourSources, OfHostsAreKnownByWhatTheirCoresHaveInCommon) {
  const auto agent = periodic(0.3, 5e-3, core::ExponentialDuration{1e-3}, DetoursPer::host);
  const DetourFit fit = fit_of({agent}, {3, 4, 60, 0.3});
  ASSERT_EQ(fit.sources.size(), 1U);
  EXPECT_EQ(fit.sources[0].source.values().per, DetoursPer::host);
  EXPECT_FALSE(std::get<core::PeriodicDetours>(fit.sources[0].source.values().times).phase_s);
}

TEST(DetourSources, OfTheSamePeriodAreToldApartByTheirDurations) {
  const DetourFit fit = fit_of({periodic(1, 0, core::ConstantDuration{0.01}, DetoursPer::core),
                                periodic(1, 0, core::ConstantDuration{1e-4}, DetoursPer::core)},
                               {1, 4, 60, 0.3});
  ASSERT_EQ(fit.sources.size(), 2U);
  EXPECT_NEAR(core::mean_s(fit.sources[0].source.values().duration), 0.01, 1e-4);
  EXPECT_NEAR(core::mean_s(fit.sources[1].source.values().duration), 1e-4, 1e-6);
  for (const FoundDetours& found : fit.sources) EXPECT_NEAR(found.source.values().period_s, 1, 1e-5);
}

// All detours together have one in every period, too: the one agent here, the other one there.
TEST(DetourSources, OfTheSamePeriodAreToldApartOnHostsOfOtherPhases) {
  int told_apart = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const DetourFit fit = fit_of({periodic(1, 0, core::ConstantDuration{5e-3}, DetoursPer::host),
                                  periodic(1, 0, core::ConstantDuration{1e-3}, DetoursPer::host)},
                                 {2, 4, 60, 0.3}, seed);
    told_apart +=
        fit.sources.size() == 2 && std::abs(core::mean_s(fit.sources[0].source.values().duration) - 5e-3) < 1e-4;
  }
  EXPECT_GE(told_apart, 17);  // two half a second apart on a host may be one of half the period: 1 of 20 here
}

// Times that each host counts from a moment of its own may agree, and say nothing.
TEST(DetourSources, OfHostsWithoutACommonClockAreNeverOfTheCluster) {
  Values rest = periodic(0.5, 0, core::ExponentialDuration{1e-4}, DetoursPer::cluster);
  rest.times = core::PoissonDetours{};
  for (const Values& source : {periodic(1, 1e-3, core::ConstantDuration{5e-3}, DetoursPer::cluster), rest}) {
    core::DetourTrace trace = tests::GeneratedDetours({source}, {3, 4, 60, 0.3}, 1).trace();
    EXPECT_EQ(fit_detours(trace).sources.at(0).source.values().per, DetoursPer::cluster);
    trace.common_clock = false;
    const DetourFit fit = fit_detours(trace);
    EXPECT_EQ(fit.sources.at(0).source.values().per, DetoursPer::host);
    for (const FoundDetours& found : fit.sources) EXPECT_NE(found.source.values().per, DetoursPer::cluster);
    EXPECT_THAT(fit.notes, Contains(HasSubstr("no common clock")));
  }
}

TEST(DetourSources, OfAMultipleOfAFrequencyAreFoundBoth) {
  const DetourFit fit = fit_of({periodic(0.01, 0, core::ConstantDuration{1e-5}, DetoursPer::core),
                                periodic(0.1, 0, core::ConstantDuration{5e-5}, DetoursPer::core)},
                               {1, 2, 30, 0.3});
  ASSERT_EQ(fit.sources.size(), 2U);
  EXPECT_NEAR(fit.sources[0].source.values().period_s, 0.01, 1e-7);
  EXPECT_NEAR(fit.sources[1].source.values().period_s, 0.1, 1e-6);
}

// 16 cores that are hit at once are no 16 witnesses: six of ten such fits had a periodic source.
TEST(DetourSources, OfPoissonEventsAreNotPeriodic) {
  int periodic_ones = 0;
  for (const int cores : {4, 16}) {
    for (unsigned seed = 1; seed <= 30; ++seed) {
      Values rest;
      rest.name = "rest";
      rest.times = core::PoissonDetours{};
      rest.period_s = cores == 4 ? 0.05 : 0.2;
      rest.duration = core::ExponentialDuration{1e-4};
      rest.per = cores == 4 ? DetoursPer::core : DetoursPer::host;
      const DetourFit fit = fit_of({rest}, {1, cores, 60, 0.3}, seed);
      for (const FoundDetours& found : fit.sources)
        periodic_ones += std::holds_alternative<core::PeriodicDetours>(found.source.values().times);
    }
  }
  EXPECT_EQ(periodic_ones, 0);  // chance is kept below 1e-11 for each period that is tried
}

TEST(DetourSources, OfPoissonEventsThatHitAllCoresOfAHostArePerHost) {
  Values both, alone;
  both.name = "both";
  both.times = alone.times = core::PoissonDetours{};
  both.period_s = 0.5;
  both.duration = core::ConstantDuration{1e-3};
  both.per = DetoursPer::host;
  alone.name = "alone";
  alone.period_s = 0.1;
  alone.duration = core::ConstantDuration{1e-5};
  const DetourFit fit = fit_of({both, alone}, {2, 4, 100, 0.3});
  ASSERT_EQ(fit.sources.size(), 2U);
  EXPECT_EQ(fit.sources[0].source.values().per, DetoursPer::host);
  EXPECT_NEAR(fit.sources[0].source.values().period_s, 0.5, 0.1);  // four standard errors of 400 events
  EXPECT_EQ(fit.sources[1].source.values().per, DetoursPer::core);
  EXPECT_NEAR(fit.sources[1].source.values().period_s, 0.1, 0.005);  // of 8000
}

void shift(core::CoreDetours& core, double by_s) {
  for (core::DetourWindow& window : core.windows) window.start_s += by_s, window.end_s += by_s;
  for (core::DetourEvent& event : core.events) event.start_s += by_s;
}

// The rate of events counts while cores were watched, not from the first host's beginning to the last one's end.
TEST(DetourSources, OfHostsThatWereWatchedOneAfterTheOtherAreFound) {
  for (const double later_s : {60.0, 75.0, 3600.0}) {
    SCOPED_TRACE(later_s);
    core::DetourTrace trace =
        tests::GeneratedDetours({periodic(0.01, 1e-4, core::ConstantDuration{5e-5}, DetoursPer::core)}, {2, 2, 60, 0.3},
                                1)
            .trace();
    for (core::CoreDetours& core : trace.cores) shift(core, core.host == "node-2" ? later_s : 0);
    const DetourFit fit = fit_detours(trace);
    ASSERT_TRUE(fit.ok) << fit.reason;
    ASSERT_EQ(fit.sources.size(), 1U);
    EXPECT_EQ(fit.sources[0].source.values().name, "periodic-1");
    EXPECT_NEAR(fit.sources[0].source.values().period_s, 0.01, 1e-7);
    EXPECT_NEAR(fit.sources[0].occupancy, 1, 0.01);
    EXPECT_EQ(fit.sources[0].cores, 4U);
    EXPECT_EQ(fit.sources[0].source.values().per, DetoursPer::core);
    EXPECT_THAT(fit.notes, Not(Contains(HasSubstr("far apart"))));
  }
}

TEST(DetourSources, OfCoresThatWereWatchedSeldomAreDoubted) {
  core::DetourTrace trace = tests::GeneratedDetours({poisson("rest", 0.1, 1e-5)}, {1, 1, 60, 0.3}, 1).trace();
  trace.cores[0].windows.push_back({3600, 3660});
  EXPECT_THAT(fit_detours(trace).notes, Contains(HasSubstr("far apart")));
}

// What one core of a host shows need not hit the others.
TEST(DetourSources, OfAHostOfWhichOneCoreWasWatchedAreOfThatCore) {
  core::DetourTrace trace = tests::GeneratedDetours({poisson("rest", 0.1, 1e-5)}, {2, 4, 100, 0.3}, 1).trace();
  trace.cores.erase(trace.cores.begin() + 1, trace.cores.begin() + 4);
  ASSERT_EQ(trace.cores[0].host, "node-1");
  ASSERT_EQ(trace.cores[1].host, "node-2");
  const DetourFit fit = fit_detours(trace);
  ASSERT_TRUE(fit.ok) << fit.reason;
  ASSERT_EQ(fit.sources.size(), 1U);
  EXPECT_EQ(fit.sources[0].source.values().name, "rest");
  EXPECT_EQ(fit.sources[0].cores, 5U);
  EXPECT_NEAR(fit.sources[0].source.values().period_s, 0.1, 3 * 0.1 / std::sqrt(5000.0));
}

TEST(DetourSources, ThatTheSchedulerCutIntoSlicesAreJoinedIfWanted) {
  core::DetourTrace trace =
      tests::GeneratedDetours({periodic(1, 1e-3, core::ConstantDuration{0.01}, DetoursPer::core)}, {1, 2, 60, 0.3}, 1)
          .trace();
  for (core::CoreDetours& core : trace.cores) {
    std::vector<core::DetourEvent> slices;  // 4 ms, and 3 ms after 3 ms, twice
    for (const core::DetourEvent& event : core.events)
      slices.insert(slices.end(), {{event.start_s, 4e-3}, {event.start_s + 7e-3, 3e-3}, {event.start_s + 13e-3, 3e-3}});
    core.events = slices;
  }
  DetourFitOptions options;
  options.join_s = 4e-3;
  const DetourFit fit = fit_detours(trace, options);
  ASSERT_EQ(fit.sources.size(), 1U);
  EXPECT_NEAR(core::mean_s(fit.sources[0].source.values().duration), 0.01, 1e-9);
  EXPECT_GT(fit_detours(trace).sources.size(), 1U);
  EXPECT_NEAR(fit.lost_share, fit.explained_share, 0.02 * fit.lost_share);
}

/// As a loop sees it whose passes begin anywhere: an event begins with the pass that it lies in.
core::DetourTrace seen_in_passes(core::DetourTrace trace, double pass_s, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> earlier(0, pass_s);
  for (core::CoreDetours& core : trace.cores) {
    core.resolution_s = pass_s;
    for (core::DetourEvent& event : core.events) event.start_s -= earlier(engine);
  }
  return trace;
}

// 2.5 ms of each 0.1 s, in passes of 50 us: errors of the starts are neither jitter nor instants of the cores' own.
TEST(DetourSources, AreTogetherAsFarAsPassesTell) {
  for (const DetoursPer per : {DetoursPer::host, DetoursPer::core}) {
    const tests::GeneratedDetours all({periodic(0.1, 0, core::ConstantDuration{2.5e-3}, per)}, {3, 2, 10, 0.3}, 4);
    const DetourFit fit = fit_detours(seen_in_passes(all.trace(), 5e-5, 5));
    ASSERT_EQ(fit.sources.size(), 1U);
    const Values& found = fit.sources[0].source.values();
    EXPECT_EQ(found.per, per);
    EXPECT_LT(std::get<core::PeriodicDetours>(found.times).jitter_s, 1e-5);
  }
}

// By chance a tenth of 1 ms is within a pass of 50 us; a median of 3000 differences is known to 1 us.
TEST(DetourSources, AreTogetherByTheMedianOfManyPasses) {
  int together = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto found = [&](DetoursPer per) {
      const tests::GeneratedDetours all({periodic(1e-3, 0, core::ConstantDuration{5e-5}, per)}, {1, 2, 3, 0.3}, seed);
      return fit_detours(seen_in_passes(all.trace(), 5e-5, seed)).sources.at(0).source.values().per;
    };
    EXPECT_EQ(found(DetoursPer::host), DetoursPer::host) << seed;
    together += found(DetoursPer::core) == DetoursPer::host ? 1 : 0;
  }
  EXPECT_LE(together, 2);  // 0.2 to be expected
}

TEST(DetourSources, OfSumsAreOnePoissonSource) {
  core::DetourTrace trace;
  trace.summaries = {{"a", 0, 10, 1e-3, 100, 2e-5}, {"a", 1, 10, 3e-3, 300, 2e-5}};
  const DetourFit fit = fit_detours(trace);
  ASSERT_TRUE(fit.ok);
  ASSERT_EQ(fit.sources.size(), 1U);
  EXPECT_NEAR(fit.sources[0].source.values().period_s, 0.05, 1e-12);
  EXPECT_NEAR(fit.sources[0].source.share(), 2e-4, 1e-12);
}

TEST(DetourSources, OfNothingAreNoFit) {
  core::DetourTrace trace;
  trace.cores.push_back({"a", 0, {{0, 10}}, {}});
  const DetourFit fit = fit_detours(trace);
  EXPECT_FALSE(fit.ok);
  EXPECT_NE(fit.reason, "");
}

std::vector<double> draws(const core::DetourDuration& law, std::size_t count) {
  std::mt19937_64 engine(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(core::sample_s(law, uniform(engine)));
  return values;
}

TEST(DetourDurations, HaveTheLawThatTheyWereDrawnFrom) {
  EXPECT_EQ(fit_duration({1e-3}).index(), core::DetourDuration(core::ConstantDuration{}).index());
  EXPECT_TRUE(
      std::holds_alternative<core::ConstantDuration>(fit_duration(draws(core::UniformDuration{1e-3, 1.01e-3}, 500))));
  EXPECT_TRUE(
      std::holds_alternative<core::ExponentialDuration>(fit_duration(draws(core::ExponentialDuration{1e-3}, 500))));
  EXPECT_TRUE(
      std::holds_alternative<core::UniformDuration>(fit_duration(draws(core::UniformDuration{1e-3, 2e-3}, 500))));
}

TEST(DetourDurations, OfNoLawAreQuantilesWithTheirMean) {
  std::vector<double> values(990, 5e-6);
  for (int i = 0; i < 10; ++i) values.push_back(4e-3 + 1e-4 * i);  // rare and long: most of the time
  double mean_s = 0;
  for (const double value : values) mean_s += value / 1000;
  const core::DetourDuration law = fit_duration(values);
  ASSERT_TRUE(std::holds_alternative<core::QuantileDuration>(law));
  EXPECT_NEAR(core::mean_s(law), mean_s, 1e-12 * mean_s + 1e-18);
  EXPECT_NEAR(core::sample_s(law, 0.5), 5e-6, 1e-12);
}

TEST(DetourDurations, MustBeThere) {
  EXPECT_THROW(fit_duration({}), core::DomainError);
  EXPECT_THROW(fit_duration({0}), core::DomainError);
  EXPECT_THROW(fit_duration({NAN}), core::DomainError);
}

}  // namespace
}  // namespace hplcast::fit
