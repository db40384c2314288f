#include "smpi-models/simgrid_port/simgrid_port.hpp"

#if SIMGRID_VERSION >= 40000
#include <simgrid/s4u/ActivitySet.hpp>
#else
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#endif

#include "smpi-models/session/session.hpp"

static_assert(HPLCAST_ANY_SIMGRID || (SIMGRID_VERSION >= 33200 && SIMGRID_VERSION < 40200), "has another CommImpl");

namespace simgrid::kernel::activity {

/// Exported by libsimgrid 3.32 to 4.1, without its header. s4u::Comm::set_rate() counts for put and get only
/// (3.32, 4.0), which need a mailbox, and a call by an actor at each end: more events, and other digits.
class CommImpl {
 public:
  CommImpl& set_rate(double rate);
  /// Finishes a flow that has not begun: takes it from a list of all flows from host to host.
  void finish();
};

}  // namespace simgrid::kernel::activity

namespace hplcast::smpi_models::port {

Flow begin_flow(const FlowShape& shape, bool nobody_waits) {
  Flow flow = s4u::Comm::sendto_init();
  auto* const inside = reinterpret_cast<simgrid::kernel::activity::CommImpl*>(flow->get_impl());
#if SIMGRID_VERSION < 40000
  // At its end each is looked for in the whole list: the square of the flows. What is returned keeps it alive.
  if (!nobody_waits) inside->finish();
#endif
  flow->set_payload_size(shape.wire_bytes)->set_source(shape.source);
  inside->set_rate(shape.as.bandwidth_bytes_per_s);
  if (nobody_waits) flow->detach();
  session().announced_flows.announce(shape, [&] { flow->set_destination(shape.destination); });  // then it begins
  return nobody_waits ? Flow() : flow;
}

void wait_for_end(const Flow& flow) {
  wait_for_any({flow});  // flow->wait() would also make an action of the CPU to watch for a failure of the host
}

void wait_for_any(const std::vector<Flow>& flows) {
  const std::vector<s4u::ActivityPtr> activities(flows.begin(), flows.end());
#if SIMGRID_VERSION >= 40000
  s4u::ActivitySet(activities).wait_any();
#else
  s4u::Activity::wait_any_for(activities, -1);
#endif
}

void set_factors(s4u::NetZone* zone, const Factor& latency, const Factor& bandwidth) {
  const auto answer = [](const Factor& factor) {
    return [factor](double wire_bytes, const s4u::Host* source, const s4u::Host* destination,
                    const std::vector<s4u::Link*>& links, const std::unordered_set<s4u::NetZone*>& /*zones*/) {
      return factor({source, destination, wire_bytes, links.size()});
    };
  };
#if SIMGRID_VERSION >= 40000
  zone->set_latency_factor_cb(answer(latency));
  zone->set_bandwidth_factor_cb(answer(bandwidth));
#else
  zone->get_network_model()->set_lat_factor_cb(answer(latency));
  zone->get_network_model()->set_bw_factor_cb(answer(bandwidth));
#endif
}

}  // namespace hplcast::smpi_models::port
