#include "hplcast/fit/detector_sensitivity.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

namespace {

void require_runs(const RunSummary& runs) {
  if (runs.count < 2) throw core::DomainError("number of runs", static_cast<double>(runs.count), "at least 2");
  if (!std::isfinite(runs.mean)) throw core::DomainError("mean of runs", runs.mean, "a finite number");
  if (!(runs.sd >= 0) || !std::isfinite(runs.sd))
    throw core::DomainError("standard deviation of runs", runs.sd, "a finite number of at least 0");
}

/// Square of the standard error of the mean.
double error_square(const RunSummary& runs) {
  return runs.sd * runs.sd / static_cast<double>(runs.count);
}

/// Of Welch's test.
double freedom_of(const RunSummary& a, const RunSummary& b) {
  const double x = error_square(a), y = error_square(b);
  return (x + y) * (x + y) / (x * x / static_cast<double>(a.count - 1) + y * y / static_cast<double>(b.count - 1));
}

/// Runs of each kind that see a difference in nine of ten studies (normal approximation).
long runs_to_see(double difference, const RunSummary& a, const RunSummary& b, double confidence) {
  const boost::math::normal normal;
  const double quantiles = boost::math::quantile(normal, (1 + confidence) / 2) + boost::math::quantile(normal, 0.9);
  const double needed = (a.sd * a.sd + b.sd * b.sd) * std::pow(quantiles / difference, 2);
  return static_cast<long>(std::ceil(std::min(needed, 1e9)));
}

LevelResult compare(const RunSummary& clean, const NoisyRuns& noisy, double confidence) {
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
  const boost::math::students_t student(freedom_of(clean, noisy.runs));
  const double half =
      boost::math::quantile(student, (1 + confidence) / 2) * std::sqrt(error_square(clean) + error_square(noisy.runs));
  const double effect = noisy.level * clean.mean;
  const bool could_be = noisy.runs.mean - clean.mean + half >= effect;
  result.detection = noisy.level > 0 && could_be ? Detection::undecided : Detection::not_seen;
  if (result.detection == Detection::undecided) {
    const long needed = runs_to_see(effect, clean, noisy.runs, confidence);
    result.runs_needed = needed > std::min(clean.count, noisy.runs.count) ? needed : 0;
  }
  return result;
}

}  // namespace

RunSummary summarize_runs(const std::vector<double>& values) {
  RunSummary runs;
  double squares = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) throw core::DomainError("duration of a run", value, "a finite number");
    ++runs.count;
    const double step = value - runs.mean;
    runs.mean += step / static_cast<double>(runs.count);
    squares += step * (value - runs.mean);
  }
  require_runs(runs);
  runs.sd = std::sqrt(squares / static_cast<double>(runs.count - 1));
  return runs;
}

Bounds mean_interval(const RunSummary& runs, double level) {
  require_runs(runs);
  if (!(level > 0) || !(level < 1)) throw core::DomainError("level", level, "a number in (0, 1)");
  const boost::math::students_t student(static_cast<double>(runs.count - 1));
  const double half = boost::math::quantile(student, (1 + level) / 2) * std::sqrt(error_square(runs));
  return {runs.mean - half, runs.mean + half, level};
}

TestResult welch_t_test(const RunSummary& a, const RunSummary& b) {
  require_runs(a);
  require_runs(b);
  const double square = error_square(a) + error_square(b);
  if (!(square > 0)) throw core::DomainError("scatter of runs", 0.0, "runs that differ: the clock is too coarse");
  const double t = (a.mean - b.mean) / std::sqrt(square);
  const boost::math::students_t student(freedom_of(a, b));
  return {t, 2 * boost::math::cdf(boost::math::complement(student, std::abs(t)))};
}

Sensitivity detector_sensitivity(const RunSummary& clean, std::vector<NoisyRuns> noisy, double confidence) {
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
