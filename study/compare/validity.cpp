// Whether the machine was undisturbed while real runs were made: else their errors say nothing about the model.
#include <cmath>

#include "hplcast/core/text.hpp"
#include "hplcast/study/compare.hpp"

namespace hplcast::study {

namespace {

/// Spread of runs, change of the control and contention of an undisturbed machine are a third of this at most
/// (docs/measurements/laptop.md), and the control was seen to correct no more.
constexpr double most_disturbance = 0.1;

constexpr const char* shared_cores =
    "other programs were on the cores: the control took longer than its processor time by";

void tell_if_disturbed(std::vector<double> changes, const std::string& what, std::vector<std::string>& reasons) {
  if (changes.empty()) return;
  const double change = core::median(std::move(changes));
  if (std::abs(change) > most_disturbance) reasons.push_back(what + " " + core::short_percent(std::abs(change)));
}

}  // namespace

std::vector<std::string> disturbances_of(const std::vector<core::HplRun>& real,
                                         const std::vector<ComparedConfiguration>& rows) {
  std::vector<double> spreads, moved, within, contention;
  for (const ComparedConfiguration& row : rows) {
    if (row.real_gflops.size() > 1) spreads.push_back(row.real_spread);
    if (row.parts) moved.push_back(row.parts->run_s / row.parts->calibration_s - 1);
  }
  for (const core::HplRun& run : real) {
    if (!run.control) continue;
    if (run.control->low_s > 0) within.push_back(run.control->high_s / run.control->low_s - 1);
    if (run.control->cpu_s > 0) contention.push_back(run.control->wall_s / run.control->cpu_s - 1);
  }
  std::vector<std::string> reasons;
  tell_if_disturbed(spreads, "runs of one configuration differ by", reasons);
  tell_if_disturbed(contention, shared_cores, reasons);
  tell_if_disturbed(within, "the control changed during a run by", reasons);
  tell_if_disturbed(moved, "the control changed since the calibration by", reasons);
  return reasons;
}

std::vector<std::string> disturbances_of(const std::vector<ProgramOutput>& real,
                                         const std::vector<ComparedProgram>& rows) {
  std::vector<double> spreads, within, contention;
  for (const ComparedProgram& row : rows)
    if (row.real_s.size() > 1) spreads.push_back(row.real_spread);
  for (const ProgramOutput& run : real) {
    if (!run.control) continue;
    within.push_back(run.control->high_s / run.control->low_s - 1);
    if (run.control->cpu_s > 0) contention.push_back(run.control->wall_s / run.control->cpu_s - 1);
  }
  std::vector<std::string> reasons;
  tell_if_disturbed(std::move(spreads), "runs of one configuration differ by", reasons);
  tell_if_disturbed(std::move(contention), shared_cores, reasons);
  tell_if_disturbed(std::move(within), "the control changed during a run by", reasons);
  return reasons;
}

namespace {

/// `again`: the command that runs again.
std::string validity_text(const std::vector<std::string>& disturbances, const std::string& again) {
  if (disturbances.empty()) return "";
  return "Not valid: the machine was disturbed or has changed. In the median of the configurations " +
         core::joined(disturbances, "; ") +
         " (up to 10 % is usual). Errors and intervals of this comparison say little about the model. Next: stop other "
         "programs and run again when the machine is idle, " +
         again + "; if the control stays changed, `hplcast calibrate` again.";
}

}  // namespace

std::string validity_text(const ProgramComparison& comparison) {
  return validity_text(comparison.disturbances, "`hplcast observe` into other archives");
}

std::string validity_text(const Comparison& comparison) {
  return validity_text(comparison.disturbances, "`hplcast run-real` with another -o");
}

}  // namespace hplcast::study
