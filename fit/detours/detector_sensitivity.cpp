#include "hplcast/fit/detours.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

namespace {

/// Runs of each kind that see a difference in nine of ten studies (normal approximation).
long runs_to_see(double difference, const SampleSummary& a, const SampleSummary& b, double confidence) {
  const boost::math::normal normal;
  const double quantiles = boost::math::quantile(normal, (1 + confidence) / 2) + boost::math::quantile(normal, 0.9);
  const double needed = (a.sd * a.sd + b.sd * b.sd) * std::pow(quantiles / difference, 2);
  return static_cast<long>(std::ceil(std::min(needed, 1e9)));
}

LevelResult compare(const SampleSummary& clean, const NoisyRuns& noisy, double confidence) {
  LevelResult result;
  result.level = noisy.level;
  result.runs = noisy.runs;
  result.increase = noisy.runs.mean / clean.mean - 1;
  const Bounds before = mean_interval(clean, confidence), after = mean_interval(noisy.runs, confidence);
  result.gap = after.lower - before.upper;
  result.p_value = welch_t_test(noisy.runs, clean).p_value;
  const bool differs = result.p_value < 1 - confidence;
  if (result.gap > 0 && differs) {
    result.detection = Detection::seen;
    return result;
  }
  if (differs && after.upper < before.lower) {
    result.detection = Detection::faster;
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

const char* to_string(Detection detection) {
  switch (detection) {
    case Detection::seen:
      return "seen";
    case Detection::not_seen:
      return "not seen";
    case Detection::undecided:
      return "undecided";
    case Detection::faster:
      return "faster";
  }
  return "";
}

}  // namespace hplcast::fit
