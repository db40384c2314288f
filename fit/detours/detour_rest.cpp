#include "fit/detours/source_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/detours.hpp"

namespace hplcast::fit {

namespace {

/// A stream of events: of a core, or of what hits several at once.
struct Stream {
  double watched_s = 0;
  std::vector<core::DetourEvent> events;
  long core = 0;  ///< number in its host
};

struct Place {
  double start_s = 0, duration_s = 0;
  std::size_t stream = 0;
};

/// Takes what at least four fifths of the streams have within a time out of them: the mean duration, the first start.
/// Nothing if there are no more of such groups than independent streams would have.
Stream take_common(std::vector<Stream>& streams, double within_s) {
  Stream common;
  if (streams.size() < 2) return common;
  const auto needed =
      std::max<std::size_t>(2, static_cast<std::size_t>(std::ceil(0.8 * static_cast<double>(streams.size()))));
  std::vector<Place> all;
  double chance = 1e300;  // groups by chance: of the pair of the rarest streams
  for (std::size_t i = 0; i < streams.size(); ++i) {
    common.watched_s = std::max(common.watched_s, streams[i].watched_s);
    for (const auto& event : streams[i].events) all.push_back({event.start_s, event.duration_s, i});
    for (std::size_t j = 0; j < i; ++j)
      chance = std::min(chance, static_cast<double>(streams[i].events.size()) *
                                    static_cast<double>(streams[j].events.size()) * 2 * within_s /
                                    std::max(1e-300, streams[i].watched_s));
  }
  std::sort(all.begin(), all.end(), [](const Place& a, const Place& b) { return a.start_s < b.start_s; });
  std::vector<char> taken(all.size(), 0);
  for (std::size_t first = 0; first < all.size();) {
    std::vector<char> seen(streams.size(), 0);
    std::size_t distinct = 0, end = first;
    double duration_s = 0;
    for (; end < all.size() && all[end].start_s <= all[first].start_s + within_s && seen[all[end].stream] == 0; ++end) {
      seen[all[end].stream] = 1;
      ++distinct;
      duration_s += all[end].duration_s;
    }
    if (distinct < needed) {
      ++first;
      continue;
    }
    common.events.push_back({all[first].start_s, duration_s / static_cast<double>(distinct)});
    std::fill(taken.begin() + static_cast<std::ptrdiff_t>(first), taken.begin() + static_cast<std::ptrdiff_t>(end), 1);
    first = end;
  }
  // Far more than chance: five standard deviations, and three times as many.
  if (static_cast<double>(common.events.size()) < 3 * chance + 5 * std::sqrt(chance) + 3)
    return {common.watched_s, {}, 0};
  for (Stream& stream : streams) stream.events.clear();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (taken[i] == 0) streams[all[i].stream].events.push_back({all[i].start_s, all[i].duration_s});
  return common;
}

/// Detours and times of several streams together.
struct Totals {
  std::vector<double> durations_s;
  double watched_s = 0, lost_s = 0;
};

Totals totals_of(const std::vector<Stream>& streams) {
  Totals totals;
  for (const Stream& stream : streams) {
    totals.watched_s += stream.watched_s;
    for (const auto& event : stream.events) {
      totals.durations_s.push_back(event.duration_s);
      totals.lost_s += event.duration_s;
    }
  }
  return totals;
}

/// One Poisson source of streams that are alike; nothing without events.
void add_source(const std::vector<Stream>& streams, core::DetoursPer per, const std::string& name, bool in_kernels,
                std::vector<FoundDetours>& sources) {
  Totals totals = totals_of(streams);
  if (totals.durations_s.empty()) return;
  const auto events = static_cast<double>(totals.durations_s.size());
  core::DetourSource::Values values;
  values.name = name;
  values.per = per;
  values.in_kernels = in_kernels;
  values.duration = fit_duration(std::move(totals.durations_s));
  sources.push_back(poisson_source(std::move(values), events, totals.watched_s, totals.lost_s));
  sources.back().cores = streams.size();
}

/// Events and time of all cores of one number.
struct CoreNumber {
  double events = 0, watched_s = 0;
  double rate() const { return events / watched_s; }
};

/// Cores that have far more events than most.
struct BusierCores {
  double usual_rate = 0;  ///< of most
  std::map<long, CoreNumber> numbers;
};

BusierCores busier_cores(const std::vector<Stream>& streams) {
  BusierCores busier;
  std::map<long, CoreNumber>& numbers = busier.numbers;
  for (const Stream& stream : streams) {
    CoreNumber& number = numbers[stream.core];
    number.events += static_cast<double>(stream.events.size());
    number.watched_s += stream.watched_s;
  }
  std::vector<double> rates;
  for (const auto& [core, number] : numbers) rates.push_back(number.rate());
  std::sort(rates.begin(), rates.end());
  busier.usual_rate = rates[(rates.size() - 1) / 2];
  for (auto one = numbers.begin(); one != numbers.end();) {
    const double usual = busier.usual_rate * one->second.watched_s;
    constexpr double many = 3, sds = 5;
    const bool few = one->second.events < many * usual || one->second.events < usual + sds * std::sqrt(usual) + sds;
    one = few ? numbers.erase(one) : std::next(one);
  }
  return busier;
}

/// Sources of the cores whose numbers have more detours than the others. They have the source of the others too:
/// together the two take the time that was measured.
void take_cores_apart(std::vector<Stream>& streams, const std::string& name, bool in_kernels,
                      std::vector<FoundDetours>& sources) {
  const double watched_s = totals_of(streams).watched_s;
  const BusierCores busier = busier_cores(streams);
  std::map<long, std::vector<Stream>> apart;
  std::vector<Stream> others;
  for (Stream& stream : streams)
    (busier.numbers.count(stream.core) > 0 ? apart[stream.core] : others).push_back(std::move(stream));
  streams = std::move(others);
  const Totals usual = totals_of(streams);
  const double usual_share = usual.watched_s > 0 ? usual.lost_s / usual.watched_s : 0;
  for (const auto& [core, number] : busier.numbers) {
    add_source(apart[core], core::DetoursPer::core, name + "-core-" + std::to_string(core), in_kernels, sources);
    FoundDetours& found = sources.back();
    // Short events beside rare long ones of the others may leave less time than none: then their number decides.
    const double time_beyond = 1 - usual_share / found.share;
    const double beyond = time_beyond > 0 ? time_beyond : 1 - busier.usual_rate / number.rate();
    core::DetourSource::Values values = found.source.values();
    values.period_s /= beyond;
    values.cores = {static_cast<int>(core)};
    found.source = core::DetourSource::make(std::move(values));
    found.share *= beyond * number.watched_s / watched_s;
  }
}

int duration_class(const core::DetourEvent& event) {
  return static_cast<int>(std::floor(2 * std::log10(event.duration_s)));
}

/// The time that detours of a class of durations took.
struct ClassTime {
  std::vector<double> lost_s;  ///< of each turn
  double all_s = 0, squares = 0;
};

/// Turns: times in which cores of a host were watched without a pause.
struct Turns {
  explicit Turns(const std::vector<core::CoreDetours>& cores) {
    std::vector<std::tuple<std::string, double, double>> windows;
    for (const core::CoreDetours& core : cores)
      for (const core::DetourWindow& one : core.windows) windows.emplace_back(core.host, one.start_s, one.end_s);
    std::sort(windows.begin(), windows.end());
    std::vector<std::pair<std::string, double>> begins;
    double last_s = 0;
    for (const auto& [host, start_s, end_s] : windows) {
      const bool is_new = begins.empty() || begins.back().first != host || start_s > last_s;
      if (is_new) begins.emplace_back(host, start_s), watched_s.push_back(0);
      last_s = is_new ? end_s : std::max(last_s, end_s);
      watched_s.back() += end_s - start_s;
      all_s += end_s - start_s;
    }
    constexpr double rounding_s = 1e-6;
    for (const core::CoreDetours& core : cores)
      for (const core::DetourEvent& event : core.events) {
        const auto next =
            std::upper_bound(begins.begin(), begins.end(), std::pair(core.host, event.start_s + rounding_s));
        ClassTime& one = classes[duration_class(event)];
        one.lost_s.resize(begins.size());
        one.lost_s[static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, next - begins.begin()) - 1)] +=
            event.duration_s;
        one.all_s += event.duration_s;
        one.squares += event.duration_s * event.duration_s;
      }
  }

