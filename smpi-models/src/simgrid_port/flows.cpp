#include "simgrid_port.hpp"

#include <simgrid/version.h>
#if SIMGRID_VERSION >= 40000
#include <simgrid/s4u/ActivitySet.hpp>
#else
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#endif

namespace simgrid::kernel::activity {

/// What is declared of it is exported by libsimgrid, from 3.32 to 4.1 at least, but its header is not installed.
/// s4u::Comm::set_rate() does nothing for a flow from host to host.
class CommImpl {
 public:
  CommImpl& set_rate(double rate);
};

}  // namespace simgrid::kernel::activity

namespace hplcast::smpi_models::port {

namespace {

/// SimGrid wants something to carry. SMPI would copy, and free, what it takes for its own.
void copy_nothing(simgrid::kernel::activity::CommImpl* /*flow*/, void* /*data*/, std::size_t /*bytes*/) {}

Flow put(s4u::Mailbox* mailbox, const FlowShape& shape) {
  static char token = 0;
  return mailbox->put_init(&token, shape.wire_bytes)
      ->set_rate(shape.as.bandwidth_bytes_per_s)
      ->set_copy_data_callback(copy_nothing);
}

Flow get(s4u::Mailbox* mailbox) {
  static void* carried = nullptr;
  return mailbox->get_init()->set_dst_data(&carried, sizeof carried)->set_copy_data_callback(copy_nothing);
}

}  // namespace

Flow begin_flow(const FlowShape& shape, bool nobody_waits) {
  Flow flow = s4u::Comm::sendto_init();
  flow->set_payload_size(shape.wire_bytes)->set_source(shape.source);
  reinterpret_cast<simgrid::kernel::activity::CommImpl*>(flow->get_impl())->set_rate(shape.as.bandwidth_bytes_per_s);
  if (nobody_waits) flow->detach();
  announce(shape, [&] { flow->set_destination(shape.destination); });  // with both ends known it begins
  return nobody_waits ? Flow() : flow;
}

Flow offer_flow(s4u::Mailbox* mailbox, const FlowShape& shape) {
  Flow flow = put(mailbox, shape);
  flow->start();
  return flow;
}

void wait_for_offer(s4u::Mailbox* mailbox) {
  Flow flow = get(mailbox);
  flow->start();
  wait_for_end(flow);
}

Flow take_flow(s4u::Mailbox* mailbox, const FlowShape& shape) {
  Flow flow = get(mailbox);
  announce(shape, [&] { flow->start(); });
  return flow;
}

Flow give_flow(s4u::Mailbox* mailbox, const FlowShape& shape, bool nobody_waits) {
  Flow flow = put(mailbox, shape);
  announce(shape, [&] { nobody_waits ? flow->detach() : flow->start(); });
  return nobody_waits ? Flow() : flow;
}

void wait_for_end(const Flow& flow) {
  // flow->wait() would also make an action of the CPU to watch for a failure of the host.
#if SIMGRID_VERSION >= 40000
  s4u::ActivitySet({flow}).wait_any();
#else
  s4u::Activity::wait_any_for({flow}, -1);
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
