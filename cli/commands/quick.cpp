#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/study/offer.hpp"
#include "hplcast/study/quick.hpp"

namespace hplcast::cli {

namespace {

struct QuickOptions {
  study::QuickRequest request;
  study::AcceleratorRequest accelerated;
  int nodes = 1;
  double bandwidth_bytes_per_s = 0, latency_s = 0;          ///< between nodes
  double tflops_per_accelerator = 0, memory_fraction = -1;  ///< below 0: not given
  int NB = 0;
  const Option* accelerators = nullptr;
  std::vector<std::pair<std::string, const Option*>> needed;  ///< without accelerators
  bool json = false;
  std::string output;
};

/// "0.0124s", "3m12s".
std::string run_time_text(double seconds) {
  return seconds < 60 ? significant(seconds, 3) + "s" : duration_text(seconds);
}

void write_table(std::ostream& out, const study::QuickResult& result) {
  const core::HplParameters& p = result.parameters;
  const auto line = [&](const std::string& name, const std::string& value) { out << name << value << '\n'; };
  line("N            ", std::to_string(p.N) + " (" + percent(result.memory_share) + " of the memory)");
  line("NB           ", std::to_string(p.NB));
  line("P x Q        ", std::to_string(p.P) + " x " + std::to_string(p.Q));
  line("Gflop/s      ", significant(result.gflops, 3) + " (" + significant(result.low_gflops, 3) + " to " +
                            significant(result.high_gflops, 3) + ")");
  line("efficiency   ",
       percent(result.gflops / result.peak_gflops) + " (" + percent(result.low_gflops / result.peak_gflops) + " to " +
           percent(result.high_gflops / result.peak_gflops) + ") of " + study::rate_of_gflops(result.peak_gflops));
  line("HPL takes    ", run_time_text(result.time_s) + " (" + run_time_text(result.low_time_s) + " to " +
                            run_time_text(result.high_time_s) + ")");
}

/// Dates of ranks in the closed form are chaotic: whether less than a percent is more or less is chance.
std::string change_text(const study::QuickInfluence& one) {
  constexpr double chance = 0.01;
  if (std::max(std::abs(one.worst_change), std::abs(one.best_change)) < chance) return "within 1 %";
  return signed_percent(one.worst_change) + " to " + signed_percent(one.best_change);
}

/// Where the interval comes from.
void write_remarks(std::ostream& out, const study::QuickResult& result, double form_error) {
  out << "\nA closed form of HPL's time, not a simulation. The interval has all of these at their worst, or at their "
         "best,\n"
         "and of the time beyond that of dgemm "
      << std::lround(100 * form_error) << " % for what the form differs from simulations (docs/models/quick.md):\n";
  TextTable table({"assumed", "worst", "middle", "best", "change of Gflop/s"});
  for (const study::QuickInfluence& one : result.influences)
    table.add(
        {one.name, significant(one.worst, 3), significant(one.middle, 3), significant(one.best, 3), change_text(one)});
  table.write(out);
}

nlohmann::ordered_json to_json(const study::QuickResult& result, double form_error) {
  nlohmann::ordered_json json;
  for (const core::HplField& field : core::hpl_fields()) json["parameters"][field.name] = field.get(result.parameters);
  json.update(HPLCAST_JSON(result, memory_share, gflops));
  json["gflops_interval"] = {result.low_gflops, result.high_gflops};
  json["time_s"] = result.time_s;
  json["time_s_interval"] = {result.low_time_s, result.high_time_s};
  json["peak_gflops"] = result.peak_gflops;
  json["closed_form_error"] = form_error;
  for (const study::QuickInfluence& one : result.influences)
    json["assumed"].push_back(HPLCAST_JSON(one, name, worst, middle, best, worst_change, best_change));
  return json;
}

/// The options that both kinds of machines have.
template <typename Request>
Request completed(Request request, const QuickOptions& options) {
  request.machine.nodes = options.nodes;
  request.machine.bandwidth_bytes_per_s = options.bandwidth_bytes_per_s;
  request.machine.latency_s = options.latency_s;
  if (options.memory_fraction >= 0) request.memory_fraction = options.memory_fraction;
  if (options.NB != 0) request.NB = options.NB;
  return request;
}

void run_accelerated(const QuickOptions& options) {
  if (options.tflops_per_accelerator == 0 || options.accelerated.machine.memory_bytes == 0)
    throw core::UsageError("--accelerators needs --tflops-per-accelerator and --accelerator-memory");
  if (!options.output.empty())
    throw core::UsageError(
        "-o: quick writes no cluster.json with accelerators yet; hint: docs/formats/cluster-json.md has what such a "
        "file needs");
  study::AcceleratorRequest request = completed(options.accelerated, options);
  request.machine.flop_per_s = 1e12 * options.tflops_per_accelerator;
  const study::QuickResult result = of_options([&] { return study::quick_accelerators(request); });
  const double memory_bytes_per_s = options.accelerated.machine.memory_bytes_per_s;
  if (memory_bytes_per_s > 0 && (memory_bytes_per_s < 1e10 || memory_bytes_per_s > 1e14))
    warn("--accelerator-bandwidth: it is " + core::significant(memory_bytes_per_s) +
         " B/s; usual is 10 GB/s to 100 TB/s; a bare number is in B/s");
  if (result.parameters.Q > 4 * result.parameters.P && result.parameters.Q > 8)
    warn(std::to_string(result.parameters.P * result.parameters.Q) + " accelerators make no grid near to a square");
  if (options.json) return write_result("", to_json(result, study::accelerator_form_error));
  write_table(std::cout, result);
  if (!is_quiet()) write_remarks(std::cout, result, study::accelerator_form_error);
}

void run_quick(const QuickOptions& options) {
  if (!options.accelerators->empty()) return run_accelerated(options);
  for (const auto& [name, option] : options.needed)
    if (option->empty()) throw core::UsageError(name + " is required (or --accelerators)");
  const bool prints_cluster = core::is_standard_stream(options.output);
  if (prints_cluster && options.json)
    throw core::UsageError("--json and `-o -` would both write to the standard output");
  const study::QuickResult result = of_options([&] { return study::quick(completed(options.request, options)); });
  if (result.parameters.Q > 4 * result.parameters.P)
    warn(std::to_string(result.parameters.P * result.parameters.Q) +
         " ranks make no grid near to a square: leave some cores idle (--cores)");
  if (result.parameters.P * result.parameters.Q > study::ranks_with_dates)
    warn("the closed form is too fast with more than " + std::to_string(study::ranks_with_dates) +
         " ranks, and was not compared with simulations of so many (docs/use/quick.md); see predict --estimate");
  constexpr int small_blocks = 64;
  if (result.parameters.NB < small_blocks)
    warn("--nb " + std::to_string(result.parameters.NB) +
         ": the estimate, as the cluster.json of -o, is too fast with blocks below 64, which read the matrix more "
         "often");
  warn_of_idle_cores("", options.request.machine, result.cluster.hosts);
  if (!options.output.empty()) write_cluster_file(options.output, result.cluster);
  if (options.json) return write_result("", to_json(result, study::closed_form_error));
  if (prints_cluster) return;
  write_table(std::cout, result);
  if (is_quiet()) return;
  write_remarks(std::cout, result, study::closed_form_error);
  if (options.output.empty()) return;
  const core::HplParameters& p = result.parameters;
  std::cout << "\nSimulate it: hplcast predict " << options.output << " -N " << p.N << " --nb " << p.NB << " -P " << p.P
            << " -Q " << p.Q << (result.cluster.power ? " --energy" : "") << " (" << study::to_string(result.simulation)
            << ", estimated)\n";
}

const Option* add_accelerators(Command& command, QuickOptions& options, const Option* memory_fraction) {
  study::AcceleratorMachine& machine = options.accelerated.machine;
  const Option* count = command.add_option("--accelerators", machine.accelerators,
                                           "of each node, with a rank on each, in place of cores", between(1, 1000));
  const Setting on_accelerators = needs(count);
  command.add_option(
      "--tflops-per-accelerator", options.tflops_per_accelerator,
      "what a short benchmark of large dgemm reaches on one (if not measured, 90 % of the nominal peak): "
      "40, 40Tflop/s",
      as_accelerator_rate("--tflops-per-accelerator"), on_accelerators);
  command.add_option("--accelerator-memory", machine.memory_bytes, "of each accelerator: 64GiB",
                     as_memory("--accelerator-memory"), on_accelerators);
  command.add_option("--accelerator-bandwidth", machine.memory_bytes_per_s,
                     "of that memory, nominal: 1600GB/s (default: assumed)", as_bytes_per_s, on_accelerators);
  command.add_option("--split", machine.split,
                     "share of the columns whose row swap is hidden behind the update of the others", as_ratio,
                     with_default, on_accelerators);
  command.add_option("-N", options.accelerated.N, "of the matrix, on accelerators (default: by the memory)",
                     between(1, 2000000000), on_accelerators, excludes(memory_fraction));
  return count;
}

}  // namespace

void setup_quick(Command& app) {
  Command& command = add_command(app, "quick", "Estimate HPL on a machine of which a few numbers are known",
                                 "hplcast quick --nodes 32 --cores 32 --gflops-per-core 30 --bandwidth 100Gb/s "
                                 "--latency 1us --memory 192GiB -o cluster.json");
  auto& options = command.runs<QuickOptions>(run_quick);
  study::QuickMachine& machine = options.request.machine;
  command.add_option("--nodes", options.nodes, "number of nodes", required, between(1, 1000000));
  const Option* memory_fraction =
      command.add_option("--memory-fraction", options.memory_fraction, "of the memory, for the matrix: 0.8 or 80%",
                         as_ratio, default_text("0.8, accelerators: 0.92"));
  const Option* accelerators = add_accelerators(command, options, memory_fraction);
  const Setting on_cores = excludes(accelerators);
  const Option* cores = command.add_option("--cores", machine.cores, "of each node; a rank on each (else --threads)",
                                           between(1, 100000), on_cores);
  const Option* rate = command.add_option(
      "--gflops-per-core", options.request.gflops_per_core,
      "what dgemm reaches on a core while all are busy (80 to 90 % of the nominal peak, if not measured); "
      "30, 30Gflop/s",
      as_core_rate("--gflops-per-core"), on_cores);
  command.add_option("--bandwidth", options.bandwidth_bytes_per_s,
                     "of the link of a node, or of all its links: 100Gb/s; for several nodes",
                     as_link_bandwidth("--bandwidth"));
  command.add_option("--latency", options.latency_s, "of a short message between two nodes: 1us; for several nodes",
                     as_latency("--latency"));
  const Option* memory =
      command.add_option("--memory", machine.memory_bytes, "of a node: 192GiB", as_memory("--memory"), on_cores);
  options.accelerators = accelerators;
  options.needed = {{"--cores", cores}, {"--gflops-per-core", rate}, {"--memory", memory}};
  command.add_option("--nb", options.NB, "HPL's NB", between(1, 10000), default_text("256, accelerators: 512"));
  command.add_option("--threads", machine.threads,
                     "of each rank, each on a core of its own, with their efficiency in dgemm: 16:0.95 (default: 1)",
                     of_type("COUNT[:EFFICIENCY]"), on_cores);
  command.add_option("--ranks-per-node", machine.ranks_per_node, "fewer leave cores idle (default: cores / threads)",
                     between(1, 100000), on_cores);
  command.add_option("--fat-tree", machine.fat_tree,
                     "in the cluster.json of -o, as in transform; the estimate takes a single switch",
                     of_type("HOSTS_PER_LEAF:TOP_SWITCHES[:LINKS]"), on_cores);
  Option* idle = command.add_option("--watts-idle", machine.idle_w, "of a node without work", as_watts, on_cores);
  Option* full =
      command.add_option("--watts-full", machine.full_w, "of a node with all cores at work", as_watts, needs(idle));
  idle->with(needs(full));
  command.add_option("--name", machine.name, "of the cluster, in results and reports (default: such as 64x8-cores)",
                     of_type("NAME"), on_cores);
  command.add_flag("--json", options.json, "write JSON (docs/use/quick.md) instead of a table");
  command.add_option("-o,--output", options.output, "cluster.json to begin with: what is given, and what was assumed",
                     writes("CLUSTER.json"));
}

}  // namespace hplcast::cli
