#include "study/sampling/sampled_prediction.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/curve_integral.hpp"
#include "study/run/parallel_runs.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

/// The pieces of the gaps, not yet estimated.
std::vector<core::PanelCost> gap_pieces(const WindowPlan& plan) {
  std::vector<core::PanelCost> pieces;
  for (std::size_t i = 1; i < plan.windows.size(); ++i) {
    const int begin = plan.windows[i - 1].counts_to, end = plan.windows[i].counts_from;
    constexpr int most = 40;  // pieces of one gap
    const int piece = std::max(plan.piece, (end - begin + most - 1) / most);
    for (int from = begin; from < end; from += piece) pieces.push_back({from, std::min(piece, end - from), 0, 0});
  }
  return pieces;
}

/// The scatter of pieces by panels within windows. Its variance is right within a factor of 1.6, which is worth some
/// ten degrees of freedom, where there are enough panels (docs/measurements/sampled.md).
fit::ScatterPrior scatter_of(const WindowPlan& plan, const std::vector<std::vector<double>>& panels) {
  constexpr double most_worth = 10, least_worth = 1;
  const fit::ScatterPrior rounds = fit::scatter_of_rounds(panels, static_cast<std::size_t>(plan.piece));
  return {rounds.unit_variance, std::clamp(rounds.dof / 2, std::min(rounds.dof, least_worth), most_worth)};
}

/// `--windows K` alone: none are added.
bool wants_only_these_windows(const PredictionRequest& request) {
  return request.windows.kind == WindowRule::Kind::as_given && request.target_error <= 0;
}

struct SimulatedWindow {
  PanelWindow window;
  HplSimulation simulation;

  /// From the begin of panel `from` to that of `to`, or to the end of the run if `ends`.
  double time_s(int from, int to, bool ends) const {
    const std::vector<double>& marks = simulation.panels.marks_s;
    const double start_s = marks.front();
    const auto begin_s = [&](int panel) {
      return marks.at(static_cast<std::size_t>(panel - window.first + 1)) - start_s;
    };
    // The run begins before the first panel, and ends with the solution, when the last rank has it.
    return (ends ? simulation.prediction.time_s : begin_s(to)) - (from == 0 ? 0 : begin_s(from));
  }
};

class SampledRun {
 public:
  SampledRun(const RunPlan& plan, fs::path folder, const SimulationWatch& watch, WindowSimulator simulator)
      : plan_(plan),
        windows_(plan.windows()),
        folder_(std::move(folder)),
        watch_(watch),
        simulator_(std::move(simulator)) {}

  core::Prediction run() {
    const auto begin = std::chrono::steady_clock::now();
    if (plan_.request().only_window) return only(*plan_.request().only_window);
    for (;;) {
      try {
        simulate_missing();
      } catch (const core::ExternalError& error) {
        tell_what_is_left(error);
      }
      core::Prediction prediction = combined();
      prediction.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (!add_windows(prediction)) return prediction;
    }
  }

 private:
  HplSimulation simulate(const PanelWindow& window, const SimulationWatch& watch) const {
    const RunPlan plan = plan_.of_window(window);
    if (simulator_) return simulator_(plan, watch);
    const fs::path folder =
        folder_ / ("panels-" + std::to_string(window.first) + "-" + std::to_string(window.simulated_to - 1));
    // Its trace is wanted, not its time, which messages of SMPI (--paje) may change.
    const bool observed = is_observed(plan.request().observation);
    if (!observed)
      if (auto known = read_window(plan, folder)) return *std::move(known);
    std::error_code error;
    fs::create_directories(folder, error);
    for (const char* stale : {"statistics.json", "progress"}) fs::remove(folder / stale, error);
    // The only window is the run, which has no place of a window among detours, and levels of power.
    HplSimulation simulation = simulate_hpl(windows_.windows.size() == 1 ? plan_ : plan, folder, watch);
    if (!observed) write_window(plan, folder, simulation);
    return simulation;
  }

  void simulate_missing() {
    std::vector<PanelWindow> missing;
    for (const PanelWindow& window : windows_.windows)
      if (samples_.count(window.counts_from) == 0) missing.push_back(window);
    // The longest first, or one job would end long after the others.
    std::stable_sort(missing.begin(), missing.end(), [](const PanelWindow& a, const PanelWindow& b) {
      return a.simulated_panels() > b.simulated_panels();
    });
    simulate_all(missing);
  }

