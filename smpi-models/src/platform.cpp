#include "platform.hpp"

#include <smpi/smpi.h>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <xbt/config.hpp>

#include <memory>
#include <unordered_map>

#include "c_boundary.hpp"
#include "network_costs.hpp"
#include "session.hpp"
#include "zones.hpp"

namespace hplcast::smpi_models {

namespace {

namespace s4u = simgrid::s4u;

/// The callbacks that SimGrid and SMPI hold.
class Callbacks {
 public:
  Callbacks(const Model& model, const Settings& settings)
      : costs_(model.cluster.network, model.cluster.hosts.count(), settings.seed, settings.network_noise) {
    for (const std::string& name : model.cluster.hosts.names()) {
      index_.emplace(s4u::Host::by_name(name), static_cast<int>(index_.size()));
    }
  }

  MessagePath path(const s4u::Host* source, const s4u::Host* destination) const {
    return {source == destination ? core::Scope::local : core::Scope::remote, index_.at(source)};
  }

  NetworkCosts& costs() { return costs_; }

 private:
  NetworkCosts costs_;
  std::unordered_map<const s4u::Host*, int> index_;
};

void register_overhead(SmpiOperation operation, core::MessageCost which, const std::shared_ptr<Callbacks>& callbacks) {
  smpi_register_op_cost_callback(
      operation, [which, callbacks](std::size_t size, s4u::Host* source, s4u::Host* destination) {
        return callbacks->costs().overhead_s(which, callbacks->path(source, destination), static_cast<double>(size));
      });
}

void install(s4u::NetZone* zone, const std::shared_ptr<Callbacks>& callbacks) {
  register_overhead(SmpiOperation::SEND, core::MessageCost::send, callbacks);
  register_overhead(SmpiOperation::ISEND, core::MessageCost::isend, callbacks);
  register_overhead(SmpiOperation::RECV, core::MessageCost::recv, callbacks);
  simgrid::kernel::resource::NetworkModelIntf* network = zone->get_network_model();
  network->set_lat_factor_cb([callbacks](double wire_bytes, const s4u::Host* source, const s4u::Host* destination,
                                         const std::vector<s4u::Link*>&, const std::unordered_set<s4u::NetZone*>&) {
    return callbacks->costs().latency_factor(callbacks->path(source, destination), wire_bytes);
  });
  network->set_bw_factor_cb([callbacks](double wire_bytes, const s4u::Host* source, const s4u::Host* destination,
                                        const std::vector<s4u::Link*>&, const std::unordered_set<s4u::NetZone*>&) {
    return callbacks->costs().bandwidth_factor(callbacks->path(source, destination), wire_bytes);
  });
}

NetworkCosts* built_costs = nullptr;

/// Before any zone exists: SimGrid refuses settings afterwards. What the user set on the command line stays.
void apply_settings(const core::NetworkModel& network) {
  for (const auto& [name, value] : core::smpi_settings(network)) {
    if (simgrid::config::is_default(name.c_str())) s4u::Engine::set_config(name + ":" + value);
  }
}

void build() {
  const Session& opened = session();
  if (!opened.file_model) {
    throw core::Error(core::ExitCode::bad_input,
                      "the platform library needs HPLCAST_CLUSTER; expected the path of a cluster.json");
  }
  const Model& model = *opened.file_model;
  apply_settings(model.cluster.network);
  s4u::NetZone* zone = build_zone(model.cluster);
  const auto callbacks = std::make_shared<Callbacks>(model, opened.settings);
  install(zone, callbacks);
  built_costs = &callbacks->costs();  // SimGrid keeps the callbacks as long as the simulation lasts
}

}  // namespace

NetworkCosts* platform_costs() {
  return built_costs;
}

}  // namespace hplcast::smpi_models

void hplcast_build_platform(const simgrid::s4u::Engine& /*engine*/) {
  hplcast::smpi_models::guarded([] { hplcast::smpi_models::build(); });
}
