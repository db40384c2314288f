#include "cli/support/input_files.hpp"

#include <algorithm>
#include <iostream>

#include "cli/support/options.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::cli {

core::ClusterModel read_cluster_file(const std::string& path) {
  core::ClusterModel cluster;
  core::read_file(path, [&](std::istream& in, const std::string& name) { cluster = core::read_cluster(in, name); });
  return cluster;
}

std::vector<core::HplParameters> read_configuration_file(const std::string& program, const std::string& path,
                                                         const core::HplParameters& defaults) {
  std::vector<core::HplParameters> configurations;
  std::vector<std::string> warnings;
  core::read_file(path, [&](std::istream& in, const std::string& name) {
    configurations = core::read_configurations(in, name, defaults, &warnings);
  });
  for (const std::string& warning : warnings) std::cerr << program << ": warning: " << warning << '\n';
  return configurations;
}

void warn_about_quality(const std::string& command, const core::ClusterModel& cluster) {
  const std::string who = command + ": warning: the model " + cluster.name;
  for (const core::QualityFlag& doubt : core::doubts(cluster))
    std::cerr << who << ", " << doubt.subject << ": " << doubt.detail << '\n';
  const core::Verdict verdict = core::verdict_on(core::recorded_flags(cluster));
  if (verdict.usability != core::Usability::usable)
    std::cerr << who << " is " << core::to_string(verdict) << "; see provenance.quality_flags in it\n";
}

void add_capacity_options(Command& command, CapacityOptions& options, const std::string& who) {
  command.add_option("--capacity", options.remote_bytes_per_s,
                     "total bandwidth of several messages through the link of a host, per direction: 100Gbps (default: "
                     "as measured or published)",
                     as_link_bandwidth(who + ": warning: --capacity"));
  command.add_option("--local-capacity", options.local_bytes_per_s, "the same inside a host",
                     as_link_bandwidth(who + ": warning: --local-capacity"));
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