  void simulate_all(const std::vector<PanelWindow>& windows) {
    ParallelRuns<HplSimulation>(
        windows.size(), plan_.window_jobs(),
        [&](std::size_t index, const SimulationWatch& watch) { return simulate(windows[index], watch); })
        .run(
            [&](std::size_t index, HplSimulation simulation) {
              samples_[windows[index].counts_from] = {windows[index], std::move(simulation)};
            },
            [&](const std::vector<double>& fractions) {
              if (watch_.while_running) watch_.while_running();
              if (watch_.on_progress) watch_.on_progress(progress(windows, fractions));
            });
  }

  /// Windows that have ended need not be simulated again.
  [[noreturn]] void tell_what_is_left(const core::ExternalError& error) const {
    if (samples_.empty()) throw core::ExternalError(error);
    throw core::ExternalError(error.status(), std::string(error.what()) +
                                                  "\n  hint: " + std::to_string(samples_.size()) + " of " +
                                                  std::to_string(windows_.windows.size()) +
                                                  " windows have ended; `hplcast predict ... --keep " +
                                                  folder_.string() + "` goes on with them");
  }

  /// Windows of earlier steps count as well.
  SimulationProgress progress(const std::vector<PanelWindow>& windows, const std::vector<double>& fractions) const {
    double all = 0;
    for (const auto& [begin, sample] : samples_) all += sample.window.simulated_panels();
    for (const PanelWindow& window : windows)
      if (samples_.count(window.counts_from) > 0) all -= window.simulated_panels();
    double done = all;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const double panels = windows[i].simulated_panels();
      done += fractions[i] * panels;
      all += panels;
    }
    return {done / all, 0};
  }

  /// One of them, for jobs that share the folder.
  core::Prediction only(int number) {
    const auto count = static_cast<int>(windows_.windows.size());
    core::require(number < count, "window", number, "0 to " + std::to_string(count - 1) + ", the windows of this run");
    simulate_all({windows_.windows[static_cast<std::size_t>(number)]});
    return samples_.begin()->second.simulation.prediction;
  }

  core::Prediction combined() const {
    core::Prediction prediction = samples_.begin()->second.simulation.prediction;
    if (windows_.windows.size() == 1) return prediction;
    SampledTime sampled = sampled_time(windows_, [&](const PanelWindow& window, int from, int to) {
      return samples_.at(window.counts_from).time_s(from, to, to == windows_.panels);
    });
    prediction.time_s = sampled.time_s;
    prediction.error_95_s = sampled.error_95_s;
    std::vector<HplSimulation> simulations;
    for (const auto& [begin, sample] : samples_) simulations.push_back(sample.simulation);
    prediction.gflops = core::hpl_flop(static_cast<double>(plan_.parameters().N)) / prediction.time_s / 1e9;
    prediction.seed = plan_.seed();
    prediction.peak_pss_bytes = peak_pss_bytes();
    integrate_counts(windows_, simulations, prediction);
    prediction.sampling = std::move(sampled.sampling);
    return prediction;
  }

  /// Sum over the windows that may have been there at the same time.
  double peak_pss_bytes() const {
    std::vector<double> peaks;
    for (const auto& [begin, sample] : samples_) peaks.push_back(sample.simulation.prediction.peak_pss_bytes);
    std::sort(peaks.rbegin(), peaks.rend());
    peaks.resize(std::min(peaks.size(), static_cast<std::size_t>(plan_.window_jobs())));
    return std::accumulate(peaks.begin(), peaks.end(), 0.0);
  }

  /// Beside a window that is off the smooth curve: HPL may go on in another way from somewhere near it.
  std::vector<PanelWindow> windows_at_a_change(const core::Prediction& prediction) {
    constexpr int most_rounds = 2;  // where a curve has a step, it never becomes smooth
    if (wants_only_these_windows(plan_.request()) || prediction.sampling->deviation <= smooth_deviation ||
        changes_ == most_rounds)
      return {};
    ++changes_;
    return windows_beside(windows_, plan_.parameters(), plan_.request().windows,
                          prediction.sampling->deviates_at_panel);
  }

  /// If the error is too large: windows for as many panels as are missing if it falls with the square root of their
  /// number less two pieces (docs/measurements/sampled.md), at most half as many again as there are windows, where the
  /// pieces of gaps have the largest errors. They are once round the grid, if their warm-up is at most half of that,
  /// and twice as wide where these would be more than two. For the target of the rule there are at most most_panels.
  std::vector<PanelWindow> windows_for_the_error(const core::Prediction& prediction) const {
    const double asked = plan_.request().target_error;
    const double target_s = (asked > 0 ? asked : windows_.target) * prediction.time_s;
    if (target_s <= 0 || prediction.error_95_s <= target_s) return {};
    const double times = prediction.error_95_s / (0.9 * target_s);  // bars may fall a tenth less
    WindowRule rule = plan_.request().windows;
    const int usual = rule.width_for(plan_.parameters()), widest = rule.width > 0 ? usual : 2 * usual;
    const PanelWindow& planned = plan_.windows().windows.at(1);
    const int round = planned.counts_to - planned.counts_from;
    const int narrow = 3 * round >= 2 * planned.simulated_panels() ? std::min(round, usual) : usual;
    const double most = std::ceil(static_cast<double>(windows_.windows.size()) / 2) * narrow;
    const double missing = std::min((typical_panels() - 2 * windows_.piece) * (times * times - 1), most);
    const auto windows = [&] { return static_cast<int>(std::ceil(missing / rule.width)); };
    for (rule.width = narrow; 2 * rule.width <= widest && windows() > 2;) rule.width *= 2;
    for (;; rule.width /= 2) {
      std::vector<PanelWindow> more = affordable_between(prediction, rule, windows());
      if (more.size() > 1 || rule.width == narrow) return more;
    }
  }

  /// Not the last ones, where next to nothing is spent.
  double typical_panels() const {
    double sum = 0;
    for (const PanelWindow& window : windows_.windows)
      for (const PanelPiece& piece : steady_pieces(windows_, window))
        sum += window.counts_to < windows_.panels ? piece.panels : 0;
    return sum;
  }

  std::vector<PanelWindow> affordable_between(const core::Prediction& prediction, const WindowRule& rule,
                                              int most) const {
    const auto error_s = [&](const PanelPiece& gap) {
      double sum_s = 0;
      for (const core::PanelCost& piece : prediction.sampling->pieces)
        if (piece.first_panel >= gap.first && piece.first_panel < gap.first + gap.panels)
          sum_s += piece.error_95_s.value_or(0);
      return sum_s;
    };
    std::vector<PanelWindow> more = windows_between(windows_, plan_.parameters(), rule, most, error_s);
    double simulated = windows_.simulated_share() * windows_.panels;
    for (std::size_t i = 0; plan_.request().target_error <= 0 && i < more.size(); ++i) {
      simulated += more[i].simulated_panels();
      if (simulated > windows_.most_panels + 0.5) more.resize(i);
    }
    return more;
  }

  /// Whether windows for the target error would have as many panels as the run, if it falls with the square root of
  /// their number. The error of the first few windows falls faster.
  bool all_panels_cost_less(const core::Prediction& prediction) const {
    const double target_s = plan_.request().target_error * prediction.time_s;
    if (target_s <= 0 || prediction.error_95_s <= target_s) return false;
    constexpr double nearly = 0.8;
    if (windows_.simulated_share() < nearly * windows_.most_panels / windows_.panels) return false;
    const double times = prediction.error_95_s / target_s;
    return windows_.simulated_share() * times * times >= 1;
  }

  bool simulate_all_panels() {
    windows_.windows = {{0, 0, windows_.panels, windows_.panels}};
    samples_.clear();
    return true;
  }

  /// False: there are enough, or there is no place.
  bool add_windows(const core::Prediction& prediction) {
    if (!prediction.sampling) return false;
    std::vector<PanelWindow> more = windows_at_a_change(prediction);
    if (more.empty() && all_panels_cost_less(prediction)) return simulate_all_panels();
    if (more.empty()) more = windows_for_the_error(prediction);
    windows_.windows.insert(windows_.windows.end(), more.begin(), more.end());
    std::sort(windows_.windows.begin(), windows_.windows.end(),
              [](const PanelWindow& a, const PanelWindow& b) { return a.counts_from < b.counts_from; });
    if (!more.empty() && windows_.simulated_share() >= 1) return simulate_all_panels();
    return !more.empty();
  }

  const RunPlan& plan_;
  WindowPlan windows_;  // those of the plan, and those that were added
  fs::path folder_;
  const SimulationWatch& watch_;
  WindowSimulator simulator_;               // empty: HPL's
  std::map<int, SimulatedWindow> samples_;  // by the first panel that counts
  int changes_ = 0;                         // rounds of windows_at_a_change()
};

}  // namespace

