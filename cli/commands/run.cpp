#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/prediction_results.hpp"
#include "cli/support/progress.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/program_run.hpp"

namespace hplcast::cli {

namespace {

struct RunOptions {
  study::ProgramRunRequest request;
  std::string cluster;
  std::string rest = "zero";
  bool detours = true;
  bool bench_regions = false;
  bool json = false;
  std::string output;
  std::string picture;
};

std::string count_text(double count) {
  return std::to_string(static_cast<long long>(count));
}

/// Shares are of the time of all accelerators, one per rank.
void write_accelerators(std::ostream& out, const core::AcceleratorCounts& counts, const study::ProgramRun& run) {
  const double all_s = run.simulated_s * run.ranks;
  const auto share = [&](double part_s) { return all_s > 0 ? percent(part_s / all_s) : std::string("-"); };
  TextTable table({"accelerators", "calls", "time of all [s]", "share", "not measured"});
  for (const auto& [name, use] : counts.kernels)
    table.add({name, count_text(use.calls), significant(use.time_s), share(use.time_s),
               use.calls > 0 ? percent(use.outside_range / use.calls) : "-"});
  table.add({"copies", "", significant(counts.copies_s), share(counts.copies_s), ""});
  table.write(out);
  const auto gigabytes = [](double bytes) { return significant(bytes / 1e9, 3); };
  out << "copied [GB]: " << gigabytes(counts.bytes_to_device) << " to accelerators, "
      << gigabytes(counts.bytes_from_device) << " from them, " << gigabytes(counts.bytes_within_device)
      << " within; at most " << gigabytes(counts.peak_bytes) << " GB of one's memory used\n";
  std::vector<std::pair<double, std::string>> busy;  // shares of kinds of hosts
  for (const core::AcceleratorCounts& kind : counts.kinds)
    if (kind.used > 0) busy.emplace_back(kind.busy_s() / (run.simulated_s * kind.used), kind.kind);
  if (busy.size() < 2 || !(run.time_s > 0)) return;
  std::sort(busy.begin(), busy.end());
  constexpr double alike = 0.05;  // of the time
  if (busy.back().first - busy.front().first < alike) return;
  out << "accelerators of " << busy.front().second << " wait for those of " << busy.back().second << ":";
  const char* separator = " busy ";
  for (const auto& [part, kind] : busy) {
    out << separator << kind << " " << percent(part);
    separator = ", ";
  }
  out << " of the time\n";
}

/// Shares are of the time of all ranks.
void write_table(std::ostream& out, const study::ProgramRun& run) {
  const double all_s = run.simulated_s * run.ranks;
  const auto share = [&](double part_s) { return all_s > 0 ? percent(part_s / all_s) : std::string("-"); };
  out << "time " << significant(run.time_s, 6) << " s on " << run.ranks << (run.ranks == 1 ? " rank" : " ranks")
      << " of " << run.cluster << "; simulated in " << significant(run.wall_s, 3) << " s";
  if (run.wall_s >= core::Prediction::least_s_with_memory)
    out << ", " << significant(run.peak_pss_bytes / 1e6, 3) << " MB";
  if (run.sampling)
    out << "\n+- " << significant(run.error_95_s, 2)
        << " s (95 %) by the panels left out: " << percent(run.sampling->share) << " were simulated, which took "
        << significant(run.simulated_s, 6) << " s; all below, and what the program prints, is of these alone";
  out << '\n' << count_text(run.messages) << " messages, " << significant(run.message_bytes / 1e6) << " MB\n";
  TextTable table({"what", "calls", "time of all ranks [s]", "share", "not observed", "model"});
  const auto add = [&](const std::string& name, const study::RoutineUse& use) {
    table.add({name, count_text(use.calls), significant(use.time_s), share(use.time_s),
               use.calls > 0 && use.has_model ? percent(use.outside_range / use.calls) : "-",
               use.has_model ? "yes" : "no"});
  };
  for (const auto& [name, use] : run.routines) add(name, use);
  for (const auto& [name, use] : run.regions) add("region " + name, use);
  table.add({std::string("the rest (") + core::to_string(run.rest) + ")", "", significant(run.rest_s),
             share(run.rest_s), "", ""});
  if (run.detours_s > 0) table.add({"detours", "", significant(run.detours_s), share(run.detours_s), "", ""});
  const double waiting_s = all_s - run.routines_s() - run.regions_s() - run.rest_s - run.detours_s;
  table.add({run.accelerators ? "MPI, HIP and waiting" : "MPI and waiting", "", significant(waiting_s),
             share(waiting_s), "", ""});
  table.write(out);
  if (run.accelerators) write_accelerators(out, *run.accelerators, run);
  if (!run.phases.empty()) write_phases(out, run.command, run.phases);
  if (!run.energy) return;
  write_energy(out, run.command, *run.energy, run.time_s);
  out << significant(run.energy->energy_j, 5) << " J, on average " << significant(run.energy->mean_power_w, 5)
      << " W\n";
}

/// How large the trace that is asked for may be: how often the program calls is only known of observed runs.
void tell_trace(const study::ProgramRunRequest& request) {
  const study::Observation& observation = request.observation;
  if (observation.trace.empty()) return;
  constexpr double bytes_per_call = 130;  // docs/use/traces.md
  const std::string parts = "; --trace-ranks and --trace-time keep a part of it";
  const auto provenance = core::parse_json<nlohmann::json>(request.cluster.provenance);
  const auto calls = provenance.find("calls_per_rank");
  if (calls == provenance.end() || !calls->is_number() || request.cluster.has_accelerators())
    return tell("the trace will have about 130 bytes per call, and how many calls there will be is not known before" +
                parts);
  int ranks = request.ranks;
  if (!observation.trace_ranks.empty()) {
    const auto [first, last] = first_and_last(observation.trace_ranks);
    ranks = std::min(last, ranks - 1) - first + 1;
  }
  tell("the trace will have about " + significant(bytes_per_call * ranks * calls->get<double>() / 1e6, 2) +
       " MB if each rank makes " + core::shortest(calls->get<double>()) + " calls, as one of the observed runs did" +
       parts);
}

/// Nobody knows how long a program is: the line says how fast it goes.
study::ProgramRun run_with_progress(study::ProgramRunRequest request) {
  Progress progress;
  request.on_progress = [&](const study::SimulationProgress& now) {
    progress.update(
        [&](double elapsed_s, int width) { return running_line(now.simulated_s, elapsed_s, now.messages, width); });
  };
  return study::run_program(request);
}

void run_run(RunOptions& options) {
  study::ProgramRunRequest& request = options.request;
  unify_json_output(options.json, options.output);
  require_place_of(request.keep);
  const PowerTraceFile power_trace(request.observation);
  core::catch_interrupts();
  request.cluster = read_cluster_file(options.cluster);
  if (options.bench_regions && request.cluster.program) {
    for (auto& [name, region] : request.cluster.program->regions)
      if (!core::is_stretch(name)) region = {core::RegionMode::bench, 1, {}, 0, 0};
  }
  request.rest = core::from_name<core::RestMode>(options.rest);
  if (!options.detours) request.cluster.detours.clear();
  if (!request.observation.trace_ranks.empty())
    require_begins_below("--trace-ranks", first_and_last(request.observation.trace_ranks).first, request.ranks,
                         "the run", "ranks");
  std::vector<std::string> warnings = study::check(request);
  warn_all(warnings);
  tell_trace(request);
  const study::ProgramRun run = run_with_progress(request);
  power_trace.finish(request.program.filename().string() + " on " + request.cluster.name + ", " +
                     std::to_string(request.ranks) + " ranks");
  const std::vector<std::string> doubts = study::doubts(run, request.cluster);
  warn_all(doubts);
  core::append(warnings, doubts);
  if (!is_quiet())
    for (const std::string& note : study::notes(run, request.cluster)) tell("note: " + note);
  if (!options.picture.empty()) write_picture(options.picture, study::time_picture(run));
  const auto print = [&] {
    if (!options.json && !is_quiet()) std::cout << run.output;
    if (!options.json) write_table(std::cout, run);
  };
  if (options.json || !options.output.empty())
    write_result(
        options.output, [&](std::ostream& out) { study::write_program_run(out, run, warnings); }, print);
  print();
}

void add_observation(Command& command, study::ProgramRunRequest& request) {
  study::Observation& observation = request.observation;
  const Setting group = in_group("Observation");
  command.add_flag("--phases", observation.phases, "print the time per routine, region and MPI function", group);
  command.add_option("--phases-csv", observation.phases_csv, "the same of every rank", writes("FILE"), group);
  add_choice<bool>(command, "--phases-by", request.phases_by_group, {{"name", false}, {"group", true}},
                   "group: all routines, regions and MPI functions together")
      ->with(group);
  add_trace(command, observation);
}

}  // namespace

void setup_run(Command& app) {
  Command& command = add_command(app, "run", "Predict a program of BLAS and MPI that hplcast-cc has compiled",
                                 "hplcast run ./solver-smpi --cluster solver.json -np 16 -- 4000");
  auto& options = command.runs<RunOptions>(run_run);
  study::ProgramRunRequest& request = options.request;
  command.add_option("program", request.program,
                     "the program, compiled with hplcast-cc, hplcast-cxx, hplcast-fc or hplcast-hipcc", required,
                     reads("PROGRAM"));
  command.add_option("arguments", request.arguments, "its arguments, after --", of_type("WORDS"));
  command.add_option("--cluster", options.cluster, "cluster.json, of `hplcast fit program`", required, reads("FILE"));
  command.add_option("--np", request.ranks, "ranks (also -np)", between(1, 1 << 24), with_default);
  command.add_option(
      "--rest", options.rest,
      "code that is neither BLAS nor MPI nor a region: takes no time, the observed share, its CPU time here, or the "
      "time of what it executes (programs compiled with --count)",
      among({"zero", "model", "bench", "counted"}), with_default);
  command.add_option("--count", request.counts,
                     "CSV of what each rank executes between its calls of MPI, for `fit program --counts`; of a "
                     "program compiled with --count",
                     writes("FILE"), named_file);
  add_choice<bool>(command, "--numerics", request.numerics, {{"model", false}, {"run", true}},
                   "run: routines and regions are executed, too, and take the same time");
  command.add_flag("--bench-regions", options.bench_regions,
                   "execute all regions and bench them, for `fit program --factors-from`");
  command.add_option("--share-above", request.share_above_bytes, "larger allocations of all ranks share their memory",
                     as_bytes, of_type("BYTES"));
  add_window_rule(command, request.windows,
                  "panels that are simulated, of a program that marks them (hplcast_panel() of hplcast/region.h): auto "
                  "(a few windows of a run of more than 15 rounds)");
  add_choice<bool>(command, "--noise", request.noise, on_or_off, "off: everything takes its expected time");
  add_choice<bool>(command, "--messages", request.direct_messages, {{"direct", true}, {"smpi", false}},
                   "sends and receives: hplcast's own (the same times for less work), or all by SMPI");
  command.add_flag("--fast", request.fast,
                   "less work per message, for programs that neither probe nor test: messages below 64 KiB take "
                   "nothing of the links");
  command.add_option("--collectives", request.collectives,
                     "algorithms of collective operations: those of Open MPI, MPICH, Intel MPI, MVAPICH2",
                     among({"ompi", "mpich", "impi", "mvapich2"}), with_default);
  add_choice<bool>(command, "--detours", options.detours, on_or_off,
                   "off: nothing takes the cores away, even if cluster.json has detours");
  add_observation(command, request);
  add_energy(command, request.observation);
  add_seed(command, request.seed, "of the simulation");
  add_timeout(command, request.timeout_s, "simulation");
  command.add_option("--smpirun", request.smpirun, "of SimGrid", of_type("PATH"));
  command.add_option("--keep", request.keep, "folder for the files of the simulation", of_type("DIR"));
  command.add_flag("--json", options.json, "print JSON, with the program's output in it");
  command.add_option("--picture", options.picture, "of where the time goes", draws("PICTURE.svg|png"));
  command.add_output(options.output, "JSON of the run");
}

}  // namespace hplcast::cli
