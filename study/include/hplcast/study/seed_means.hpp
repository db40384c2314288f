#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hplcast::study {

/// A quotient of two means over seeds.
struct SeedRatio {
  double ratio = 1;
  std::optional<double> half_width;  ///< of its 95 percent interval; absent where no configuration has two seeds

  /// Is the difference more than chance? Not known without an interval, and then taken for one.
  bool is_apart() const { return !half_width || ratio - *half_width > 1 || ratio + *half_width < 1; }
};

/// Results of several configurations, each predicted with one seed or more. The one with the best single result is the
/// luckiest; means do not say that. The relative standard deviation of a seed is pooled over all configurations,
/// because two or three seeds of one hardly tell it.
class SeedMeans {
 public:
  /// Per configuration a value per seed. @throws core::DomainError for one without values, or values that are not above
  /// 0.
  explicit SeedMeans(const std::vector<std::vector<double>>& values);

  std::size_t size() const { return means_.size(); }
  double mean(std::size_t i) const { return means_[i]; }
  std::size_t seeds(std::size_t i) const { return counts_[i]; }
  /// The one with the largest mean.
  std::size_t best() const;
  /// Half the 95 percent interval of the mean, in its unit (Student's t, with the degrees of freedom of all
  /// configurations).
  std::optional<double> half_width(std::size_t i) const;
  /// Mean of `a` over that of `b`; the interval by the delta method.
  SeedRatio ratio(std::size_t a, std::size_t b) const;
  /// Number of others, of those with `counts` (empty: all), that differ from `i` by no more than chance.
  std::size_t equals(std::size_t i, const std::function<bool(std::size_t)>& counts = {}) const;

 private:
  double relative_error(std::size_t i) const;

  std::vector<double> means_;
  std::vector<std::size_t> counts_;
  double sd_ = 0;  ///< of a seed, relative
  std::size_t freedom_ = 0;
  double t_ = 0;  ///< quantile; 0 without freedom
};

/// "58.73 +- 1.2", without an interval "58.73".
std::string mean_text(const SeedMeans& means, std::size_t i);

/// "1.020 +- 0.030 times", and whether that can be told from 1.
std::string to_string(const SeedRatio& ratio);

/// "; 3 others cannot be told apart from it", "; 1 other is as good" (of factors that make no difference), or nothing.
std::string equals_text(const SeedMeans& means, std::size_t i, const std::function<bool(std::size_t)>& counts = {});

}  // namespace hplcast::study
