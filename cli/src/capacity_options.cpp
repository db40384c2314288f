#include "capacity_options.hpp"

#include <algorithm>

#include "hplcast/core/errors.hpp"
#include "quantities.hpp"

namespace hplcast::cli {

void add_capacity_options(CLI::App& command, CapacityOptions& options, const std::string& who) {
  command
      .add_option("--capacity", options.remote_bytes_per_s,
                  "total bandwidth of several messages through the link of a host, per direction: 100Gbps (default: "
                  "as measured or published)")
      ->transform(as_link_bandwidth(who + ": warning: --capacity"));
  command.add_option("--local-capacity", options.local_bytes_per_s, "the same inside a host")
      ->transform(as_link_bandwidth(who + ": warning: --local-capacity"));
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
