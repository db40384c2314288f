#include "hplcast/fit/program_fit.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/instrumented_runs.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/study/compare.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::cli {

namespace {

struct FitProgramOptions {
  std::vector<std::string> archives;
  std::vector<std::string> counts;  ///< of `run --count`, of the same runs
  std::string cluster;
  std::string factors_from;                ///< JSON of `run --bench-regions`
  std::vector<std::string> messages_from;  ///< of each archive, JSON of `run --phases`
  std::string output;
};

/// Contents of the files in an archive, by name.
using ArchiveFiles = std::map<std::string, std::string>;

/// `start`: "rank-3".
void add_stretches(const std::string& path, const ArchiveFiles& files, const std::string& start,
                   const fit::CountedRun& counted, fit::ProgramObservation& observation) {
  const std::string name = start + ".stretches.csv";
  const auto file = files.find(name);
  std::size_t rank = 0;
  if (file == files.end() || !core::parse_integer(start.substr(start.find('-') + 1), rank))
    throw InputError(path + ": no " + name + " of a rank in it, which --counts needs; observe again with this version");
  fit::read_stretches({core::TextStream(file->second), path + ":" + name}, counted, rank, observation);
}

/// The run of one archive. @return the command that was observed.
std::string add_archive(const std::string& path, const ArchiveFiles& files, const fit::CountedRun* counted,
                        fit::ProgramObservation& observation) {
  const auto run = calibration::read_observed_run(files, path);
  if (counted != nullptr) observation.stretches.runs.push_back(counted->name);
  bool found = false;
  for (const auto& [name, text] : files) {
    const std::string where = path + ":" + name;
    if (core::ends_with(name, ".reach.csv")) fit::read_reach({core::TextStream(text), where}, observation);
    const std::string ending = ".times.csv";
    if (!core::ends_with(name, ending)) continue;
    const std::string start = name.substr(0, name.size() - ending.size()), calls_name = start + ".calls.csv";
    const auto calls = files.find(calls_name);
    if (calls == files.end()) throw InputError(path + ": no " + calls_name + " in it");
    fit::read_observed_rank({core::TextStream(calls->second), path + ":" + calls_name}, {core::TextStream(text), where},
                            observation);
    if (counted != nullptr) add_stretches(path, files, start, *counted, observation);
    found = true;
  }
  if (counted != nullptr && run && static_cast<std::size_t>(run->ranks) != counted->ranks.size())
    throw InputError(path + ": a run on " + std::to_string(run->ranks) + " ranks, but " + counted->name +
                     " is of one on " + std::to_string(counted->ranks.size()) + "; expected the same run");
  if (!found) throw InputError(path + ": no rank-*.times.csv in it; expected an archive of `hplcast observe`");
  study::ProgramOutput judged{path, "", std::nullopt};
  if (run) judged.control = run->control;
  for (const std::string& reason : study::disturbances_of({judged}, {}))
    warn(path + ": the machine was disturbed: " + reason + "; the models follow it: observe again");
  return run ? run->program : "";
}

/// The published method: a region's factor is the ratio of its real to its simulated duration, of the same workload.
void set_factors(const std::string& path, core::ProgramModel& program) {
  const auto json = core::parse_json<nlohmann::json>(read_from(path, core::read_json_text));
  if (!json.is_object() || !json.contains("regions") || !json.at("regions").is_object())
    throw core::ParseError({core::is_standard_stream(path) ? "standard input" : path, 0, "/regions"},
                           "expected the JSON of `hplcast run --bench-regions -o FILE`");
  const nlohmann::json& regions = json.at("regions");
  for (auto& [name, region] : program.regions) {
    if (core::is_stretch(name)) continue;
    const auto found = regions.find(name);
    const double calls = found == regions.end() || !found->is_object() ? 0 : found->value("calls", 0.0);
    const double simulated_s = calls > 0 ? found->value("time_s", 0.0) : 0;
    if (!(simulated_s > 0 && region.time_s > 0))
      throw InputError(path + ": region " + name + " took no time in it; expected a run with --bench-regions");
    if (static_cast<long>(calls) != region.calls)
      throw InputError(path + ": region " + name + " was entered " + core::shortest(calls) + " times, but " +
                       std::to_string(region.calls) + " times in what was observed\n  hint: simulate the same " +
                       "program with the same arguments on as many ranks");
    region.mode = core::RegionMode::factor;
    region.factor = region.time_s / simulated_s;
    region.model = {};
    std::cerr << "region " << name << ": factor " << significant(region.factor) << '\n';
  }
}

/// Messages of the simulation of an observed run. @throws core::Error unless it is one, on this cluster.
fit::MessageTimes simulated_messages(const std::string& path, const std::string& sha256, int ranks) {
  const auto json = core::parse_json<nlohmann::json>(read_from(path, core::read_json_text));
  if (!json.is_object() || !json.contains("phases") || !json.at("phases").is_object())
    throw core::ParseError({core::is_standard_stream(path) ? "standard input" : path, 0, "/phases"},
                           "expected the JSON of `hplcast run --phases -o FILE`");
  if (json.value("model_sha256", "") != sha256)
    throw InputError(path + ": a run on another model than that of --cluster, whose messages are to be corrected");
  if (core::number_at(json, "/ranks") != ranks)
    throw InputError(path + ": a run on " + core::shortest(core::number_at(json, "/ranks")) + " ranks, but " +
                     std::to_string(ranks) + " were observed; expected a simulation of the same run");
  fit::MessageTimes times{path, {}, ranks * core::number_at(json, "/time_s")};
  for (const auto& [name, phase] : json.at("phases").items())
    if (fit::exchanges_messages(name))
      times.functions[name] = {
          {}, ranks * core::number_at(phase, "/messages_s"), ranks * core::number_at(phase, "/waiting_s")};
  return times;
}

/// @param real_s  of each archive, by function of MPI. @return the cluster with messages as long as they were observed,
/// in the scope that the observed runs had.
core::ClusterModel with_observed_messages(core::ClusterModel cluster, const std::vector<std::string>& paths,
                                          const std::vector<std::map<std::string, double>>& real_s,
                                          const std::vector<int>& ranks) {
  const std::string sha256 = core::cluster_sha256(cluster);
  std::vector<fit::MessageTimes> runs;
  bool local = true;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto run = std::find_if(runs.begin(), runs.end(), [&](const auto& one) { return one.name == paths[i]; });
    if (run == runs.end()) run = runs.insert(run, simulated_messages(paths[i], sha256, ranks[i]));
    for (const auto& [name, time_s] : real_s[i]) run->functions[name].real_s.push_back(time_s);
    local = local && ranks[i] <= cluster.hosts.cores_of(0);
  }
  for (const fit::MessageTimes& run : runs)
    for (const auto& [name, one] : run.functions)
      if (const double simulated_s = one.messages_s + one.waiting_s; simulated_s > 0.01 * run.run_s)
        std::cerr << run.name << ": " << name << ": real "
                  << (one.real_s.empty() ? "-" : significant(fit::usual_of(one.real_s))) << " s, simulated "
                  << significant(one.messages_s) << " s and " << significant(one.waiting_s) << " s of waiting, "
                  << percent(simulated_s / run.run_s) << " of the run\n";
  const std::optional<double> factor = fit::message_factor(runs);
  if (!factor) {
    std::cerr << "messages stay as they are: they take less than 1 % of these runs\n";
    return cluster;
  }
  std::cerr << "messages take " << significant(*factor) << " times as long as in " << cluster.name << '\n';
  return study::transformed(std::move(cluster),
                            {{"scale-messages", core::shortest(1 / *factor) + (local ? ":local" : ":remote")}});
}

