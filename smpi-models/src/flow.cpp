#include "flow.hpp"

#include <simgrid/s4u/Activity.hpp>

#include <cstdint>
#include <deque>

#include "c_boundary.hpp"
#include "hplcast/core/errors.hpp"

namespace simgrid::kernel::activity {

/// What is declared of it is exported by libsimgrid, from 3.32 to 4.1 at least, but its header is not installed.
/// s4u::Comm::set_rate() does nothing for a flow from host to host.
class CommImpl {
 public:
  CommImpl& set_rate(double rate);
};

}  // namespace simgrid::kernel::activity

namespace hplcast::smpi_models {

namespace s4u = simgrid::s4u;

namespace {

/// SimGrid serves the calls of actors in the order in which they were made, so that flows begin in the order in which
/// they are announced, each just before the call that makes it begin.
struct Announced {
  FlowShape shape;
  bool asked_for_one = false;  // of its two factors
};
std::deque<Announced> announced;
std::uint64_t flows_announced = 0;
std::uint64_t flows_begun = 0;

/// Makes a flow begin by `call`. If SimGrid did not ask for its factors then, it has none: nothing would be right.
template <typename Call>
void announce(const FlowShape& shape, const Call& call) {
  announced.push_back({shape});
  const std::uint64_t number = ++flows_announced;
  call();
  if (flows_begun >= number) return;
  end_simulation(
      "SimGrid did not ask for the factors of a flow when it began; expected a SimGrid that hplcast supports",
      core::ExitCode::external_failure);
}

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

/// With both ends known it begins.
Flow new_flow(const FlowShape& shape) {
  Flow flow = s4u::Comm::sendto_init();
  flow->set_payload_size(shape.wire_bytes)->set_source(shape.source);
  reinterpret_cast<simgrid::kernel::activity::CommImpl*>(flow->get_impl())->set_rate(shape.as.bandwidth_bytes_per_s);
  return flow;
}

}  // namespace

Flow begin_flow(const FlowShape& shape) {
  Flow flow = new_flow(shape);
  announce(shape, [&] { flow->set_destination(shape.destination); });
  return flow;
}

void begin_load(const FlowShape& shape) {
  const Flow flow = new_flow(shape);
  flow->detach();
  announce(shape, [&] { flow->set_destination(shape.destination); });
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
  announce(shape, [&] {
    if (nobody_waits)
      flow->detach();
    else
      flow->start();
  });
  return nobody_waits ? nullptr : flow;
}

void wait_for_end(const Flow& flow) {
  // flow->wait() would also make an action of the CPU to watch for a failure of the host.
  s4u::Activity::wait_any_for({flow}, -1);
}

std::optional<core::MessageFlow> announced_flow(const s4u::Host* source, const s4u::Host* destination,
                                                double wire_bytes) {
  if (announced.empty()) return std::nullopt;
  Announced& next = announced.front();
  const FlowShape& shape = next.shape;
  if (shape.source != source || shape.destination != destination ||
      static_cast<double>(shape.wire_bytes) != wire_bytes) {
    return std::nullopt;
  }
  const core::MessageFlow as = shape.as;
  if (next.asked_for_one) {
    announced.pop_front();
    ++flows_begun;
  } else {
    next.asked_for_one = true;
  }
  return as;
}

}  // namespace hplcast::smpi_models
