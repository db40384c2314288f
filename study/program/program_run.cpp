#include "hplcast/study/program_run.hpp"

#include <sys/statvfs.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "study/plot/figure.hpp"
#include "study/plot/markup.hpp"
#include "study/run/hpl_simulation.hpp"
#include "study/run/local_machine.hpp"
#include "study/run/simulation_files.hpp"
#include "study/sampling/sampled_prediction.hpp"

namespace hplcast::study {

namespace {

constexpr const char* counts_name = "counts.csv";

/// "[node-1:RANK:(2) 0.5] ...: SMPI process did not return 0. Return value : 3": the ranks that ended in this way, with
/// the `code` of the first.
std::vector<int> failed_ranks(const std::string& output, std::string& code) {
  static const std::regex line_of_smpi(
      R"(\[[^\]]*:([0-9]{1,9}):\([0-9]+\) [^\]]*\].*SMPI process did not return 0\. Return value : (-?[0-9]+))");
  std::vector<int> ranks;
  for (const std::string& line : core::split(output, '\n')) {
    if (line.find("SMPI process did not return 0") == std::string::npos || line.size() > 4096) continue;
    std::smatch match;
    if (!std::regex_search(line, match, line_of_smpi)) continue;
    if (ranks.empty()) code = match[2];
    if (match[2] == code) ranks.push_back(std::stoi(match[1]));
  }
  return ranks;
}

/// "rank 3", "ranks 0, 1, 2, 3 and 60 more".
std::string ranks_text(const std::vector<int>& ranks) {
  const std::string numbers = core::first_few(ranks, 4, [](int rank) { return std::to_string(rank); });
  return (ranks.size() == 1 ? "rank " : "ranks ") + numbers;
}

/// How a simulated program that failed came to its end, for messages: its exit code and the ranks that ended with one
/// where SMPI says so in `output` (all that smpirun printed), a signal, else core::how_it_ended().
std::string how_program_ended(const core::Command& command, const core::CommandResult& result,
                              const std::string& output) {
  std::string code;
  const std::vector<int> ranks = failed_ranks(output, code);
  if (!ranks.empty() && !result.timed_out)
    return "the program ended with exit code " + code + " on " + ranks_text(ranks);
  constexpr int signals = 128;
  core::Command ended = command;
  if (result.status > signals) ended.program = "the program";
  return core::how_it_ended(ended, result);
}

core::SimulationSettings settings_of(const ProgramRunRequest& request) {
  core::SimulationSettings settings;
  settings.seed = request.seed;
  settings.noise = settings.network_noise = request.noise;
  settings.diagnosis.direct_messages = request.direct_messages;
  settings.fast = request.fast;
  core::ProgramSettings& program = settings.program.emplace();
  program.numerics = request.numerics;
  program.rest = request.rest;
  program.share_above_bytes = static_cast<std::size_t>(request.share_above_bytes);
  if (const char* const blas = std::getenv(HPLCAST_VARIABLE_REAL_BLAS))
    program.real_blas = std::strchr(blas, '/') != nullptr ? fs::absolute(blas).string() : blas;
  return settings;
}

/// @param links  a folder that a shell does not take apart
core::Command command_of(const ProgramRunRequest& request, const fs::path& folder, const fs::path& links) {
  const fs::path platform = write_simulation_files(request.cluster, request.ranks, platform_library({}), folder);
  core::Command command;
  command.program = smpirun_to_run(request.smpirun);
  command.arguments = {"-np",
                       std::to_string(request.ranks),
                       "-platform",
                       plain_path(platform, links, links),
                       "-hostfile",
                       plain_path(folder / "hostfile", links, links),
                       "--log=root.thresh:warning"};
  for (const std::string& option : platforms::smpi_options()) {
    // Programs have global variables: each rank runs a copy of its own.
    const bool privatization = option.rfind("--cfg=smpi/privatization", 0) == 0;
    command.arguments.push_back(privatization ? "--cfg=smpi/privatization:dlopen" : option);
  }
  command.arguments.push_back("--cfg=smpi/coll-selector:" + request.collectives);
  // SimGrid's faster way gives some of a dozen messages that meet another share (docs/internals/platform.md).
  constexpr int few_ranks = 256;
  if (request.ranks <= few_ranks) command.arguments.emplace_back("--cfg=network/optim:Full");
  if (const char* const runtime = "libhplcast-smpi.so"; request.fast && request.collectives != "mvapich2")
    command.arguments.insert(
        command.arguments.begin(),
        {"-wrapper", "env LD_PRELOAD=" + plain_path(platform_library({}).parent_path() / runtime, links, links)});
  command.arguments.push_back(plain_path(request.program, links, links));
  for (const std::string& argument : request.arguments) command.arguments.push_back(core::smpirun_word(argument));
  if (request.numerics) command.environment["OPENBLAS_NUM_THREADS"] = "1";  // a rank is one core
  // Programs allocate and free the same sizes all the time: glibc would give memory back, and page it in anew.
  command.environment["MALLOC_TRIM_THRESHOLD_"] = "268435456";
  command.environment["MALLOC_MMAP_THRESHOLD_"] = "33554432";
  command.purpose = "the simulation of " + request.program.filename().string();
  command.output = folder / "program.out";
  command.timeout_s = request.timeout_s;
  core::SimulationSettings settings = settings_of(request);
  if (request.windows.kind != WindowRule::Kind::off) settings.program->windows = to_string(request.windows);
  if (!request.counts.empty()) settings.program->counts = fs::absolute(folder / counts_name).string();
  observe(command, settings, request.observation);
  write_settings(command, folder, std::move(settings));
  return command;
}

core::SimulationResult whole_result_in(const fs::path& folder, const core::Command& command,
                                       const ProgramRunRequest& request) {
  std::optional<core::SimulationResult> result = result_in(folder);
  if (!result || !result->program)
    throw core::program_failure(command, 0,
                                request.program.string() +
                                    " ended without a call of MPI_Init (or was ended by a library), so nothing of it "
                                    "was simulated");
  refuse_deadlock(command, *result);
  if (const std::vector<int>& unfinished = result->program->unfinished; !unfinished.empty())
    throw core::program_failure(command, 0, ranks_text(unfinished) + " ended without MPI_Finalize",
                                "what was simulated is not a whole run; mpirun calls that a failure, too");
  return *std::move(result);
}

/// Names as the runtime gives them (smpi-models/program/program_times.cpp).
std::string group_of(const std::string& name) {
  constexpr std::array own = {"the rest", "clock", "other", "ended"};
  if (std::find(own.begin(), own.end(), name) != own.end()) return name;
  if (core::begins_with(name, "region ")) return "regions";
  if (core::begins_with(name, "hip") || core::begins_with(name, "rocblas_") || name == "flag") return "accelerators";
  return core::begins_with(name, "MPI_") ? "MPI" : "routines";
}

/// Times of a program by what they are, in place of names: routines, regions, MPI; the others keep theirs.
std::vector<RankPhases> grouped(const std::vector<RankPhases>& phases) {
  std::vector<RankPhases> groups;
  for (const RankPhases& phase : phases) {
    const std::string name = group_of(phase.name);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const RankPhases& one) { return one.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}, {}, {}, {}});
    for (const RankPhaseField& field : rank_phase_fields) {
      std::vector<double>& sums = (*group).*field.member;
      const std::vector<double>& times_s = phase.*field.member;
      sums.resize(std::max(sums.size(), times_s.size()));
      for (std::size_t i = 0; i < times_s.size(); ++i) sums[i] += times_s[i];
    }
  }
  return groups;
}

