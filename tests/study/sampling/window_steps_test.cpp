// Windows that are added until the error is small enough, on curves of known scatter in place of simulations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "hplcast/core/random_stream.hpp"
#include "study/sampling/sampled_prediction.hpp"
#include "tests/support/asked.hpp"
#include "tests/support/example_cluster.hpp"
#include "tests/support/figure.hpp"

namespace hplcast::study {
namespace {

// Windows of a short run may have all of its panels: then nothing is estimated (`--windows off` says the same).
TEST(MarkedPanels, OfWindowsThatLeaveNoneOutAreNoSample) {
  const WindowRule rule = WindowRule::from("auto");
  core::MarkedPanels marked{100, 4, {}};
  for (int panel = 0; panel < marked.panels; ++panel) marked.marks_s.push_back(panel * (200 - panel));
  const WindowPlan plan = WindowPlan::of_program(marked.panels, marked.round, rule);
  ASSERT_GT(plan.windows.size(), 1U);
  ASSERT_EQ(plan.simulated().size(), 100U);
  EXPECT_FALSE(sampled_time(marked, rule, 10000));
}

constexpr int grid = 16;
constexpr double pi = 3.14159265358979;
constexpr double deviations = 2;  // of error_95_s

/// 1563 panels on 16 x 16 ranks, which is worth sampling.
RunPlan planned(std::uint64_t seed, double target_error = 0, int jobs = 1, const char* windows = "auto") {
  PredictionRequest request;
  request.cluster = tests::plain_cluster("node-[1-16]", 16);
  request.parameters.N = 200000;
  request.parameters.NB = 128;
  request.parameters.P = request.parameters.Q = grid;
  request.programs.platform_library = "/somewhere/libhplcast-platform.so";
  request.seed = seed;
  request.target_error = target_error;
  request.window_jobs = jobs;
  request.windows = WindowRule::from(windows);
  return resolve_unchecked(std::move(request));
}

double cost_s(int remaining) {
  return 1e-3 + 2e-5 * remaining + 3e-7 * remaining * remaining;
}

double mean_of_run_s(int panels) {
  double sum_s = 0;
  for (int panel = 0; panel < panels; ++panel) sum_s += cost_s(panels - panel);
  return sum_s;
}

/// Panels scatter by `scatter` (relative), each for itself, around waves that go round with the process columns.
WindowSimulator scattering(double scatter, double waves = 0) {
  return [scatter, waves](const RunPlan& plan, const SimulationWatch&) {
    const PanelWindow& window = *plan.window();
    const int panels = plan.windows().panels;
    core::RandomStream random({plan.seed(), core::stream_design, 0, 0, 0});
    HplSimulation result;
    result.prediction.parameters = plan.parameters();
    std::vector<double>& marks = result.panels.marks_s;
    marks = {0, 0};
    for (int panel = window.first; panel < window.simulated_to; ++panel)
      marks.push_back(marks.back() + cost_s(panels - panel) *
                                         (1 + scatter * random.normal() + waves * std::sin(2 * pi * panel / grid)));
    result.prediction.time_s = marks.back();
    return result;
  };
}

double simulated_panels(const core::Prediction& prediction, const RunPlan& plan) {
  return prediction.sampling->share * plan.windows().panels;
}

TEST(WindowSteps, BeginWithOnceRoundTheGridAndStopThereIfThatIsEnough) {
  const RunPlan plan = planned(1);
  ASSERT_EQ(plan.windows().windows.size(), 4U);
  EXPECT_EQ(plan.windows().windows.at(1).counts_to - plan.windows().windows.at(1).counts_from, grid);
  const core::Prediction found = predict_sampled(plan, {}, {}, scattering(0.002));
  EXPECT_EQ(found.sampling->windows.size(), 4U);
  EXPECT_LE(found.error_95_s, plan.windows().target * found.time_s);
  EXPECT_LT(plan.windows().simulated_share(), 0.5 * plan.windows().largest_share());
}

// As little as there must be: once round the process columns, whatever the rows, and few of the last panels in a long
// run, which begins out of step, too: 140 panels for the first window and for each of two others, and 137 from the last
// panel of the first process column on.
TEST(WindowSteps, OfManyRanksBeginWithFewPanels) {
  core::HplParameters p;
  p.N = 8000000;
  p.NB = 512;
  p.P = 160;
  p.Q = 128;
  p.DEPTH = 1;
  const WindowPlan plan = WindowPlan::make(p, WindowRule());
  ASSERT_EQ(plan.windows.size(), 4U);
  for (const PanelWindow& one : plan.windows)
    EXPECT_EQ(one.simulated_panels(), one.counts_to == plan.panels ? 137 : 140);
  EXPECT_TRUE(plan.windows.front().out_of_step);
  const std::vector<PanelPiece> last = steady_pieces(plan, plan.windows.back());
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last.front().first, plan.windows.back().counts_from);
  EXPECT_EQ(last.front().first + last.front().panels, plan.panels - 40);
  // A short run spends more in its last panels.
  p.N = 47LL * 160 * p.NB;
  const WindowPlan of_short = WindowPlan::make(p, WindowRule());
  EXPECT_GE(of_short.windows.back().simulated_panels(), 10 + 128 + 120);
  EXPECT_FALSE(of_short.windows.front().out_of_step);
  EXPECT_EQ(of_short.windows.front().simulated_panels(), 226);
}

// Once round 64 process columns scatters by an eighth of what panels do, so that first bars are about the target of 1
// %. The first step has at most half as many windows again.
TEST(WindowSteps, AddWindowsOfOnceRoundTheGridWhereTheirWarmUpIsShort) {
  std::size_t most = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    PredictionRequest request = planned(seed).request();
    request.cluster = tests::plain_cluster("node-[1-256]", 16);
    request.parameters.P = request.parameters.Q = 64;
    request.parameters.DEPTH = 1;
    request.parameters.N = 60LL * 64 * 128;
    const core::Prediction found = predict_sampled(resolve_unchecked(std::move(request)), {}, {}, scattering(0.075));
    const std::vector<core::PanelCost>& windows = found.sampling->windows;
    most = std::max(most, windows.size());
    for (std::size_t i = 1; i + 1 < windows.size() && windows.size() <= 6; ++i) EXPECT_EQ(windows[i].panels, 64) << i;
  }
  EXPECT_GT(most, 4U);
}

