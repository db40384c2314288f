// Doubts about what is compared: a machine that was disturbed, runs that no machine makes, other threads or BLAS,
// several models, configurations that are on one side only.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

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

/// `spreads`: of the configurations that ran more than once.
template <typename Run>
std::vector<std::string> disturbances_of_runs(const std::vector<Run>& real, std::vector<double> spreads) {
  std::vector<double> within, contention;
  for (const Run& run : real) {
    if (!run.control) continue;
    if (run.control->low_s > 0) within.push_back(run.control->high_s / run.control->low_s - 1);
    if (run.control->cpu_s > 0) contention.push_back(run.control->wall_s / run.control->cpu_s - 1);
  }
  std::vector<std::string> reasons;
  tell_if_disturbed(std::move(spreads), "runs of one configuration differ by", reasons);
  tell_if_disturbed(std::move(contention), shared_cores, reasons);
  tell_if_disturbed(std::move(within), "the control changed during a run by", reasons);
  return reasons;
}

}  // namespace

std::vector<std::string> disturbances_of(const std::vector<core::HplRun>& real,
                                         const std::vector<ComparedConfiguration>& rows) {
  std::vector<double> spreads, moved;
  for (const ComparedConfiguration& row : rows) {
    if (row.real_gflops.size() > 1) spreads.push_back(row.real_spread);
    if (row.parts) moved.push_back(row.parts->run_s / row.parts->calibration_s - 1);
  }
  std::vector<std::string> reasons = disturbances_of_runs(real, std::move(spreads));
  tell_if_disturbed(std::move(moved), "the control changed since the calibration by", reasons);
  return reasons;
}

std::vector<std::string> disturbances_of(const std::vector<ProgramOutput>& real,
                                         const std::vector<ComparedProgram>& rows) {
  std::vector<double> spreads;
  for (const ComparedProgram& row : rows)
    if (row.real_s.size() > 1) spreads.push_back(row.real_spread);
  return disturbances_of_runs(real, std::move(spreads));
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

namespace {

/// HPL's output has three digits of the rate and two decimals of the time.
constexpr double rounding_of_rate = 0.02;
constexpr double rounding_of_time_s = 0.006;
/// Further apart, one of both sides is in another unit, or of another machine.
constexpr double apart = 5;

/// Tells of runs, or predictions, whose rate is not that of N and time.
template <typename Run>
void tell_contradictions(const std::vector<Run>& runs, const char* what, std::vector<std::string>& lines) {
  std::size_t contradicting = 0;
  std::string first;
  for (const Run& run : runs) {
    const double by_time = core::hpl_flop(static_cast<double>(run.parameters.N)) / run.time_s / 1e9;
    if (std::abs(run.gflops / by_time - 1) <= rounding_of_rate + rounding_of_time_s / run.time_s) continue;
    if (contradicting++ == 0)
      first = core::to_string(run.parameters) +
              core::printed(": %.4g Gflop/s, but N and %.4g s make %.4g", run.gflops, run.time_s, by_time);
  }
  if (contradicting > 0)
    lines.push_back(first + core::printed(" (%zu of %zu %s contradict themselves): is the time in seconds, and are N, "
                                          "time and rate of one run?",
                                          contradicting, runs.size(), what));
}

/// Tells of predictions that are there twice: copies of a file count as several seeds of a model.
void tell_copies(const std::vector<core::Prediction>& predicted, std::vector<std::string>& lines) {
  std::set<std::tuple<core::HplParameters, std::string, std::uint64_t, double>> seen;
  std::size_t copies = 0;
  std::string first;
  for (const core::Prediction& one : predicted) {
    if (seen.emplace(one.parameters, one.model_sha256, one.seed, one.time_s).second) continue;
    if (copies++ == 0)
      first =
          core::to_string(one.parameters) + core::printed(" with seed %llu", static_cast<unsigned long long>(one.seed));
  }
  if (copies > 0)
    lines.push_back(
        first +
        core::printed(" is predicted twice with the same result (%zu of %zu predictions are copies): each counts "
                      "as one more seed",
                      copies, predicted.size()));
}

}  // namespace

std::vector<std::string> implausible_runs(const std::vector<core::HplRun>& real,
                                          const std::vector<core::Prediction>& predicted,
                                          const Comparison& comparison) {
  std::vector<std::string> lines;
  tell_contradictions(real, "real runs", lines);
  tell_contradictions(predicted, "predictions", lines);
  tell_copies(predicted, lines);
  for (const ComparedConfiguration& row : comparison.rows) {
    const std::string which = core::to_string(row.parameters);
    const double ratio = row.real_median / row.predicted_median;
    if (ratio > apart || ratio < 1 / apart)
      lines.push_back(which +
                      core::printed(": real runs have %.3g times the predicted rate: another unit, another machine, "
                                    "or another number of cores per rank?",
                                    ratio));
  }
  return lines;
}

std::vector<std::string> differing_software(const std::vector<core::HplRun>& real,
                                            const std::vector<core::Prediction>& predicted) {
  std::vector<std::string> threads, blas;
  for (const core::HplRun& run : real)
    for (const core::Prediction& one : predicted) {
      if (!(core::without_unused(run.parameters) == core::without_unused(one.parameters))) continue;
      const std::string which = core::to_string(run.parameters) + ": run with ";
      if (const int its = run.threads_per_rank.value_or(1); threads.empty() && its != one.threads_per_rank)
        threads.push_back(which + core::printed("%d threads per rank, predicted with %d", its, one.threads_per_rank) +
                          (run.threads_per_rank ? "" : " (the real run does not say; run-real --threads does)"));
      if (blas.empty() && !run.blas.empty() && !one.blas.empty() && run.blas != one.blas)
        blas.push_back(which + run.blas + ", predicted from kernels measured with " + one.blas +
                       "; calibrate with `blas:` of the run, or run-real --blas");
    }
  core::append(threads, blas);
  return threads;
}

std::string nearest_difference(const core::HplParameters& parameters, const std::vector<core::HplParameters>& others) {
  const auto differing = [&](const core::HplParameters& other) {
    std::vector<const core::HplField*> fields;
    for (const core::HplField& field : core::hpl_fields()) {
      if (field.get(parameters) != field.get(other)) fields.push_back(&field);
    }
    return fields;
  };
  if (others.empty()) return "";
  const auto distance = [&](const core::HplParameters& other) {
    return std::pair(differing(other).size(), std::abs(other.N - parameters.N));
  };
  const auto nearest = std::min_element(others.begin(), others.end(),
                                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return core::joined(differing(*nearest), ", ", [&](const core::HplField* field) {
    return std::string(field->name) + " is " + std::to_string(field->get(parameters)) + ", not " +
           std::to_string(field->get(*nearest));
  });
}

std::vector<std::string> models_of(const std::vector<core::Prediction>& predictions) {
  constexpr std::size_t digits = 8;
  std::vector<std::string> models;
  for (const core::Prediction& prediction : predictions) {
    const std::string model = prediction.cluster + " (" + prediction.model_sha256.substr(0, digits) + ")";
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
  }
  return models;
}

std::optional<core::HplParameters> mixed_models(const std::vector<core::Prediction>& predictions) {
  std::map<core::HplParameters, std::string> model_of;
  for (const core::Prediction& prediction : predictions) {
    const auto [known, is_new] = model_of.emplace(core::without_unused(prediction.parameters), prediction.model_sha256);
    if (!is_new && known->second != prediction.model_sha256) return prediction.parameters;
  }
  return std::nullopt;
}

}  // namespace hplcast::study
