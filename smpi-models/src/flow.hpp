#pragma once

#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Mailbox.hpp>

#include <cstdint>
#include <optional>

#include "hplcast/core/smpi_network.hpp"

namespace hplcast::smpi_models {

/// A message on its way through SimGrid's network. Whoever has it can wait for its end.
using Flow = simgrid::s4u::CommPtr;

/// What a flow is: SimGrid shares links among flows by max-min fairness, and none exceeds `as.bandwidth_bytes_per_s`.
/// (A bandwidth factor would not do: since SimGrid 3.28 a flow of factor f takes 1/f of the link for each byte.)
struct FlowShape {
  simgrid::s4u::Host* source = nullptr;
  simgrid::s4u::Host* destination = nullptr;
  std::uint64_t wire_bytes = 0;  ///< with SMPI's envelope
  core::MessageFlow as;
};

// Each call lets other actors run before SimGrid has served it: what they look at must be in place before.

/// Begins now.
Flow begin_flow(const FlowShape& shape);
/// The same for one that nobody waits for.
void begin_load(const FlowShape& shape);

/// One that has one end only so far, with the actor that waits there. It begins when the other end comes, with
/// take_flow() or give_flow(); then the mailbox can be used again.
Flow offer_flow(simgrid::s4u::Mailbox* mailbox, const FlowShape& shape);
void wait_for_offer(simgrid::s4u::Mailbox* mailbox);

/// The destination joins an offered flow.
Flow take_flow(simgrid::s4u::Mailbox* mailbox, const FlowShape& shape);
/// The source joins a destination that waits. `nobody_waits`: for the end of what is returned, which is null then.
Flow give_flow(simgrid::s4u::Mailbox* mailbox, const FlowShape& shape, bool nobody_waits);

/// Blocks until the flow has ended.
void wait_for_end(const Flow& flow);

/// For the callbacks that SimGrid asks once for each factor of a flow when it begins: what it was announced as; nothing
/// for a message of SMPI.
std::optional<core::MessageFlow> announced_flow(const simgrid::s4u::Host* source, const simgrid::s4u::Host* destination,
                                                double wire_bytes);

}  // namespace hplcast::smpi_models
