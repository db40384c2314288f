#pragma once

#include <map>
#include <vector>

namespace hplcast::fit::detail {

/// Mean of positive values without the lowest and the highest of them. Memory is bounded: up to `most_kept` values are
/// kept as they are, more are counted in bins of 0.1 % width with the sum of each bin, so that only what lies in the
/// two bins at the cuts is not exact.
class TrimmedMean {
 public:
  static constexpr std::size_t most_kept = 100000;

  /// @throws DomainError unless the value is finite and above 0.
  void add(double value);
  bool empty() const noexcept { return count_ == 0; }
  /// Without the lowest and the highest `share` (0 to below 0.5) of the values, rounded down; 0 if there are none.
  double value(double share) const;

 private:
  struct Bin {
    long count = 0;
    double sum = 0;
  };
  static void add_to(std::map<long, Bin>& bins, double value);

  std::vector<double> kept_;
  std::map<long, Bin> bins_;  // empty as long as values are kept
  long count_ = 0;
};

}  // namespace hplcast::fit::detail
