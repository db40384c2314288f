#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/fit/pair_topology.hpp"
#include "hplcast/study/plot.hpp"

namespace hplcast::cli {

namespace {

struct FitTopologyOptions {
  std::vector<std::string> files;
  bool json = false;
  std::string cluster, plot, output;
};

std::string microseconds(double seconds) {
  return significant(1e6 * seconds) + " us";
}

void write_slow(std::ostream& out, const std::string& who, double latency_s, double bandwidth_share) {
  out << "  " << who << ": latency +" << microseconds(std::max(0.0, latency_s));
  if (bandwidth_share != 1) out << ", bandwidth " << signed_percent(bandwidth_share - 1);
  out << '\n';
}

void write_topology(std::ostream& out, const fit::PairTopology& topology) {
  if (topology.groups.size() == 1) {
    out << "one group: one switch explains the latencies of " << topology.groups.front().size() << " hosts, "
        << microseconds(topology.within_s) << " on average\n";
  } else {
    out << topology.groups.size() << " groups of hosts:\n";
    for (std::size_t g = 0; g < topology.groups.size(); ++g)
      out << "  " << topology.groups[g].size() << " hosts: " << core::comma_separated(topology.groups[g]) << '\n';
    out << "latency inside a group " << microseconds(topology.within_s) << ", between groups "
        << microseconds(topology.between_s) << ": a difference of "
        << microseconds(topology.between_s - topology.within_s) << " +- " << microseconds(topology.difference_error_s)
        << '\n';
    if (topology.bandwidth_share != 1)
      out << "bandwidth between groups: " << signed_percent(topology.bandwidth_share - 1) << '\n';
  }
  if (!topology.slow_hosts.empty()) out << "slow to all others:\n";
  for (const fit::SlowHost& one : topology.slow_hosts) write_slow(out, one.host, one.latency_s, one.bandwidth_share);
  constexpr std::size_t most = 20;
  if (!topology.slow_pairs.empty()) out << "slow pairs:\n";
  for (std::size_t i = 0; i < std::min(most, topology.slow_pairs.size()); ++i) {
    const fit::SlowPair& one = topology.slow_pairs[i];
    write_slow(out, one.first + " - " + one.second, one.latency_s, one.bandwidth_share);
  }
  if (topology.slow_pairs.size() > most) out << "  and " << topology.slow_pairs.size() - most << " more (--json)\n";
}

/// Latencies of all pairs, the hosts of a group beside each other.
std::string topology_picture(const std::vector<fit::PairMeasurement>& pairs, const fit::PairTopology& topology) {
  std::vector<std::string> names;
  for (const auto& group : topology.groups) names.insert(names.end(), group.begin(), group.end());
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < names.size(); ++i) index[names[i]] = i;
  std::vector<std::vector<double>> values(names.size(), std::vector<double>(names.size(), NAN));
  for (const fit::PairMeasurement& one : pairs)
    values[index.at(one.source)][index.at(one.destination)] = 1e6 * one.latency_s;
  return study::matrix_file("Latency between hosts", names, values, "us", "Hosts are in the order of their groups.");
}

void run_fit_topology(const FitTopologyOptions& options) {
  require_distinct("files", options.files);
  std::vector<fit::PairMeasurement> pairs;
  for (const std::string& file : options.files) core::append(pairs, read_from(file, fit::read_pairs));
  const fit::PairTopology topology = fit::fit_pair_topology(pairs);
  if (!options.plot.empty()) write_picture(options.plot, topology_picture(pairs, topology));
  if (!options.cluster.empty()) {
    if (options.json) throw core::UsageError("--json beside --cluster, which writes a cluster.json");
    core::ClusterModel cluster = fit::with_groups(read_cluster_file(options.cluster), topology);
    auto provenance = core::parse_json<nlohmann::ordered_json>(cluster.provenance);
    provenance["topology"] =
        core::comma_separated(options.files) + ": hosts in " + core::counted(topology.groups.size(), "group");
    cluster.provenance = core::json_text(provenance);
    if (!is_quiet()) write_topology(std::cerr, topology);
    return write_result(options.output, [&](std::ostream& out) { core::write_cluster(out, cluster); });
  }
  write_result(options.output, [&](std::ostream& out) {
    options.json ? fit::write_pair_topology(out, topology) : write_topology(out, topology);
  });
}

}  // namespace

void setup_fit_topology(Command& fit) {
  Command& command =
      add_command(fit, "topology", "Find which hosts are near each other, and which are slow, from all pairs",
                  "hplcast fit topology examples/import/pairs.csv --plot pairs.svg");
  auto& options = command.runs<FitTopologyOptions>(run_fit_topology);
  command.add_option("files", options.files,
                     "output of nxnlatbw, or CSV with source, destination, latency_s and, if measured, "
                     "bandwidth_bytes_per_s: all pairs of hosts",
                     required, reads("FILE"));
  command.add_option("--cluster", options.cluster,
                     "cluster.json of these hosts: written with the groups as its topology host_groups",
                     reads("CLUSTER.json"));
  command.add_flag("--json", options.json, "write JSON instead of text");
  command.add_option("-o,--output", options.output, "file to write (default: standard output)");
  command.add_option("--plot", options.plot, "matrix of all latencies, .png or .svg", draws("FILE.png"));
}

}  // namespace hplcast::cli
