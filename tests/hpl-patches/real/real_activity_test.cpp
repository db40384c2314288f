// What xhpl-instrumented keeps of real runs (HPLCAST_ACTIVITY), and run-real makes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hplcast/core/activity_trace.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/study/real_runs.hpp"
#include "study/activity/observed_ranks.hpp"
#include "study/activity/rank_activity.hpp"
#include "tests/hpl-patches/runs.hpp"
#include "tests/hpl-patches/totals.hpp"

namespace hplcast::hpl_patches {
namespace {

using study::RankActivity;
using ::testing::HasSubstr;

class RealActivity : public ::testing::Test {
 protected:
  core::CommandResult run(const core::HplParameters& parameters, std::map<std::string, std::string> more = {}) {
    write_dat(folder_.path(), parameters, false);
    more.insert({"HPLCAST_ACTIVITY", (folder_ / "run").string()});
    return mpirun(folder_.path(), "xhpl-instrumented", parameters.P * parameters.Q, more);
  }
  RankActivity rank(int number) const {
    RankActivity result;
    core::read_file(folder_ / ("run-" + std::to_string(number) + ".activity"),
                    [&](std::istream& in, const std::string& name) { result = study::read_rank_activity(in, name); });
    return result;
  }
  static std::size_t count(const RankActivity& rank, study::ActivityEvent::Kind kind) {
    return static_cast<std::size_t>(std::count_if(rank.events.begin(), rank.events.end(),
                                                  [kind](const auto& event) { return event.kind == kind; }));
  }

  ScratchFolder folder_;
};

TEST_F(RealActivity, PhasesOfEveryRankAddUpToTheTimedPart) {
  for (const auto& [p, q] : {std::pair{1, 2}, {2, 1}}) {
    const auto result = run(configuration(500, 32, p, q));
    ASSERT_EQ(result.status, 0) << result.output;
    for (const int number : {0, 1}) {
      const RankActivity one = rank(number);
      double sum_s = 0;
      for (const auto& phase : one.phases) sum_s += phase.elapsed_s;
      // Six phases, begin and end are rounded to 1e-9 s each; sums of 1e5 doubles of up to a second are nearer.
      EXPECT_NEAR(sum_s, one.end_s - one.begin_s, 8e-9);
      // HPL reads its clock just outside, and takes the slowest rank.
      EXPECT_LE(one.end_s - one.begin_s, runs_in(result.output)[0].time_s + 1e-6);
      for (const auto& phase : one.phases) {
        double inside_s = 0;
        for (const auto& kernel : phase.kernels) inside_s += kernel.time_s;
        for (const auto& message : phase.messages) inside_s += message.time_s;
        EXPECT_LE(inside_s, phase.elapsed_s + 1e-9 * 30) << "of at most 30 rounded sums";
      }
    }
  }
}

TEST_F(RealActivity, KernelsAreThoseOfTheKernelFiles) {
  ASSERT_EQ(run(configuration(400, 32, 1, 2), {{"HPLCAST_KERNEL_TRACE", (folder_ / "trace").string()}}).status, 0);
  for (const int number : {0, 1}) {
    const RankActivity one = rank(number);
    auto totals = read_totals(folder_ / ("trace-" + std::to_string(number) + ".totals.csv"));
    EXPECT_GT(totals["dgemm_empty"].total_s, 0);
    for (std::size_t kernel = 0; kernel < core::kernel_names.size(); ++kernel) {
      study::CallSum sum;
      for (const auto& phase : one.phases) {
        sum.calls += phase.kernels[kernel].calls;
        sum.time_s += phase.kernels[kernel].time_s;
        sum.amount += phase.kernels[kernel].amount;
      }
      const KernelTotal& total = totals.at(core::kernel_names[kernel]);
      const KernelTotal& empty = totals[std::string(core::kernel_names[kernel]) + HPLCAST_EMPTY_CALLS];
      EXPECT_EQ(static_cast<long long>(sum.calls), total.calls) << core::kernel_names[kernel];
      // A duration is the end less the begin of readings that may be 1e6 s: rounded by 1e-10 s per call.
      EXPECT_NEAR(sum.time_s, total.total_s + empty.total_s,
                  1e-8 + 1e-10 * static_cast<double>(total.calls + empty.calls));
      EXPECT_DOUBLE_EQ(sum.amount, total.flop);
      study::KernelCalls of_classes;
      for (const study::KernelCalls& class_of_sizes : one.kernel_calls)
        if (static_cast<std::size_t>(class_of_sizes.kernel) == kernel) add(of_classes, class_of_sizes);
      EXPECT_EQ(of_classes.calls, sum.calls);
      EXPECT_NEAR(of_classes.time_s, total.total_s, 1e-8 + 1e-10 * static_cast<double>(sum.calls));
    }
  }
}

TEST_F(RealActivity, BothEndsOfEveryMessageAreBroughtTogether) {
  ASSERT_EQ(run(configuration(300, 32, 2, 1), {{"HPLCAST_TRACE_RANKS", "0-0"}}).status, 0);
  const std::vector<RankActivity> ranks = {rank(0), rank(1)};
  const auto waits = study::message_waits(ranks, study::clocks_of(ranks));
  double all_s = 0;
  double known_s = 0;
  double sent = 0;
  double received = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t phase = 0; phase < core::phase_names.size(); ++phase) {
      known_s += waits.known[i][phase].calls_s;
      for (std::size_t j = 0; j < core::mpi_names.size(); ++j) {
        const study::CallSum& sum = ranks[i].phases[phase].messages[j];
        if (study::may_wait(static_cast<std::uint8_t>(j))) all_s += sum.time_s;
        const std::string name = core::mpi_names[j];
        (name.find("send") != std::string::npos ? sent : received) += sum.amount;
      }
    }
  }
  EXPECT_NEAR(known_s / all_s, 1, 1e-3);  // times of events are rounded to 1e-9 s, of at least 1e-6 s
  EXPECT_EQ(waits.too_early, 0U) << "one clock";
  EXPECT_EQ(sent, received);
  EXPECT_GT(sent, 0);
  using Kind = study::ActivityEvent::Kind;
  EXPECT_GT(count(ranks[0], Kind::kernel), 100U);
  EXPECT_EQ(count(ranks[1], Kind::kernel), 0U) << "not traced";
}

