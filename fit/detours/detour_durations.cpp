#include "hplcast/fit/detours.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/detours/source_search.hpp"
#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"

namespace hplcast::fit {

namespace {

constexpr std::size_t steps = 40;
constexpr std::size_t thinned_steps = 200;  // from 0 to the least duration the law rises within one of them
constexpr std::size_t least_for_laws = 20;

/// Largest distance of the sorted values' distribution and another, times the root of their number.
template <typename Distribution>
double distance(const std::vector<double>& sorted, Distribution distribution) {
  const double n = static_cast<double>(sorted.size());
  double most = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double f = distribution(sorted[i]), below = static_cast<double>(i) / n;
    most = std::max({most, f - below, below + 1 / n - f});
  }
  return most * std::sqrt(n);
}

core::DetourDuration quantile_law(const std::vector<double>& sorted, double mean_s) {
  std::vector<double> quantiles;
  const std::size_t parts = std::min(steps, std::max<std::size_t>(1, sorted.size() - 1));
  for (std::size_t i = 0; i <= parts; ++i)
    quantiles.push_back(detail::quantile(sorted, static_cast<double>(i) / static_cast<double>(parts)));
  // Trapezoids: the last value counts half.
  double others = quantiles.front() / 2;
  for (std::size_t i = 1; i < parts; ++i) others += quantiles[i];
  const double last = 2 * (mean_s * static_cast<double>(parts) - others);
  quantiles.back() = std::max(last, quantiles[parts - 1]);
  const double reached = (others + quantiles.back() / 2) / static_cast<double>(parts);
  for (double& value : quantiles) value *= mean_s / reached;  // 1, unless the last one could not do it
  return core::QuantileDuration{std::move(quantiles)};
}

}  // namespace

core::DetourDuration fit_duration(std::vector<double> durations_s) {
  if (durations_s.empty()) throw core::DomainError("number of durations", 0.0, "at least 1");
  for (const double duration : durations_s)
    if (!(duration > 0) || !std::isfinite(duration)) throw core::DomainError("duration", duration, "a time above 0");
  std::vector<double>& sorted = durations_s;
  std::sort(sorted.begin(), sorted.end());
  const double mean_s = core::mean(sorted);
  const double median_s = detail::quantile(sorted, 0.5);
  const double low_s = detail::quantile(sorted, 0.05), high_s = detail::quantile(sorted, 0.95);
  const bool narrow = low_s >= 0.98 * median_s && high_s <= 1.02 * median_s;
  if (narrow && std::abs(mean_s - median_s) <= 0.02 * median_s) return core::ConstantDuration{mean_s};
  if (sorted.size() < least_for_laws) return quantile_law(sorted, mean_s);
  if (distance(sorted, [&](double x) { return -std::expm1(-x / mean_s); }) < 1.25)
    return core::ExponentialDuration{mean_s};
  // The ends of a uniform law lie beyond the least and the largest value.
  const double beyond_s = (sorted.back() - sorted.front()) / static_cast<double>(sorted.size() - 1);
  const double least_s = std::max(0.0, sorted.front() - beyond_s), most_s = sorted.back() + beyond_s;
  if (distance(sorted, [&](double x) { return (x - least_s) / (most_s - least_s); }) < 1.5) {
    // Around the mean, which says how much time they take; a few that two sources share lie beyond one end.
    const double half_s = std::min(mean_s - least_s, most_s - mean_s);
    return core::UniformDuration{mean_s - half_s, mean_s + half_s};
  }
  return quantile_law(sorted, mean_s);
}

core::DetourDuration fit_thinned_duration(std::vector<double> durations_s, std::size_t missing) {
  const double count = static_cast<double>(durations_s.size() + missing);
  const double mean_s = std::accumulate(durations_s.begin(), durations_s.end(), 0.0) / count;
  durations_s.insert(durations_s.end(), missing, 0.0);
  std::sort(durations_s.begin(), durations_s.end());
  core::QuantileDuration law;
  for (std::size_t i = 0; i <= thinned_steps; ++i)
    law.quantiles_s.push_back(detail::quantile(durations_s, static_cast<double>(i) / thinned_steps));
  return core::scaled(law, mean_s / law.mean_s());
}

}  // namespace hplcast::fit
