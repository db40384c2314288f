#pragma once

#include "cli/support/command.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/study/log_cluster.hpp"
#include "hplcast/study/quick.hpp"

namespace hplcast::cli {

/// Reads a cluster.json. @throws core::Error if it cannot be opened or read.
core::ClusterModel read_cluster_file(const std::string& path);

/// Adds outputs of HPL, of which runs without a result are left out with a warning, and of benchmarks between two
/// nodes.
void read_log_files(const std::vector<std::string>& logs, const std::vector<std::string>& benchmarks,
                    study::LogMachine& machine);

/// A result: to the standard output if `path` is empty. Warns of numbers that no machine has. @throws as write_result()
void write_cluster_file(const std::string& path, const core::ClusterModel& cluster);

/// JSON, or a database of a sweep, by its first bytes. A pipe is not looked into.
bool is_prediction_file(const std::string& path);
/// The same file again counts as other runs, or seeds.
void warn_of_repeated(std::vector<std::string> paths);

/// An HPL.dat and a cluster.json may be given in either order.
void put_cluster_first(std::string& cluster, std::string& configurations);

/// Reads configurations (core::read_configurations) and warns where HPL reads its HPL.dat in another way than people
/// would. @throws core::Error if the file cannot be opened or read.
std::vector<core::HplParameters> read_configuration_file(const std::string& path,
                                                         const core::HplParameters& defaults = {});

/// Warns of what a model probably does not mean (core::doubts), and tells how many doubts `fit cluster` has noted about
/// the measurements of a model (docs/use/fit-cluster.md), and of which kinds.
void warn_about_quality(const core::ClusterModel& cluster);
std::vector<std::string> quality_warnings(const core::ClusterModel& cluster);  ///< the same, as texts

/// Warns of numbers that no machine has (core::implausible). `part`: only below it, /kernels, /network or /power.
void warn_of_implausible(const core::ClusterModel& cluster, const std::string& part = "");

/// Ranks without threads leave cores idle: seldom meant where they are few. `of`: begins the warning.
void warn_of_idle_cores(const std::string& of, const study::QuickMachine& machine, const core::Hosts& hosts);

/// Warns of the doubts of a fit. `of`: before their subjects.
void warn_of_flags(const std::vector<core::QualityFlag>& flags, const std::string& of = "");

/// Total bandwidth of several messages at once, given by the user, in bytes/s. 0: not given.
struct CapacityOptions {
  double remote_bytes_per_s = 0;
  double local_bytes_per_s = 0;
};

void add_capacity_options(Command& command, CapacityOptions& options);

/// The network with these capacities (origin given) in place of its own.
/// @throws core::UsageError for --capacity if the network has no messages between hosts.
core::NetworkModel with_capacities(const core::NetworkModel& network, const CapacityOptions& options);

}  // namespace hplcast::cli