TEST_F(RealActivity, ThinsPanelsWhereItHasNoPlace) {
  ASSERT_EQ(run(configuration(600, 16, 2, 1),
                {{"HPLCAST_ACTIVITY_EVENTS", "1000"}, {"HPLCAST_TRACE_RANKS", "0-9"}, {"HPLCAST_TRACE_PANELS", "5-5"}})
                .status,
            0);
  const RankActivity one = rank(0);
  EXPECT_LE(one.events.size(), 1000U);
  EXPECT_GT(one.stride, 1);
  bool has_chosen = false;
  for (const auto& event : one.events) {
    EXPECT_TRUE(event.panel < 0 || event.panel == 5 || event.panel % one.stride == 0) << event.panel;
    has_chosen |= event.panel == 5;
  }
  EXPECT_TRUE(has_chosen);
}

TEST_F(RealActivity, FindsAPlantedOffsetAndDrift) {
  ASSERT_EQ(run(configuration(1000, 64, 1, 2), {{"HPLCAST_TEST_CLOCK", "-20.5,0.01"}}).status, 0);
  const std::vector<RankActivity> ranks = {rank(0), rank(1)};
  const auto clocks = study::clocks_of(ranks);
  // The planted clock shows -20.5 + 1.01 t when that of rank 0 shows t. Both comparisons have their own bounds.
  const double error_s = clocks[1].error_s() * 1.02 + 1e-9;
  for (const double t_s : {ranks[0].begin_s, ranks[0].end_s})
    EXPECT_NEAR(clocks[1].at_rank_0_s(-20.5 + 1.01 * t_s), t_s, error_s);
  // Within 20 us, if a round trip is that short on this machine now.
  EXPECT_LT(clocks[1].error_s(), 0.01);
  EXPECT_EQ(study::message_waits(ranks, clocks).too_early, 0U);
}

TEST_F(RealActivity, ClocksOfOneMachineAreOne) {
  ASSERT_EQ(run(configuration(200, 32, 1, 2)).status, 0);
  EXPECT_TRUE(rank(0).clocks.empty());
  EXPECT_EQ(rank(1).first_rank_of_host, 0);
}

TEST_F(RealActivity, RefusesSettingsThatItCannotRead) {
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"HPLCAST_ACTIVITY_EVENTS", "many"}, {"HPLCAST_TRACE_RANKS", "3"}, {"HPLCAST_TRACE_PANELS", "4-2"}}) {
    const auto result = run(configuration(100, 32, 1, 1), {{name, value}});
    EXPECT_NE(result.status, 0);
    EXPECT_THAT(result.output, HasSubstr(name + " must be"));
    EXPECT_FALSE(fs::exists(folder_ / "run-0.activity"));
  }
}

TEST_F(RealActivity, RunRealKeepsPhasesAndATraceOfEveryRun) {
  study::RealRunRequest request;
  request.configurations = {configuration(300, 32, 1, 2)};
  request.repetitions = 2;
  request.results = folder_ / "real.csv";
  request.launch.oversubscribe = true;  // the machine may have one core
  request.xhpl = program_path("xhpl-instrumented");
  request.observation.phases = true;
  request.observation.traces = folder_ / "traces";
  int observed = 0;
  request.observed = [&](const study::RealActivity& activity) {
    ++observed;
    double sum_s = 0;
    for (const auto& phase : activity.phases) sum_s += phase.elapsed_s;
    EXPECT_LE(sum_s, activity.run.time_s + 1e-6) << "a mean over ranks; the time is of the slowest";
    EXPECT_GT(activity.overhead, 0);
  };
  study::run_real(request);
  EXPECT_EQ(observed, 2);
  std::size_t traces = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "traces")) {
    const auto trace = nlohmann::json::parse(read_text(entry.path()));
    EXPECT_GT(trace.at("traceEvents").size(), 100U);
    ++traces;
  }
  EXPECT_EQ(traces, 2U);
  EXPECT_THAT(read_text(folder_ / "real.csv"), HasSubstr(",instrumented,blas\n"));
  request.observation = {};
  EXPECT_ANY_THROW(study::run_real(request)) << "plain runs have another file";
}

}  // namespace
}  // namespace hplcast::hpl_patches
