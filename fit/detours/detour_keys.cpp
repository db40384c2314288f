#include "fit/detours/source_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "fit/stats/robust_statistics.hpp"

namespace hplcast::fit {

namespace {

/// Width of a uniform law: that of the inner nine tenths, over 0.9, which a few strangers do not widen.
double jitter_of(const EventTrain& train) {
  std::vector<double> residuals;
  for (const CoreTrain& core : train.cores)
    for (const TrainEvent& e : core.events)
      residuals.push_back(e.start_s - core.center_s - static_cast<double>(e.number) * train.period_s);
  if (residuals.size() < 3) return 0;
  return (detail::quantile_of(residuals, 0.95) - detail::quantile_of(residuals, 0.05)) / 0.9;
}

/// Two cores' events of the same numbers.
struct Pairing {
  double share = 0;     ///< of the events that have a partner
  double offset_s = 0;  ///< median of the difference
  double spread_s = 0;  ///< that 80 percent of the differences stay below, around the median
  double pairs = 0;     ///< that the median is of
};

Pairing pair_up(const CoreTrain& a, const CoreTrain& b, double period_s) {
  // Centers are in [0, period): neighbours across its end are numbered one apart.
  const double turns = std::round((b.center_s - a.center_s) / period_s);
  const auto shift = static_cast<long>(turns);
  std::vector<double> differences;
  for (std::size_t i = 0, j = 0; i < a.events.size() && j < b.events.size();) {
    const long number = b.events[j].number + shift;
    if (a.events[i].number == number) {
      differences.push_back(b.events[j].start_s - a.events[i].start_s);
      ++i, ++j;
    } else if (a.events[i].number < number) {
      ++i;
    } else {
      ++j;
    }
  }
  Pairing pairing;
  if (differences.empty()) return {0, period_s, period_s, 0};
  pairing.pairs = static_cast<double>(differences.size());
  pairing.share =
      static_cast<double>(differences.size()) / static_cast<double>(std::max(a.events.size(), b.events.size()));
  pairing.offset_s = detail::quantile_of(differences, 0.5);
  for (double& difference : differences) difference = std::abs(difference - pairing.offset_s);
  pairing.spread_s = detail::quantile_of(differences, 0.8);
  return pairing;
}

/// How cores of a group belong together.
struct Togetherness {
  bool instants = true;  ///< the same events, jitter and all
  bool phases = true;    ///< the same phase, jitter of their own
  double chance = 1;     ///< of equal phases by chance
};

/// @param members  indices of cores; the first is compared with all others
Togetherness judge(const EventTrain& train, double jitter_s, const std::vector<std::size_t>& members,
                   double clock_error_s, double resolution_s) {
  Togetherness result;
  const double raster_s = 2e-6;  // what noting a gap costs
  const double same_s = std::max(raster_s, 0.15 * jitter_s) + resolution_s;
  bool jitter_tells = jitter_s > 5 * std::max(raster_s, resolution_s);
  for (std::size_t i = 1; i < members.size(); ++i) {
    const CoreTrain &a = train.cores[members[0]], &b = train.cores[members[i]];
    const Pairing pairing = pair_up(a, b, train.period_s);
    const double limit_s = clock_error_s + same_s;
    jitter_tells = jitter_tells && a.events.size() >= 8 && b.events.size() >= 8;
    result.instants =
        result.instants && pairing.share > 0.6 && pairing.spread_s <= same_s && std::abs(pairing.offset_s) <= limit_s;
    // The mean of uniform draws is uncertain; a third of their range is far beyond that from ten events on.
    const double phase_limit_s = clock_error_s + std::max(raster_s, jitter_s / 3) + resolution_s;
    result.phases = result.phases && std::abs(pairing.offset_s) <= phase_limit_s;
    // Chance that random phases are as near as these; gaps are noted no finer than the raster, and a median of errors
    // of the resolution is known to two of its standard deviations.
    const double apart_s = std::max({std::abs(pairing.offset_s), raster_s, resolution_s / std::sqrt(pairing.pairs)});
    result.chance *= std::min(1.0, 2 * apart_s / train.period_s);
  }
  if (members.size() < 2 || (result.chance > 0.01 && !(result.instants && jitter_tells)))
    result.instants = result.phases = false;
  return result;
}

}  // namespace

TrainKeys keys_of(const EventTrain& train, const std::vector<std::string>& hosts, double resolution_s,
                  const DetourFitOptions& options) {
  TrainKeys keys;
  keys.jitter_s = std::max(0.0, jitter_of(train) - resolution_s);
  std::map<std::string, std::vector<std::size_t>> members;
  for (std::size_t core = 0; core < train.cores.size(); ++core)
    if (!train.cores[core].events.empty()) members[hosts[core]].push_back(core);
  bool several_cores = false, hosts_alike = true, phases_alike = true;
  std::vector<std::size_t> first_cores;
  for (const auto& [host, cores] : members) {
    first_cores.push_back(cores.front());
    if (cores.size() < 2) continue;
    several_cores = true;
    const Togetherness together = judge(train, keys.jitter_s, cores, options.together_s, resolution_s);
    hosts_alike = hosts_alike && together.instants;
    phases_alike = phases_alike && together.phases;
  }
  const bool several_hosts = first_cores.size() > 1;
  Togetherness between;
  if (several_hosts) between = judge(train, keys.jitter_s, first_cores, options.clock_error_s, resolution_s);
  const bool all_alike = hosts_alike && (!several_hosts || between.instants);
  if (several_hosts && all_alike) {
    keys.per = core::DetoursPer::cluster;
  } else if (several_cores && hosts_alike) {
    keys.per = core::DetoursPer::host;
  }
  const bool one_phase = (several_cores || several_hosts) && phases_alike && (!several_hosts || between.phases);
  // With one host nobody knows whether others would have the same phase.
  const bool has_several_keys =
      keys.per == core::DetoursPer::core || (keys.per == core::DetoursPer::host && several_hosts);
  if (one_phase && has_several_keys) {
    const double period_s = train.period_s, first_s = train.cores[first_cores.front()].center_s - keys.jitter_s / 2;
    keys.phase_s = first_s - std::floor(first_s / period_s) * period_s;
  }
  return keys;
}

}  // namespace hplcast::fit
