#include "smpi-models/observe/statistics.hpp"
#include "hplcast/core/json.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

namespace hplcast::smpi_models {

CallCounts& CallCounts::operator+=(const CallCounts& other) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].calls += other.kernels[i].calls;
    kernels[i].outside_range += other.kernels[i].outside_range;
    kernels[i].time_s += other.kernels[i].time_s;
    kernels[i].flop += other.kernels[i].flop;
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].calls += other.messages[i].calls;
    messages[i].outside_range += other.messages[i].outside_range;
    messages[i].bytes += other.messages[i].bytes;
  }
  detours_s += other.detours_s;
  return *this;
}

void PanelCounts::add_message(std::size_t place, hplcast_mpi operation, double bytes) {
  core::MessageCount& count = places_[place].messages.at(static_cast<std::size_t>(operation));
  ++count.calls;
  count.bytes += bytes;
  if (measured_bytes_ > 0 && bytes > measured_bytes_) ++count.outside_range;
}

std::size_t PanelCounts::begin_panel(int index) {
  constexpr int begin_of_factorisation = -1;
  const auto place = static_cast<std::size_t>(index - begin_of_factorisation + 1);
  if (places_.size() <= place) places_.resize(place + 1);
  return place;
}

CallCounts PanelCounts::total() const {
  CallCounts sum;
  for (const CallCounts& one : places_) sum += one;
  return sum;
}

std::vector<CallCounts> PanelCounts::until_marks() const {
  std::vector<CallCounts> sums;
  CallCounts sum;
  for (std::size_t mark = 0; mark + 1 < places_.size(); ++mark) sums.push_back(sum += places_[mark]);
  return sums;
}

void PanelMarks::mark(std::size_t ranks, std::size_t rank, const hplcast_window& window, int index, double now_s) {
  if (index < 0 && begun_++ % ranks == 0) {  // no rank begins the next factorisation before all have ended this one
    window_ = window;
    sums_s_.assign(static_cast<std::size_t>(window.count) + 2, 0);
    last_.assign(ranks, {});
  }
  const auto place = static_cast<std::size_t>(index + 1);
  Last& last = last_.at(rank);
  if (last.place == place) sums_s_.at(place) -= last.time_s;
  last = {place, now_s};
  sums_s_.at(place) += now_s;
}

std::vector<double> PanelMarks::means_s() const {
  std::vector<double> means = sums_s_;
  for (double& mean : means) mean /= static_cast<double>(last_.size());
  return means;
}

using Json = nlohmann::ordered_json;

