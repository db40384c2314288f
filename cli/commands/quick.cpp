#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/study/quick.hpp"

namespace hplcast::cli {

namespace {

struct QuickOptions {
  study::QuickRequest request;
  bool json = false;
  std::string output;
};

/// "24.1 Tflop/s".
std::string rate_text(double gflops) {
  for (const auto& [factor, unit] : {std::pair(1.0, " Gflop/s"), {1e3, " Tflop/s"}})
    if (gflops < 1000 * factor) return significant(gflops / factor, 3) + unit;
  return significant(gflops / 1e6, 3) + " Pflop/s";
}

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
  line("efficiency   ", percent(result.gflops / result.peak_gflops) + " (" +
                            percent(result.low_gflops / result.peak_gflops) + " to " +
                            percent(result.high_gflops / result.peak_gflops) + ") of " + rate_text(result.peak_gflops));
  line("HPL takes    ", run_time_text(result.time_s) + " (" + run_time_text(result.low_time_s) + " to " +
                            run_time_text(result.high_time_s) + ")");
}

/// Where the interval comes from.
void write_remarks(std::ostream& out, const study::QuickResult& result) {
  out << "\nA closed form of HPL's time, not a simulation. The interval has all of these at their worst, or at their "
         "best,\n"
         "and of the time beyond that of dgemm "
      << std::lround(100 * study::closed_form_error)
      << " % for what the form differs from simulations (docs/models/quick.md):\n";
  TextTable table({"assumed", "worst", "middle", "best", "change of Gflop/s"});
  for (const study::QuickInfluence& one : result.influences) {
    table.add({one.name, significant(one.worst, 3), significant(one.middle, 3), significant(one.best, 3),
               signed_percent(one.worst_change) + " to " + signed_percent(one.best_change)});
  }
  table.write(out);
}

nlohmann::ordered_json to_json(const study::QuickResult& result) {
  nlohmann::ordered_json json;
  for (const core::HplField& field : core::hpl_fields()) json["parameters"][field.name] = field.get(result.parameters);
  json["memory_share"] = result.memory_share;
  json["gflops"] = result.gflops;
  json["gflops_interval"] = {result.low_gflops, result.high_gflops};
  json["time_s"] = result.time_s;
  json["time_s_interval"] = {result.low_time_s, result.high_time_s};
  json["peak_gflops"] = result.peak_gflops;
  json["closed_form_error"] = study::closed_form_error;
  for (const study::QuickInfluence& one : result.influences) {
    json["assumed"].push_back({{"name", one.name},
                               {"worst", one.worst},
                               {"middle", one.middle},
                               {"best", one.best},
                               {"worst_change", one.worst_change},
                               {"best_change", one.best_change}});
  }
  return json;
}

void run_quick(const QuickOptions& options) {
  const bool prints_cluster = core::is_standard_stream(options.output);
  if (prints_cluster && options.json)
    throw core::UsageError("--json and `-o -` would both write to the standard output");
  const study::QuickResult result = of_options([&] { return study::quick(options.request); });
  if (result.parameters.Q > 4 * result.parameters.P)
    warn(std::to_string(result.parameters.P * result.parameters.Q) +
         " ranks make no grid near to a square: leave some cores idle (--cores)");
  if (!options.output.empty()) write_cluster_file(options.output, result.cluster);
  if (options.json) return write_result("", to_json(result));
  if (prints_cluster) return;
  write_table(std::cout, result);
  if (is_quiet()) return;
  write_remarks(std::cout, result);
  if (options.output.empty()) return;
  const core::HplParameters& p = result.parameters;
  std::cout << "\nSimulate it: hplcast predict " << options.output << " -N " << p.N << " --nb " << p.NB << " -P " << p.P
            << " -Q " << p.Q << (result.cluster.power ? " --energy" : "") << " (" << study::to_string(result.simulation)
            << ", estimated)\n";
}

}  // namespace

void setup_quick(Command& app) {
  Command& command = add_command(app, "quick", "Estimate HPL on a machine of which a few numbers are known",
                                 "hplcast quick --nodes 32 --cores 32 --gflops-per-core 30 --bandwidth 100Gb/s "
                                 "--latency 1us --memory 192GiB -o cluster.json");
  auto& options = command.runs<QuickOptions>(run_quick);
  study::QuickMachine& machine = options.request.machine;
  command.add_option("--nodes", machine.nodes, "number of nodes", required, between(1, 1000000));
  command.add_option("--cores", machine.cores, "of each node; a rank on each (else --threads)", required,
                     between(1, 100000));
  command.add_option(
      "--gflops-per-core", options.request.gflops_per_core,
      "what dgemm reaches on a core while all are busy (80 to 90 % of the nominal peak, if not measured); "
      "30, 30Gflop/s",
      required, as_core_rate("--gflops-per-core"));
  command.add_option("--bandwidth", machine.bandwidth_bytes_per_s, "of the link of a node: 100Gb/s; for several nodes",
                     as_link_bandwidth("--bandwidth"));
  command.add_option("--latency", machine.latency_s, "of a short message between two nodes: 1us; for several nodes",
                     as_latency("--latency"));
  command.add_option("--memory", machine.memory_bytes, "of a node: 192GiB", required, as_memory("--memory"));
  command.add_option("--memory-fraction", options.request.memory_fraction, "of the memory, for the matrix: 0.8 or 80%",
                     as_ratio(), with_default);
  command.add_option("--nb", options.request.NB, "HPL's NB", between(1, 10000), with_default);
  command.add_option("--threads", machine.threads,
                     "of each rank, each on a core of its own, with their efficiency in dgemm: 16:0.95 (default: 1)",
                     of_type("COUNT[:EFFICIENCY]"));
  command.add_option("--ranks-per-node", machine.ranks_per_node, "fewer leave cores idle (default: cores / threads)",
                     between(1, 100000));
  command.add_option("--fat-tree", machine.fat_tree,
                     "in the cluster.json of -o, as in transform; the estimate takes a single switch",
                     of_type("HOSTS_PER_LEAF:TOP_SWITCHES[:LINKS]"));
  Option* idle = command.add_option("--watts-idle", machine.idle_w, "of a node without work", as_watts());
  Option* full =
      command.add_option("--watts-full", machine.full_w, "of a node with all cores at work", as_watts(), needs(idle));
  idle->with(needs(full));
  command.add_option("--name", machine.name, "of the cluster, in results and reports (default: such as 64x8-cores)",
                     of_type("NAME"));
  command.add_flag("--json", options.json, "write JSON (docs/use/quick.md) instead of a table");
  command.add_option("-o,--output", options.output, "cluster.json to begin with: what is given, and what was assumed",
                     writes("CLUSTER.json"));
}

}  // namespace hplcast::cli
