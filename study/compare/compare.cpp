#include "hplcast/study/compare.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/distributions.hpp"
#include "hplcast/study/interval.hpp"

namespace hplcast::study {

namespace {

/// One side of a configuration, a value per run or prediction.
struct Side {
  std::vector<double> gflops;
  std::optional<double> sampling_error;                 ///< the largest of its sampled predictions, relative
  std::vector<core::PredictiveInterval> intervals;      ///< of predictions that have one
  std::vector<double> energy_j, power_w, gflops_per_w;  ///< where they are known
  std::vector<core::Control> controls;                  ///< the known ones, in the order of gflops
  std::vector<double> kernels_s;                        ///< the known ones, likewise
  double dgemm = 0, all_kernels = 0;                    ///< their elasticities, sums over predictions
};
using SidesByRun = std::map<core::HplParameters, Side>;

Side& add(SidesByRun& sides, const core::HplParameters& parameters, double gflops, std::optional<double> energy_j,
          std::optional<double> power_w) {
  if (!(gflops > 0) || !std::isfinite(gflops))
    throw core::DomainError("gflops of " + core::to_string(parameters), gflops, "a positive rate");
  Side& side = sides[core::without_unused(parameters)];
  side.gflops.push_back(gflops);
  if (!energy_j || !power_w) return side;
  if (!(*energy_j > 0) || !(*power_w > 0))
    throw core::DomainError("energy of " + core::to_string(parameters), *energy_j, "a number of J above 0");
  side.energy_j.push_back(*energy_j);
  side.power_w.push_back(*power_w);
  side.gflops_per_w.push_back(gflops / *power_w);
  return side;
}

EnergyMedians energy_of(const Side& side) {
  return {side.energy_j.size(), core::median(side.energy_j), core::median(side.power_w),
          core::median(side.gflops_per_w)};
}

std::vector<double> logs_of(const std::vector<double>& values) {
  return core::mapped(values, [](double value) { return std::log(value); });
}

using PooledSd = std::optional<core::EstimatedSd>;

/// 95 percent interval of a logarithm, by its half-width.
struct Centre {
  double log = 0, half = 0;
};

/// Median with the scatter of all configurations, if these know more than the values by themselves; else mean and
/// Student's interval. Nothing for a single value of unknown scatter.
std::optional<Centre> centre_of(const std::vector<double>& values, const PooledSd& pooled) {
  const std::vector<double> logs = logs_of(values);
  const auto n = static_cast<double>(logs.size());
  if (pooled && pooled->nu > n - 1) {
    constexpr double median_variance = 1.5707963;  // over that of the mean of normal values: at most pi / 2
    const double sd = pooled->sd * std::sqrt((n > 2 ? median_variance : 1) / n);
    return Centre{core::median(logs), sd > 0 ? sd * fit::students_t_quantile(pooled->nu, 0.975) : 0};
  }
  if (logs.size() < 2) return std::nullopt;
  if (std::adjacent_find(logs.begin(), logs.end(), std::not_equal_to<>()) == logs.end()) return Centre{logs.front(), 0};
  const fit::Bounds bounds = fit::mean_interval(fit::summarize(logs));
  return Centre{(bounds.lower + bounds.upper) / 2, (bounds.upper - bounds.lower) / 2};
}

/// Scatter, pooled over all configurations: of real runs, also without the change of the machine, and of seeds.
struct PooledScatter {
  PooledSd runs, corrected, seeds;
};

/// The half-widths of both sides add up in quadrature, as those of independent means do. A single prediction has its
/// sampling error, too.
std::optional<fit::Bounds> error_interval(const std::vector<double>& real, const PooledSd& runs, const Side& predicted,
                                          const PooledSd& seeds) {
  const std::optional<Centre> r = centre_of(real, runs);
  if (!r) return std::nullopt;
  const bool single = predicted.gflops.size() == 1;
  const Centre p = centre_of(predicted.gflops, seeds).value_or(Centre{std::log(predicted.gflops.front()), 0});
  const double centre = p.log - r->log;
  const double half = std::hypot(r->half, p.half, single ? predicted.sampling_error.value_or(0) : 0);
  return fit::Bounds{std::exp(centre - half) - 1, std::exp(centre + half) - 1, 0.95};
}

/// ln of the control of a run over that of the calibration.
double log_slowdown(const core::Control& run, const core::Control& calibration) {
  if (run.shape != calibration.shape)
    throw core::InputError("the control of the real runs is a dgemm of " + run.shape +
                           ", that of the calibration one of " + calibration.shape +
                           ": they cannot be compared\n  hint: make both with the same hplcast; without the "
                           "columns control_... of the runs the error is not divided");
  return std::log(run.wall_s / calibration.wall_s);
}

/// Signs of the controls of each real run, and of its kernels where both sides know what they took.
std::vector<RunSpeed> speeds_of(const Side& real, const Side& predicted) {
  const core::Control& calibration = predicted.controls.front();
  std::vector<RunSpeed> speeds;
  for (std::size_t i = 0; i < real.controls.size(); ++i) {
    const core::Control& run = real.controls[i];
    RunSpeed& speed = speeds.emplace_back();
    speed.control = log_slowdown(run, calibration);
    speed.control_half = std::log(run.high_s / run.low_s) / 2;
    if (real.kernels_s.size() == real.controls.size() && !predicted.kernels_s.empty())
      speed.kernels = std::log(real.kernels_s[i] / core::median(predicted.kernels_s));
  }
  return speeds;
}

/// By how much the change of the machine moved the rates of the real runs, ln.
struct Changes {
  std::map<core::HplParameters, std::vector<double>> of_runs;  ///< of configurations with controls
  std::map<core::HplParameters, double> kernels;               ///< median, where the runs tell it
  std::optional<double> coefficient;
  double median_machine = 0;
};

Changes changes_of(const SidesByRun& all_real, const SidesByRun& all_predicted) {
  std::vector<std::pair<core::HplParameters, const Side*>> controlled;
  std::vector<std::vector<RunSpeed>> speeds;
  double calibration_variance = 0;  // of the one that all predictions have
  for (const auto& [parameters, real] : all_real) {
    const auto predicted = all_predicted.find(parameters);
    if (predicted == all_predicted.end() || predicted->second.controls.empty() ||
        real.controls.size() != real.gflops.size())
      continue;  // the change of the machine is not known
    controlled.emplace_back(parameters, &predicted->second);
    speeds.push_back(speeds_of(real, predicted->second));
    // Variance of ln of the mean: a sixth of the range of six values is the standard deviation of their mean.
    const core::Control& calibration = predicted->second.controls.front();
    calibration_variance = std::pow(std::log(calibration.high_s / calibration.low_s) / 6, 2);
  }
  const MachineChanges machine = machine_changes(speeds, calibration_variance);
  Changes changes;
  changes.coefficient = machine.coefficient;
  std::vector<double> medians;
  for (std::size_t i = 0; i < controlled.size(); ++i) {
    const auto& [parameters, predicted] = controlled[i];
    medians.push_back(core::median(machine.of_runs[i]));
    const double elasticity = (machine.coefficient ? predicted->dgemm : predicted->all_kernels) /
                              static_cast<double>(predicted->gflops.size());
    for (const double one : machine.of_runs[i]) changes.of_runs[parameters].push_back(elasticity * one);
    if (machine.coefficient) continue;
    changes.kernels[parameters] = core::median(core::mapped(speeds[i], [](const auto& one) { return *one.kernels; }));
  }
  if (!medians.empty()) changes.median_machine = core::median(medians);
  return changes;
}

std::vector<double> without_changes(const Side& real, const std::vector<double>& changes) {
  std::vector<double> rates = real.gflops;
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] *= std::exp(changes[i]);
  return rates;
}

PooledScatter scatter_of(const SidesByRun& all_real, const SidesByRun& all_predicted, const Changes& changes) {
  std::vector<std::vector<double>> runs, corrected, seeds;
  for (const auto& [parameters, real] : all_real) {
    const auto predicted = all_predicted.find(parameters);
    if (predicted == all_predicted.end()) continue;
    runs.push_back(logs_of(real.gflops));
    seeds.push_back(logs_of(predicted->second.gflops));
    const auto known = changes.of_runs.find(parameters);
    if (known != changes.of_runs.end()) corrected.push_back(logs_of(without_changes(real, known->second)));
  }
  return {pooled_sd(runs), pooled_sd(corrected), pooled_sd(seeds)};
}

/// Scatter is as much of the corrected error as lies within its 95 percent interval.
ErrorParts parts_of(const ComparedMedians& row, const Side& real, const Side& predicted,
                    const std::vector<double>& changes, const PooledScatter& scatter) {
  ErrorParts parts;
  parts.calibration_s = predicted.controls.front().wall_s;
  parts.run_s = core::median(core::mapped(real.controls, &core::Control::wall_s));
  const std::vector<double> corrected = without_changes(real, changes);
  parts.corrected_error = row.predicted_median / core::median(corrected) - 1;
  parts.machine = row.error - parts.corrected_error;
  if (const auto bounds = error_interval(corrected, scatter.corrected, predicted, scatter.seeds)) {
    const double half = (bounds->upper - bounds->lower) / 2;
    parts.scatter = std::clamp(parts.corrected_error, -half, half);
  }
  parts.model = parts.corrected_error - parts.scatter;
  return parts;
}

/// Rows of the largest N that has several configurations.
std::vector<const ComparedConfiguration*> comparable(const std::vector<ComparedConfiguration>& rows) {
  std::map<long long, std::vector<const ComparedConfiguration*>> by_size;
  for (const auto& row : rows) by_size[row.parameters.N].push_back(&row);
  for (auto group = by_size.rbegin(); group != by_size.rend(); ++group) {
    if (group->second.size() > 1) return group->second;
  }
  return {};
}

std::optional<BestPredicted> best_predicted(const std::vector<ComparedConfiguration>& rows) {
  const auto group = comparable(rows);
  if (group.empty()) return std::nullopt;
  const auto by = [&](double ComparedConfiguration::*rate) {
    return **std::max_element(group.begin(), group.end(), [&](auto* a, auto* b) { return a->*rate < b->*rate; });
  };
  const ComparedConfiguration chosen = by(&ComparedConfiguration::predicted_median);
  const ComparedConfiguration best = by(&ComparedConfiguration::real_median);
  BestPredicted result;
  result.parameters = chosen.parameters;
  result.configurations = group.size();
  for (const auto* row : group)
    if (row->real_median > chosen.real_median) ++result.real_rank;
  result.loss = (best.real_median - chosen.real_median) / best.real_median;
  result.among_best = result.real_rank == 1 || chosen.real_gflops.back() >= best.real_gflops.front();
  return result;
}

/// Nothing if predictions have none, or intervals of several levels.
std::optional<ComparedInterval> compare_interval(const std::vector<core::PredictiveInterval>& intervals,
                                                 const std::vector<double>& real) {
  if (intervals.empty()) return std::nullopt;
  ComparedInterval result;
  result.level_percent = intervals.front().level_percent;
  std::vector<double> low, high;
  for (const core::PredictiveInterval& one : intervals) {
    if (one.level_percent != result.level_percent) return std::nullopt;
    low.push_back(one.low_gflops);
    high.push_back(one.high_gflops);
  }
  result.low_gflops = core::median(low);
  result.high_gflops = core::median(high);
  for (const double gflops : real)
    if (result.low_gflops <= gflops && gflops <= result.high_gflops) ++result.runs_inside;
  return result;
}

ComparedConfiguration compare_one(const core::HplParameters& parameters, Side real, Side predicted,
                                  const Changes& changes, const PooledScatter& scatter) {
  const Side unsorted = real;
  std::sort(real.gflops.begin(), real.gflops.end());
  std::sort(predicted.gflops.begin(), predicted.gflops.end());
  ComparedConfiguration row;
  static_cast<ComparedMedians&>(row) = compare_medians(real.gflops, predicted.gflops);
  row.parameters = parameters;
  if (const auto known = changes.of_runs.find(parameters); known != changes.of_runs.end()) {
    row.parts = parts_of(row, unsorted, predicted, known->second, scatter);
    if (const auto kernels = changes.kernels.find(parameters); kernels != changes.kernels.end())
      row.parts->kernels = std::exp(kernels->second) - 1;
  }
  row.sampling_error_95 = predicted.sampling_error;
  row.error_interval = error_interval(real.gflops, scatter.runs, predicted, scatter.seeds);
  if (!real.energy_j.empty() && !predicted.energy_j.empty()) {
    ComparedEnergy& energy = row.energy.emplace(ComparedEnergy{energy_of(real), energy_of(predicted)});
    energy.energy_error = energy.predicted.energy_j / energy.real.energy_j - 1;
    energy.power_error = energy.predicted.mean_power_w / energy.real.mean_power_w - 1;
  }
  row.interval = compare_interval(predicted.intervals, real.gflops);
  row.real_gflops = std::move(real.gflops);
  row.predicted_gflops = std::move(predicted.gflops);
  return row;
}

/// Rank of every value from 1; equal values share the mean of their ranks.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> sorted = values, result;
  std::sort(sorted.begin(), sorted.end());
  for (const double value : values) {
    const auto [first, end] = std::equal_range(sorted.begin(), sorted.end(), value);
    result.push_back(static_cast<double>((first - sorted.begin()) + (end - sorted.begin()) + 1) / 2);
  }
  return result;
}