namespace {

void append(Json& phase, const PhaseTime& time, bool detours) {
  phase["elapsed_s"].push_back(time.elapsed_s);
  phase["kernels_s"].push_back(time.kernels_s);
  phase["messages_s"].push_back(time.messages_s);
  phase["waiting_s"].push_back(time.waiting_s);
  if (detours) phase["detours_s"].push_back(time.detours_s);
}

Json phases_json(const Statistics& statistics) {
  Json phases = Json::object();
  const bool detours = !statistics.detours_s.empty();
  for (std::size_t i = 0; i < statistics.phases.size(); ++i)
    for (const PhaseTime& time : statistics.phases[i]) append(phases[phase_names[i]], time, detours);
  return phases;
}

Json phases_of_program(const std::vector<NamedTimes>& parts, bool detours) {
  Json phases = Json::object();
  for (const NamedTimes& part : parts)
    for (const PhaseTime& time : part.ranks) append(phases[part.name], time, detours);
  return phases;
}

Json phases_at_marks(const Statistics& statistics) {
  Json phases = Json::object();
  const bool detours = !statistics.detours_s.empty();
  for (const PhaseTimes& mark : statistics.panel_phases)
    for (std::size_t i = 0; i < mark.size(); ++i) append(phases[phase_names[i]], mark[i], detours);
  return phases;
}

Json blocked_json(const Statistics& statistics) {
  Json list = Json::array();
  for (const BlockedRank& one : statistics.blocked) {
    list.push_back({{"rank", one.rank},
                    {"operation", one.operation},
                    {"source", one.channel.source},
                    {"destination", one.channel.destination},
                    {"tag", one.channel.tag},
                    {"since_s", one.since_s},
                    {"phase", one.phase}});
  }
  return list;
}

/// For every name that was called: its fields, a value for each mark.
Json counts_at_marks(const std::vector<CallCounts>& marks, Json panels) {
  for (std::size_t i = 0; i < core::kernel_count; ++i) {
    if (marks.back().kernels[i].calls == 0) continue;
    Json& kernel = panels["kernels"][core::kernel_names[i]];
    for (const CallCounts& mark : marks) {
      kernel["calls"].push_back(mark.kernels[i].calls);
      kernel["outside_range"].push_back(mark.kernels[i].outside_range);
      kernel["time_s"].push_back(mark.kernels[i].time_s);
      kernel["flop"].push_back(mark.kernels[i].flop);
    }
  }
  for (std::size_t i = 0; i < HPLCAST_MPI_COUNT; ++i) {
    if (marks.back().messages[i].calls == 0) continue;
    Json& operation = panels["messages"][mpi_names[i]];
    for (const CallCounts& mark : marks) {
      operation["calls"].push_back(mark.messages[i].calls);
      operation["outside_range"].push_back(mark.messages[i].outside_range);
      operation["bytes"].push_back(mark.messages[i].bytes);
    }
  }
  if (marks.back().detours_s > 0)
    for (const CallCounts& mark : marks) panels["detours"]["all"]["time_s"].push_back(mark.detours_s);
  return panels;
}

/// The states that any rank was in.
Json states_json(const StateSums& sums) {
  Json states = Json::object();
  for (std::size_t i = 0; i < sums.seconds.size(); ++i) {
    if (sums.seconds[i] == 0) continue;
    states[core::to_string(static_cast<core::CoreState>(static_cast<int>(i)))] = {{"time_s", sums.seconds[i]},
                                                                                  {"energy_j", sums.joules[i]}};
  }
  return states;
}

Json states_at_marks(const std::vector<StateSums>& marks) {
  Json states = Json::object();
  for (std::size_t i = 0; i < marks.back().seconds.size(); ++i) {
    if (marks.back().seconds[i] == 0) continue;
    Json& state = states[core::to_string(static_cast<core::CoreState>(static_cast<int>(i)))];
    for (const StateSums& mark : marks) {
      state["time_s"].push_back(mark.seconds[i]);
      state["energy_j"].push_back(mark.joules[i]);
    }
  }
  return states;
}

Json energy_json(const EnergyTotals& totals) {
  Json json = {{"time_s", totals.time_s},
               {"energy_j", totals.energy_j()},
               {"idle_j", totals.idle_j},
               {"awake_j", totals.awake_j},
               {"awake_share", totals.awake_share},
               {"network_j", totals.network_j},
               {"states", states_json(totals.states)}};
  if (!totals.trace.bins_j.empty()) {
    json["bin_s"] = totals.trace.bin_s;
    json["bins_j"] = totals.trace.bins_j;
    for (const core::PowerTrace::Host& host : totals.trace.hosts) json["hosts"][host.name] = host.bins_j;
  }
  return json;
}

Json program_json(const ProgramCounts& program) {
  Json json = {{"routines", Json::object()},
               {"regions", Json::object()},
               {"rest_s", program.rest_s},
               {"untimed_s", program.untimed_s},
               {"untimed_intervals", program.untimed_intervals},
               {"messages", program.messages},
               {"message_bytes", program.message_bytes}};
  json["unfinished"] = program.unfinished;
  for (const auto& [name, count] : program.routines) {
    json["routines"][name] = {{"calls", count.calls},
                              {"outside_range", count.outside_range},
                              {"time_s", count.time_s},
                              {"flop", count.flop},
                              {"has_model", count.has_model}};
  }
  for (const auto& [name, count] : program.regions)
    json["regions"][name] = {{"calls", count.calls}, {"time_s", count.time_s}, {"has_model", count.has_model}};
  return json;
}

}  // namespace

