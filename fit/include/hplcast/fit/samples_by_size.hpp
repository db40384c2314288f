#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace hplcast::fit {

/// All durations of one size, reduced to what the objectives of a regression need.
struct SizeCell {
  double size = 0;
  long rows = 0;
  double mean = 0;      ///< of the durations, s
  double m2 = 0;        ///< sum of squared differences from `mean`, s^2
  double mean_log = 0;  ///< of log(duration)
  double m2_log = 0;    ///< sum of squared differences from `mean_log`
};

/// Durations by message size, row after row: memory grows with the number of distinct sizes, not with the rows. Means
/// and spreads are kept by Welford's update (1962), which does not cancel.
class SamplesBySize {
 public:
  /// @throws DomainError unless size >= 0 and duration_s > 0, both finite.
  void add(double size, double duration_s);

  /// Ascending by size.
  std::vector<SizeCell> cells() const;
  std::size_t distinct_sizes() const noexcept { return cells_.size(); }
  long rows() const noexcept { return rows_; }

 private:
  std::unordered_map<double, SizeCell> cells_;
  long rows_ = 0;
};

/// One row per size: its mean duration (arithmetic), as published fits take it. The spread inside a size is forgotten.
std::vector<SizeCell> averaged(std::vector<SizeCell> cells);

}  // namespace hplcast::fit
