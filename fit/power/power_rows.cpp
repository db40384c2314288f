#include "hplcast/fit/power_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

namespace {

using core::PowerSample;

/// Mean without what is far from the median.
double mean_without_outliers(const std::vector<double>& values, std::size_t& outliers) {
  constexpr std::size_t enough = 5;
  constexpr double far = 6, least_share = 0.05;
  const double centre = core::upper_median(values);
  const double limit = std::max(far * core::sd_of_median_distance * core::median_distance(values, centre),
                                least_share * std::abs(centre));
  double sum = 0;
  std::size_t n = 0;
  for (const double value : values) {
    if (values.size() >= enough && std::abs(value - centre) > limit) {
      ++outliers;
      continue;
    }
    sum += value;
    ++n;
  }
  return sum / static_cast<double>(n);
}

/// @throws core::Error for samples of different states.
void require_alike(const PowerSample& first, const PowerSample& other) {
  if (other.state == first.state && other.active_cores == first.active_cores) return;
  throw core::InputError("piece " + std::to_string(first.piece) + (first.host.empty() ? "" : " of " + first.host) +
                         " has samples of " + first.state + " on " + std::to_string(first.active_cores) +
                         " cores and of " + other.state + " on " + std::to_string(other.active_cores) +
                         "; expected one state and number of cores in a piece\n  hint: were files of two "
                         "measurements of a host joined? Each has its own numbers of pieces");
}

/// The used samples of one piece by sensor.
using PowerPiece = std::map<std::string, std::vector<const PowerSample*>>;

void add_row(const PowerPiece& piece, PowerRows& result) {
  PowerRow row;
  row.samples = piece.begin()->second.size();
  double frequency_sum = 0;
  std::size_t frequencies = 0;
  for (const auto& [name, samples] : piece) {
    std::vector<double> watts;
    for (const PowerSample* sample : samples) {
      require_alike(*piece.begin()->second.front(), *sample);
      watts.push_back(sample->power_w);
      if (!(sample->frequency_hz > 0)) continue;
      frequency_sum += sample->frequency_hz;
      ++frequencies;
    }
    const double mean_w = mean_without_outliers(watts, result.outliers);
    row.power_w += mean_w;
    row.samples = std::min(row.samples, samples.size());
    const PowerSample& first = *samples.front();
    row.host = first.host;
    row.state = first.state;
    row.active_cores = first.active_cores;
    row.cores = first.cores;
    if (first.limit_w > 0) {
      row.limit_share = std::max(row.limit_share, mean_w / first.limit_w);
      if (first.domain == core::PowerDomain::package && (result.limit_w == 0 || first.limit_w < result.limit_w))
        result.limit_w = first.limit_w;
    }
  }
  if (frequencies > 0) row.frequency_hz = frequency_sum / static_cast<double>(frequencies);
  result.rows.push_back(row);
}

/// @throws core::Error if the host has none of them.
std::vector<std::string> chosen_sensors(const std::string& host, const std::vector<PowerSample>& samples,
                                        const std::vector<std::string>& wanted) {
  const std::vector<core::SeenSensor> seen = core::seen_sensors(samples);
  std::vector<std::string> names, chosen;
  for (const core::SeenSensor& sensor : seen)
    names.push_back(sensor.name + " (" + core::to_string(sensor.domain) + ")");
  if (wanted.empty()) chosen = core::sensors_of_host(seen);
  for (const core::SeenSensor& sensor : seen)
    if (std::find(wanted.begin(), wanted.end(), sensor.name) != wanted.end()) chosen.push_back(sensor.name);
  if (!chosen.empty() && chosen.size() >= wanted.size()) return chosen;
  throw core::InputError((host.empty() ? "the host" : host) + " has the sensors " + core::comma_separated(names) +
                         (wanted.empty() ? ": none of the whole host, nor packages that add up to it"
                                         : "; expected " + core::comma_separated(wanted)) +
                         "\n  hint: --sensors NAME,... adds up others");
}

}  // namespace

PowerRows power_rows(const std::vector<PowerSample>& samples, const std::vector<std::string>& sensors) {
  std::map<std::string, std::vector<PowerSample>> hosts;
  for (const PowerSample& sample : samples) hosts[sample.host].push_back(sample);
  PowerRows result;
  std::set<std::string> all_sensors;
  for (const auto& [host, of_host] : hosts) {
    const std::vector<std::string> chosen = chosen_sensors(host, of_host, sensors);
    all_sensors.insert(chosen.begin(), chosen.end());
    std::map<long, PowerPiece> pieces;
    long without_piece = 0;  // used samples without one are pieces of their own
    for (const PowerSample& sample : of_host) {
      const bool is_chosen = std::find(chosen.begin(), chosen.end(), sample.sensor) != chosen.end();
      if (!is_chosen || (sample.piece == 0 && !sample.used)) continue;
      PowerPiece& piece = pieces[sample.piece == 0 ? --without_piece : sample.piece];
      if (sample.used) piece[sample.sensor].push_back(&sample);
    }
    for (const auto& [number, piece] : pieces) {
      if (piece.size() < chosen.size())
        ++result.incomplete;
      else
        add_row(piece, result);
    }
  }
  result.sensors.assign(all_sensors.begin(), all_sensors.end());
  return result;
}

}  // namespace hplcast::fit
