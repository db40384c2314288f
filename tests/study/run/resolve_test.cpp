#include "hplcast/study/resolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <type_traits>

#include "hplcast/core/errors.hpp"
#include "study/run/local_machine.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/example_cluster.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::error_in;

static_assert(!std::is_default_constructible_v<RunPlan> && !std::is_constructible_v<RunPlan, PredictionRequest>,
              "plans are made by resolve()");
static_assert(!std::is_copy_assignable_v<RunPlan> && !std::is_move_assignable_v<RunPlan>, "plans do not change");
template <typename Value>
constexpr bool is_read_only = !std::is_reference_v<Value> || std::is_const_v<std::remove_reference_t<Value>>;
static_assert(is_read_only<decltype(std::declval<RunPlan&>().request())> &&
              is_read_only<decltype(std::declval<RunPlan&>().windows())> &&
              is_read_only<decltype(std::declval<RunPlan&>().window())> &&
              is_read_only<decltype(std::declval<RunPlan&>().needs())> &&
              is_read_only<decltype(std::declval<RunPlan&>().warnings())>);

core::HplParameters parameters(long long N, int NB, int P, int Q) {
  core::HplParameters p;
  p.N = N;
  p.NB = NB;
  p.P = P;
  p.Q = Q;
  return p;
}

/// On 32 hosts of 32 cores, with the platform library.
PredictionRequest request(const core::HplParameters& p) {
  PredictionRequest result;
  result.cluster = tests::plain_cluster("node-[1-32]", 32);
  result.parameters = p;
  result.programs.platform_library = "/somewhere/libhplcast-platform.so";
  return result;
}

TEST(Resolve, GivesTheSamePlanWhetherTheRunIsWantedOrEstimated) {
  for (const long long N : {1000LL, 60000LL, 200000LL, 500000LL}) {
    PredictionRequest asked = request(parameters(N, 128, 16, 16));
    asked.seed = 7;
    const RunPlan wanted = resolve(asked), estimated = resolve_unchecked(asked);
    EXPECT_EQ(wanted.mode(), estimated.mode());
    EXPECT_EQ(wanted.unsampled_mode(), estimated.unsampled_mode());
    EXPECT_EQ(wanted.needs().wall_s, estimated.needs().wall_s);
    EXPECT_EQ(wanted.memory().options, estimated.memory().options);
    ASSERT_EQ(wanted.windows().windows.size(), estimated.windows().windows.size());
    for (std::size_t i = 0; i < wanted.windows().windows.size(); ++i)
      EXPECT_EQ(wanted.windows().windows[i].first, estimated.windows().windows[i].first);
    EXPECT_EQ(wanted.seed(), 7U);
    EXPECT_EQ(wanted.ranks(), 256);
    EXPECT_EQ(wanted.parameters(), asked.parameters);
    EXPECT_FALSE(wanted.window());
  }
}

TEST(Resolve, TakesFastModeFromAMillionMessagesInPanelFactorisationsOn) {
  // Of 5 messages a column and rank, fast mode simulates one of 32.
  const auto mode = [](PredictionRequest asked) { return resolve(std::move(asked)).mode(); };
  PredictionRequest few = request(parameters(6451, 128, 32, 32)), many = request(parameters(6452, 128, 32, 32));
  EXPECT_EQ(mode(few), SimulationMode::exact);
  EXPECT_EQ(mode(many), SimulationMode::fast);
  PredictionRequest traced = many;
  traced.observation.trace = "trace.json";
  EXPECT_EQ(mode(traced), SimulationMode::exact);
  few.mode = SimulationMode::fast;
  many.mode = SimulationMode::exact;
  EXPECT_EQ(mode(few), SimulationMode::fast);
  EXPECT_EQ(mode(many), SimulationMode::exact);
}

TEST(Resolve, SamplesExactlyIfItsWindowsTakeNotLong) {
  PredictionRequest asked = request(parameters(200000, 128, 16, 16));  // 13 million messages in panel factorisations
  const auto planned = [&] { return resolve_unchecked(asked); };
  EXPECT_TRUE(planned().is_sampled());
  EXPECT_EQ(planned().mode(), SimulationMode::exact);
  EXPECT_EQ(planned().unsampled_mode(), SimulationMode::fast);
  asked.windows = WindowRule::from("off");
  EXPECT_EQ(planned().mode(), SimulationMode::fast);
  asked.windows = {};
  asked.mode = SimulationMode::fast;
  EXPECT_EQ(planned().mode(), SimulationMode::fast);
  asked.mode = SimulationMode::automatic;
  asked.parameters = parameters(500000, 128, 32, 32);  // exact windows would take twice as long
  EXPECT_EQ(planned().mode(), SimulationMode::fast);
  asked.parameters = parameters(2000000, 256, 64, 64);
  EXPECT_TRUE(planned().is_sampled());
  EXPECT_EQ(planned().mode(), SimulationMode::fast);
}

