#include "flow_shape.hpp"

#include <deque>

#include "c_boundary.hpp"

namespace hplcast::smpi_models {

namespace {

std::deque<FlowShape> announced;  // each twice: one for each factor
std::uint64_t announcements = 0;
std::uint64_t answers = 0;

}  // namespace

std::uint64_t push_announcement(const FlowShape& shape) {
  announced.push_back(shape);
  announced.push_back(shape);
  return ++announcements;
}

void require_begun(std::uint64_t number) {
  if (answers >= 2 * number) return;
  end_simulation(
      "SimGrid did not ask for the factors of a flow when it began; expected a SimGrid that hplcast supports",
      core::ExitCode::external_failure);
}

std::optional<FlowShape> announced_flow(const simgrid::s4u::Host* source, const simgrid::s4u::Host* destination,
                                        double wire_bytes) {
  if (announced.empty()) return std::nullopt;
  const FlowShape shape = announced.front();
  if (shape.source != source || shape.destination != destination ||
      static_cast<double>(shape.wire_bytes) != wire_bytes) {
    return std::nullopt;
  }
  announced.pop_front();
  ++answers;
  return shape;
}

}  // namespace hplcast::smpi_models
