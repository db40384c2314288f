#include "flow_shape.hpp"

#include <deque>

namespace hplcast::smpi_models {

namespace {

std::deque<FlowShape> announced;  // each twice: one for each factor

}  // namespace

void announce(const FlowShape& shape) {
  announced.push_back(shape);
  announced.push_back(shape);
}

std::optional<core::MessageFlow> announced_flow(const simgrid::s4u::Host* source, const simgrid::s4u::Host* destination,
                                                double wire_bytes) {
  if (announced.empty()) return std::nullopt;
  const FlowShape shape = announced.front();
  if (shape.source != source || shape.destination != destination ||
      static_cast<double>(shape.wire_bytes) != wire_bytes) {
    return std::nullopt;
  }
  announced.pop_front();
  return shape.as;
}

}  // namespace hplcast::smpi_models
