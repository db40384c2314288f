// Sources of detours on cores that were watched in turns, with a source and without it.
#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/detours.hpp"
#include "tests/support/generated_detours.hpp"

namespace hplcast::fit {
namespace {

using Values = core::DetourSource::Values;

constexpr tests::GeneratedPlace place{1, 2, 60, 0};
constexpr double turn_s = 0.5;

Values at_random(const char* name, double period_s, core::DetourDuration duration) {
  Values values;
  values.name = name;
  values.period_s = period_s;
  values.times = core::PoissonDetours{};
  values.duration = std::move(duration);
  return values;
}

Values periodic(double period_s, double duration_s) {
  Values values = at_random("agent", period_s, core::ConstantDuration{duration_s});
  values.times = core::PeriodicDetours{0, {}};
  return values;
}

const Values machine = at_random("machine", 0.2, core::ExponentialDuration{1e-3});

/// The detours of every other turn.
core::DetourTrace turns(const std::vector<Values>& sources, bool second, unsigned seed,
                        const tests::GeneratedPlace& where = place) {
  core::DetourTrace trace = tests::GeneratedDetours(sources, where, seed).trace();
  for (core::CoreDetours& core : trace.cores) {
    std::vector<core::DetourEvent> kept;
    core.windows.clear();
    for (double begin_s = second ? turn_s : 0; begin_s < place.for_s; begin_s += 2 * turn_s)
      core.windows.push_back({begin_s, begin_s + turn_s});
    for (const core::DetourEvent& event : core.events)
      if ((std::fmod(event.start_s, 2 * turn_s) >= turn_s) == second) kept.push_back(event);
    core.events = std::move(kept);
  }
  return trace;
}

/// The fit of one side with the other one beside it.
struct BothSides {
  BothSides(const std::vector<Values>& with_sources, unsigned seed) : BothSides(with_sources, {machine}, seed, place) {}
  BothSides(const std::vector<Values>& with_sources, const std::vector<Values>& sources, unsigned seed,
            const tests::GeneratedPlace& where)
      : trace_with(turns(with_sources, true, seed, where)), trace_without(turns(sources, false, seed + 1000, where)) {}
  core::DetourTrace trace_with, trace_without;
  DetourFit with = fit_detours(trace_with, {}, trace_without), without = fit_detours(trace_without, {}, trace_with);
};

const FoundDetours* named(const DetourFit& fit, const std::string& name) {
  for (const FoundDetours& found : fit.sources)
    if (found.source.values().name == name) return &found;
  return nullptr;
}

// 60 s of two cores are seen, 30 s of each side: sums of 600 Poisson events with an exponential law scatter by sqrt(2 /
// 600).
TEST(DetoursInTurns, HaveTheSameRestWithASourceAndWithoutIt) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const BothSides sides({machine, periodic(0.01, 2.5e-4)}, seed);
    ASSERT_TRUE(sides.with.ok && sides.without.ok) << sides.with.reason << sides.without.reason;
    const FoundDetours *with = named(sides.with, "rest"), *without = named(sides.without, "rest");
    ASSERT_TRUE(with != nullptr && without != nullptr);
    EXPECT_EQ(core::detours_json({with->source}), core::detours_json({without->source})) << seed;
    EXPECT_NEAR(with->share, 0.005, 4 * 0.005 * std::sqrt(2 / 600.0));
    // With a share of its own each side would have another one.
    EXPECT_NE(named(fit_detours(sides.trace_with), "rest")->share,
              named(fit_detours(sides.trace_without), "rest")->share);
    EXPECT_NEAR(sides.with.explained_share - sides.without.explained_share, 0.025, 0.0005);
    EXPECT_NEAR(sides.with.lost_share - sides.without.lost_share, 0.025, 0.0005);
    EXPECT_FALSE(sides.with.too_much || sides.without.too_much);
  }
}

// 1200 events at random instants are the source's: 0.5 % more or less in 95 of 100 draws.
TEST(DetoursInTurns, KeepASourceWithoutPeriodToTheirSide) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Values agent = at_random("agent", 0.05, core::UniformDuration{0.8e-3, 1.2e-3});
    const BothSides sides({machine, agent}, seed);
    ASSERT_TRUE(sides.with.ok && sides.without.ok) << sides.with.reason << sides.without.reason;
    EXPECT_NE(named(sides.with, "own"), nullptr);
    // The machine's in the same half decades are each side's own: 300 of each side.
    const double sd = std::sqrt(0.02 * 0.02 / 1200 + 2 * 0.005 * 0.005 * 2 / 300);
    EXPECT_NEAR(sides.with.explained_share - sides.without.explained_share, 0.02, 4 * sd) << seed;
    const double apart = fit_detours(sides.trace_with).lost_share - fit_detours(sides.trace_without).lost_share;
    EXPECT_NEAR(sides.with.lost_share - sides.without.lost_share, apart, 4 * 0.005 * std::sqrt(2 / 300.0));
  }
}

