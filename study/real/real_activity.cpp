#include "hplcast/study/real_runs.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "hplcast/core/activity_trace.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "study/activity/observed_ranks.hpp"
#include "study/compare/parameters_json.hpp"
#include "study/run/simulation_files.hpp"

namespace hplcast::study {

namespace {

using Ranks = std::vector<RankActivity>;

template <typename Sums, typename Names>
void add_calls(std::map<std::string, RealCalls>& all, const Sums& sums, const Names& names) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].calls == 0) continue;
    RealCalls& one = all[names[i]];
    one.calls += sums[i].calls;
    one.time_s += sums[i].time_s;
    one.amount += sums[i].amount;
  }
}

std::string rounded(double value, const char* unit) {
  return core::printed("%.3g %s", value, unit);
}

std::vector<std::string> warnings_of(const Ranks& ranks, const std::vector<HostClock>& clocks,
                                     const MessageWaits& waits, const RealActivity& activity, bool traced) {
  constexpr double most_overhead = 0.02;  // more may change what is observed
  constexpr double us_per_s = 1e6;
  std::vector<std::string> warnings;
  if (activity.overhead > most_overhead)
    warnings.push_back(
        "keeping its activities took about " + rounded(100 * activity.overhead, "%") +
        " of the run, more than 2 %: times of small kernels and messages are too long. A larger N has less");
  std::set<std::string> told;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (clocks[i].jumped() && told.insert(ranks[i].host).second)
      warnings.push_back(
          "the clock of " + ranks[i].host + " drifts by " + rounded(clocks[i].drift() * us_per_s, "us per s") +
          " from that of rank 0, more than an even clock: it jumped; waiting for its ranks is uncertain");
  }
  if (waits.too_early > 0)
    warnings.push_back(std::to_string(waits.too_early) + " messages came before they were sent, by up to " +
                       rounded(waits.most_early_s * us_per_s, "us") + ": clocks of hosts do not run evenly");
  std::uint64_t lost = 0;
  int stride = 1;
  for (const RankActivity& rank : ranks) {
    lost += rank.lost_events;
    stride = std::max(stride, rank.stride);
  }
  if (traced && stride > 1)
    warnings.push_back("the trace has not all panels, on some ranks only every " + std::to_string(stride) +
                       "th; --trace-panels FIRST-LAST keeps all of these");
  if (lost > 0) warnings.push_back(std::to_string(lost) + " events found no place; HPLCAST_ACTIVITY_EVENTS makes more");
  return warnings;
}

Json calls_json(const std::map<std::string, RealCalls>& calls, const char* amount) {
  Json json = Json::object();
  for (const auto& [name, one] : calls)
    json[name] = {{"calls", one.calls}, {"time_s", one.time_s}, {amount, one.amount}};
  return json;
}

void write_json(std::ostream& out, const RealActivity& activity, const Ranks& ranks,
                const std::vector<HostClock>& clocks) {
  Json json = {{"schema_version", 1},
               {"parameters", activity.run.parameters},
               {"time_s", activity.run.time_s},
               {"gflops", activity.run.gflops},
               {"kernels", calls_json(activity.kernels, "flop")},
               {"messages", calls_json(activity.messages, "bytes")}};
  for (const core::PhaseSummary& phase : activity.phases) {
    for (const core::PhaseField& field : core::phase_fields)
      if (field.required) json["phases"][phase.name][field.name] = phase.*field.member;
  }
  json.update(HPLCAST_JSON(activity, known_waiting, overhead));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].first_rank_of_host != ranks[i].rank) continue;
    json["clocks"].push_back({{"host", ranks[i].host},
                              {"rank", ranks[i].rank},
                              {"offset_s", clocks[i].offset_s()},
                              {"drift", clocks[i].drift()},
                              {"error_s", clocks[i].error_s()}});
  }
  out << core::json_text(json, 2) << '\n';
}

void trace_rank(core::TraceFile& trace, const RankActivity& rank, const std::vector<double>& waited_s,
                const HostClock& clock, double origin_s, const core::IndexRange& panels) {
  for (std::size_t i = 0; i < rank.events.size(); ++i) {
    const ActivityEvent& event = rank.events[i];
    if (event.panel >= 0 && !panels.contains(event.panel)) continue;
    write_event(trace, rank.rank, event,
                {clock.at_rank_0_s(rank.begin_s + event.begin_s) - origin_s,
                 clock.at_rank_0_s(rank.begin_s + event.end_s) - origin_s},
                waited_s[i]);
  }
}

/// Times in the trace count from when the first rank began, by the clock of rank 0.
void write_trace(const fs::path& path, const Ranks& ranks, const std::vector<HostClock>& clocks,
                 const MessageWaits& waits, const RealObservation& observation) {
  double origin_s = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < ranks.size(); ++i) origin_s = std::min(origin_s, clocks[i].at_rank_0_s(ranks[i].begin_s));
  core::TraceFile trace(path.string());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!observation.ranks.contains(ranks[i].rank)) continue;
    trace.name_rank(ranks[i].rank, ranks[i].first_rank_of_host, ranks[i].host);
    trace_rank(trace, ranks[i], waits.waited_s[i], clocks[i], origin_s, observation.panels);
  }
  trace.close();
}

std::string text_of(const core::IndexRange& range) {
  return std::to_string(range.first) + "-" + std::to_string(range.last);
}

}  // namespace

std::map<std::string, std::string> activity_environment(const RealObservation& observation, const fs::path& folder,
                                                        int ranks) {
  constexpr int all_events = 2000000;  // 50 bytes each in files: 100 MB for a run, however many ranks it has
  constexpr int least_events = 2000;
  constexpr int most_events = 100000;
  std::map<std::string, std::string> variables = {
      {HPLCAST_VARIABLE_ACTIVITY, (folder / "run").string()},
      {HPLCAST_VARIABLE_ACTIVITY_EVENTS, std::to_string(std::clamp(all_events / ranks, least_events, most_events))}};
  if (observation.traces.empty()) return variables;
  variables[HPLCAST_VARIABLE_TRACE_RANKS] = text_of(observation.ranks);
  const bool chosen = observation.panels.first > 0 || observation.panels.last < RealObservation().panels.last;
  if (chosen) variables[HPLCAST_VARIABLE_TRACE_PANELS] = text_of(observation.panels);
  return variables;
}

RealActivity read_real_activity(const fs::path& folder, const core::HplRun& run, const RealObservation& observation,
                                const fs::path& trace) {
  const ObservedRanks observed = observed_ranks(read_ranks(folder, run.parameters));
  const auto& [ranks, clocks, waits, phases] = observed;
  RealActivity activity;
  activity.run = run;
  activity.phases = summarised(phases);
  for (const RankActivity& rank : ranks) {
    for (const PhaseSums& phase : rank.phases) {
      add_calls(activity.kernels, phase.kernels, core::kernel_names);
      add_calls(activity.messages, phase.messages, core::mpi_names);
    }
    activity.overhead = std::max(activity.overhead, rank.overhead_s / (rank.end_s - rank.begin_s));
  }
  activity.known_waiting = known_share(observed);
  activity.warnings = warnings_of(ranks, clocks, waits, activity, !observation.traces.empty());
  write_phases_csv(folder / "phases.csv", phases);
  core::write_file(folder / "phases.json",
                   [&](std::ostream& out) { write_json(out, activity, observed.ranks, observed.clocks); });
  if (!trace.empty()) write_trace(trace, ranks, clocks, waits, observation);
  return activity;
}

}  // namespace hplcast::study
