#include <algorithm>

#include "hplcast/study/compare.hpp"

namespace hplcast::study {

namespace {

/// How far the time in kernels may be from the predicted on a machine that has not changed, standard deviations of ln:
/// in all configurations alike, and in one of them. The bias of four published campaigns is -1.3 to +2.3 %
/// (docs/models/interval.md).
constexpr double common_misfit_sd = 0.02, own_misfit_sd = 0.02;

double squared(double x) {
  return x * x;
}

/// v_D / (v_D + v_c / n): the variance of a mean of two controls is a quarter of their squared difference.
double share_of_controls(const std::vector<std::vector<RunSpeed>>& speeds) {
  double changes = 0, own = 0;
  for (const auto& runs : speeds)
    for (const RunSpeed& run : runs) {
      changes += squared(run.control);
      own += squared(run.control_half);
    }
  return changes > own ? 1 - own / changes : 0;
}

/// By how much kernels in the runs of a configuration are further from the model than the control from the calibration.
struct Misfit {
  double mean = 0;
  double squares = 0;  ///< of the runs' differences from the mean
  double runs = 0;
};

Misfit misfit_of(const std::vector<RunSpeed>& runs) {
  Misfit misfit;
  misfit.runs = static_cast<double>(runs.size());
  for (const RunSpeed& run : runs) misfit.mean += (*run.kernels - run.control) / misfit.runs;
  for (const RunSpeed& run : runs) misfit.squares += squared(*run.kernels - run.control - misfit.mean);
  return misfit;
}

/// Variance of a control as a sign of the speed in its run: among the runs of a configuration, whose misfit is one; of
/// single runs, the scatter of the two controls.
double variance_of_controls(const std::vector<std::vector<RunSpeed>>& speeds, const std::vector<Misfit>& misfits) {
  double squares = 0, freedom = 0;
  for (const Misfit& misfit : misfits) {
    squares += misfit.squares;
    freedom += misfit.runs - 1;
  }
  if (freedom > 0) return squares / freedom;
  for (const auto& runs : speeds)
    for (const RunSpeed& run : runs) squares += squared(run.control_half);
  return squares / static_cast<double>(speeds.size());
}

/// The model's part of each difference: the best linear prediction of a misfit that has a part common to all
/// configurations and one of its own, from means that the scatter of the controls blurs, of the calibration all alike.
std::vector<double> misfits_of_model(const std::vector<std::vector<RunSpeed>>& speeds, double calibration_variance) {
  std::vector<Misfit> misfits(speeds.size());
  std::transform(speeds.begin(), speeds.end(), misfits.begin(), misfit_of);
  const double scatter = variance_of_controls(speeds, misfits);
  const auto variance = [&](const Misfit& misfit) { return squared(own_misfit_sd) + scatter / misfit.runs; };
  double weights = 0, sum = 0;
  for (const Misfit& misfit : misfits) {
    weights += 1 / variance(misfit);
    sum += misfit.mean / variance(misfit);
  }
  const double of_model = squared(common_misfit_sd), shared = of_model + calibration_variance;
  const double per_variance = sum / weights / (shared + 1 / weights);
  std::vector<double> parts;
  for (const Misfit& misfit : misfits)
    parts.push_back(of_model * per_variance +
                    squared(own_misfit_sd) / variance(misfit) * (misfit.mean - shared * per_variance));
  return parts;
}

bool tell_of_kernels(const std::vector<RunSpeed>& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const RunSpeed& run) { return run.kernels.has_value(); });
}

}  // namespace

MachineChanges machine_changes(const std::vector<std::vector<RunSpeed>>& speeds, double calibration_variance) {
  MachineChanges changes;
  if (speeds.empty()) return changes;
  const bool by_kernels = std::all_of(speeds.begin(), speeds.end(), tell_of_kernels);
  const std::vector<double> of_model =
      by_kernels ? misfits_of_model(speeds, calibration_variance) : std::vector<double>();
  if (!by_kernels) changes.coefficient = share_of_controls(speeds);
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    std::vector<double>& of_runs = changes.of_runs.emplace_back();
    for (const RunSpeed& run : speeds[i])
      of_runs.push_back(by_kernels ? *run.kernels - of_model[i] : *changes.coefficient * run.control);
  }
  return changes;
}

}  // namespace hplcast::study
