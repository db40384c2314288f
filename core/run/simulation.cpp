#include <cstdio>
#include <fstream>
#include <ostream>

#include "core/base/described_json.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/simulation.hpp"

namespace hplcast::core {

IndexRange index_range_from(const std::string& what, const std::string& text) {
  IndexRange range;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d-%d%c", &range.first, &range.last, &rest) != 2 || range.first < 0 ||
      range.last < range.first)
    throw DomainError(what, text, "first-last, such as 0-31");
  return range;
}

HPLCAST_DESCRIPTION(IndexRange, range) {
  HPLCAST_RULED(detail::at_least_zero, range, first, last);
  fields.check("last", range.last >= range.first, "first, or more");
}

HPLCAST_DESCRIPTION(SampledExchanges, sampled) {
  HPLCAST_RULED(detail::positive, sampled, run, period, panels);
  fields.check("run", sampled.run < sampled.period, "an integer from 1 to period - 1");
}

HPLCAST_DESCRIBED(SimulationDiagnosis, direct_messages, own_flows, poll_by_waiting, load, sampled_exchanges);

HPLCAST_DESCRIPTION(ProgramSettings, program) {
  HPLCAST_FIELDS(program, rest, numerics);
  fields.if_any("real_blas", program.real_blas);
  fields("share_above_bytes", program.share_above_bytes);
  HPLCAST_FIELDS_IF_ANY(program, counts, windows);
}

HPLCAST_DESCRIPTION(EnergySettings, energy) {
  HPLCAST_FIELDS(energy, bin_s, hosts);
  fields.check("bin_s", energy.bin_s >= 0, "a number of seconds of at least 0");
}

HPLCAST_DESCRIPTION(ObservationSettings, observation) {
  HPLCAST_FIELDS_IF_ANY(observation, trace, trace_ranks);
  HPLCAST_RULED(detail::at_least_zero, observation, trace_begin_s, trace_end_s);
  fields("phases", observation.phases);
  fields.if_any("progress", observation.progress);
  fields("checks", observation.checks);
}

HPLCAST_DESCRIPTION(SimulationSettings, settings) {
  HPLCAST_FIELDS_IF_ANY(settings, cluster, result);
  HPLCAST_FIELDS(settings, seed, noise, network_noise, detours, fast, fast_panels);
  fields.check("fast_panels", settings.fast_panels >= 0, "an integer of at least 0");
  HPLCAST_FIELDS_IF_ANY(settings, window, program, energy);
  HPLCAST_FIELDS(settings, out_of_step, observation, diagnosis);
}

void write_simulation_settings(std::ostream& out, SimulationSettings settings) {
  out << detail::described_text(settings);
}

SimulationSettings read_simulation_settings(std::istream& in, const std::string& name) {
  return detail::read_described<SimulationSettings>(in, name, detail::Reading::partial);
}

SimulationSettings read_simulation_settings(const std::filesystem::path& path) {
  SimulationSettings settings;
  read_file(path, [&](std::istream& in, const std::string& name) { settings = read_simulation_settings(in, name); });
  // The program may go to another folder before it ends.
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  ObservationSettings& observation = settings.observation;
  for (std::string* one : {&settings.cluster, &settings.result, &observation.trace, &observation.progress})
    if (!one->empty()) *one = (folder / *one).string();
  if (settings.program && !settings.program->counts.empty())
    settings.program->counts = (folder / settings.program->counts).string();
  if (settings.program && settings.program->real_blas.find('/') != std::string::npos)
    settings.program->real_blas = (folder / settings.program->real_blas).string();
  return settings;
}

// --- progress --------------------------------------------------------------------------------------------------------

std::string progress_line(const SimulationProgress& progress) {
  return printed("%.6e %.12e %.12e\n", progress.fraction, progress.simulated_s, progress.messages);
}

std::optional<SimulationProgress> read_progress(const std::filesystem::path& path) {
  std::ifstream in(path);
  SimulationProgress progress;
  if (in >> progress.fraction >> progress.simulated_s >> progress.messages) return progress;
  return std::nullopt;
}

HPLCAST_DESCRIBED(RoutineUse, calls, outside_range, time_s, flop, has_model);

HPLCAST_DESCRIPTION(AcceleratorCounts, counts) {
  HPLCAST_FIELDS(counts, kernels, bytes_to_device, bytes_from_device, bytes_within_device, copies_s, peak_bytes, used,
                 idle, overlapped_s);
  HPLCAST_FIELDS_IF_ANY(counts, kind, kinds);
}

HPLCAST_DESCRIBED(MarkedPanels, panels, round, marks_s);

HPLCAST_DESCRIPTION(ProgramCounts, program) {
  HPLCAST_FIELDS(program, routines, regions, rest_s, untimed_s, untimed_intervals, messages, message_bytes, unfinished);
  HPLCAST_FIELDS_IF_ANY(program, accelerators, marked);
}

HPLCAST_DESCRIPTION(SimulatedPanels, panels) {
  HPLCAST_FIELDS(panels, first, marks_s);
  fields.if_any("counts", panels.counts);
}

HPLCAST_DESCRIPTION(RankPhases, phase) {
  HPLCAST_FIELDS(phase, name, elapsed_s, kernels_s, messages_s, waiting_s);
  fields.if_any("detours_s", phase.detours_s);
}

HPLCAST_DESCRIBED(PowerTrace::Host, name, bins_j);

HPLCAST_DESCRIPTION(SimulatedEnergy, counted) {
  fields("time_s", counted.trace.time_s);
  HPLCAST_FIELDS(counted.energy, energy_j, idle_j, awake_j, awake_share, network_j, states);
  fields("bin_s", counted.trace.bin_s);
  HPLCAST_FIELDS_IF_ANY(counted.trace, bins_j, hosts);
}

HPLCAST_DESCRIBED(BlockedRank, rank, operation, source, destination, tag, since_s, phase);

HPLCAST_DESCRIPTION(SimulationResult, result) {
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