// Once round the grid scatters by a quarter of what panels do. The bar of n such pieces is at least two of their
// standard deviations by the square root of n; it is at most twice as wide (Student's law, the curve).
TEST(WindowSteps, AreAsManyAsTheScatterNeeds) {
  double windows_before = 4;
  for (const double scatter : {0.012, 0.018, 0.025}) {
    double windows = 0;
    constexpr int runs = 20;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
      const RunPlan plan = planned(seed);
      const core::Prediction found = predict_sampled(plan, {}, {}, scattering(scatter));
      windows += static_cast<double>(found.sampling->windows.size()) / runs;
      const double pieces = 2 * (static_cast<double>(found.sampling->windows.size()) - 4) + 4;
      const double bar = found.error_95_s / found.time_s, least = deviations * scatter / 4 / std::sqrt(pieces);
      EXPECT_GT(bar, 0.5 * least);
      EXPECT_LT(bar, 4 * least);
      if (simulated_panels(found, plan) + 47 > plan.windows().most_panels) continue;  // no place for another window
      EXPECT_LE(bar, plan.windows().target) << scatter;
    }
    EXPECT_GE(windows, windows_before);
    windows_before = windows;
  }
  EXPECT_GT(windows_before, 5);
}

TEST(WindowSteps, DoNotDependOnTheNumberOfProcesses) {
  const core::Prediction one = predict_sampled(planned(1), {}, {}, scattering(0.025));
  const core::Prediction three = predict_sampled(planned(1, 0, 3), {}, {}, scattering(0.025));
  EXPECT_GT(one.sampling->windows.size(), 5U);
  EXPECT_EQ(one.sampling->windows.size(), three.sampling->windows.size());
  EXPECT_EQ(one.time_s, three.time_s);
  EXPECT_EQ(one.error_95_s, three.error_95_s);
}

