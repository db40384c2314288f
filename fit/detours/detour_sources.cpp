#include "hplcast/fit/detours.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "fit/detours/source_search.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"

namespace hplcast::fit {

namespace {

constexpr std::size_t most_sources = 12;
constexpr std::size_t cores_for_peaks = 8;
constexpr double most_excess = 1.05;  ///< of the time that a model takes over that measured

/// Durations of one class, in s.
struct DurationClass {
  double least_s = 0, end_s = INFINITY;
  bool has(double duration_s) const { return duration_s >= least_s && duration_s < end_s; }
};

/// Events of one class, and their places among those of a core.
struct Selection {
  std::vector<TrainInput> inputs;
  std::vector<std::vector<std::size_t>> places;
};

/// Range of the durations of a source: around the median, as far as they scatter.
struct DurationLimits {
  double least_s = 0, most_s = INFINITY;
};

/// A train that was found in a class, and the durations that its other events may have.
struct Candidate {
  EventTrain train;
  DurationLimits limits;
};

/// From the first time that a core was watched to the last.
double watched_span_s(const core::CoreDetours& core) {
  return core.windows.back().end_s - core.windows.front().start_s;
}

/// How many detours of a train a core was watched for: expected instants; whole periods, where it has none of them.
double periods_in(const TrainInput& input, const EventTrain& train, std::size_t core) {
  if (train.cores[core].events.empty()) return std::floor(input.watched_s / train.period_s);
  double all = 0;
  for (const core::DetourWindow& window : input.windows) {
    const auto number = [&](double s) { return std::ceil((s - train.cores[core].center_s) / train.period_s); };
    all += number(window.end_s) - number(window.start_s);
  }
  return all;
}

/// Takes the events of each source that it finds out of a trace.
class Search {
 public:
  Search(core::DetourTrace& trace, const DetourFitOptions& options) : trace_(trace), options_(options) {
    for (const core::CoreDetours& core : trace.cores) {
      hosts_.push_back(core.host);
      resolution_s_ = std::max(resolution_s_, core.resolution_s);
      begin_s_ = std::min(begin_s_, core.windows.front().start_s);
      span_s_ = std::max(span_s_, watched_span_s(core));
    }
  }

  /// The strongest periodic source. Of equal ones that of a class of durations: among all, agents of one period may be
  /// mixed, another one on each core.
  std::optional<FoundDetours> next() {
    Candidate best;
    for (const DurationClass& durations : classes()) {
      Candidate candidate = find_in(durations);
      if (candidate.train.matched() >= best.train.matched()) best = std::move(candidate);
    }
    if (best.train.matched() == 0) return std::nullopt;
    return take(best);
  }

 private:
  /// All, and decades that overlap by a half.
  std::vector<DurationClass> classes() const {
    double least = INFINITY, most = 0;
    for (const core::CoreDetours& core : trace_.cores)
      for (const core::DetourEvent& event : core.events) {
        least = std::min(least, event.duration_s);
        most = std::max(most, event.duration_s);
      }
    std::vector<DurationClass> all{{}};
    if (!(most > 2 * least)) return all;
    for (double low = std::floor(2 * std::log10(least)) / 2; low < std::log10(most); low += 0.5)
      all.push_back({std::pow(10, low), std::pow(10, low + 1)});
    return all;
  }

  template <typename Accept>
  Selection select(Accept accept) const {
    Selection selection;
    for (const core::CoreDetours& core : trace_.cores) {
      selection.inputs.push_back({{}, core.watched_s(), core.windows});
      for (core::DetourWindow& window : selection.inputs.back().windows)
        window.start_s -= begin_s_, window.end_s -= begin_s_;
      selection.places.emplace_back();
      for (std::size_t i = 0; i < core.events.size(); ++i) {
        if (!accept(core.events[i].duration_s)) continue;
        selection.inputs.back().times_s.push_back(core.events[i].start_s - begin_s_);
        selection.places.back().push_back(i);
      }
    }
    return selection;
  }