TEST(Resolve, TakesFewerWindowsWherePanelsAreCostly) {
  PredictionRequest asked = request(parameters(500000, 128, 32, 32));
  asked.windows.target = 0;
  const auto windows = [&] { return resolve_unchecked(asked).windows().windows.size(); };
  asked.parameters.SWAP = 1;  // so many messages that fewer panels have to do
  EXPECT_EQ(windows(), 6U);
  asked.parameters.SWAP = 0;
  EXPECT_EQ(windows(), 7U);
  asked.mode = SimulationMode::exact;
  EXPECT_EQ(windows(), 6U);
  asked.windows = WindowRule::from("5");
  EXPECT_EQ(windows(), 7U);
}

TEST(Resolve, BeginsWithFewWindowsAndSaysHowManyThereMayBe) {
  PredictionRequest asked = request(parameters(500000, 128, 32, 32));
  asked.parameters.SWAP = 0;
  asked.windows.target = 0;
  const RunPlan at_once = resolve_unchecked(asked);
  EXPECT_EQ(at_once.needs().most_wall_s, 0);
  asked.windows = WindowRule();
  const RunPlan plan = resolve_unchecked(asked);
  EXPECT_EQ(plan.windows().windows.size(), 4U);
  EXPECT_LT(plan.windows().simulated_share(), 0.4 * at_once.windows().simulated_share());
  EXPECT_NEAR(plan.windows().largest_share(), at_once.windows().simulated_share(), 1e-3);
  EXPECT_EQ(plan.mode(), at_once.mode());
  EXPECT_LT(plan.needs().wall_s, 0.5 * at_once.needs().wall_s);
  EXPECT_NEAR(plan.needs().most_wall_s, at_once.needs().wall_s, 0.1 * at_once.needs().wall_s);
  EXPECT_EQ(plan.windows().target, WindowRule().target);
  asked.target_error = 0.001;  // as many as that takes
  EXPECT_EQ(resolve_unchecked(asked).needs().most_wall_s, 0);
  asked.target_error = 0;
  asked.parameters.SWAP = 1;  // takes more than a minute
  EXPECT_EQ(resolve_unchecked(asked).windows().target, 0.01);
}

TEST(Resolve, SamplesOnlyRunsThatAreLongAndNotObserved) {
  EXPECT_FALSE(resolve(request(parameters(20000, 128, 4, 4))).is_sampled()) << "takes seconds";
  EXPECT_FALSE(resolve_unchecked(request(parameters(100000, 512, 32, 32))).is_sampled()) << "has few panels";
  PredictionRequest asked = request(parameters(200000, 128, 16, 16));
  asked.observation.phases_csv = "phases.csv";
  EXPECT_FALSE(resolve(asked).is_sampled());
  asked.only_window = 1;
  asked.keep = "kept";
  EXPECT_TRUE(resolve(asked).is_sampled());
}

TEST(Resolve, SimulatesAllPanelsWhereWindowsHaveNoPlace) {
  PredictionRequest asked = request(parameters(99840, 384, 16, 16));
  asked.mode = SimulationMode::exact;
  asked.parameters.DEPTH = 50;
  const RunPlan plan = resolve_unchecked(asked);
  EXPECT_FALSE(plan.is_sampled());
  EXPECT_EQ(plan.windows().simulated_share(), 1);
  asked.windows = WindowRule::from("off");
  EXPECT_EQ(plan.needs().wall_s, resolve_unchecked(asked).needs().wall_s);
}

TEST(Resolve, EstimatesTheWindowsThatAreSimulated) {
  PredictionRequest asked = request(parameters(200000, 128, 16, 16));
  asked.windows = WindowRule::from("off");
  asked.mode = SimulationMode::fast;
  const SimulationNeeds all = resolve(asked).needs();
  EXPECT_EQ(all.wall_s, SimulationNeeds::of_all_panels(asked.parameters, SimulationMode::fast).wall_s);
  asked.windows = WindowRule::from("5");
  const RunPlan one_job = resolve(asked);
  const double share = one_job.windows().simulated_share();
  EXPECT_GT(one_job.needs().wall_s, share * all.wall_s) << "ranks are started in every window";
  EXPECT_LT(one_job.needs().wall_s, 2 * share * all.wall_s);
  EXPECT_EQ(one_job.needs().simulated_messages, share * all.simulated_messages);
  asked.window_jobs = 3;
  const SimulationNeeds three_jobs = resolve(asked).needs();
  EXPECT_DOUBLE_EQ(three_jobs.wall_s, one_job.needs().wall_s / 3);
  EXPECT_DOUBLE_EQ(three_jobs.memory_bytes, 3 * one_job.needs().memory_bytes);
  asked.window_jobs = 0;  // cores of this machine, of which others leave it none
  EXPECT_EQ(resolve(asked).window_jobs(),
            std::min(local_machine().cores, static_cast<int>(one_job.windows().windows.size())));
  asked.at_a_time = 1000;
  asked.force = true;
  EXPECT_EQ(resolve(asked).window_jobs(), 1);
}