/// States of accelerators, as times of one that a rank uses; what is added to the energy of the hosts, but behind their
/// power supply. Kernels beside each other draw the power of both.
std::vector<core::StateEnergy> accelerator_energy(const core::AcceleratorModel& model,
                                                  const core::AcceleratorCounts& counts, double time_s) {
  const core::AcceleratorPower& power = *model.power;
  const std::string of_kind = counts.kind.empty() ? "" : " of " + counts.kind;
  std::vector<core::StateEnergy> states;
  for (const auto& [name, use] : counts.kernels) {
    auto kernel = model.kernels.find(name);
    if (kernel == model.kernels.end()) kernel = model.kernels.find(name.substr(0, name.find('/')));
    const bool has_own = kernel != model.kernels.end() && kernel->second.power_w;
    states.push_back({"accelerator" + of_kind + ", " + name, use.time_s / counts.used,
                      use.time_s * (has_own ? *kernel->second.power_w : power.busy_w)});
  }
  const double waiting_s = std::max(0.0, time_s * counts.used - counts.busy_s());
  if (counts.used > 0)
    states.push_back({"accelerator" + of_kind + ", waiting", waiting_s / counts.used, waiting_s * power.waiting_w});
  if (counts.idle > 0)
    states.push_back({"accelerators" + of_kind + " without a rank", time_s, time_s * counts.idle * power.idle_w});
  return states;
}

/// Accelerators of a kind of hosts, as AcceleratorCounts has it; null: none.
const core::AcceleratorModel* accelerators_of(const core::ClusterModel& cluster, const std::string& kind) {
  for (const core::HostKind& one : cluster.hosts.values().kinds)
    if (one.name == kind && one.accelerators) return &*one.accelerators;
  return cluster.accelerators ? &*cluster.accelerators : nullptr;
}

