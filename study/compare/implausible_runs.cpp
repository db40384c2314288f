#include <cmath>
#include <set>
#include <tuple>

#include "hplcast/core/text.hpp"
#include "hplcast/study/compare.hpp"

namespace hplcast::study {

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

std::string differing_threads(const std::vector<core::HplRun>& real, const std::vector<core::Prediction>& predicted) {
  for (const core::HplRun& run : real)
    for (const core::Prediction& one : predicted)
      if (run.parameters == one.parameters && run.threads_per_rank.value_or(1) != one.threads_per_rank)
        return core::to_string(run.parameters) +
               core::printed(": run with %d threads per rank, predicted with %d", run.threads_per_rank.value_or(1),
                             one.threads_per_rank) +
               (run.threads_per_rank ? "" : " (the real run does not say; run-real --threads does)");
  return "";
}

std::string differing_blas(const std::vector<core::HplRun>& real, const std::vector<core::Prediction>& predicted) {
  for (const core::HplRun& run : real)
    for (const core::Prediction& one : predicted)
      if (run.parameters == one.parameters && !run.blas.empty() && !one.blas.empty() && run.blas != one.blas)
        return core::to_string(run.parameters) + ": run with " + run.blas + ", predicted from kernels measured with " +
               one.blas + "; calibrate with `blas:` of the run, or run-real --blas";
  return "";
}

}  // namespace hplcast::study
