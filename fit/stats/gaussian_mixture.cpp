#include "hplcast/fit/gaussian_mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

namespace {

constexpr double log_two_pi = 1.8378770664093454836;
constexpr double least_share = 0.002;         ///< of all values, in a mode
constexpr double least_relative_gain = 1e-8;  ///< of the mean log-likelihood of a value: stops below
/// No mode is narrower than this share of typical_width(): a component that collapses on equal values has infinite
/// likelihood and means nothing.
constexpr double least_relative_sd = 1e-2;

/// Values so close to each other that no mode tells them apart.
struct Group {
  double mean = 0;
  double variance = 0;  // inside the group, divisor count
  double count = 0;
};

std::vector<Group> group_values(const std::vector<double>& sorted, double width) {
  std::vector<Group> groups;
  double first = 0, squares = 0;
  for (double value : sorted) {
    if (groups.empty() || value - first > width) {
      groups.push_back({});
      first = value;
      squares = 0;
    }
    Group& group = groups.back();
    group.count += 1;
    detail::update_moments(group.count, value, group.mean, squares);
    group.variance = squares / group.count;
  }
  return groups;
}

/// The values as EM needs them.
struct GroupedValues {
  std::vector<Group> groups;
  double count = 0;
  double mean = 0;
  double sd = 0;
  double least_sd = 0;
  double least_probability = 0;
};

/// The middle half of the values (their interquartile range). Where they clump it says how far modes are from each
/// other, and the densest quarter how wide they are: made as wide as the middle half of a normal law.
double typical_width(const std::vector<double>& sorted, double middle_half) {
  constexpr double half_over_quarter = 1.34898 / 0.63728, clumped = 0.1, rounding = 1e-6;
  const std::size_t quarter = std::max<std::size_t>(sorted.size() / 4, 3);
  double width = middle_half;
  for (std::size_t i = quarter; i < sorted.size(); ++i)
    width = std::min(width, half_over_quarter * (sorted[i] - sorted[i - quarter]));
  return width < clumped * middle_half && width > rounding * middle_half ? width : middle_half;
}

GroupedValues grouped(std::vector<double> values, const GaussianMixtureOptions& options) {
  std::sort(values.begin(), values.end());
  GroupedValues problem;
  problem.count = static_cast<double>(values.size());
  double squares = 0, seen = 0;
  for (double value : values) {
    seen += 1;
    detail::update_moments(seen, value, problem.mean, squares);
  }
  problem.sd = std::sqrt(squares / problem.count);
  const double middle_half = values[values.size() * 3 / 4] - values[values.size() / 4];
  // More than half of the values may be equal (a coarse clock): then the whole spread is the yardstick.
  const double yardstick = middle_half > 0 ? middle_half : problem.sd;
  problem.least_sd = least_relative_sd * typical_width(values, yardstick);
  problem.least_probability = std::max(least_share, options.min_values / problem.count);
  // A hundredth of the middle half is a 70th of a normal law's sd; what is lost by it is of the order of the square.
  problem.groups = group_values(values, values.size() > 500 ? yardstick / 100 : 0.0);
  return problem;
}

struct Fitted {
  std::vector<core::MixtureMode> modes;
  double log_likelihood = -std::numeric_limits<double>::infinity();
  bool at_limit = false;  // a mode as narrow or as rare as allowed: no honest maximum
};

std::vector<core::MixtureMode> spread_start(const GroupedValues& problem, int count) {
  std::vector<core::MixtureMode> modes;
  std::size_t group = 0;
  double below = 0;
  for (int i = 0; i < count; ++i) {
    const double target = problem.count * (i + 0.5) / count;
    while (group + 1 < problem.groups.size() && below + problem.groups[group].count < target)
      below += problem.groups[group++].count;
    modes.push_back({1.0 / count, problem.groups[group].mean, problem.sd / count});
  }
  return modes;
}

/// Far points are likely centres (k-means++, Arthur and Vassilvitskii 2007).
std::vector<core::MixtureMode> random_start(const GroupedValues& problem, int count, core::RandomStream& stream) {
  std::vector<double> distance(problem.groups.size(), 1.0);
  std::vector<core::MixtureMode> modes;
  for (int i = 0; i < count; ++i) {
    double total = 0;
    for (std::size_t g = 0; g < distance.size(); ++g) total += problem.groups[g].count * distance[g];
    double left = stream.uniform() * total;
    std::size_t chosen = 0;
    while (chosen + 1 < distance.size() && (left -= problem.groups[chosen].count * distance[chosen]) > 0) ++chosen;
    const double center = problem.groups[chosen].mean;
    modes.push_back({1.0 / count, center, problem.sd / (2.0 * count)});
    for (std::size_t g = 0; g < distance.size(); ++g) {
      const double square = (problem.groups[g].mean - center) * (problem.groups[g].mean - center);
      distance[g] = i == 0 ? square : std::min(distance[g], square);
    }
  }
  return modes;
}

/// Sums over the values of one expectation step.
struct Sums {
  std::vector<double> weight, value, square;
  double log_likelihood = 0;
  explicit Sums(std::size_t modes) : weight(modes), value(modes), square(modes) {}
};

Sums expectation(const GroupedValues& problem, const std::vector<core::MixtureMode>& modes) {
  Sums sums(modes.size());
  std::vector<double> logs(modes.size());
  for (const Group& group : problem.groups) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < modes.size(); ++j) {
      const core::MixtureMode& mode = modes[j];
      const double deviation = group.mean - mode.mean;
      logs[j] = std::log(mode.probability) - std::log(mode.sd) - 0.5 * log_two_pi -
                0.5 * (deviation * deviation + group.variance) / (mode.sd * mode.sd);
      largest = std::max(largest, logs[j]);
    }
    double total = 0;
    for (double log : logs) total += std::exp(log - largest);
    for (std::size_t j = 0; j < modes.size(); ++j) {
      const double share = group.count * std::exp(logs[j] - largest) / total;
      sums.weight[j] += share;
      sums.value[j] += share * group.mean;
      sums.square[j] += share * (group.variance + (group.mean - modes[j].mean) * (group.mean - modes[j].mean));
    }
    sums.log_likelihood += group.count * (largest + std::log(total));
  }
  return sums;
}