TEST(WindowSteps, EndWithAsManyPanelsAsAllWindowsAtOnce) {
  const RunPlan plan = planned(1);
  const core::Prediction found = predict_sampled(plan, {}, {}, scattering(0.3));
  EXPECT_LE(simulated_panels(found, plan), plan.windows().most_panels + 0.5);
  EXPECT_GT(simulated_panels(found, plan) + 47, plan.windows().most_panels);  // 12 + 32 + 2 panels, and one
  EXPECT_GT(found.error_95_s, plan.windows().target * found.time_s);
}

TEST(WindowSteps, GoOnForAnErrorThatWasAskedFor) {
  const RunPlan plan = planned(1, 0.004);
  const core::Prediction found = predict_sampled(plan, {}, {}, scattering(0.03));
  ASSERT_TRUE(found.sampling);
  EXPECT_GT(simulated_panels(found, plan), plan.windows().most_panels);
  EXPECT_LE(found.error_95_s, 0.004 * found.time_s);
}

/// How far estimates are off the mean of the run, relative to it, and their bars.
struct Errors {
  double inside = 0;           ///< share of them
  double rms = 0, rms_sd = 0;  ///< of errors, and what the bars say of it
};

Errors errors_of(std::uint64_t seeds, const WindowSimulator& simulator, const char* windows) {
  Errors found;
  const auto n = static_cast<double>(seeds);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const RunPlan plan = planned(seed, 0, 1, windows);
    const core::Prediction one = predict_sampled(plan, {}, {}, simulator);
    const double mean_s = mean_of_run_s(plan.windows().panels);
    const double error = one.time_s / mean_s - 1, sd = one.error_95_s / mean_s / deviations;
    found.inside += std::abs(error) <= deviations * sd ? 1 / n : 0;
    found.rms += error * error / n;
    found.rms_sd += sd * sd / n;
  }
  found.rms = std::sqrt(found.rms);
  found.rms_sd = std::sqrt(found.rms_sd);
  return found;
}

// 95 % of 500 are 475, less five binomial standard deviations: 450, nine in ten. Waves of 10 % that go round with the
// process columns do not matter.
TEST(WindowSteps, HoldTheirBarsWhateverTheWaves) {
  const Errors found = errors_of(500, scattering(0.02, 0.1), "auto");
  EXPECT_GE(found.inside, 0.9);
  EXPECT_LT(found.rms, 0.006 / 2);  // the target is a bar of two to three standard deviations
}

// Independent panels of which a share is simulated: rms = scatter / sqrt(panels that count), if all cost the same and
// their density were that of the time. Five windows of 32 panels and the first one's 83: 243, of 4 %: 0.257 %.
TEST(WindowSteps, HaveTheVarianceThatTheySay) {
  const Errors found = errors_of(500, scattering(0.04), "5");
  EXPECT_NEAR(found.rms / (0.04 / std::sqrt(243.0)), 1, 0.2);
  // Student's variance of 15 to 20 degrees of freedom is 1.13 times that of the scatter, and some curves bend.
  EXPECT_GT(found.rms_sd / found.rms, 0.95);
  EXPECT_LT(found.rms_sd / found.rms, 1.3);
}

TEST(WindowStepsFigures, BarsHold) {
  const auto seeds = static_cast<std::uint64_t>(test::asked("HPLCAST_SEEDS", 30));
  constexpr std::pair<double, const char*> figures[] = {
      {0.005, "sampled in steps: inside the bar, panels scatter by 0.5 %"},
      {0.02, "sampled in steps: inside the bar, panels scatter by 2 %"},
      {0.08, "sampled in steps: inside the bar, panels scatter by 8 %"}};
  for (const auto& [scatter, name] : figures) {
    double inside = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const core::Prediction found = predict_sampled(planned(seed), {}, {}, scattering(scatter));
      inside += std::abs(found.time_s - mean_of_run_s(planned(seed).windows().panels)) <= found.error_95_s ? 1 : 0;
    }
    // Two standard deviations of independent panels: 95 % or more, less three binomial standard deviations.
    test::expect_figure(name, inside / static_cast<double>(seeds),
                        0.95 - 3 * std::sqrt(0.05 * 0.95 / static_cast<double>(seeds)), 1);
  }
}

}  // namespace
}  // namespace hplcast::study
