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
  fields("first", range.first);
  fields("last", range.last);
  fields.check("first", range.first >= 0, "an integer of at least 0");
  fields.check("last", range.last >= range.first, "first, or more");
}

template <typename Fields>
static void describe(Fields& fields, SampledExchanges& sampled) {
  fields("run", sampled.run);
  fields("period", sampled.period);
  fields("panels", sampled.panels);
  fields.check("run", sampled.run >= 1 && sampled.run < sampled.period, "an integer from 1 to period - 1");
  fields.check("panels", sampled.panels >= 1, "an integer of at least 1");
}

template <typename Fields>
static void describe(Fields& fields, SimulationDiagnosis& diagnosis) {
  fields("direct_messages", diagnosis.direct_messages);
  fields("own_flows", diagnosis.own_flows);
  fields("poll_by_waiting", diagnosis.poll_by_waiting);
  fields("load", diagnosis.load);
  fields("sampled_exchanges", diagnosis.sampled_exchanges);
}

template <typename Fields>
static void describe(Fields& fields, ProgramSettings& program) {
  fields("rest", program.rest);
  fields("numerics", program.numerics);
  fields.if_any("real_blas", program.real_blas);
  fields("share_above_bytes", program.share_above_bytes);
  fields.if_any("counts", program.counts);
}

template <typename Fields>
static void describe(Fields& fields, EnergySettings& energy) {
  fields("bin_s", energy.bin_s);
  fields("hosts", energy.hosts);
  fields.check("bin_s", energy.bin_s >= 0, "a number of seconds of at least 0");
}

template <typename Fields>
static void describe(Fields& fields, ObservationSettings& observation) {
  fields.if_any("trace", observation.trace);
  fields.if_any("trace_ranks", observation.trace_ranks);
  fields("trace_begin_s", observation.trace_begin_s);
  fields("trace_end_s", observation.trace_end_s);
  fields.check("trace_end_s", observation.trace_begin_s >= 0 && observation.trace_end_s >= 0, "a number of seconds");
  fields("phases", observation.phases);
  fields.if_any("progress", observation.progress);
  fields("checks", observation.checks);
}

template <typename Fields>
static void describe(Fields& fields, SimulationSettings& settings) {
  fields.if_any("cluster", settings.cluster);
  fields.if_any("result", settings.result);
  fields("seed", settings.seed);
  fields("noise", settings.noise);
  fields("network_noise", settings.network_noise);
  fields("detours", settings.detours);
  fields("fast", settings.fast);
  fields("fast_panels", settings.fast_panels);
  fields.check("fast_panels", settings.fast_panels >= 0, "an integer of at least 0");
  fields.if_any("window", settings.window);
  fields.if_any("program", settings.program);
  fields.if_any("energy", settings.energy);
  fields("observation", settings.observation);
  fields("diagnosis", settings.diagnosis);
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