void add_control(const SidesByRun& real, const SidesByRun& predicted, const Changes& changes, Comparison& comparison) {
  std::vector<double> slowdowns, corrected, kernels;
  for (const ComparedConfiguration& row : comparison.rows) {
    if (!row.parts) continue;
    slowdowns.push_back(row.parts->run_s / row.parts->calibration_s - 1);
    corrected.push_back(std::abs(row.parts->corrected_error));
    if (row.parts->kernels) kernels.push_back(*row.parts->kernels);
  }
  if (!corrected.empty()) {
    const std::string shape = std::find_if(predicted.begin(), predicted.end(),
                                           [](const auto& entry) { return !entry.second.controls.empty(); })
                                  ->second.controls.front()
                                  .shape;
    ComparedControl& control = comparison.control.emplace();
    control.shape = shape;
    control.coefficient = changes.coefficient;
    control.median_slowdown = core::median(slowdowns);
    control.median_corrected_error = core::median(corrected);
    control.max_corrected_error = *std::max_element(corrected.begin(), corrected.end());
    if (kernels.empty()) return;
    control.median_kernels = core::median(kernels);
    control.median_machine = std::exp(changes.median_machine) - 1;
    return;
  }
  const auto none = [](const SidesByRun& sides) {
    return std::all_of(sides.begin(), sides.end(), [](const auto& entry) { return entry.second.controls.empty(); });
  };
  comparison.why_no_control = none(predicted) ? "the model has no control measurement of its campaign"
                              : none(real)    ? "the real runs have no control measurement (run-real makes it)"
                                           : "some of the real runs of each configuration have no control measurement";
}

}  // namespace

