#include "outlier_limits.hpp"

#include <algorithm>
#include <cmath>

#include "quantile.hpp"
#include "reservoir.hpp"

namespace hplcast::fit::detail {

namespace {

constexpr std::size_t sample_size = 16;        // calls kept a size
constexpr std::size_t bin_size = 10;           // calls in a bin, at least
const double greatest_width = std::log(10.0);  // of a bin
const double always_kept = std::log(3.0);      // noise that a program meets as well, whatever the spread of the rest
constexpr double steepest = 1.2;               // durations grow in proportion to the size at most, but for noise

double log_of_size(double size) {
  return std::log(std::max(1.0, size));
}

}  // namespace

void OutlierLimits::add(double size, double duration_s) {
  Sample& sample = samples_[size];
  const double value = std::log(duration_s);
  ++sample.seen;
  keep_in_reservoir(sample.logs, sample_size, sample.seen, value);
}

void OutlierLimits::make_bins() {
  std::size_t left = 0;  // calls in no bin yet: too few for one of their own go into the last
  for (const auto& entry : samples_) left += entry.second.logs.size();
  for (auto& [size, sample] : samples_) {
    if (bins_.empty() || (bins_.back().logs.size() >= bin_size && left >= bin_size)) bins_.emplace_back();
    Bin& bin = bins_.back();
    bin.log_sizes.insert(bin.log_sizes.end(), sample.logs.size(), log_of_size(size));
    bin.logs.insert(bin.logs.end(), sample.logs.begin(), sample.logs.end());
    sample.bin = bins_.size() - 1;
    left -= sample.logs.size();
  }
  for (Bin& bin : bins_) {
    bin.wide = bin.logs.size() < bin_size || bin.log_sizes.back() - bin.log_sizes.front() > greatest_width;
    bin.centre = quantile(bin.log_sizes, 0.5);
    bin.usual = quantile_of(bin.logs, 0.3);
  }
}

void OutlierLimits::find_slopes() {
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    const Bin& before = bins_[b > 0 ? b - 1 : 0];
    const Bin& after = bins_[std::min(b + 1, bins_.size() - 1)];
    const double run = after.centre - before.centre;
    bins_[b].slope = run > 0 ? std::clamp((after.usual - before.usual) / run, 0.0, steepest) : 0;
  }
}

double OutlierLimits::usual_at(double log_size, std::size_t bin) const {
  return bins_[bin].usual + bins_[bin].slope * (log_size - bins_[bin].centre);
}

void OutlierLimits::close() {
  make_bins();
  find_slopes();
  std::vector<double> spreads;
  for (Bin& bin : bins_) {
    std::vector<double> levelled = bin.logs;
    for (std::size_t i = 0; i < levelled.size(); ++i) levelled[i] -= bin.slope * (bin.log_sizes[i] - bin.centre);
    std::sort(levelled.begin(), levelled.end());
    bin.usual = quantile(levelled, 0.3);
    spreads.push_back(bin.usual - quantile(levelled, 0.1));  // 0.76 standard deviations if normal
  }
  // One number for all sizes: a bin with a jump inside scatters by the jump.
  if (!spreads.empty()) noise_ = std::max(always_kept, 10 * quantile_of(spreads, 0.5));
}

bool OutlierLimits::is_outlier(double size, double duration_s) const {
  const auto found = samples_.find(size);
  if (found == samples_.end()) return false;
  const std::size_t bin = found->second.bin;
  if (bins_[bin].wide) return false;
  const double log_size = log_of_size(size);
  double usual = usual_at(log_size, bin);
  if (bin > 0) usual = std::max(usual, usual_at(log_size, bin - 1));
  if (bin + 1 < bins_.size()) usual = std::max(usual, usual_at(log_size, bin + 1));
  return std::log(duration_s) > usual + noise_;
}

}  // namespace hplcast::fit::detail