  /// The train of the shortest period among the peaks of a class.
  Candidate find_in(const DurationClass& durations) const {
    const Selection selection = select([&](double duration_s) { return durations.has(duration_s); });
    std::vector<TrainInput> some;
    const std::size_t stride = (selection.inputs.size() + cores_for_peaks - 1) / cores_for_peaks;
    for (std::size_t core = 0; core < selection.inputs.size(); core += stride) {
      some.push_back(selection.inputs[core]);  // from its own beginning: hosts may follow on each other
      for (double& time_s : some.back().times_s) time_s += begin_s_ - trace_.cores[core].windows.front().start_s;
    }
    std::vector<FrequencyPeak> peaks = find_peaks(some, span_s_);
    const double instants = own_instants(selection);
    std::sort(peaks.begin(), peaks.end(), [](const auto& a, const auto& b) { return a.frequency_hz > b.frequency_hz; });
    for (const FrequencyPeak& peak : peaks) {
      const EventTrain train = find_train(selection.inputs, 1 / peak.frequency_hz, instants);
      if (train.matched() > 0) return {train, limits_of(selection, train)};
    }
    return {};
  }

  /// Share of the events that are not at the instant of one before, of any core.
  double own_instants(const Selection& selection) const {
    std::vector<double> times;
    for (const TrainInput& input : selection.inputs)
      times.insert(times.end(), input.times_s.begin(), input.times_s.end());
    std::sort(times.begin(), times.end());
    const double together_s = std::max(options_.together_s, resolution_s_);
    double own = 0, first_s = -INFINITY;
    for (const double time_s : times)
      if (time_s > first_s + together_s) first_s = time_s, ++own;
    return times.empty() ? 1 : own / static_cast<double>(times.size());
  }

  DurationLimits limits_of(const Selection& selection, const EventTrain& train) const {
    std::vector<double> logs;
    for (std::size_t core = 0; core < train.cores.size(); ++core)
      for (const TrainEvent& e : train.cores[core].events)
        logs.push_back(std::log(trace_.cores[core].events[selection.places[core][e.event]].duration_s));
    const double median = core::upper_median(logs), distance = core::median_distance(std::move(logs), median);
    // Six robust standard deviations; a factor of two at least, as others' detours may follow at once.
    const double scatter = std::min(100.0, std::max(std::log(2), 6 * core::sd_of_median_distance * distance));
    return {std::exp(median - scatter), std::exp(median + scatter)};
  }

  /// How unlike durations are: the limits are six standard deviations apart from the middle.
  void compare_durations(const DurationLimits& limits, Selection& selection) const {
    const double middle = std::log(limits.least_s * limits.most_s) / 2;
    const double sd = (std::log(limits.most_s) - middle) / 6;
    for (std::size_t core = 0; core < selection.inputs.size(); ++core)
      for (const std::size_t place : selection.places[core]) {
        const double duration_s = trace_.cores[core].events[place].duration_s;
        selection.inputs[core].unlikeness.push_back((std::log(duration_s) - middle) / sd);
        selection.inputs[core].durations_s.push_back(duration_s);
      }
  }

  /// Nothing if no event is left of it.
  std::optional<FoundDetours> take(const Candidate& seed) {
    const DurationLimits& limits = seed.limits;
    Selection selection =
        select([&](double duration_s) { return duration_s >= limits.least_s && duration_s <= limits.most_s; });
    compare_durations(limits, selection);
    // Among these only: another source of the same period may have been the denser one of a core.
    const EventTrain again = find_train(selection.inputs, seed.train.period_s, own_instants(selection));
    const EventTrain train = match_train(again.matched() > 0 ? again : seed.train, selection.inputs);
    if (train.matched() == 0) return std::nullopt;
    std::vector<double> durations;
    const std::vector<int> listed = cores_of(train);
    double watched_s = 0, periods = 0;  // of the cores that have it in the model
    FoundDetours found;
    for (std::size_t core = 0; core < train.cores.size(); ++core) {
      const double core_s = selection.inputs[core].watched_s;
      watched_s += core_s;
      const bool has_it = listed.empty() || std::count(listed.begin(), listed.end(), trace_.cores[core].core) > 0;
      periods += has_it ? periods_in(selection.inputs[core], train, core) : 0;
      found.cores += train.cores[core].events.empty() ? 0 : 1;
      std::vector<core::DetourEvent>& events = trace_.cores[core].events;
      for (const TrainEvent& e : train.cores[core].events)
        durations.push_back(std::exchange(events[selection.places[core][e.event]].duration_s, 0));
      const auto is_taken = [](const core::DetourEvent& event) { return event.duration_s == 0; };
      events.erase(std::remove_if(events.begin(), events.end(), is_taken), events.end());
    }
    found.events = static_cast<long>(durations.size());
    found.share = std::accumulate(durations.begin(), durations.end(), 0.0) / watched_s;
    found.period_error_s = train.period_error_s;
    found.occupancy = std::min(1.0, static_cast<double>(found.events) / periods);
    const double missing = found.occupancy * most_excess < 1 ? periods - static_cast<double>(found.events) : 0;
    found.source = make_source(train, std::move(durations), static_cast<std::size_t>(missing));
    return found;
  }