/// Where the observed time went: the routines that took most, and the sums.
void write_table(std::ostream& out, const fit::ProgramObservation& seen, const fit::ProgramFit& fit) {
  const core::ObservedTime& observed = fit.program.observed;
  TextTable table({"what", "model", "calls", "time s", "share", "error", "by size"});
  const double executed_s = observed.total_s - observed.mpi_s;
  const auto add = [&](const std::string& name, const std::string& model, const fit::ObservedSum& sum,
                       const std::string& key) {
    const auto error = fit.errors.find(key);
    const bool has_error = error != fit.errors.end();
    table.add({name, model, significant(sum.calls), significant(sum.time_s), percent(sum.time_s / executed_s),
               has_error ? percent(error->second.by_time) : "", has_error ? percent(error->second.by_size) : ""});
  };
  for (const auto& [name, sum] : seen.routines) {
    const auto one = fit.fits.find(name);
    const bool ok = one != fit.fits.end() && one->second.ok();
    add(name, ok ? one->second.model.level() : "none", sum, name);
  }
  for (const auto& [name, sum] : seen.regions) {
    const auto one = fit.program.regions.find(name);
    add("region " + name, one == fit.program.regions.end() ? "none" : core::to_string(one->second.mode), sum,
        "region:" + name);
  }
  const bool has_stretches = !seen.stretches.cells.empty();
  add("the rest", has_stretches ? "stretches" : "none", {0, observed.rest_s, 0}, "");
  table.write(out);
  out << "share: of the CPU time outside of MPI; error: mean |predicted / observed - 1| of the ranges of sizes "
         "observed (factors of 2) by their time; by size: if all ranges count alike\n"
      << "MPI took " << significant(observed.mpi_s) << " s of CPU time beside that, and is simulated\n";
}

