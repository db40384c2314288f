#include "study/run/hpl_simulation.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <ostream>

#include "hplcast/core/campaign.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "study/run/local_machine.hpp"

namespace hplcast::study {

namespace {

core::SimulationSettings settings_of(const RunPlan& plan) {
  const PredictionRequest& request = plan.request();
  core::SimulationSettings settings;
  settings.seed = plan.seed();
  settings.noise = settings.network_noise = request.noise;
  settings.fast = plan.mode() == SimulationMode::fast;
  settings.diagnosis = request.diagnosis;
  const std::optional<PanelWindow>& window = plan.window();
  if (!window) return settings;
  settings.window = {window->first, window->simulated_to - 1};
  settings.out_of_step = window->out_of_step;
  // Observations are wanted as they are in exact mode.
  if (!is_observed(request.observation)) settings.fast_panels = std::max(0, window->exact_from - window->first);
  return settings;
}

core::Command simulation_command(const RunPlan& plan, const fs::path& folder) {
  const PredictionRequest& request = plan.request();
  const fs::path platform =
      write_simulation_files(plan.simulated_cluster(), plan.ranks(), platform_library(request.programs), folder);
  core::write_file(folder / "HPL.dat", [&](std::ostream& out) { core::write_hpl_dat(out, request.parameters, false); });
  core::Command command;
  command.program = smpirun_to_run(request.programs.smpirun);
  const fs::path xhpl = simulated_hpl(request.programs);
  require_one_simgrid(command.program, xhpl);
  command.arguments = {
      "-np", std::to_string(plan.ranks()), "-platform", plain_path(platform, folder, "."), "-hostfile", "./hostfile"};
  core::append(command.arguments, platforms::smpi_options());
  const MemorySettings memory = plan.memory();
  core::append(command.arguments, memory.options);
  command.arguments.push_back(plain_path(xhpl, folder, "."));
  if (std::getenv("GLIBC_TUNABLES") == nullptr) command.environment["GLIBC_TUNABLES"] = memory.glibc_tunables;
  command.purpose = "the simulation of " + core::to_string(request.parameters) + " seed=" + std::to_string(plan.seed());
  if (const std::optional<PanelWindow>& window = plan.window())
    command.purpose += ", panels " + std::to_string(window->first) + " to " + std::to_string(window->simulated_to - 1);
  command.directory = folder;
  command.output = folder / "simulation.log";
  command.timeout_s = request.timeout_s;
  core::SimulationSettings settings = settings_of(plan);
  observe(command, settings, request.observation);
  write_settings(command, folder, std::move(settings));
  return command;
}

/// The one run that the log tells of. Another configuration than the one asked for means that this is not our HPL.
core::HplRun read_result(const core::Command& command, const core::HplParameters& parameters) {
  const auto runs = core::read_from(command.output, core::read_hpl_output, parameters);
  if (runs.size() == 1 && runs.front().parameters == parameters) return runs.front();
  throw core::program_failure(command, 0,
                              runs.empty() ? "it printed no result line (`W...`)"
                                           : "its result is not one run of " + core::to_string(parameters));
}

void require_result(const core::Command& command, const std::optional<core::SimulationResult>& result,
                    const std::string& model_sha256) {
  const std::string& xhpl = command.arguments.back();
  if (!result)
    throw core::program_failure(
        command, 0, "it left no statistics: " + xhpl + " is not linked with hplcast's runtime, or ended early");
  if (result->model_sha256 != model_sha256)
    throw core::program_failure(
        command, 0, xhpl + " used the model " + result->model_sha256 + ", not the one asked for, " + model_sha256);
}

/// SimGrid does not look whether its trace can be written.
void take_whole_trace(const fs::path& trace) {
  std::ifstream in(core::part_file(trace), std::ios::ate);
  if (in.is_open() && in.seekg(-1, std::ios::cur).get() != '\n')
    throw core::StorageError("the trace " + trace.string() +
                             " is cut in the middle of a line: is the disk full, or was there a limit of sizes?");
  std::error_code error;
  if (in.is_open()) fs::rename(core::part_file(trace), core::behind_links(trace), error);
  if (error) core::throw_write_error("write", trace, error.value());
}

}  // namespace

fs::path simulated_hpl(const SimulatorPrograms& programs) {
  if (programs.xhpl.empty()) return own_program("xhpl-smpi", HPLCAST_VARIABLE_XHPL_SMPI);
  return located_program(programs.xhpl, "the simulated HPL asked for");
}

fs::path platform_library(const SimulatorPrograms& programs) {
  if (!programs.platform_library.empty()) return fs::absolute(programs.platform_library);
  return own_library("libhplcast-platform.so", HPLCAST_VARIABLE_PLATFORM_LIBRARY);
}

HplSimulation simulate_hpl(const RunPlan& plan, const fs::path& folder, const SimulationWatch& watch) {
  const PredictionRequest& request = plan.request();
  // SMPI copies the program for every rank, and removes the copies unless it is killed meanwhile.
  const core::TemporaryFolder copies("hplcast-smpi");
  const core::Leftover trace_part(core::part_file(request.observation.trace));
  const core::Leftover paje_part(core::part_file(request.observation.paje));
  core::Command command = simulation_command(plan, folder);
  command.environment["TMPDIR"] = plain_path(copies.path(), folder, ".");
  PeakMemory memory;
  command.while_running = [&](int pid) {
    memory.sample(pid);
    if (watch.while_running) watch.while_running();
    if (!watch.on_progress) return;
    if (const auto progress = progress_in(folder)) watch.on_progress(*progress);
  };
  HplSimulation simulation;
  core::Prediction& prediction = simulation.prediction;
  prediction.parameters = request.parameters;
  prediction.hosts = request.cluster.hosts.hosts_of(plan.ranks());
  prediction.threads_per_rank = request.cluster.hosts.values().threads_per_rank;
  prediction.blas = core::blas_of(request.cluster);
  prediction.model_sha256 = core::cluster_sha256(request.cluster);
  core::CommandResult ended;
  core::HplRun run;
  std::optional<core::SimulationResult> read;
  try {
    ended = core::run_checked(command);
    read = result_in(folder);
    if (read) refuse_deadlock(command, *read);
    run = read_result(command, request.parameters);
    require_result(command, read, core::cluster_sha256(plan.simulated_cluster()));
  } catch (const core::ExternalError& failure) {
    throw_if_storage(folder, command.output, failure.status());
    const fs::path library = platform_library(request.programs);
    const std::string wrong = wrong_part(command.program, simulated_hpl(request.programs), library);
    if (wrong.empty()) throw;
    std::string text = failure.what();
    throw core::ExternalError(failure.status(), text.insert(std::min(text.find('\n'), text.size()), "\n  " + wrong));
  }
  if (const fs::path& trace = request.observation.paje; !trace.empty()) take_whole_trace(trace);
  core::SimulationResult& result = *read;
  // HPL prints its time with two decimals; the runtime knows it exactly.
  prediction.time_s = result.times_s.size() == 1 ? result.times_s.front() : run.time_s;
  prediction.gflops = core::hpl_flop(static_cast<double>(request.parameters.N)) / prediction.time_s / 1e9;
  prediction.seed = plan.seed();
  prediction.mode = result.mode;
  prediction.fast_error_95_s = result.fast_error_95_s;
  prediction.cluster = request.cluster.name;
  prediction.simulator = result.simulator;
  prediction.model_doubts = core::model_doubts(request.cluster);
  prediction.control = core::control_of(request.cluster);
  prediction.wall_s = ended.wall_s;
  prediction.peak_pss_bytes = memory.peak_bytes();
  prediction.kernels = std::move(result.kernels);
  prediction.messages = std::move(result.messages);
  if (!result.detours_s.empty()) prediction.detours_s = core::mean(result.detours_s);
  if (request.observation.phases) prediction.phases = summarised(result.phases);
  if (!request.observation.phases_csv.empty()) write_phases_csv(request.observation.phases_csv, result.phases);
  if (request.observation.energy && result.energy) {
    prediction.energy = energy_of(plan, prediction, *result.energy);
    if (!request.observation.power_trace.empty())
      write_power_csv(request.observation.power_trace, result.energy->trace);
  }
  if (result.panels) simulation.panels = *std::move(result.panels);
  return simulation;
}

void require_power(const core::ClusterModel& cluster) {
  if (cluster.power) return;
  throw core::DomainError("power of cluster " + cluster.name, "missing", "watts of its hosts",
                          "the energy of a run needs `power` in cluster.json: docs/use/energy.md");
}

std::vector<std::string> power_warnings(const core::ClusterModel& cluster) {
  if (!cluster.power) return {};
  const std::string names =
      core::joined(core::unstated(*cluster.power), ", ", [](core::CoreState state) { return core::to_string(state); });
  if (names.empty()) return {};
  return {"power of " + cluster.name + " does not say what a core adds while it is in: " + names +
          "; taken as 0 W, which real cores do not have: waiting alone was 9 to 17 % of a node's power "
          "(docs/use/energy.md)"};
}

core::Energy added_energy(const core::ClusterModel& cluster, int ranks, double time_s, double gflops,
                          core::Energy counted) {
  for (core::StateEnergy& state : counted.states) state.time_s /= ranks;
  counted.add_up(time_s, gflops);
  for (const core::CoreState state : core::unstated(*cluster.power))
    counted.unstated.emplace_back(core::to_string(state));
  return counted;
}

core::Energy energy_of(const RunPlan& plan, const core::Prediction& prediction, const core::SimulatedEnergy& counted) {
  core::Energy energy =
      added_energy(plan.cluster(), plan.ranks(), prediction.time_s, prediction.gflops, counted.energy);
  if (!plan.window()) energy.levels = core::power_levels(counted.trace);
  return energy;
}

void write_power_csv(const std::filesystem::path& path, const core::PowerTrace& trace) {
  core::write_file(path, [&](std::ostream& out) {
    out << "time_s,duration_s,power_w";
    for (const core::PowerTrace::Host& host : trace.hosts) out << ',' << core::csv_field(host.name);
    out << '\n';
    for (std::size_t i = 0; i < trace.bins_j.size(); ++i) {
      out << core::shortest(static_cast<double>(i) * trace.bin_s) << ',' << core::shortest(trace.duration_s(i)) << ','
          << core::shortest(trace.power_w(trace.bins_j, i));
      for (const core::PowerTrace::Host& host : trace.hosts)
        out << ',' << core::shortest(trace.power_w(host.bins_j, i));
      out << '\n';
    }
  });
}

}  // namespace hplcast::study