TEST(Resolve, PlansWindowsFromThePlanOfTheWhole) {
  const RunPlan whole = resolve(request(parameters(200000, 128, 16, 16)));
  ASSERT_EQ(whole.mode(), SimulationMode::exact);
  std::set<std::uint64_t> seeds;
  for (const PanelWindow& one : whole.windows().windows) {
    const RunPlan plan = whole.of_window(one);
    ASSERT_TRUE(plan.window());
    EXPECT_EQ(plan.window()->first, one.first);
    EXPECT_EQ(plan.mode(), whole.mode());
    EXPECT_EQ(plan.memory().options, whole.memory().options);
    EXPECT_EQ(&plan.request(), &whole.request());
    seeds.insert(plan.seed());
  }
  EXPECT_EQ(seeds.size(), whole.windows().windows.size());
  EXPECT_EQ(whole.of_window(whole.windows().windows.front()).seed(), whole.seed());
  EXPECT_FALSE(whole.window());
}

TEST(Resolve, SaysThatMostRanksHaveNoPartOfTheMatrix) {
  const auto warnings = [](int N, int NB) { return resolve(request(parameters(N, NB, 16, 8))).warnings(); };
  EXPECT_THAT(warnings(700, 100), ::testing::Contains(HasSubstr("79 of 128 ranks have no part of the matrix: N=700 is "
                                                                "7 blocks of NB=100, on a grid of 16 x 8")));
  EXPECT_THAT(warnings(800, 100), ::testing::Not(::testing::Contains(HasSubstr("no part of the matrix"))));
}

/// 4 hosts of 2 cores, then 2 of 8.
PredictionRequest request_of_kinds(const core::HplParameters& p) {
  PredictionRequest result = request(p);
  core::Hosts::Values hosts;
  hosts.names = "old-[1-4],new-[1-2]";
  hosts.cores = 2;
  hosts.memory_bytes = 1e9;
  hosts.kinds = {{"new", "new-[1-2]", 8, 1, {}, 1e8, 1}};
  result.cluster.hosts = core::Hosts::make(hosts);
  return result;
}

TEST(Resolve, LooksAtEveryKindOfHosts) {
  EXPECT_THAT(resolve(request_of_kinds(parameters(1000, 100, 2, 4))).warnings(),
              ::testing::Contains(HasSubstr("the hosts of kind new (2) stay idle: hosts are filled in order, and P x Q "
                                            "= 8 ranks end before them")));
  EXPECT_THAT(resolve(request_of_kinds(parameters(1000, 100, 3, 3))).warnings(),
              ::testing::Not(::testing::Contains(HasSubstr("idle"))));
  EXPECT_THAT(error_in([] { resolve(request_of_kinds(parameters(1000, 100, 5, 5))); }),
              HasSubstr("4 hosts (others) of 2 cores, 2 hosts (new) of 8 cores"));
  // Of 16 ranks 8 are on new-1, which has 1e8 bytes: 8 N^2 / 2 of them are N = 5000. Each old host has an eighth.
  resolve(request_of_kinds(parameters(4999, 100, 4, 4)));
  EXPECT_THAT(error_in([] { resolve(request_of_kinds(parameters(5001, 100, 4, 4))); }), HasSubstr("GiB (new)"));
}

TEST(Resolve, RefusesPanelsThatHplCannotCount) {
  resolve(request(parameters(1000, 26000, 1, 1)));
  for (const int NB : {27000, 2147483647})
    EXPECT_THAT(error_in([&] { resolve(request(parameters(1000, NB, 1, 1))); }), HasSubstr("panels of less than 2^31"));
}

TEST(Resolve, RefusesInTheOrderOfWhatIsWrongFirst) {
  PredictionRequest asked = request(parameters(6400, 64, 64, 64));
  asked.windows = WindowRule::from("6");
  asked.observation.trace = "trace.json";
  asked.mode = SimulationMode::fast;
  const auto error = [&] { return error_in([&] { resolve(asked); }); };
  EXPECT_THAT(error(), HasSubstr("64 x 64 = 4096 ranks"));
  EXPECT_THAT(error_in([&] { resolve_unchecked(asked); }), HasSubstr("windows"));
  asked.parameters = parameters(6400, 64, 4, 8);
  EXPECT_THAT(error(), HasSubstr("windows that have place beside each other"));
  asked.windows = {};
  EXPECT_THAT(error(), HasSubstr("the fast mode has no messages inside panel factorisations"));
  asked.mode = SimulationMode::exact;
  asked.only_window = 0;
  EXPECT_THAT(error(), HasSubstr("--only-window needs --keep"));
  asked.only_window.reset();
  EXPECT_THAT(error(), IsEmpty());
}

}  // namespace
}  // namespace hplcast::study
