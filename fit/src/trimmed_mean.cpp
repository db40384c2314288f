#include "trimmed_mean.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit::detail {

void TrimmedMean::add_to(std::map<long, Bin>& bins, double value) {
  constexpr double width = 1e-3;  // of the logarithm
  Bin& bin = bins[std::lround(std::log(value) / width)];
  ++bin.count;
  bin.sum += value;
}

void TrimmedMean::add(double value) {
  if (!(value > 0) || !std::isfinite(value)) throw core::DomainError("duration_s", value, "a finite number > 0");
  ++count_;
  if (bins_.empty() && kept_.size() < most_kept) {
    kept_.push_back(value);
    return;
  }
  for (const double earlier : kept_) add_to(bins_, earlier);
  kept_ = {};
  add_to(bins_, value);
}

double TrimmedMean::value(double share) const {
  if (empty()) return 0;
  const long cut = static_cast<long>(share * static_cast<double>(count_));
  const auto left = static_cast<double>(count_ - 2 * cut);
  if (bins_.empty()) {
    std::vector<double> sorted = kept_;
    std::sort(sorted.begin(), sorted.end());
    return std::accumulate(sorted.begin() + cut, sorted.end() - cut, 0.0) / left;
  }
  long seen = 0;
  double sum = 0;
  for (const auto& [place, bin] : bins_) {
    const long from = std::max(seen, cut), to = std::min(seen + bin.count, count_ - cut);
    if (from < to) sum += bin.sum * static_cast<double>(to - from) / static_cast<double>(bin.count);
    seen += bin.count;
  }
  return sum / left;
}

}  // namespace hplcast::fit::detail