  /// The cores that have it, if these are the same ones of all hosts, and not all; else none.
  std::vector<int> cores_of(const EventTrain& train) const {
    std::map<long, std::pair<int, int>> hosts;  // by core: all, with the train
    for (std::size_t i = 0; i < train.cores.size(); ++i) {
      auto& [all, with] = hosts[trace_.cores[i].core];
      ++all;
      with += train.cores[i].events.empty() ? 0 : 1;
    }
    std::vector<int> cores;
    for (const auto& [core, counts] : hosts) {
      if (counts.second == 0) continue;
      if (counts.second < counts.first) return {};
      cores.push_back(static_cast<int>(core));
    }
    return cores.size() < hosts.size() ? cores : std::vector<int>();
  }

  core::DetourSource make_source(const EventTrain& train, std::vector<double> durations, std::size_t missing) const {
    const TrainKeys keys = keys_of(train, hosts_, resolution_s_, options_);
    core::DetourSource::Values values;
    values.name = "periodic";  // numbered when all are known
    values.period_s = train.period_s;
    values.duration =
        missing > 0 ? fit_thinned_duration(std::move(durations), missing) : fit_duration(std::move(durations));
    values.per = keys.per;
    values.in_kernels = options_.in_kernels;
    values.cores = cores_of(train);
    core::PeriodicDetours times;
    // Far below the duration it changes nothing, and costs a draw for every event.
    const double matters_s = std::max(1e-6, 0.01 * core::mean_s(values.duration));
    times.jitter_s = keys.jitter_s < matters_s ? 0 : std::min(keys.jitter_s, train.period_s);
    if (keys.phase_s) times.phase_s = std::fmod(*keys.phase_s + begin_s_, train.period_s);
    if (times.phase_s && *times.phase_s < 0) *times.phase_s += train.period_s;
    values.times = times;
    return core::DetourSource::make(std::move(values));
  }