SampledTime sampled_time(const WindowPlan& plan,
                         const std::function<double(const PanelWindow& window, int from, int to)>& time_s) {
  SampledTime result;
  core::Sampling& sampling = result.sampling;
  sampling.share = plan.simulated_share();
  const auto curve_piece = [&](int first, int panels) {
    return fit::CurvePiece{plan.panels - first - 0.5 * panels, static_cast<double>(panels)};
  };
  std::vector<fit::MeasuredPiece> measured;
  std::vector<std::vector<double>> panels;
  for (const PanelWindow& window : plan.windows) {
    const double counted_s = time_s(window, window.counts_from, window.counts_to);
    sampling.windows.push_back({window.counts_from, window.counts_to - window.counts_from, counted_s, {}});
    result.time_s += counted_s;
    panels.emplace_back();
    for (const PanelPiece& piece : steady_pieces(plan, window)) {
      measured.push_back(
          {curve_piece(piece.first, piece.panels), time_s(window, piece.first, piece.first + piece.panels)});
      // The last window begins at another place of a round, and where little is spent panels scatter much.
      for (int i = piece.first; i < piece.first + piece.panels && window.counts_to < plan.panels; ++i)
        panels.back().push_back(time_s(window, i, i + 1));
    }
  }
  sampling.pieces = gap_pieces(plan);
  std::vector<fit::CurvePiece> gaps;
  for (const core::PanelCost& piece : sampling.pieces) gaps.push_back(curve_piece(piece.first_panel, piece.panels));
  const fit::CurveIntegral curve = fit::integrate_curve(measured, gaps, scatter_of(plan, panels));
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    sampling.pieces[i].time_s = curve.pieces[i].cost;
    sampling.pieces[i].error_95_s = sds_in_sampling_error * curve.pieces[i].sd;
  }
  sampling.deviation = curve.largest_deviation;
  sampling.deviates_at_panel = static_cast<int>(plan.panels - curve.deviates_at);
  result.time_s += curve.gaps.cost;
  result.error_95_s = sds_in_sampling_error * curve.whole.sd;
  return result;
}

