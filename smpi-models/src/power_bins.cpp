#include "power_bins.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::smpi_models {

namespace {

constexpr std::size_t most_bins = 10'000'000;  // 80 MB

}  // namespace

/// Does not throw: ranks add to bins where nothing may be thrown (c_boundary.hpp).
double& PowerBins::at(std::size_t bin) {
  bin = std::min(bin, most_bins);
  if (bin >= joules_.size()) joules_.resize(bin + 1);
  return joules_[bin];
}

void PowerBins::add(double begin_s, double end_s, double w) {
  auto bin = static_cast<std::size_t>(std::max(0.0, begin_s) / bin_s_);
  while (bin < most_bins) {
    const double bin_end_s = static_cast<double>(bin + 1) * bin_s_;
    if (end_s <= bin_end_s) break;
    if (bin_end_s > begin_s) {
      at(bin) += w * (bin_end_s - begin_s);
      begin_s = bin_end_s;
    }
    ++bin;
  }
  if (w != 0) at(bin) += w * (end_s - begin_s);
}

void PowerBins::end(double time_s) {
  constexpr double rounding = 1e-9;  // of a bin: one so short is none
  const auto bins = static_cast<std::size_t>(std::max(1.0, std::ceil(time_s / bin_s_ - rounding)));
  if (bins > most_bins) {
    throw core::DomainError(
        "HPLCAST_POWER_BIN", core::shortest(bin_s_) + " s",
        "at most " + std::to_string(most_bins) + " bins in the " + core::shortest(time_s) + " s of the run",
        "take wider bins");
  }
  at(bins - 1) += 0;
  for (std::size_t more = bins; more < joules_.size(); ++more) joules_[bins - 1] += joules_[more];
  joules_.resize(bins);
}

void ActiveTime::add(double begin_s, double end_s) {
  if (!(end_s > begin_s)) return;
  auto next = parts_.upper_bound(begin_s);
  if (next != parts_.begin() && std::prev(next)->second >= begin_s) {
    --next;
    begin_s = next->first;
  }
  while (next != parts_.end() && next->first <= end_s) {
    end_s = std::max(end_s, next->second);
    next = parts_.erase(next);
  }
  parts_.emplace(begin_s, end_s);
}

}  // namespace hplcast::smpi_models
