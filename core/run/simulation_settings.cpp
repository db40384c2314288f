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

template <typename Fields>
static void describe(Fields& fields, IndexRange& range) {
  HPLCAST_FIELDS(range, first, last);
  fields.check("first", range.first >= 0, "an integer of at least 0");
  fields.check("last", range.last >= range.first, "first, or more");
}

template <typename Fields>
static void describe(Fields& fields, SampledExchanges& sampled) {
  HPLCAST_FIELDS(sampled, run, period, panels);
  fields.check("run", sampled.run >= 1 && sampled.run < sampled.period, "an integer from 1 to period - 1");
  fields.check("panels", sampled.panels >= 1, "an integer of at least 1");
}

template <typename Fields>
static void describe(Fields& fields, SimulationDiagnosis& diagnosis) {
  HPLCAST_FIELDS(diagnosis, direct_messages, own_flows, poll_by_waiting, load, sampled_exchanges);
}

template <typename Fields>
static void describe(Fields& fields, ProgramSettings& program) {
  HPLCAST_FIELDS(program, rest, numerics);
  fields.if_any("real_blas", program.real_blas);
  fields("share_above_bytes", program.share_above_bytes);
  fields.if_any("counts", program.counts);
}

template <typename Fields>
static void describe(Fields& fields, EnergySettings& energy) {
  HPLCAST_FIELDS(energy, bin_s, hosts);
  fields.check("bin_s", energy.bin_s >= 0, "a number of seconds of at least 0");
}

template <typename Fields>
static void describe(Fields& fields, ObservationSettings& observation) {
  HPLCAST_FIELDS_IF_ANY(observation, trace, trace_ranks);
  HPLCAST_FIELDS(observation, trace_begin_s, trace_end_s);
  fields.check("trace_end_s", observation.trace_begin_s >= 0 && observation.trace_end_s >= 0, "a number of seconds");
  fields("phases", observation.phases);
  fields.if_any("progress", observation.progress);
  fields("checks", observation.checks);
}

template <typename Fields>
static void describe(Fields& fields, SimulationSettings& settings) {
  HPLCAST_FIELDS_IF_ANY(settings, cluster, result);
  HPLCAST_FIELDS(settings, seed, noise, network_noise, detours, fast, fast_panels);
  fields.check("fast_panels", settings.fast_panels >= 0, "an integer of at least 0");
  HPLCAST_FIELDS_IF_ANY(settings, window, program, energy);
  HPLCAST_FIELDS(settings, observation, diagnosis);
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

}  // namespace hplcast::core
