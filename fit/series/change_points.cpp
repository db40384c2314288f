#include "fit/series/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

namespace {

/// Sums from the beginning, so that the cost of any segment takes no loop.
class Costs {
 public:
  explicit Costs(const std::vector<double>& values) : shift_(values.empty() ? 0 : values.front()) {
    double sum = 0, squares = 0;
    sums_.push_back(0);
    squares_.push_back(0);
    for (double value : values) {
      sums_.push_back(sum += value - shift_);
      squares_.push_back(squares += (value - shift_) * (value - shift_));
    }
  }
  /// Sum of squares around the mean of the runs [begin, end).
  double cost(std::size_t begin, std::size_t end) const {
    const double sum = sums_[end] - sums_[begin];
    return squares_[end] - squares_[begin] - sum * sum / static_cast<double>(end - begin);
  }
  double mean(std::size_t begin, std::size_t end) const {
    return shift_ + (sums_[end] - sums_[begin]) / static_cast<double>(end - begin);
  }

 private:
  double shift_;  // of all values: keeps the digits of small variances
  std::vector<double> sums_, squares_;
};

/// Standard deviation from differences of neighbours, for normal noise.
double noise_sd(const std::vector<double>& values) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < values.size(); ++i) differences.push_back(std::abs(values[i] - values[i - 1]));
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  constexpr double quartile_of_normal = 0.6744897501960817;
  return *middle / quartile_of_normal / std::sqrt(2.0);
}

/// Beginnings of the segments after the first.
std::vector<std::size_t> best_segments(const Costs& costs, std::size_t runs, double penalty, std::size_t least) {
  std::vector<double> best(runs + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> last(runs + 1, 0), candidates;
  best[0] = -penalty;
  for (std::size_t end = least; end <= runs; ++end) {
    candidates.push_back(end - least);
    for (std::size_t begin : candidates) {
      const double total = best[begin] + costs.cost(begin, end) + penalty;
      if (total < best[end]) {
        best[end] = total;
        last[end] = begin;
      }
    }
    // One that is worse without a penalty never wins later.
    candidates.erase(
        std::remove_if(candidates.begin(), candidates.end(),
                       [&](std::size_t begin) { return best[begin] + costs.cost(begin, end) > best[end]; }),
        candidates.end());
  }
  std::vector<std::size_t> begins;
  for (std::size_t begin = last[runs]; begin > 0; begin = last[begin]) begins.push_back(begin);
  std::reverse(begins.begin(), begins.end());
  return begins;
}

}  // namespace

std::vector<ChangePoint> change_points(const std::vector<double>& values, const ChangePointOptions& options) {
  if (!(options.penalty > 0)) throw core::DomainError("penalty", options.penalty, "a number > 0");
  if (options.least_runs < 1) throw core::DomainError("least number of runs", 0.0, "a number >= 1");
  if (!(options.least_effect >= 0)) throw core::DomainError("least effect", options.least_effect, "a number >= 0");
  for (double value : values)
    if (!std::isfinite(value)) throw core::DomainError("value of a run", value, "a finite number");
  const std::size_t runs = values.size();
  if (runs < 2 * options.least_runs || runs < 2) return {};
  const Costs costs(values);
  const double sigma = noise_sd(values);
  // A series that never varies has no noise: any change counts, rounding does not.
  const double variance = std::max(sigma * sigma, 1e-24 * values.front() * values.front());
  const double penalty = options.penalty * std::log(static_cast<double>(runs)) * variance;
  const auto begins = best_segments(costs, runs, penalty, options.least_runs);
  std::vector<ChangePoint> result;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t before = i == 0 ? 0 : begins[i - 1];
    const std::size_t after = i + 1 < begins.size() ? begins[i + 1] : runs;
    const double effect = costs.mean(begins[i], after) / costs.mean(before, begins[i]) - 1;
    if (std::abs(effect) >= options.least_effect) result.push_back({begins[i], effect});
  }
  return result;
}

}  // namespace hplcast::fit