  core::DetourTrace& trace_;
  const DetourFitOptions& options_;
  std::vector<std::string> hosts_;
  double begin_s_ = INFINITY, span_s_ = 0, resolution_s_ = 0;  // the longest of a core
};

/// Sums of rtla: one source, the mean of all CPUs.
void fit_sums(const core::DetourTrace& trace, const DetourFitOptions& options, DetourFit& fit) {
  double lost_s = 0, events = 0, longest_s = 0;
  for (const core::DetourSummary& sum : trace.summaries) {
    fit.watched_s += sum.watched_s;
    lost_s += sum.lost_s;
    events += sum.events;
    longest_s = std::max(longest_s, sum.longest_s);
  }
  if (!(lost_s > 0)) return;
  // Without counts: as few events as there can be.
  if (!(events > 0)) events = std::ceil(lost_s / std::max(longest_s, 1e-9));
  core::DetourSource::Values values;
  values.name = "rest";
  values.duration = core::ExponentialDuration{lost_s / events};
  values.in_kernels = options.in_kernels;
  fit.sources.push_back(poisson_source(std::move(values), events, fit.watched_s, lost_s));
  fit.sources.back().cores = trace.summaries.size();
  fit.notes.push_back("the law of the durations is not in sums: exponential was assumed");
}

/// On the core that has most.
std::size_t most_events(const core::DetourTrace& trace) {
  std::size_t most = 0;
  for (const core::CoreDetours& core : trace.cores) most = std::max(most, core.events.size());
  return most;
}

/// Work that the scheduler did in several slices. Noted if it leaves less on each core than a period is found from.
void join_near_events(core::DetourTrace& trace, double join_s, std::vector<std::string>& notes) {
  if (!(join_s > 0)) return;
  const std::size_t before = most_events(trace);
  for (core::CoreDetours& core : trace.cores) {
    std::vector<core::DetourEvent> joined;
    double end_s = 0;  // of the last one as measured
    for (const core::DetourEvent& event : core.events) {
      if (!joined.empty() && event.start_s - end_s < join_s) {
        joined.back().duration_s += event.duration_s;
      } else {
        joined.push_back(event);
      }
      end_s = event.start_s + event.duration_s;
    }
    core.events = std::move(joined);
  }
  const std::size_t left = most_events(trace);
  if (left < least_periods && before >= least_periods)
    notes.push_back("of up to " + std::to_string(before) + " detours of a core " + std::to_string(left) +
                    " are left, since less than " + core::shortest(join_s) +
                    " s between them make them one: too few to find a period");
}

/// Periodic sources of a trace, up to as many as a fit may have. Their events are taken out of it.
void take_periodic(core::DetourTrace& trace, const DetourFitOptions& options, std::vector<FoundDetours>& sources) {
  Search search(trace, options);
  while (sources.size() < most_sources) {
    std::optional<FoundDetours> found = search.next();
    if (!found) break;
    sources.push_back(std::move(*found));
  }
}

/// Whether a source hits each core at times of its own.
bool is_alone_on_each_core(const core::DetourSource::Values& source) {
  const auto* times = std::get_if<core::PeriodicDetours>(&source.times);
  return source.per == core::DetoursPer::core && !(times != nullptr && times->phase_s);
}

/// A source of one core number; beside one of the same period and duration on other cores it is part of that.
void add_for_core(FoundDetours found, int core, std::vector<FoundDetours>& sources) {
  const auto duration_s = [](const FoundDetours& one) { return core::mean_s(one.source.values().duration); };
  const auto belongs = [&](const FoundDetours& other) {
    const auto &a = found.source.values(), &b = other.source.values();
    constexpr double sds = 5, unlike = 0.05;
    return !b.cores.empty() && is_alone_on_each_core(a) && is_alone_on_each_core(b) &&
           std::abs(a.period_s - b.period_s) <= sds * std::hypot(found.period_error_s, other.period_error_s) &&
           std::abs(duration_s(found) - duration_s(other)) <= unlike * duration_s(other);
  };
  const auto other = std::find_if(sources.begin(), sources.end(), belongs);
  core::DetourSource::Values values = found.source.values();
  if (other == sources.end()) {
    values.cores = {core};
    found.source = core::DetourSource::make(std::move(values));
    sources.push_back(std::move(found));
    return;
  }
  values = other->source.values();
  if (std::find(values.cores.begin(), values.cores.end(), core) == values.cores.end()) values.cores.push_back(core);
  std::sort(values.cores.begin(), values.cores.end());
  other->source = core::DetourSource::make(std::move(values));
  other->events += found.events;
  other->cores += found.cores;
  other->share += found.share;
  other->occupancy = std::min(other->occupancy, found.occupancy);
}

/// Takes the periodic sources out of a trace, and leaves the rest.
void take_all_periodic(core::DetourTrace& trace, const DetourFitOptions& options, std::vector<FoundDetours>& sources) {
  double all_s = 0;
  for (const core::CoreDetours& core : trace.cores) all_s += core.watched_s();
  take_periodic(trace, options, sources);
  // Sources that only one core of each host has, or a few.
  std::map<long, core::DetourTrace> by_core;
  for (core::CoreDetours& core : trace.cores) by_core[core.core].cores.push_back(std::move(core));
  trace.cores.clear();
  for (auto& [number, one] : by_core) {
    std::vector<FoundDetours> found;
    double watched_s = 0;
    for (const core::CoreDetours& core : one.cores) watched_s += core.watched_s();
    if (by_core.size() > 1) take_periodic(one, options, found);
    for (FoundDetours& source : found) {
      source.share *= watched_s / all_s;
      add_for_core(std::move(source), static_cast<int>(number), sources);
    }
    std::move(one.cores.begin(), one.cores.end(), std::back_inserter(trace.cores));
  }
}

void fit_events(core::DetourTrace trace, core::DetourTrace beside, const DetourFitOptions& options, DetourFit& fit) {
  for (const core::CoreDetours& core : trace.cores) fit.watched_s += core.watched_s();
  take_all_periodic(trace, options, fit.sources);
  std::vector<FoundDetours> own;
  if (!beside.cores.empty()) {
    std::vector<FoundDetours> others;
    take_all_periodic(beside, options, others);
    RestOfTurns rest = rest_of_turns(std::move(trace), std::move(beside));
    trace.cores = std::move(rest.common);
    own = fit_rest(std::move(rest.own), options, "own");
    fit.lost_share += rest.change;
  }
  std::vector<FoundDetours> rest = fit_rest(std::move(trace.cores), options);
  for (auto* found : {&rest, &own}) std::move(found->begin(), found->end(), std::back_inserter(fit.sources));
}

/// Largest share of time first; periodic sources are numbered.
void sort_and_name(DetourFit& fit) {
  std::sort(fit.sources.begin(), fit.sources.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  int number = 0;
  for (FoundDetours& found : fit.sources) {
    core::DetourSource::Values values = found.source.values();
    if (!std::holds_alternative<core::PeriodicDetours>(values.times)) continue;
    values.name += "-" + std::to_string(++number);
    found.source = core::DetourSource::make(std::move(values));
  }
}

void note_what_cannot_be_told(const core::DetourTrace& trace, DetourFit& fit) {
  for (const FoundDetours& found : fit.sources) {
    if (found.occupancy * most_excess < 1)
      fit.notes.push_back(found.source.values().name + " has a detour in " +
                          std::to_string(std::lround(100 * found.occupancy)) +
                          " % of its periods, on all cores of the model: the others take 0 s");
    if (found.cores < trace.cores.size() && found.source.values().per == core::DetoursPer::core &&
        found.source.values().cores.empty())
      fit.notes.push_back(found.source.values().name + " is on " + std::to_string(found.cores) + " of " +
                          std::to_string(trace.cores.size()) + " cores; the model has it on all");
  }
  if (std::any_of(trace.cores.begin(), trace.cores.end(),
                  [](const core::CoreDetours& core) { return core.watched_s() < 0.5 * watched_span_s(core); }))
    fit.notes.push_back(
        "cores were not watched most of the time: only what keeps its period through all of it is "
        "found; fit files that are far apart one by one");
  std::map<std::string, int> hosts;
  for (const core::CoreDetours& core : trace.cores) ++hosts[core.host];
  if (hosts.size() == 1)
    fit.notes.push_back(trace.cores.size() == 1
                            ? "one core: nothing tells whether others are hit at the same instant"
                            : "one host: what hits all of its cores may hit other hosts at the same instant, too");
  if (hosts.size() > 1 && !trace.common_clock)
    fit.notes.push_back("the files have no common clock: hosts cannot be compared");
}

}  // namespace

DetourFit fit_detours(const core::DetourTrace& trace, DetourFitOptions options, const core::DetourTrace& beside) {
  if (!beside.summaries.empty() || (!beside.cores.empty() && trace.cores.empty()))
    throw core::ParseError({"", 0, ""}, "found sums (rtla); expected events, where cores were watched in turns");
  if (!trace.common_clock) options.clock_error_s = -INFINITY;
  DetourFit fit;
  fit.notes = trace.notes;
  if (!trace.summaries.empty()) fit_sums(trace, options, fit);
  if (!trace.cores.empty()) {
    core::DetourTrace joined = trace;
    join_near_events(joined, options.join_s, fit.notes);
    core::DetourTrace joined_beside = beside;
    join_near_events(joined_beside, options.join_s, fit.notes);
    fit_events(std::move(joined), std::move(joined_beside), options, fit);
  }
  double lost_s = 0;
  for (const core::CoreDetours& core : trace.cores) lost_s += core.lost_s();
  for (const core::DetourSummary& sum : trace.summaries) lost_s += sum.lost_s;
  if (fit.sources.empty()) {
    fit.reason = "no detour was seen: there is nothing to fit";
    return fit;
  }
  fit.lost_share += lost_s / fit.watched_s;
  sort_and_name(fit);
  std::set<long> cores;
  for (const core::CoreDetours& core : trace.cores) cores.insert(core.core);
  fit.core_numbers = static_cast<int>(cores.size());
  for (const FoundDetours& found : fit.sources) fit.explained_share += found.source.mean_share(fit.core_numbers);
  if (!(fit.explained_share < 1)) {
    fit.reason =
        "the detours take " + std::to_string(100 * fit.explained_share) + " % of the time; expected less than 100";
    return fit;
  }
  if (!trace.cores.empty()) note_what_cannot_be_told(trace, fit);
  fit.too_much = fit.explained_share > most_excess * fit.lost_share;
  fit.ok = true;
  return fit;
}

}  // namespace hplcast::fit