  /// The sum's: that of independent detours, or more where turns say so (bursts, several cores at once).
  double variance(const ClassTime& one) const {
    const auto n = static_cast<double>(one.lost_s.size());
    double squares = 0;
    for (std::size_t turn = 0; turn < one.lost_s.size(); ++turn)
      squares += std::pow(one.lost_s[turn] - one.all_s / all_s * watched_s[turn], 2);
    return std::max(one.squares, n > 1 ? squares * n / (n - 1) : 0);
  }

  std::vector<double> watched_s;
  double all_s = 0;
  std::map<int, ClassTime> classes;
};

/// Classes that take more time of one than of the other, beyond chance: three standard deviations.
std::set<int> unlike_classes(const std::vector<core::CoreDetours>& first,
                             const std::vector<core::CoreDetours>& second) {
  Turns a(first), b(second);
  for (const auto& [number, time] : b.classes) a.classes[number];
  const double share = a.all_s / (a.all_s + b.all_s);
  std::set<int> unlike;
  for (const auto& [number, time] : a.classes) {
    const ClassTime& other = b.classes[number];
    const double both_s = time.all_s + other.all_s, half_event_s = (time.squares + other.squares) / both_s / 2;
    const double sd_s = std::sqrt((a.variance(time) + b.variance(other)) * share * (1 - share));
    constexpr double sds = 3;
    if (std::abs(time.all_s - share * both_s) > sds * sd_s + half_event_s) unlike.insert(number);
  }
  return unlike;
}

