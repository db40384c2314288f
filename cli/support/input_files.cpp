#include "cli/support/input_files.hpp"

#include <algorithm>
#include <fstream>

#include "cli/support/options.hpp"

namespace hplcast::cli {

core::ClusterModel read_cluster_file(const std::string& path) {
  return read_from(path, core::read_cluster);
}

void read_log_files(const std::vector<std::string>& logs, const std::vector<std::string>& benchmarks,
                    study::LogMachine& machine) {
  for (const std::string& path : logs) {
    for (core::HplLog& log : read_from(path, core::read_hpl_logs)) {
      if (log.result) {
        machine.logs.push_back(std::move(log));
      } else {
        warn(path + ": a run without a result is left out");
      }
    }
  }
  for (const std::string& path : benchmarks) {
    const core::BenchmarkOutput output = read_from(path, core::read_benchmark_output, std::string("remote"));
    for (const std::string& note : output.notes) tell("note: " + path + ": " + note);
    machine.messages.insert(machine.messages.end(), output.rows.begin(), output.rows.end());
  }
}

void write_cluster_file(const std::string& path, const core::ClusterModel& cluster) {
  core::check_links(cluster);  // as those who read it do
  warn_of_implausible(cluster);
  write_result(path, [&](std::ostream& out) { core::write_cluster(out, cluster); });
}

bool is_prediction_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream in(path);
  std::string head(64, ' ');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return core::begins_with(head, "SQLite format") || core::begins_as_json(head);
}

void warn_of_repeated(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  for (auto again = paths.begin(); (again = std::adjacent_find(again, paths.end())) != paths.end(); ++again)
    warn(*again + " is given twice: its runs count twice");
}

void put_cluster_first(std::string& cluster, std::string& configurations) {
  if (is_prediction_file(configurations) && !is_prediction_file(cluster) && !core::is_standard_stream(cluster))
    std::swap(cluster, configurations);
}

std::vector<core::HplParameters> read_configuration_file(const std::string& path, const core::HplParameters& defaults) {
  std::vector<std::string> warnings;
  const auto configurations = read_from(path, core::read_configurations, defaults, &warnings);
  warn_all(warnings);
  return configurations;
}

std::vector<std::string> quality_warnings(const core::ClusterModel& cluster) {
  const std::string model = "the model " + cluster.name;
  std::vector<std::string> lines;
  for (const core::QualityFlag& doubt : core::doubts(cluster))
    lines.push_back(model + ", " + doubt.subject + ": " + doubt.detail);
  const core::Verdict verdict = core::verdict_on(core::recorded_flags(cluster));
  if (verdict.usability != core::Usability::usable)
    lines.push_back(model + " is " + core::to_string(verdict) + "; see provenance.quality_flags in it");
  return lines;
}

void warn_about_quality(const core::ClusterModel& cluster) {
  warn_all(quality_warnings(cluster));
}

void warn_of_implausible(const core::ClusterModel& cluster, const std::string& part) {
  for (const core::QualityFlag& flag : core::implausible(cluster))
    if (core::begins_with(flag.subject, part)) warn(flag.subject + ": " + flag.detail);
}

void warn_of_idle_cores(const std::string& of, const study::QuickMachine& machine, const core::Hosts& hosts) {
  const int ranks = hosts.values().cores, threads = hosts.values().threads_per_rank,
            idle = machine.cores - ranks * threads;
  if (idle == 0) return;
  const std::string share = std::to_string(machine.cores / ranks);
  const bool would_use_all = machine.threads.empty() && machine.cores % ranks == 0;
  warn(of + std::to_string(idle) + " of the " + std::to_string(machine.cores) +
       " cores of a node are idle: " + std::to_string(ranks) + " ranks of " + core::counted(threads, "thread") +
       (would_use_all ? "; with " + share + " threads each they use all" : ""));
}

void warn_of_flags(const std::vector<core::QualityFlag>& flags, const std::string& of) {
  for (const core::QualityFlag& flag : flags) warn(of + flag.subject + ": " + flag.flag + ": " + flag.detail);
}

void add_capacity_options(Command& command, CapacityOptions& options) {
  command.add_option("--capacity", options.remote_bytes_per_s,
                     "total bandwidth of several messages through the link of a host, per direction: 100Gbps (default: "
                     "as measured or published)",
                     as_link_bandwidth("--capacity"));
  command.add_option("--local-capacity", options.local_bytes_per_s, "the same inside a host",
                     as_link_bandwidth("--local-capacity"));
}

core::NetworkModel with_capacities(const core::NetworkModel& network, const CapacityOptions& options) {
  core::NetworkModel::Values values = network.values();
  const auto give = [](core::ScopeModel& scope, double bytes_per_s) {
    if (!(bytes_per_s > 0)) return;
    // The note of a fit about an unknown capacity.
    const auto about_it = [](const std::string& note) { return note.compare(0, 10, "capacity: ") == 0; };
    scope.notes.erase(std::remove_if(scope.notes.begin(), scope.notes.end(), about_it), scope.notes.end());
    scope.capacity = core::LinkCapacity{bytes_per_s, 0, 0, core::LinkCapacity::Origin::given};
  };
  give(values.local, options.local_bytes_per_s);
  if (values.remote) {
    give(*values.remote, options.remote_bytes_per_s);
  } else if (options.remote_bytes_per_s > 0) {
    throw core::UsageError(
        "--capacity is that of the links between hosts, and this network has none\n  hint: --local-capacity is that of "
        "messages inside a host");
  }
  return core::NetworkModel::make(std::move(values));
}

}  // namespace hplcast::cli