ComparedMedians compare_medians(const std::vector<double>& real, const std::vector<double>& predicted) {
  const auto [least, most] = std::minmax_element(real.begin(), real.end());
  ComparedMedians row{core::median(real), 0, core::median(predicted), 0};
  row.real_spread = (*most - *least) / row.real_median;
  row.error = (row.predicted_median - row.real_median) / row.real_median;
  return row;
}

ComparisonSummary summarize(const std::vector<ComparedMedians>& rows) {
  ComparisonSummary summary;
  summary.n = rows.size();
  if (rows.empty()) return summary;
  const auto absolute = core::mapped(rows, [](const ComparedMedians& row) { return std::abs(row.error); });
  summary.bias = core::mean(core::mapped(rows, &ComparedMedians::error));
  summary.mean_abs_error = core::mean(absolute);
  summary.max_abs_error = *std::max_element(absolute.begin(), absolute.end());
  summary.median_abs_error = core::median(absolute);
  summary.rank_correlation = rank_correlation(core::mapped(rows, &ComparedMedians::real_median),
                                              core::mapped(rows, &ComparedMedians::predicted_median));
  return summary;
}

std::optional<double> rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < 2 || x.size() != y.size()) return std::nullopt;
  const auto rank_x = ranks(x);
  const auto rank_y = ranks(y);
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (rank_x[i] - mean) * (rank_y[i] - mean);
    xx += (rank_x[i] - mean) * (rank_x[i] - mean);
    yy += (rank_y[i] - mean) * (rank_y[i] - mean);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

