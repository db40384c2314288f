#include <ostream>

#include "core/base/described_json.hpp"
#include "hplcast/core/simulation.hpp"

namespace hplcast::core {

template <typename Fields>
static void describe(Fields& fields, RoutineUse& use) {
  fields("calls", use.calls);
  fields("outside_range", use.outside_range);
  fields("time_s", use.time_s);
  fields("flop", use.flop);
  fields("has_model", use.has_model);
}

template <typename Fields>
static void describe(Fields& fields, AcceleratorCounts& counts) {
  fields("kernels", counts.kernels);
  fields("bytes_to_device", counts.bytes_to_device);
  fields("bytes_from_device", counts.bytes_from_device);
  fields("bytes_within_device", counts.bytes_within_device);
  fields("copies_s", counts.copies_s);
  fields("peak_bytes", counts.peak_bytes);
  fields("used", counts.used);
  fields("idle", counts.idle);
  fields("overlapped_s", counts.overlapped_s);
  fields.if_any("kind", counts.kind);
  fields.if_any("kinds", counts.kinds);
}

template <typename Fields>
static void describe(Fields& fields, ProgramCounts& program) {
  fields("routines", program.routines);
  fields("regions", program.regions);
  fields("rest_s", program.rest_s);
  fields("untimed_s", program.untimed_s);
  fields("untimed_intervals", program.untimed_intervals);
  fields("messages", program.messages);
  fields("message_bytes", program.message_bytes);
  fields("unfinished", program.unfinished);
  fields.if_any("accelerators", program.accelerators);
}

template <typename Fields>
static void describe(Fields& fields, SimulatedPanels& panels) {
  fields("first", panels.first);
  fields("marks_s", panels.marks_s);
  fields.if_any("counts", panels.counts);
}

template <typename Fields>
static void describe(Fields& fields, RankPhases& phase) {
  fields("name", phase.name);
  fields("elapsed_s", phase.elapsed_s);
  fields("kernels_s", phase.kernels_s);
  fields("messages_s", phase.messages_s);
  fields("waiting_s", phase.waiting_s);
  fields.if_any("detours_s", phase.detours_s);
}

template <typename Fields>
static void describe(Fields& fields, PowerTrace::Host& host) {
  fields("name", host.name);
  fields("bins_j", host.bins_j);
}

template <typename Fields>
static void describe(Fields& fields, SimulatedEnergy& counted) {
  fields("time_s", counted.trace.time_s);
  fields("energy_j", counted.energy.energy_j);
  fields("idle_j", counted.energy.idle_j);
  fields("awake_j", counted.energy.awake_j);
  fields("awake_share", counted.energy.awake_share);
  fields("network_j", counted.energy.network_j);
  fields("states", counted.energy.states);
  fields("bin_s", counted.trace.bin_s);
  fields.if_any("bins_j", counted.trace.bins_j);
  fields.if_any("hosts", counted.trace.hosts);
}

template <typename Fields>
static void describe(Fields& fields, BlockedRank& blocked) {
  fields("rank", blocked.rank);
  fields("operation", blocked.operation);
  fields("source", blocked.source);
  fields("destination", blocked.destination);
  fields("tag", blocked.tag);
  fields("since_s", blocked.since_s);
  fields("phase", blocked.phase);
}

template <typename Fields>
static void describe(Fields& fields, SimulationResult& result) {
  fields("cluster", result.cluster);
  fields("model_sha256", result.model_sha256);
  fields("model_source", result.model_source);
  fields("simulator", result.simulator);
  fields("mode", result.mode);
  fields("fast_error_95_s", result.fast_error_95_s);
  fields("seed", result.seed);
  fields("noise", result.noise);
  fields("ranks", result.ranks);
  fields("deadlock", result.deadlock);
  fields("end_s", result.end_s);
  fields("times_s", result.times_s);
  fields("kernels", result.kernels);
  fields("messages", result.messages);
  fields.if_any("panels", result.panels);
  fields.if_any("program", result.program);
  fields.if_any("detours_s", result.detours_s);
  fields.if_any("phases", result.phases);
  fields.if_any("energy", result.energy);
  fields.if_any("blocked", result.blocked);
}

double AcceleratorCounts::busy_s() const {
  double sum_s = -overlapped_s;
  for (const auto& [name, use] : kernels) sum_s += use.time_s;
  return sum_s;
}

void write_simulation_result(std::ostream& out, SimulationResult result) {
  out << detail::described_text(result);
}

SimulationResult read_simulation_result(std::istream& in, const std::string& name) {
  return detail::read_described<SimulationResult>(in, name, detail::Reading::whole);
}

}  // namespace hplcast::core