/// The same of all kinds of hosts that have power, at the wall.
std::vector<core::StateEnergy> accelerator_energy(const core::ClusterModel& cluster,
                                                  const core::AcceleratorCounts& counts, double time_s) {
  std::vector<core::StateEnergy> states;
  for (const core::AcceleratorCounts& one : counts.kinds.empty() ? std::vector{counts} : counts.kinds) {
    const core::AcceleratorModel* const model = accelerators_of(cluster, one.kind);
    if (model == nullptr || !model->power) continue;
    core::append(states, accelerator_energy(*model, one, time_s));
  }
  for (core::StateEnergy& state : states) state.energy_j /= cluster.power->values().supply_efficiency;
  return states;
}

/// Takes what was asked for beside the result.
void take_observations(const ProgramRunRequest& request, const core::SimulationResult& counted, ProgramRun& run) {
  const Observation& observation = request.observation;
  const std::vector<RankPhases> phases = request.phases_by_group ? grouped(counted.phases) : counted.phases;
  if (observation.phases) run.phases = summarised(phases);
  if (!observation.phases_csv.empty()) write_phases_csv(observation.phases_csv, phases);
  if (!observation.energy || !counted.energy) return;
  double flop = run.flop();
  if (run.accelerators)
    for (const auto& [name, use] : run.accelerators->kernels) flop += use.flop;
  const double gflops = run.time_s > 0 ? flop / run.time_s / 1e9 : 0;
  run.energy = added_energy(request.cluster, request.ranks, run.time_s, gflops, counted.energy->energy);
  if (run.accelerators && run.time_s > 0) {
    const auto states = accelerator_energy(request.cluster, *run.accelerators, run.time_s);
    core::append(run.energy->states, states);
    if (!states.empty()) run.energy->add_up(run.time_s, gflops);
  }
  if (!observation.power_trace.empty()) write_power_csv(observation.power_trace, counted.energy->trace);
}

/// The time of all panels, where some were left out.
void take_windows(const core::MarkedPanels& marked, const WindowRule& rule, ProgramRun& run) {
  std::optional<SampledTime> sampled = sampled_time(marked, rule, run.simulated_s);
  if (!sampled) return;
  run.time_s = sampled->time_s;
  run.error_95_s = sampled->error_95_s;
  run.sampling = std::move(sampled->sampling);
}

void require_executable_place(const fs::path& folder) {
  struct statvfs place = {};
  if (::statvfs(folder.c_str(), &place) != 0 || (place.f_flag & ST_NOEXEC) == 0) return;
  throw core::InputError("a copy of the program for each rank in " + folder.string() +
                         " could not be executed: its file system is mounted with `noexec`\n  hint: TMPDIR can name a "
                         "folder of another one");
}

ProgramRun run_in(const ProgramRunRequest& request, const fs::path& folder) {
  const core::TemporaryFolder copies("hplcast-smpi");  // of the program, one for each rank
  const core::Leftover trace(core::part_file(request.observation.trace));
  require_executable_place(copies.path());
  std::optional<core::TemporaryFolder> links;
  if (!is_plain(folder.string())) links.emplace("hplcast-links", "/tmp");
  const fs::path place = links ? links->path() : folder;
  core::Command command = command_of(request, folder, place);
  command.environment["TMPDIR"] = plain_path(copies.path(), place, place);
  PeakMemory memory;
  command.while_running = [&](int pid) {
    memory.sample(pid);
    if (request.while_running) request.while_running();
    if (!request.on_progress) return;
    if (const auto progress = progress_in(folder)) request.on_progress(*progress);
  };
  const core::CommandResult ended = core::run(command);
  if (ended.status != 0) {
    const std::string said = core::read_text(command.output);
    if (std::string code; failed_ranks(said, code).empty()) throw_if_storage(folder, command.output, ended.status);
    throw core::program_failure(command, ended.status, how_program_ended(command, ended, said),
                                wrong_part(command.program, request.program, platform_library({})));
  }
  core::SimulationResult result = whole_result_in(folder, command, request);
  ProgramRun run;
  static_cast<core::ProgramCounts&>(run) = std::move(*result.program);
  run.simulator = result.simulator;
  run.model_sha256 = result.model_sha256;
  run.time_s = run.simulated_s = result.end_s;
  if (run.marked) take_windows(*run.marked, request.windows, run);
  for (const double detours_s : result.detours_s) run.detours_s += detours_s;
  run.command = request.program.filename().string();
  for (const std::string& argument : request.arguments) run.command += " " + argument;
  run.cluster = request.cluster.name;
  run.ranks = request.ranks;
  run.seed = request.seed;
  run.rest = request.rest;
  run.wall_s = ended.wall_s;
  run.peak_pss_bytes = memory.peak_bytes();
  run.output = core::read_text(command.output);
  const std::string asked = core::cluster_sha256(request.cluster);
  if (run.model_sha256 != asked)
    throw core::program_failure(command, 0,
                                "it used the model " + run.model_sha256 + ", not the one asked for, " + asked);
  take_observations(request, result, run);
  if (!request.counts.empty())
    core::replace_file(request.counts, [&](const fs::path& temporary) {
      fs::copy_file(folder / counts_name, temporary, fs::copy_options::overwrite_existing);
    });
  return run;
}