std::optional<SampledTime> sampled_time(const core::MarkedPanels& marked, const WindowRule& rule, double end_s) {
  const WindowPlan plan = WindowPlan::of_program(marked.panels, marked.round, rule);
  const std::vector<int> panels = plan.simulated();
  if (static_cast<int>(panels.size()) == plan.panels) return std::nullopt;  // maybe in windows that meet
  const auto begin_s = [&](int panel) {
    const auto place = std::lower_bound(panels.begin(), panels.end(), panel) - panels.begin();
    return panel == 0 ? 0 : marked.marks_s.at(static_cast<std::size_t>(place));
  };
  SampledTime sampled = sampled_time(plan, [&](const PanelWindow&, int from, int to) {
    return (to == plan.panels ? end_s : begin_s(to)) - begin_s(from);
  });
  sampled.sampling.share = static_cast<double>(panels.size()) / plan.panels;
  return sampled;
}

bool is_sampled_as(const core::Prediction& prediction, const RunPlan& plan) {
  const bool may_have_more = !wants_only_these_windows(plan.request());
  // Windows that were added may have become all panels.
  if (!prediction.sampling) return !plan.is_sampled() || may_have_more;
  const std::vector<core::PanelCost>& found = prediction.sampling->windows;
  const std::vector<PanelWindow>& planned = plan.windows().windows;
  const auto is_there = [&](const PanelWindow& one) {
    return std::any_of(found.begin(), found.end(), [&](const core::PanelCost& window) {
      return window.first_panel == one.counts_from && window.panels == one.counts_to - one.counts_from;
    });
  };
  return plan.is_sampled() && (may_have_more || found.size() == planned.size()) &&
         std::all_of(planned.begin(), planned.end(), is_there);
}

core::Prediction predict_sampled(const RunPlan& plan, const fs::path& folder, const SimulationWatch& watch,
                                 const WindowSimulator& simulator) {
  return SampledRun(plan, folder, watch, simulator).run();
}

}  // namespace hplcast::study