// As many, but each takes more than twice as long, in one half decade: the difference was 0.
TEST(DetoursInTurns, KeepDurationsThatASourceMakesLongerToTheirSide) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Values slower = at_random("machine", 0.05, core::UniformDuration{2.6e-3, 2.9e-3});
    const Values usual = at_random("machine", 0.05, core::UniformDuration{1.1e-3, 1.3e-3});
    const core::DetourTrace with = turns({slower}, true, seed), without = turns({usual}, false, seed + 1000);
    const double difference =
        fit_detours(with, {}, without).explained_share - fit_detours(without, {}, with).explained_share;
    // 1200 events of each side.
    EXPECT_NEAR(difference, 20 * (2.75e-3 - 1.2e-3), 4 * 20 * std::hypot(2.75e-3, 1.2e-3) / std::sqrt(1200)) << seed;
  }
}

// 16 cores that are hit together are no 16 independent ones: nearly all fits took them for the agent's.
TEST(DetoursInTurns, OfAllCoresAtOnceAreTheSameOnBothSides) {
  Values machine_wide = machine;
  machine_wide.per = core::DetoursPer::host;
  int own = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const BothSides sides({machine_wide}, {machine_wide}, seed, {1, 16, 60, 0});
    own += named(sides.with, "own-host") != nullptr || named(sides.with, "own") != nullptr ? 1 : 0;
    ASSERT_NE(named(sides.with, "rest-host"), nullptr);
  }
  EXPECT_LE(own, 1);
}

// The turns come regularly, and so do random events in them: as many as 14 sources took two thirds of what was
// measured.
TEST(DetoursInTurns, AtRandomInstantsAreNotPeriodic) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Values agent = at_random("agent", 0.05, core::UniformDuration{0.8e-3, 1.2e-3});
    const DetourFit fit = fit_detours(turns({machine, agent}, true, seed));
    ASSERT_TRUE(fit.ok) << fit.reason;
    EXPECT_EQ(fit.sources.size(), 1U) << seed;
    EXPECT_NEAR(fit.explained_share / fit.lost_share, 1, 1e-9);
  }
}

// Of a source with the period of the turns all detours are seen, or none.
TEST(DetoursInTurns, WithThePeriodOfTheTurnsAreFoundWhereTheyAreWatched) {
  Values agent = periodic(2 * turn_s, 0.01);
  std::get<core::PeriodicDetours>(agent.times).phase_s = 0.7;
  const DetourFit fit = fit_detours(turns({machine, agent}, true, 1));
  ASSERT_TRUE(fit.ok) << fit.reason;
  const FoundDetours* found = named(fit, "periodic-1");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->source.values().period_s, 2 * turn_s, 1e-4);
  EXPECT_NEAR(found->occupancy, 1, 1e-9);
  EXPECT_EQ(found->events, 120);
}

// Cores that are watched for less than a period at a time, and have none of its detours, are of the model, too.
TEST(DetoursInTurns, OfOneHostOfTwoTakeTheTimeThatWasMeasured) {
  core::DetourTrace trace = turns({periodic(0.613, 5e-3)}, true, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    core::CoreDetours quiet = trace.cores[i];
    quiet.host = "node-2";
    quiet.events.clear();
    trace.cores.push_back(quiet);
  }
  const DetourFit fit = fit_detours(trace);
  ASSERT_TRUE(fit.ok) << fit.reason;
  EXPECT_NEAR(fit.explained_share / fit.lost_share, 1, 0.1);  // of some 49 expected on two cores
}

TEST(DetoursInTurns, AreOfTheSameCoresAtOtherTimes) {
  const core::DetourTrace first = turns({machine}, false, 1);
  core::DetourTrace other = turns({machine}, true, 2);
  EXPECT_TRUE(fit_detours(first, {}, other).ok);
  EXPECT_THROW(fit_detours(first, {}, first), core::ParseError);
  other.cores.back().core = 7;
  EXPECT_THROW(fit_detours(first, {}, other), core::ParseError);
  core::DetourTrace sums;
  sums.summaries.push_back({"node-1", 0, 60, 0.3, 300, 0.01});
  EXPECT_THROW(fit_detours(first, {}, sums), core::ParseError);
  EXPECT_THROW(fit_detours(sums, {}, first), core::ParseError);
}

}  // namespace
}  // namespace hplcast::fit
