#include <iostream>
#include <memory>

#include "checks.hpp"
#include "cluster_file.hpp"
#include "commands.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/program_run.hpp"
#include "output.hpp"
#include "program.hpp"
#include "quantities.hpp"
#include "seed_option.hpp"
#include "talk.hpp"

namespace hplcast::cli {

namespace {

struct RunOptions {
  study::ProgramRunRequest request;
  std::string cluster;
  std::string rest = "zero";
  std::string noise = "on";
  std::string messages = "direct";
  bool bench_regions = false;
  bool json = false;
  std::string output;
};

/// Of the time of all ranks.
void write_table(std::ostream& out, const study::ProgramRun& run) {
  const double all_s = run.time_s * run.ranks;
  const auto share = [&](double part_s) { return all_s > 0 ? percent(part_s / all_s) : std::string("-"); };
  out << "time " << significant(run.time_s, 6) << " s on " << run.ranks << (run.ranks == 1 ? " rank" : " ranks")
      << " of " << run.cluster << "; simulated in " << significant(run.wall_s, 3) << " s, "
      << significant(run.peak_pss_bytes / 1e6, 3) << " MB\n"
      << significant(run.messages) << " messages, " << significant(run.message_bytes / 1e6) << " MB\n";
  TextTable table({"what", "calls", "time of all ranks [s]", "share", "not observed", "model"});
  const auto add = [&](const std::string& name, const study::RoutineUse& use) {
    table.add({name, significant(use.calls), significant(use.time_s), share(use.time_s),
               use.calls > 0 && use.has_model ? percent(use.outside_range / use.calls) : "-",
               use.has_model ? "yes" : "no"});
  };
  for (const auto& [name, use] : run.routines) add(name, use);
  for (const auto& [name, use] : run.regions) add("region " + name, use);
  table.add({std::string("the rest (") + study::to_string(run.rest) + ")", "", significant(run.rest_s),
             share(run.rest_s), "", ""});
  const double waiting_s = all_s - run.routines_s() - run.regions_s() - run.rest_s;
  table.add({"MPI and waiting", "", significant(waiting_s), share(waiting_s), "", ""});
  table.write(out);
}

void run_run(RunOptions& options) {
  study::ProgramRunRequest& request = options.request;
  unify_json_output(options.json, options.output);
  require_writable(options.output);
  require_other_file(options.output, {options.cluster, request.program.string()});
  core::catch_interrupts();
  request.cluster = read_cluster_file(options.cluster);
  if (options.bench_regions && request.cluster.program) {
    for (auto& [name, region] : request.cluster.program->regions) region = {core::RegionMode::bench, 1, {}, 0, 0};
  }
  request.rest = study::rest_mode_from_name(options.rest);
  request.noise = options.noise == "on";
  request.direct_messages = options.messages == "direct";
  const auto warn = [](const std::string& warning) { std::cerr << "hplcast run: warning: " << warning << '\n'; };
  std::vector<std::string> warnings = study::check(request);
  for (const std::string& warning : warnings) warn(warning);
  const study::ProgramRun run = study::run_program(request);
  for (const std::string& doubt : study::doubts(run, request.cluster)) {
    warn(doubt);
    warnings.push_back(doubt);
  }
  if (options.json || !options.output.empty()) {
    write_result(options.output, [&](std::ostream& out) { study::write_program_run(out, run, warnings); });
  }
  if (options.json) return;
  if (!is_quiet()) std::cout << run.output;
  write_table(std::cout, run);
}

}  // namespace

void setup_run(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  study::ProgramRunRequest& request = options->request;
  CLI::App& command = add_command(app, "run", "Predict a program of BLAS and MPI that hplcast-cc has compiled",
                                  "hplcast run ./solver-smpi --cluster solver.json -np 16 -- 4000");
  command.add_option("program", request.program, "the program, compiled with hplcast-cc, hplcast-cxx or hplcast-fc")
      ->required()
      ->type_name("PROGRAM");
  command.add_option("arguments", request.arguments, "its arguments, after --")->type_name("WORDS");
  command.add_option("--cluster", options->cluster, "cluster.json, of `hplcast fit program`")
      ->required()
      ->type_name("FILE");
  command.add_option("--np", request.ranks, "ranks (also -np)")->check(CLI::Range(1, 1 << 24))->capture_default_str();
  command
      .add_option(
          "--rest", options->rest,
          "code that is neither BLAS nor MPI nor a region: takes no time, the observed share, or its CPU time here")
      ->check(CLI::IsMember({"zero", "model", "bench"}))
      ->capture_default_str();
  command.add_flag("--bench-regions", options->bench_regions,
                   "execute all regions and bench them, for `fit program --factors-from`");
  command.add_option("--share-above", request.share_above_bytes, "larger allocations of all ranks share their memory")
      ->transform(as_bytes())
      ->type_name("BYTES");
  command.add_option("--noise", options->noise, "off: everything takes its expected time")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command
      .add_option("--messages", options->messages,
                  "sends and receives: hplcast's own (the same times for less work), or all by SMPI")
      ->check(CLI::IsMember({"direct", "smpi"}))
      ->capture_default_str();
  add_seed(command, request.seed, "of the simulation");
  command.add_option("--timeout", request.timeout_s, "stop a simulation that takes longer (default: never)")
      ->transform(as_time_limit());
  command.add_option("--smpirun", request.smpirun, "of SimGrid")->type_name("PATH");
  command.add_option("--keep", request.keep, "folder for the files of the simulation")->type_name("DIR");
  command.add_flag("--json", options->json, "print JSON, with the program's output in it");
  command.add_option("-o,--output", options->output, "JSON of the run")->type_name("FILE");
  command.callback([options] { run_run(*options); });
}

}  // namespace hplcast::cli
