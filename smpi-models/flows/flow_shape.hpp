#pragma once

#include <cstdint>
#include <optional>

#include "hplcast/core/network_model.hpp"

namespace simgrid::s4u {
class Host;
}

namespace hplcast::smpi_models {

/// What a flow is: links are shared among flows by max-min fairness, and none exceeds `as.bandwidth_bytes_per_s`.
/// (A bandwidth factor would not do: since SimGrid 3.28 a flow of factor f takes 1/f of the link for each byte.)
struct FlowShape {
  simgrid::s4u::Host* source = nullptr;
  simgrid::s4u::Host* destination = nullptr;
  std::uint64_t wire_bytes = 0;  ///< with SMPI's envelope
  core::MessageFlow as;
  double delay_s = 0;  ///< before it begins: what begins in the future can be announced now
};

/// @return its number
std::uint64_t push_announcement(const FlowShape& shape);
/// Ends the simulation if SimGrid has not asked for the factors of that flow: it then has none, and nothing is right.
void require_begun(std::uint64_t number);

/// SimGrid asks for the factors of a flow when it begins, and knows only its hosts and its size. It serves the calls of
/// actors in the order in which they were made: flows begin in the order in which they are announced, if each is
/// announced just before `call`, which makes it begin.
template <typename Call>
void announce(const FlowShape& shape, const Call& call) {
  const std::uint64_t number = push_announcement(shape);
  call();
  require_begun(number);
}

/// What the flow that begins was announced to be; nothing for a message of SMPI. To be asked once for each of its two
/// factors.
std::optional<FlowShape> announced_flow(const simgrid::s4u::Host* source, const simgrid::s4u::Host* destination,
                                        double wire_bytes);

}  // namespace hplcast::smpi_models
