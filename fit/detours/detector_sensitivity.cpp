#include "hplcast/fit/detours.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/distributions.hpp"

namespace hplcast::fit {

namespace {

/// Runs of each kind of which nine of ten studies have intervals that do not overlap (normal approximation).
long runs_to_see(double difference, const SampleSummary& a, const SampleSummary& b, double confidence) {
  const double apart = normal_quantile((1 + confidence) / 2) * (a.sd + b.sd);
  const double needed = std::pow((apart + normal_quantile(0.9) * std::hypot(a.sd, b.sd)) / difference, 2);
  return static_cast<long>(std::ceil(std::min(needed, 1e9)));
}

LevelResult compare(const SampleSummary& clean, const NoisyRuns& noisy, double confidence) {
  LevelResult result{noisy};
  result.increase = noisy.runs.mean / clean.mean - 1;
  const Bounds before = mean_interval(clean, confidence), after = mean_interval(noisy.runs, confidence);
  result.gap = after.lower - before.upper;
  result.p_value = welch_t_test(noisy.runs, clean).p_value;
  const bool differs = result.p_value < 1 - confidence;
  if (differs && (result.gap > 0 || after.upper < before.lower)) {
    result.detection = result.gap > 0 ? Detection::seen : Detection::faster;
    return result;
  }
  // Could the difference be as large as the time that the source takes? Then nothing is known.
  const double effect = noisy.level * clean.mean;
  const bool could_be = difference_interval(noisy.runs, clean, confidence).upper >= effect;
  result.detection = noisy.level > 0 && could_be ? Detection::undecided : Detection::not_seen;
  if (result.detection == Detection::undecided) {
    const long needed = runs_to_see(effect, clean, noisy.runs, confidence);
    result.runs_needed = needed > std::min(clean.count, noisy.runs.count) ? needed : 0;
  }
  return result;
}

}  // namespace

Sensitivity detector_sensitivity(const SampleSummary& clean, std::vector<NoisyRuns> noisy, double confidence) {
  Sensitivity result;
  result.clean = clean;
  result.confidence = confidence;
  result.clean_interval = mean_interval(clean, confidence);
  if (!(clean.mean > 0)) throw core::DomainError("mean of clean runs", clean.mean, "a number above 0");
  std::sort(noisy.begin(), noisy.end(), [](const NoisyRuns& a, const NoisyRuns& b) { return a.level > b.level; });
  bool all_seen = true;
  for (const NoisyRuns& runs : noisy) {
    if (!(runs.level >= 0) || !(runs.level < 1)) throw core::DomainError("level", runs.level, "a ratio in [0, 1)");
    result.levels.push_back(compare(clean, runs, confidence));
    all_seen = all_seen && result.levels.back().detection == Detection::seen;
    if (all_seen) result.limit = runs.level;
  }
  return result;
}

std::vector<DetectorRuns> detector_runs(const std::vector<core::CollectiveRun>& runs) {
  std::map<std::tuple<std::string, double, long, long, long>, DetectorRuns> found;
  // A source of level 0 does not run: such runs are clean ones.
  for (const core::CollectiveRun& run : runs) {
    if (run.warm_up) continue;
    DetectorRuns& detector = found[{run.operation, run.size_bytes, run.count, run.ranks, run.hosts}];
    detector.kind = run;
    if (run.level == 0) {
      detector.clean.push_back(run.duration_s);
      continue;
    }
    detector.noisy[run.level].push_back(run.duration_s);
    detector.duty_sums[run.level] += run.duty;
    if (run.period_s > 0)
      detector.shortest_periods = std::min(detector.shortest_periods, run.duration_s / run.period_s);
  }
  std::vector<DetectorRuns> detectors;
  for (auto& [key, detector] : found) detectors.push_back(std::move(detector));
  return detectors;
}

Sensitivity detector_sensitivity(const DetectorRuns& detector) {
  if (detector.clean.size() < 2 || detector.noisy.empty())
    throw core::InputError("found " + std::to_string(detector.clean.size()) + " clean runs and " +
                           std::to_string(detector.noisy.size()) +
                           " levels; expected at least 2 clean runs and a level above 0");
  std::vector<NoisyRuns> noisy;
  for (const auto& [level, durations] : detector.noisy) {
    if (durations.size() < 2)
      throw core::InputError(core::printed("level %.1f %%", 100 * level) + " has one run; expected at least 2");
    noisy.push_back({level, summarize(durations)});
  }
  return detector_sensitivity(summarize(detector.clean), std::move(noisy));
}

}  // namespace hplcast::fit
