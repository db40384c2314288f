#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "hplcast/core/network_model.hpp"
#include "smpi-models/session/c_boundary.hpp"

namespace simgrid::s4u {
class Host;
}

namespace hplcast::smpi_models {

/// One flow: links are shared among flows by max-min fairness, and none exceeds `as.bandwidth_bytes_per_s`.
/// (A bandwidth factor would not do: since SimGrid 3.28 a flow of factor f takes 1/f of the link for each byte.)
struct FlowShape {
  simgrid::s4u::Host* source = nullptr;
  simgrid::s4u::Host* destination = nullptr;
  std::uint64_t wire_bytes = 0;  ///< with SMPI's envelope
  core::MessageFlow as;
  double delay_s = 0;  ///< before it begins: what begins in the future can be announced now
  /// Cards (core::Rails) by which it leaves its host and comes to the other; striped: over all cards.
  int source_card = no_card, destination_card = no_card;
  static constexpr int no_card = -1, striped = -2;
};

/// Flows that begin, until SimGrid has asked for their factors. It asks when a flow begins, and knows only its hosts
/// and its size. It serves the calls of actors in the order in which they were made: flows begin in the order in which
/// they are announced, if each is announced just before the call that makes it begin.
class AnnouncedFlows {
 public:
  /// `begin` makes it begin. Ends the simulation if SimGrid has not asked for the factors of that flow: it then has
  /// none, and nothing is right.
  template <typename Begin>
  void announce(const FlowShape& shape, const Begin& begin) {
    shapes_.insert(shapes_.end(), 2, shape);
    const std::uint64_t questions = 2 * ++announced_;
    begin();
    if (answered_ < questions)
      end_simulation(
          "SimGrid did not ask for the factors of a flow when it began; expected a SimGrid that hplcast supports",
          core::ExitCode::external_failure);
  }

  /// The announced shape of the flow that begins; nothing for a message of SMPI. To be asked once for each of its two
  /// factors.
  std::optional<FlowShape> answer(const simgrid::s4u::Host* source, const simgrid::s4u::Host* destination,
                                  double wire_bytes) {
    if (shapes_.empty()) return std::nullopt;
    const FlowShape shape = shapes_.front();
    if (shape.source != source || shape.destination != destination ||
        static_cast<double>(shape.wire_bytes) != wire_bytes)
      return std::nullopt;
    shapes_.pop_front();
    ++answered_;
    return shape;
  }

 private:
  std::deque<FlowShape> shapes_;  // each twice: one for each factor
  std::uint64_t announced_ = 0;
  std::uint64_t answered_ = 0;
};

}  // namespace hplcast::smpi_models