Comparison compare(const std::vector<core::HplRun>& real, const std::vector<core::Prediction>& predicted) {
  Comparison comparison;
  SidesByRun real_sides, predicted_sides;
  for (const core::HplRun& run : real) {
    if (run.residual_checked && !run.residual_passed) {
      ++comparison.failed_residuals;
    } else {
      Side& side = add(real_sides, run.parameters, run.gflops, run.energy_j, run.mean_power_w);
      if (run.control) side.controls.push_back(*run.control);
      if (run.kernels_s) side.kernels_s.push_back(*run.kernels_s);
    }
  }
  for (const core::Prediction& prediction : predicted) {
    std::optional<double> energy_j, power_w;
    if (const auto& energy = prediction.energy) energy_j = energy->energy_j, power_w = energy->mean_power_w;
    Side& side = add(predicted_sides, prediction.parameters, prediction.gflops, energy_j, power_w);
    if (prediction.interval) side.intervals.push_back(*prediction.interval);
    if (prediction.control) side.controls.push_back(*prediction.control);
    side.dgemm += dgemm_elasticity(prediction);
    side.all_kernels += kernels_elasticity(prediction);
    const KernelShares shares = kernel_shares(prediction);
    if (shares.dgemm > 0) side.kernels_s.push_back((shares.dgemm + shares.other_kernels) * prediction.time_s);
    if (!prediction.sampling) continue;
    side.sampling_error = std::max(side.sampling_error.value_or(0), prediction.error_95_s / prediction.time_s);
  }
  const Changes changes = changes_of(real_sides, predicted_sides);
  const PooledScatter scatter = scatter_of(real_sides, predicted_sides, changes);
  for (const auto& [parameters, side] : real_sides) {
    const auto match = predicted_sides.find(parameters);
    if (match == predicted_sides.end()) {
      comparison.unmatched_real.push_back(parameters);
    } else {
      comparison.rows.push_back(compare_one(parameters, side, match->second, changes, scatter));
    }
  }
  for (const auto& [parameters, side] : predicted_sides)
    if (real_sides.count(parameters) == 0) comparison.unmatched_predicted.push_back(parameters);
  comparison.summary = summarize({comparison.rows.begin(), comparison.rows.end()});
  comparison.best = best_predicted(comparison.rows);
  add_control(real_sides, predicted_sides, changes, comparison);
  comparison.disturbances = disturbances_of(real, comparison.rows);
  return comparison;
}

IntervalCount count_inside(const Comparison& comparison) {
  IntervalCount count;
  for (const ComparedConfiguration& row : comparison.rows) {
    if (!row.interval) continue;
    if (count.runs > 0 && row.interval->level_percent != count.level_percent) return {};
    count.level_percent = row.interval->level_percent;
    count.runs += row.real_gflops.size();
    count.inside += row.interval->runs_inside;
  }
  return count;
}

}  // namespace hplcast::study
