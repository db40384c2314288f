#include "platform.hpp"

#include <smpi/smpi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "c_boundary.hpp"
#include "flow_shape.hpp"
#include "network_costs.hpp"
#include "session.hpp"
#include "simgrid_port/simgrid_port.hpp"
#include "zones.hpp"

namespace hplcast::smpi_models {

namespace {

namespace s4u = simgrid::s4u;

/// The callbacks that SimGrid and SMPI hold. They ask for one cost of a message at a time: messages of SMPI have their
/// names by the order in which they are asked for.
class Callbacks {
 public:
  Callbacks(const Model& model, const Settings& settings)
      : costs_(model.cluster.network, settings.seed, settings.network_noise) {
    for (const std::string& name : model.cluster.hosts.names()) {
      hosts_.emplace(s4u::Host::by_name(name), Counts{static_cast<std::uint32_t>(hosts_.size()), {}});
    }
  }

  NetworkCosts& costs() { return costs_; }
  const MessageTotals& smpi_messages() const { return smpi_messages_; }

  /// `source` is null if the sender has ended before the receive is made: SMPI then no longer knows its host. Taken for
  /// another one.
  double overhead_s(core::MessageCost which, double size_bytes, const s4u::Host* source, const s4u::Host* destination) {
    return costs_.overhead_s(which, scope_of(source, destination), size_bytes,
                             next(source == nullptr ? destination : source, static_cast<std::size_t>(which)));
  }

  double latency_factor(const port::FactorQuestion& asked) {
    const core::Topology& topology = costs_.topology();
    if (const auto announced = announced_flow(asked.source, asked.destination, asked.wire_bytes)) {
      return smpi_models::latency_factor(topology, announced->as, asked.links) +
             delay_factor(topology, announced->delay_s, scope_of(asked.source, asked.destination), asked.links);
    }
    smpi_messages_.add(std::max(0.0, asked.wire_bytes - core::smpi_envelope_bytes));
    return smpi_models::latency_factor(topology, smpi_flow(asked, latency_count), asked.links);
  }

  double bandwidth_factor(const port::FactorQuestion& asked) {
    const core::Scope scope = scope_of(asked.source, asked.destination);
    if (const auto announced = announced_flow(asked.source, asked.destination, asked.wire_bytes)) {
      return costs_.bandwidth_factor(scope, announced->as);
    }
    return costs_.smpi_bandwidth_factor(scope, smpi_flow(asked, bandwidth_count));
  }

 private:
  // SimGrid asks once for each factor of a message, in any order: both must see the same draw.
  static constexpr std::size_t latency_count = static_cast<std::size_t>(core::MessageCost::transfer);
  static constexpr std::size_t bandwidth_count = latency_count + 1;
  struct Counts {
    std::uint32_t host;  // index
    std::array<std::uint64_t, bandwidth_count + 1> messages;
  };

  static core::Scope scope_of(const s4u::Host* source, const s4u::Host* destination) {
    return source == destination ? core::Scope::local : core::Scope::remote;
  }

  MessageName next(const s4u::Host* source, std::size_t count) {
    Counts& counts = hosts_.at(source);
    return {counts.host, 0, 0, counts.messages[count]++, true};
  }

  core::MessageFlow smpi_flow(const port::FactorQuestion& asked, std::size_t count) {
    return costs_.flow(scope_of(asked.source, asked.destination),
                       std::max(0.0, asked.wire_bytes - core::smpi_envelope_bytes), next(asked.source, count));
  }

  NetworkCosts costs_;
  MessageTotals smpi_messages_;
  std::unordered_map<const s4u::Host*, Counts> hosts_;
};

void register_overhead(SmpiOperation operation, core::MessageCost which, const std::shared_ptr<Callbacks>& callbacks) {
  smpi_register_op_cost_callback(operation,
                                 [which, callbacks](std::size_t size, s4u::Host* source, s4u::Host* destination) {
                                   return callbacks->overhead_s(which, static_cast<double>(size), source, destination);
                                 });
}

void install(s4u::NetZone* zone, const std::shared_ptr<Callbacks>& callbacks) {
  register_overhead(SmpiOperation::SEND, core::MessageCost::send, callbacks);
  register_overhead(SmpiOperation::ISEND, core::MessageCost::isend, callbacks);
  register_overhead(SmpiOperation::RECV, core::MessageCost::recv, callbacks);
  port::set_factors(
      zone, [callbacks](const port::FactorQuestion& asked) { return callbacks->latency_factor(asked); },
      [callbacks](const port::FactorQuestion& asked) { return callbacks->bandwidth_factor(asked); });
}

NetworkCosts* built_costs = nullptr;
const Callbacks* built_callbacks = nullptr;

/// Before any zone exists: SimGrid refuses settings afterwards. What the user set on the command line stays.
void apply_settings(const core::NetworkModel& network) {
  for (const auto& [name, value] : core::smpi_settings(network)) {
    const bool weight = name == "network/weight-S";  // the zones see to it
    port::set_default(name, weight ? "0" : value);
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
  built_callbacks = callbacks.get();
  built_costs = &callbacks->costs();  // SimGrid keeps the callbacks as long as the simulation lasts
}

}  // namespace

NetworkCosts* platform_costs() {
  return built_costs;
}

MessageTotals smpi_messages() {
  return built_callbacks != nullptr ? built_callbacks->smpi_messages() : MessageTotals();
}

}  // namespace hplcast::smpi_models

void hplcast_build_platform(const simgrid::s4u::Engine& /*engine*/) {
  hplcast::smpi_models::guarded([] { hplcast::smpi_models::build(); });
}
