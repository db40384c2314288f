#include <ostream>

#include "core/base/described_json.hpp"
#include "hplcast/core/simulation.hpp"

namespace hplcast::core {

template <typename Fields>
static void describe(Fields& fields, RoutineUse& use) {
  HPLCAST_FIELDS(use, calls, outside_range, time_s, flop, has_model);
}

template <typename Fields>
static void describe(Fields& fields, AcceleratorCounts& counts) {
  HPLCAST_FIELDS(counts, kernels, bytes_to_device, bytes_from_device, bytes_within_device, copies_s, peak_bytes, used,
                 idle, overlapped_s);
  HPLCAST_FIELDS_IF_ANY(counts, kind, kinds);
}

template <typename Fields>
static void describe(Fields& fields, ProgramCounts& program) {
  HPLCAST_FIELDS(program, routines, regions, rest_s, untimed_s, untimed_intervals, messages, message_bytes, unfinished);
  fields.if_any("accelerators", program.accelerators);
}

template <typename Fields>
static void describe(Fields& fields, SimulatedPanels& panels) {
  HPLCAST_FIELDS(panels, first, marks_s);
  fields.if_any("counts", panels.counts);
}

template <typename Fields>
static void describe(Fields& fields, RankPhases& phase) {
  HPLCAST_FIELDS(phase, name, elapsed_s, kernels_s, messages_s, waiting_s);
  fields.if_any("detours_s", phase.detours_s);
}

template <typename Fields>
static void describe(Fields& fields, PowerTrace::Host& host) {
  HPLCAST_FIELDS(host, name, bins_j);
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
  HPLCAST_FIELDS(blocked, rank, operation, source, destination, tag, since_s, phase);
}

template <typename Fields>
static void describe(Fields& fields, SimulationResult& result) {
  HPLCAST_FIELDS(result, cluster, model_sha256, model_source, simulator, mode, fast_error_95_s, seed, noise, ranks,
                 deadlock, end_s, times_s, kernels, messages);
  HPLCAST_FIELDS_IF_ANY(result, panels, program, detours_s, phases, energy, blocked);
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
