#include "outlier_limits.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/random_stream.hpp"
#include "mpi_samples.hpp"

namespace hplcast::fit::detail {

namespace {

constexpr std::size_t sample_size = 16;    // calls kept a size
constexpr std::size_t company = 20;        // calls that a size is compared with on either side, its own included
const double always_kept = std::log(3.0);  // noise that a program meets as well, whatever the spread of the rest

/// The logarithm that most calls do not exceed by much, and how far those below it scatter.
struct Typical {
  double log = 0;
  double lower_spread = 0;  // 0.76 standard deviations if normal
};

Typical typical_of(std::vector<double> logs) {
  std::sort(logs.begin(), logs.end());
  const double log = quantile(logs, 0.3);
  return {log, log - quantile(logs, 0.1)};
}

}  // namespace

void OutlierLimits::add(double size, double duration_s) {
  Sample& sample = samples_[size];
  const double value = std::log(duration_s);
  ++sample.seen;
  if (sample.logs.size() < sample_size) {
    sample.logs.push_back(value);
    return;
  }
  // Reservoir sampling (Vitter 1985, algorithm R).
  const core::StreamName stream{0, core::stream_fit, 0, 0};
  const double at =
      core::draw(stream, static_cast<std::uint64_t>(sample.seen)).uniform * static_cast<double>(sample.seen);
  if (at < static_cast<double>(sample_size)) sample.logs[static_cast<std::size_t>(at)] = value;
}

void OutlierLimits::close() {
  const auto take = [](std::vector<double>& logs, const Sample& sample) {
    logs.insert(logs.end(), sample.logs.begin(), sample.logs.end());
    return logs.size() < company;
  };
  std::vector<double> spreads;  // one number for all sizes: a company around a jump scatters by the jump
  for (auto it = samples_.begin(); it != samples_.end(); ++it) {
    std::vector<double> smaller, larger;
    for (auto from = std::make_reverse_iterator(std::next(it)); from != samples_.rend(); ++from)
      if (!take(smaller, from->second)) break;
    for (auto from = it; from != samples_.end(); ++from)
      if (!take(larger, from->second)) break;
    const Typical below = typical_of(smaller), above = typical_of(larger);
    // At the ends there are too few calls on one side to judge by.
    if (std::min(smaller.size(), larger.size()) < company) {
      it->second.limit = smaller.size() > larger.size() ? below.log : above.log;
    } else {
      it->second.limit = std::max(below.log, above.log);
    }
    spreads.push_back(std::min(below.lower_spread, above.lower_spread));
  }
  if (spreads.empty()) return;
  std::sort(spreads.begin(), spreads.end());
  const double usual_noise = std::max(always_kept, 10 * quantile(spreads, 0.5));
  for (auto& entry : samples_) entry.second.limit += usual_noise;
}

bool OutlierLimits::is_outlier(double size, double duration_s) const {
  const auto found = samples_.find(size);
  return found != samples_.end() && std::log(duration_s) > found->second.limit;
}

}  // namespace hplcast::fit::detail
