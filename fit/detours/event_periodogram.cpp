#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <complex>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "fit/detours/source_search.hpp"

namespace hplcast::fit {

namespace {

constexpr std::size_t most_bins = std::size_t{1} << 20;
constexpr std::size_t most_peaks = 12;

/// How time is cut into bins.
struct Raster {
  double width_s = 1;
  std::size_t bins = 0, padded = 1;  ///< padded: power of two, at least twice the bins
  double step_hz() const { return 1 / (width_s * static_cast<double>(padded)); }
};

Raster make_raster(const std::vector<TrainInput>& cores, double span_s) {
  double most_hz = 0;
  for (const TrainInput& core : cores)
    most_hz = std::max(most_hz, 1.25 * static_cast<double>(core.times_s.size()) / std::max(1e-9, core.watched_s));
  Raster raster{1 / (4 * most_hz), 0, 1};
  raster.bins = static_cast<std::size_t>(std::min<double>(most_bins, std::ceil(span_s / raster.width_s)));
  while (raster.padded < 2 * raster.bins) raster.padded *= 2;
  return raster;
}

/// The tapered events of a core without their mean, in bins; the squares of their weights.
double fill(const std::vector<double>& times, const Raster& raster, const std::vector<double>& taper,
            std::vector<double>& values) {
  std::fill(values.begin(), values.end(), 0.0);
  double sum = 0, squares = 0, all = 0;
  for (const double time : times) {
    const double place = time / raster.width_s;
    if (place < 0 || place >= static_cast<double>(raster.bins)) continue;
    const auto bin = static_cast<std::size_t>(place);
    values[bin] += taper[bin];
    sum += taper[bin];
    squares += taper[bin] * taper[bin];
  }
  for (const double weight : taper) all += weight;
  for (std::size_t bin = 0; bin < raster.bins; ++bin) values[bin] -= taper[bin] * sum / all;
  return squares;
}

std::vector<double> power_spectrum(const std::vector<TrainInput>& cores, const Raster& raster) {
  std::vector<double> taper(raster.bins), values(raster.padded), power(raster.padded / 4 + 1, 0.0);
  for (std::size_t bin = 0; bin < raster.bins; ++bin) {
    constexpr double pi = 3.14159265358979323846;
    const double sine = std::sin(pi * (static_cast<double>(bin) + 0.5) / static_cast<double>(raster.bins));
    taper[bin] = sine * sine;  // Hann's window
  }
  Eigen::FFT<double> transform;
  std::vector<std::complex<double>> spectrum;
  for (const TrainInput& core : cores) {
    const double squares = fill(core.times_s, raster, taper, values);
    transform.fwd(spectrum, values);
    for (std::size_t k = 1; k < power.size() && squares > 0; ++k) power[k] += std::norm(spectrum[k]) / squares;
  }
  return power;
}

/// The place of a maximum between bins: a parabola through three logarithms.
double interpolated(const std::vector<double>& power, std::size_t k) {
  const double l = std::log(power[k - 1] + 1e-300), m = std::log(power[k] + 1e-300),
               r = std::log(power[k + 1] + 1e-300);
  const double bend = l - 2 * m + r;
  const double shift = bend < 0 ? std::clamp((l - r) / (2 * bend), -0.5, 0.5) : 0;
  return static_cast<double>(k) + shift;
}

/// The power that only one of 1000 such spectra of Poisson events exceeds somewhere.
double significant_power(std::size_t cores, std::size_t frequencies) {
  const double tail = 1e-3 / static_cast<double>(std::max<std::size_t>(1, frequencies));
  return boost::math::gamma_q_inv(static_cast<double>(cores), tail);
}

}  // namespace

std::vector<FrequencyPeak> find_peaks(const std::vector<TrainInput>& cores, double span_s) {
  std::size_t with_events = 0, events = 0;
  for (const TrainInput& core : cores)
    with_events += core.times_s.empty() ? 0 : 1, events = std::max(events, core.times_s.size());
  if (events < 4 || !(span_s > 0)) return {};
  const Raster raster = make_raster(cores, span_s);
  const std::vector<double> power = power_spectrum(cores, raster);
  const double seen_s = raster.width_s * static_cast<double>(raster.bins);
  const auto first = static_cast<std::size_t>(std::ceil(3 / seen_s / raster.step_hz()));
  std::vector<FrequencyPeak> peaks;
  for (std::size_t k = std::max<std::size_t>(first, 1); k + 1 < power.size(); ++k)
    if (power[k] > power[k - 1] && power[k] >= power[k + 1])
      peaks.push_back({interpolated(power, k) * raster.step_hz(), power[k]});
  const double significant = significant_power(with_events, power.size());
  std::vector<FrequencyPeak> chosen;
  for (const FrequencyPeak& peak : peaks)
    if (chosen.size() < most_peaks && peak.power > significant) chosen.push_back(peak);
  const double lowest_known_hz = chosen.empty() ? 0 : chosen.back().frequency_hz;
  std::sort(peaks.begin(), peaks.end(), [](const auto& a, const auto& b) { return a.power > b.power; });
  for (std::size_t i = 0; i < std::min(most_peaks, peaks.size()); ++i)
    if (chosen.empty() || peaks[i].frequency_hz > lowest_known_hz || peaks[i].power <= significant)
      chosen.push_back(peaks[i]);
  return chosen;
}

}  // namespace hplcast::fit