Fitted maximise(const GroupedValues& problem, std::vector<core::MixtureMode> modes, int iterations) {
  Fitted fitted;
  for (auto& mode : modes) mode.sd = std::max(mode.sd, problem.least_sd);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const Sums sums = expectation(problem, modes);
    const double gain = sums.log_likelihood - fitted.log_likelihood;
    fitted.modes = modes;
    fitted.log_likelihood = sums.log_likelihood;
    if (iteration > 0 && gain < least_relative_gain * problem.count) break;
    for (std::size_t j = 0; j < modes.size(); ++j) {
      if (!(sums.weight[j] > 0)) {
        fitted.at_limit = true;
        return fitted;
      }
      const double mean = sums.value[j] / sums.weight[j];
      const double shift = mean - modes[j].mean;
      const double variance = std::max(0.0, sums.square[j] / sums.weight[j] - shift * shift);
      modes[j] = {sums.weight[j] / problem.count, mean, std::max(std::sqrt(variance), problem.least_sd)};
    }
  }
  for (const auto& mode : fitted.modes)
    if (mode.sd <= problem.least_sd * (1 + 1e-9) || mode.probability < problem.least_probability)
      fitted.at_limit = true;
  return fitted;
}

/// A few iterations from every start, all of them from the most promising one.
Fitted best_of_starts(const GroupedValues& problem, int count, const GaussianMixtureOptions& options) {
  constexpr int short_run = 30, long_run = 500;
  constexpr std::uint64_t seed = 1;
  core::RandomStream stream({seed, core::stream_fit, static_cast<std::uint32_t>(count), 1});
  std::vector<Fitted> starts;
  for (int start = 0; start < (count == 1 ? 1 : options.starts); ++start) {
    auto modes = start == 0 ? spread_start(problem, count) : random_start(problem, count, stream);
    starts.push_back(maximise(problem, std::move(modes), short_run));
  }
  std::sort(starts.begin(), starts.end(),
            [](const Fitted& a, const Fitted& b) { return a.log_likelihood > b.log_likelihood; });
  for (Fitted& start : starts) {
    if (start.modes.empty()) continue;
    Fitted fitted = maximise(problem, std::move(start.modes), long_run);
    if (!fitted.at_limit) return fitted;
  }
  return {};
}

}  // namespace

std::vector<core::MixtureMode> fit_gaussian_mixture(const std::vector<double>& values,
                                                    const GaussianMixtureOptions& options) {
  for (double value : values)
    if (!std::isfinite(value)) throw core::DomainError("value", value, "finite numbers");
  if (values.empty()) return {};
  const GroupedValues problem = grouped(values, options);
  if (!(problem.least_sd > 0)) return {{1, problem.mean, 0}};  // all values are equal
  std::vector<core::MixtureMode> best;
  double least_bic = std::numeric_limits<double>::infinity();
  for (int count = 1; count <= options.max_modes; ++count) {
    if (count > 1 && problem.count < options.min_values * count) break;
    Fitted fitted = best_of_starts(problem, count, options);
    if (fitted.modes.empty()) continue;
    const double bic = (3.0 * count - 1) * std::log(problem.count) - 2 * fitted.log_likelihood;
    if (bic >= least_bic) continue;
    least_bic = bic;
    best = std::move(fitted.modes);
  }
  // A single mode can only fail with fewer values than min_values: it is then the plain normal law.
  if (best.empty()) best = {{1, problem.mean, std::max(problem.sd, problem.least_sd)}};
  std::sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.mean < b.mean; });
  return best;
}

double mixture_cdf(const std::vector<core::MixtureMode>& modes, double value) {
  double sum = 0;
  for (const auto& mode : modes) {
    const double deviation = value - mode.mean;
    sum += mode.probability *
           (mode.sd > 0 ? 0.5 * std::erfc(-deviation / (mode.sd * std::sqrt(2.0))) : (deviation >= 0 ? 1.0 : 0.0));
  }
  return sum;
}

double mixture_density(const std::vector<core::MixtureMode>& modes, double value) {
  double sum = 0;
  for (const auto& mode : modes) {
    if (!(mode.sd > 0)) {
      if (value == mode.mean) return std::numeric_limits<double>::infinity();
      continue;
    }
    const double z = (value - mode.mean) / mode.sd;
    sum += mode.probability * std::exp(-0.5 * (z * z + log_two_pi)) / mode.sd;
  }
  return sum;
}

}  // namespace hplcast::fit
