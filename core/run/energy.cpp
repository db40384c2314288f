#include "hplcast/core/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace {

double power_at(const PowerTrace& trace, double instant_s) {
  const auto bin = std::min(static_cast<std::size_t>(instant_s / trace.bin_s), trace.bins_j.size() - 1);
  return trace.power_w(trace.bins_j, bin);
}

double energy_of(const PowerTrace& trace) {
  return std::accumulate(trace.bins_j.begin(), trace.bins_j.end(), 0.0);
}

/// Readings at `first_s`, and every `interval_s` after it.
struct Readings {
  int count = 0;
  double mean_w = 0;
};

Readings read_every(const PowerTrace& trace, double first_s, double interval_s) {
  Readings readings;
  double sum_w = 0;
  for (double instant_s = first_s; instant_s < trace.time_s; instant_s = first_s + readings.count * interval_s) {
    sum_w += power_at(trace, instant_s);
    ++readings.count;
  }
  readings.mean_w = sum_w / readings.count;
  return readings;
}

/// Energy from begin to end, power being constant in a bin.
double energy_between(const PowerTrace& trace, double begin_s, double end_s) {
  double energy_j = 0;
  for (std::size_t i = 0; i < trace.bins_j.size(); ++i) {
    const double from_s = static_cast<double>(i) * trace.bin_s;
    const double both_s = std::min(end_s, from_s + trace.duration_s(i)) - std::max(begin_s, from_s);
    if (both_s > 0) energy_j += both_s * trace.power_w(trace.bins_j, i);
  }
  return energy_j;
}

}  // namespace

SamplingError sampling_error(const PowerTrace& trace, double interval_s) {
  if (interval_s < trace.bin_s || interval_s > trace.time_s)
    throw DomainError(
        "interval of samples", shortest(interval_s) + " s",
        "from " + shortest(trace.bin_s) + " s, a bin of the trace, to its " + shortest(trace.time_s) + " s");
  const double mean_w = energy_of(trace) / trace.time_s;
  // Nothing changes inside a bin, so one offset in each bin is all there is.
  const int offsets = static_cast<int>(std::ceil(interval_s / trace.bin_s - 1e-9));
  SamplingError error{interval_s, 0, 0, 0};
  for (int i = 0; i < offsets; ++i) {
    const Readings readings = read_every(trace, (i + 0.5) * trace.bin_s, interval_s);
    const double off = std::abs(readings.mean_w / mean_w - 1);
    error.samples = i == 0 ? readings.count : std::min(error.samples, readings.count);
    error.worst = std::max(error.worst, off);
    error.mean += off / offsets;
  }
  return error;
}

std::optional<PowerLevels> power_levels(const PowerTrace& trace) {
  constexpr double least_s = 60, widest_bin_s = 1;
  constexpr int averages = 10, least_samples = 10;
  if (trace.time_s < least_s || trace.bin_s > widest_bin_s) return std::nullopt;
  PowerLevels levels;
  levels.level1_w = read_every(trace, trace.bin_s / 2, 1).mean_w;
  for (int i = 0; i < averages; ++i) {
    const double length_s = trace.time_s / averages;
    levels.level2_w.push_back(energy_between(trace, i * length_s, (i + 1) * length_s) / length_s);
  }
  levels.level3_j = energy_of(trace);
  for (const double interval_s : {1.0, 10.0, 30.0, 60.0})
    if (interval_s * least_samples <= trace.time_s) levels.sampling.push_back(sampling_error(trace, interval_s));
  return levels;
}

void Energy::add_up(double time_s, double gflops) {
  energy_j = idle_j + awake_j + network_j;
  for (const StateEnergy& state : states) energy_j += state.energy_j;
  mean_power_w = energy_j / time_s;
  gflops_per_w = mean_power_w > 0 ? gflops / mean_power_w : 0;
}

}  // namespace hplcast::core
