#include "hplcast/study/seed_means.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/distributions.hpp"

namespace hplcast::study {

SeedMeans::SeedMeans(const std::vector<std::vector<double>>& values) {
  double squares = 0;
  for (const std::vector<double>& one : values) {
    if (one.empty()) throw core::DomainError("results of a configuration", 0, "at least one");
    for (const double value : one)
      if (!(value > 0) || !std::isfinite(value)) throw core::DomainError("result", value, "a number above 0");
    counts_.push_back(one.size());
    means_.push_back(core::mean(one));
    for (const double value : one) squares += std::pow(value / means_.back() - 1, 2);
    freedom_ += one.size() - 1;
  }
  if (freedom_ == 0) return;
  constexpr double both_sides = 0.975;
  sd_ = std::sqrt(squares / static_cast<double>(freedom_));
  t_ = fit::students_t_quantile(static_cast<double>(freedom_), both_sides);
}

std::size_t SeedMeans::best() const {
  return static_cast<std::size_t>(std::max_element(means_.begin(), means_.end()) - means_.begin());
}

double SeedMeans::relative_error(std::size_t i) const {
  return sd_ / std::sqrt(static_cast<double>(counts_[i]));
}

std::optional<double> SeedMeans::half_width(std::size_t i) const {
  if (freedom_ == 0) return std::nullopt;
  return t_ * means_[i] * relative_error(i);
}

SeedRatio SeedMeans::ratio(std::size_t a, std::size_t b) const {
  SeedRatio result{means_[a] / means_[b], std::nullopt};
  if (freedom_ > 0) result.half_width = t_ * result.ratio * std::hypot(relative_error(a), relative_error(b));
  return result;
}

std::size_t SeedMeans::equals(std::size_t i, const std::function<bool(std::size_t)>& counts) const {
  if (freedom_ == 0) return 0;
  std::size_t count = 0;
  for (std::size_t other = 0; other < means_.size(); ++other)
    if (other != i && (!counts || counts(other)) && !ratio(other, i).is_apart()) ++count;
  return count;
}

std::string mean_text(const SeedMeans& means, std::size_t i) {
  const std::optional<double> half = means.half_width(i);
  return core::readable(means.mean(i)) + (half ? " +- " + core::readable(*half, 2) : "");
}

std::string to_string(const SeedRatio& ratio) {
  const std::string number = core::with_decimals(ratio.ratio, 3);
  if (!ratio.half_width) return number + " times";
  return number + " +- " + core::with_decimals(*ratio.half_width, 3) + " times" +
         (ratio.is_apart() ? "" : ": cannot be told apart");
}

std::string equals_text(const SeedMeans& means, std::size_t i, const std::function<bool(std::size_t)>& counts) {
  constexpr double rounding = 1e-9;
  std::size_t ties = 0;
  for (std::size_t other = 0; other < means.size(); ++other)
    if (other != i && (!counts || counts(other)) && means.mean(other) >= means.mean(i) * (1 - rounding)) ++ties;
  const std::size_t count = means.equals(i, counts);
  if (count > ties) return "; " + core::counted(count, "other") + " cannot be told apart from it";
  return ties == 0 ? "" : "; " + core::counted(ties, "other") + (ties == 1 ? " is" : " are") + " as good";
}

}  // namespace hplcast::study