/// Takes the events of these classes out of cores.
std::vector<core::CoreDetours> take_classes(const std::set<int>& classes, std::vector<core::CoreDetours>& cores) {
  std::vector<core::CoreDetours> taken = cores;
  const auto is_taken = [&](const core::DetourEvent& event) { return classes.count(duration_class(event)) > 0; };
  for (std::size_t i = 0; i < cores.size(); ++i) {
    std::vector<core::DetourEvent>&all = cores[i].events, &some = taken[i].events;
    some.erase(std::stable_partition(some.begin(), some.end(), is_taken), some.end());
    all.erase(std::remove_if(all.begin(), all.end(), is_taken), all.end());
  }
  return taken;
}

double share_of(const std::vector<core::CoreDetours>& cores) {
  double watched_s = 0, lost_s = 0;
  for (const core::CoreDetours& core : cores) watched_s += core.watched_s(), lost_s += core.lost_s();
  return lost_s / watched_s;
}

}  // namespace

RestOfTurns rest_of_turns(core::DetourTrace trace, core::DetourTrace beside) {
  const std::set<int> unlike = unlike_classes(trace.cores, beside.cores);
  RestOfTurns rest;
  rest.own = take_classes(unlike, trace.cores);
  take_classes(unlike, beside.cores);
  const std::size_t cores = trace.cores.size();
  const double before = share_of(trace.cores);
  rest.common = core::join_traces({std::move(trace), std::move(beside)}).cores;
  if (rest.common.size() > cores)
    throw core::ParseError({rest.common.back().host, 0, ""},
                           "core " + std::to_string(rest.common.back().core) +
                               " was watched beside only; expected the same cores in turns with those of FILES");
  rest.change = share_of(rest.common) - before;
  return rest;
}

FoundDetours poisson_source(core::DetourSource::Values values, double events, double watched_s, double lost_s) {
  values.times = core::PoissonDetours{};
  values.period_s = watched_s / events;
  FoundDetours found;
  found.events = static_cast<long>(events);
  found.share = lost_s / watched_s;
  found.period_error_s = values.period_s / std::sqrt(events);
  found.source = core::DetourSource::make(std::move(values));
  return found;
}

std::vector<FoundDetours> fit_rest(std::vector<core::CoreDetours> cores, const DetourFitOptions& options,
                                   const std::string& name) {
  std::map<std::string, std::vector<Stream>> hosts;
  double resolution_s = 0;
  for (core::CoreDetours& core : cores) {
    resolution_s = std::max(resolution_s, core.resolution_s);
    hosts[core.host].push_back({core.watched_s(), std::move(core.events), core.core});
  }
  std::vector<Stream> of_hosts, of_cores;
  for (auto& [host, streams] : hosts) {
    of_hosts.push_back(streams.size() > 1 ? take_common(streams, std::max(options.together_s, resolution_s))
                                          : streams.front());
    if (streams.size() > 1) of_cores.insert(of_cores.end(), streams.begin(), streams.end());
  }
  std::vector<FoundDetours> sources;
  Stream of_cluster;
  if (options.clock_error_s >= 0) of_cluster = take_common(of_hosts, std::max(options.clock_error_s, resolution_s));
  add_source({of_cluster}, core::DetoursPer::cluster, name + "-cluster", options.in_kernels, sources);
  // A core that was watched alone on its host has what is left to itself: nothing tells whether others are hit.
  std::vector<Stream> of_several;
  auto host = of_hosts.begin();
  for (const auto& [host_name, streams] : hosts)
    (streams.size() > 1 ? of_several : of_cores).push_back(std::move(*host++));
  add_source(of_several, core::DetoursPer::host, name + "-host", options.in_kernels, sources);
  take_cores_apart(of_cores, name, options.in_kernels, sources);
  add_source(of_cores, core::DetoursPer::core, name, options.in_kernels, sources);
  return sources;
}

}  // namespace hplcast::fit
