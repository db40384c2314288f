#include "hplcast/fit/program_fit.hpp"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "checks.hpp"
#include "cluster_file.hpp"
#include "commands.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "output.hpp"
#include "program.hpp"
#include "talk.hpp"

namespace hplcast::cli {

namespace {

struct FitProgramOptions {
  std::vector<std::string> archives;
  std::string cluster;
  std::string output;
};

/// The run of one archive. @return the command that was observed.
std::string add_archive(const std::string& path, fit::ProgramObservation& observation) {
  std::string command;
  bool found = false;
  for (const auto& [name, text] : calibration::read_archive(path)) {
    std::istringstream in(text);
    const std::string where = path + ":" + name;
    if (core::ends_with(name, ".calls.csv")) fit::read_observed_calls(in, where, observation);
    if (core::ends_with(name, ".times.csv")) {
      fit::read_observed_times(in, where, observation);
      found = true;
    }
    if (!core::ends_with(name, "program.json")) continue;
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("program") || !json.at("program").is_string())
      throw core::ParseError({where, 0, ""}, "expected the program that was observed");
    command = json.at("program").get<std::string>();
  }
  if (!found)
    throw core::Error(core::ExitCode::bad_input,
                      path + ": no rank-*.times.csv in it; expected an archive of `hplcast observe`");
  return command;
}

/// Where the observed time went: the routines that took most, and the sums.
void write_table(std::ostream& out, const fit::ProgramObservation& seen, const fit::ProgramFit& fit) {
  const core::ObservedTime& observed = fit.program.observed;
  TextTable table({"what", "model", "calls", "time s", "share", "error"});
  const double executed_s = observed.total_s - observed.mpi_s;
  const auto add = [&](const std::string& name, const std::string& model, const fit::ObservedSum& sum,
                       const std::string& error) {
    table.add({name, model, significant(sum.calls), significant(sum.time_s), percent(sum.time_s / executed_s), error});
  };
  for (const auto& [name, sum] : seen.routines) {
    const auto one = fit.fits.find(name);
    const bool ok = one != fit.fits.end() && one->second.ok();
    add(name, ok ? one->second.model.level() : "none", sum,
        ok ? percent(one->second.model.quality().mean_abs_relative_error) : "");
  }
  for (const auto& [name, sum] : seen.regions) {
    const auto one = fit.program.regions.find(name);
    add("region " + name, one == fit.program.regions.end() ? "none" : core::to_string(one->second.mode), sum, "");
  }
  add("the rest", "none", {0, observed.rest_s, 0}, "");
  table.write(out);
  out << "MPI took " << significant(observed.mpi_s) << " s of CPU time beside that, and is simulated\n";
}

void run_fit_program(const FitProgramOptions& options) {
  require_writable(options.output);
  std::vector<std::string> inputs = options.archives;
  inputs.push_back(options.cluster);
  require_other_file(options.output, inputs);
  core::ClusterModel cluster = read_cluster_file(options.cluster);
  fit::ProgramObservation observation;
  std::string command;
  for (const std::string& archive : options.archives) command = add_archive(archive, observation);
  fit::ProgramFit fit = fit::fit_program(observation);
  fit.program.command = command;
  if (!is_quiet()) write_table(std::cerr, observation, fit);
  for (const std::string& warning : fit.warnings) std::cerr << "hplcast fit program: warning: " << warning << '\n';
  cluster.program = std::move(fit.program);
  write_result(options.output, [&](std::ostream& out) { core::write_cluster(out, cluster); });
}

}  // namespace

void setup_fit_program(CLI::App& fit) {
  const auto options = std::make_shared<FitProgramOptions>();
  CLI::App& command = add_command(fit, "program", "Models of what an observed program calls, added to a cluster.json",
                                  "hplcast fit program solver.zip --cluster examples/dahu-like.json -o solver.json");
  command.add_option("archives", options->archives, "archives of `hplcast observe`, of one program")
      ->required()
      ->type_name("FILE");
  command.add_option("--cluster", options->cluster, "cluster.json with the network of the machine")
      ->required()
      ->type_name("FILE");
  accept_json(command);
  command
      .add_option("-o,--output", options->output,
                  "cluster.json with routines and regions (default: the standard output)")
      ->type_name("FILE");
  command.callback([options] { run_fit_program(*options); });
}

}  // namespace hplcast::cli