/// For `run --trace`, which makes an event of each call: those of the rank that made the most.
void note_calls(const fit::ProgramObservation& seen, core::ClusterModel& cluster) {
  double most = 0;
  for (const fit::ProgramObservation::RankRest& rank : seen.rests) {
    double calls = rank.mpi_calls;
    for (const auto& [name, sum] : rank.sums) calls += sum.calls;
    most = std::max(most, calls);
  }
  auto provenance = core::parse_json<nlohmann::ordered_json>(cluster.provenance);
  provenance["calls_per_rank"] = most;
  cluster.provenance = core::json_text(provenance);
}

void run_fit_program(const FitProgramOptions& options) {
  core::ClusterModel cluster = read_cluster_file(options.cluster);
  fit::ProgramObservation observation;
  std::string command;
  std::map<ArchiveFiles, std::string> runs;
  for (const auto& [name, files] :
       {std::pair("--counts: ", &options.counts), std::pair("--messages-from: ", &options.messages_from)})
    if (!files->empty() && files->size() != options.archives.size())
      throw core::UsageError(name + std::to_string(files->size()) + " files for " +
                             std::to_string(options.archives.size()) +
                             " archives; expected one for each, in their order: repetitions have the same");
  std::vector<std::map<std::string, double>> exchanged_s;  // of each archive, by function
  std::vector<int> ranks;
  for (std::size_t i = 0; i < options.archives.size(); ++i) {
    const std::string& archive = options.archives[i];
    std::optional<fit::CountedRun> counted;
    if (!options.counts.empty())
      counted = read_from(options.counts[i], [](auto& in, auto& name) { return fit::read_counts({in, name}); });
    const std::string before = command;
    const auto [run, is_new] = runs.emplace(calibration::read_archive(archive), archive);
    if (!is_new) warn(archive + " is the same run as " + run->second + ", which counts twice now: give each run once");
    const std::size_t first = observation.rests.size();
    command = add_archive(archive, run->first, counted ? &*counted : nullptr, observation);
    exchanged_s.emplace_back();
    for (std::size_t rank = first; rank < observation.rests.size(); ++rank)
      for (const auto& [name, time_s] : observation.rests[rank].exchanged_s) exchanged_s.back()[name] += time_s;
    ranks.push_back(static_cast<int>(observation.rests.size() - first));
    if (!before.empty() && before != command)
      warn(archive + " is of `" + command + "`, not of `" + before + "`: models of one program are asked for");
  }
  fit::ProgramFit fit = fit::fit_program(observation);
  fit.program.command = command;
  if (!options.factors_from.empty()) {
    set_factors(options.factors_from, fit.program);
    for (const auto& [name, region] : fit.program.regions) fit.errors.erase("region:" + name);  // their models are gone
  }
  if (!is_quiet()) write_table(std::cerr, observation, fit);
  warn_all(fit.warnings);
  warn_all(fit::lost_inside(observation, fit.program));
  warn_all(fit::few_sizes(observation, fit.fits));
  warn_all(fit::far_off(observation, fit.errors));
  if (!options.messages_from.empty())
    cluster = with_observed_messages(std::move(cluster), options.messages_from, exchanged_s, ranks);
  cluster.program = std::move(fit.program);
  note_calls(observation, cluster);
  write_cluster_file(options.output, cluster);
}

}  // namespace

void setup_fit_program(Command& fit) {
  Command& command = add_command(fit, "program", "Models of what an observed program calls, added to a cluster.json",
                                 "hplcast fit program solver.zip --cluster examples/dahu-like.json -o solver.json");
  auto& options = command.runs<FitProgramOptions>(run_fit_program);
  command.add_option("archives", options.archives, "archives of `hplcast observe`, of one program", required,
                     reads("FILE"));
  command.add_option("--cluster", options.cluster, "cluster.json with the network of the machine", required,
                     reads("FILE"));
  command.add_option(
      "--counts", options.counts,
      "of each archive, in their order, with commas: CSV of `run --count` of the same run. The code between two calls "
      "of MPI gets a model, for `run --rest counted`",
      reads("FILE"), by_commas, one_each);
  command.add_option(
      "--factors-from", options.factors_from,
      "JSON of `run --bench-regions` of the observed run: regions are executed, and their CPU time times the "
      "ratio of both is taken",
      reads("FILE"));
  command.add_option("--messages-from", options.messages_from,
                     "of each archive, in their order, with commas: JSON of `run --phases` of the same run on this "
                     "--cluster, which has models of an earlier fit: messages take as long as those that were observed",
                     reads("FILE"), by_commas, one_each);
  command.add_json_output(options.output, "cluster.json with routines and regions");
}

}  // namespace hplcast::cli
