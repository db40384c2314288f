#include "fit/campaign/campaign_steps.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"

namespace hplcast::fit {

namespace {

constexpr double drift_that_matters = 0.03;
constexpr double drift_by_chance = 1e-3;
constexpr double share_of_a_mode = 0.1;
constexpr double distance_of_modes = 0.1;  // of logarithms
constexpr double sds_between_modes = 2;

struct Drift {
  double change = 0;  ///< relative
  double p_value = 1;
};

bool is_before(const RelativeCall& a, const RelativeCall& b) {
  return a.start_s < b.start_s;
}

/// Drift from the first to the last third of calls in the order of time, if it matters and is not chance.
std::optional<Drift> drift(const std::vector<RelativeCall>& calls) {
  std::vector<double> first, last;
  const std::size_t third = calls.size() / 3;
  for (std::size_t i = 0; i < third; ++i) {
    first.push_back(calls[i].ratio);
    last.push_back(calls[calls.size() - 1 - i].ratio);
  }
  const double change = detail::quantile_of(last, 0.5) / detail::quantile_of(first, 0.5) - 1;
  if (std::abs(change) < drift_that_matters) return std::nullopt;
  const double p_value = mann_whitney(first, last).p_value;
  if (p_value > drift_by_chance) return std::nullopt;
  return Drift{change, p_value};
}

std::optional<std::string> several_modes(const std::vector<RelativeCall>& calls) {
  const auto logarithms = core::mapped(calls, [](const RelativeCall& call) { return std::log(call.ratio); });
  GaussianMixtureOptions options;
  options.max_modes = 3;
  std::vector<core::MixtureMode> modes;
  for (const core::MixtureMode& mode : fit_gaussian_mixture(logarithms, options))
    if (mode.probability >= share_of_a_mode) modes.push_back(mode);
  for (std::size_t i = 1; i < modes.size(); ++i) {
    const double distance = modes[i].mean - modes[i - 1].mean;
    if (distance < distance_of_modes || distance < sds_between_modes * (modes[i].sd + modes[i - 1].sd)) continue;
    return core::printed("%.0f %% of the calls take %.2f times as long as another %.0f %%", 100 * modes[i].probability,
                         std::exp(distance), 100 * modes[i - 1].probability);
  }
  return std::nullopt;
}

}  // namespace

std::vector<core::QualityFlag> quality_flags(const std::string& subject, std::vector<RelativeCall> calls) {
  for (const RelativeCall& call : calls)
    core::require(call.ratio > 0 && std::isfinite(call.ratio), "ratio of a call", call.ratio, "a positive number");
  if (calls.size() < few_calls)
    return {{subject, "too_few_repetitions",
             std::to_string(calls.size()) + " calls; at least " + std::to_string(few_calls) + " tell mean and noise"}};
  std::stable_sort(calls.begin(), calls.end(), is_before);
  std::vector<core::QualityFlag> flags;
  if (const auto found = drift(calls))
    flags.push_back({subject, "drift",
                     core::printed("the last third of the calls took %+.1f %% compared with the first third (p = %.1g)",
                                   100 * found->change, found->p_value)});
  if (const auto found = several_modes(calls)) flags.push_back({subject, "several_modes", *found});
  return flags;
}

double relative_drift(std::vector<RelativeCall> calls) {
  if (calls.size() < few_calls) return 0;
  std::stable_sort(calls.begin(), calls.end(), is_before);
  const std::optional<Drift> found = drift(calls);
  return found ? found->change : 0;
}

}  // namespace hplcast::fit