Json json_of(const std::map<std::string, RoutineUse>& uses) {
  Json json = Json::object();
  for (const auto& [name, use] : uses) json[name] = HPLCAST_JSON(use, calls, outside_range, time_s, flop, has_model);
  return json;
}

Json json_of(const core::AcceleratorCounts& counts) {
  Json json = {{"kernels", json_of(counts.kernels)}};
  json.update(HPLCAST_JSON(counts, bytes_to_device, bytes_from_device, bytes_within_device, copies_s, peak_bytes, used,
                           idle, overlapped_s));
  return json;
}

}  // namespace

ProgramRun run_program(const ProgramRunRequest& request) {
  check(request);
  return made_in(request.keep, "hplcast-run", [&](const fs::path& folder) { return run_in(request, folder); });
}

void write_program_run(std::ostream& out, const ProgramRun& run, const std::vector<std::string>& warnings) {
  Json json = {{"schema_version", 1}};
  json.update(HPLCAST_JSON(run, command, cluster, model_sha256, simulator, ranks, seed));
  json["rest"] = to_string(run.rest);
  json.update(HPLCAST_JSON(run, time_s, wall_s, peak_pss_bytes));
  json["routines_s"] = run.routines_s();
  json["regions_s"] = run.regions_s();
  json.update(HPLCAST_JSON(run, rest_s, detours_s, untimed_s, untimed_intervals, messages, message_bytes));
  json["routines"] = json_of(run.routines);
  json["regions"] = json_of(run.regions);
  json["warnings"] = warnings;
  json["output"] = run.output;
  if (run.accelerators) {
    json["accelerators"] = json_of(*run.accelerators);
    for (const core::AcceleratorCounts& kind : run.accelerators->kinds)
      json["accelerators"]["kinds"][kind.kind] = json_of(kind);
  }
  if (run.sampling) {
    json.update(HPLCAST_JSON(run, error_95_s, simulated_s));
    json["simulated_share"] = run.sampling->share;
  }
  for (const core::PhaseSummary& phase : run.phases)
    for (const core::PhaseField& field : core::phase_fields)
      if (field.required || phase.*field.member != 0) json["phases"][phase.name][field.name] = phase.*field.member;
  if (run.energy) json["energy"] = core::parse_json<Json>(core::energy_text(*run.energy));
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::string time_picture(const ProgramRun& run) {
  constexpr double least_percent = 0.5;
  const double all_s = run.simulated_s * run.ranks;
  std::vector<BarRow> rows;
  const auto add = [&](const std::string& name, double time_s, const char* css_class) {
    const double percent = all_s > 0 ? 100 * time_s / all_s : 0;
    if (percent >= least_percent) rows.push_back({name, {{0, percent, css_class}}, with_decimals(percent, 0) + " %"});
  };
  for (const auto& [name, use] : run.routines) add(name, use.time_s, "s2");
  for (const auto& [name, use] : run.regions) add("region " + name, use.time_s, "s3");
  add("the rest of the program", run.rest_s, "s5");
  add("detours", run.detours_s, "s6");
  add(run.accelerators ? "MPI, HIP and waiting" : "MPI and waiting",
      all_s - run.routines_s() - run.regions_s() - run.rest_s - run.detours_s, "s1");
  if (run.accelerators) {  // one per rank; beside what their ranks do
    for (const auto& [name, use] : run.accelerators->kernels) add("accelerators: " + name, use.time_s, "s4");
    add("accelerators: copies", run.accelerators->copies_s, "s4");
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const BarRow& a, const BarRow& b) { return a.parts.front().to > b.parts.front().to; });
  const std::string title = run.command + ", " + std::to_string(run.ranks) + (run.ranks == 1 ? " rank: " : " ranks: ") +
                            readable(run.time_s, 3) + " s";
  return figure_file({bar_figure("time", title, {"% of the time of all ranks", 0, 100}, rows)});
}

}  // namespace hplcast::study