void write_statistics(std::ostream& out, const Statistics& statistics) {
  Json kernels = Json::object();
  for (std::size_t i = 0; i < statistics.counts.kernels.size(); ++i) {
    const core::KernelCount& count = statistics.counts.kernels[i];
    if (count.calls == 0) continue;
    kernels[core::kernel_names[i]] = {
        {"calls", count.calls}, {"outside_range", count.outside_range}, {"time_s", count.time_s}, {"flop", count.flop}};
  }
  Json messages = Json::object();
  for (std::size_t i = 0; i < statistics.counts.messages.size(); ++i) {
    const core::MessageCount& count = statistics.counts.messages[i];
    if (count.calls == 0) continue;
    messages[mpi_names[i]] = {{"calls", count.calls}, {"outside_range", count.outside_range}, {"bytes", count.bytes}};
  }
  Json json = {{"schema_version", 1},
               {"cluster", statistics.cluster},
               {"model_sha256", statistics.model_sha256},
               {"model_source", statistics.model_source},
               {"simulator", statistics.simulator},
               {"mode", statistics.fast ? "fast" : "exact"},
               {"seed", statistics.seed},
               {"noise", statistics.noise},
               {"ranks", statistics.ranks},
               {"deadlock", statistics.deadlock},
               {"end_s", statistics.end_s},
               {"times_s", statistics.times_s},
               {"kernels", kernels},
               {"messages", messages}};
  if (!statistics.panel_marks_s.empty()) {
    json["panels"] = {{"first", statistics.window.first}, {"marks_s", statistics.panel_marks_s}};
    if (!statistics.panel_counts.empty())
      json["panels"] = counts_at_marks(statistics.panel_counts, std::move(json["panels"]));
    if (!statistics.panel_states.empty()) json["panels"]["states"] = states_at_marks(statistics.panel_states);
    if (!statistics.panel_phases.empty()) json["panels"]["phases"] = phases_at_marks(statistics);
  }
  const ProgramCounts& program = statistics.program;
  if (!program.routines.empty() || !program.regions.empty() || program.rest_s > 0 || program.messages > 0 ||
      program.untimed_s > 0 || !program.unfinished.empty())
    json["program"] = program_json(program);
  if (statistics.fast) json["fast_error_95_s"] = statistics.fast_error_95_s;
  if (!statistics.detours_s.empty()) json["detours_s"] = statistics.detours_s;
  if (statistics.energy) json["energy"] = energy_json(*statistics.energy);
  if (!statistics.phases.front().empty()) json["phases"] = phases_json(statistics);
  if (!program.times.empty()) json["phases"] = phases_of_program(program.times, !statistics.detours_s.empty());
  if (!statistics.blocked.empty()) json["blocked"] = blocked_json(statistics);
  out << core::json_text(json, 2) << '\n';
}

ProgressFile::ProgressFile(const std::string& path) {
  // Progress is a courtesy: a file that cannot be written is no reason to end a simulation.
  if (!path.empty()) descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

ProgressFile::~ProgressFile() {
  if (descriptor_ >= 0) (void)::close(descriptor_);
}

void ProgressFile::update(double fraction, double simulated_s) {
  if (descriptor_ < 0 || !(fraction > fraction_)) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  fraction_ = fraction;
  write(simulated_s, 0);
}

void ProgressFile::tell(double simulated_s, double messages) {
  constexpr unsigned clock_every = 64;
  if (descriptor_ < 0 || ++skipped_ < clock_every) return;
  skipped_ = 0;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  write(simulated_s, messages);
}

void ProgressFile::write(double simulated_s, double messages) {
  std::array<char, 80> line{};
  const int length = std::snprintf(line.data(), line.size(), "%.6e %.12e %.12e\n", fraction_, simulated_s, messages);
  if (length > 0 && ::pwrite(descriptor_, line.data(), static_cast<std::size_t>(length), 0) < 0) {
    (void)::close(descriptor_);
    descriptor_ = -1;
  }
}

}  // namespace hplcast::smpi_models
