#pragma once

#include <memory>

#include "network_flows.hpp"
#include "simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

class RankClock;

/// A message on its way, from when both of its ends are there (or its sender alone, if it does not need the other).
///
/// Where it shares the network it is a flow, of ours or of SimGrid's, which says when it ends. Where it shares nothing
/// with others, as between ranks of a host whose messages do not slow each other, all there is to it is the date of its
/// end: neither flow nor event.
class Transfer {
 public:
  /// As a flow.
  void begin(NetworkFlows& flows, const FlowShape& shape) { own_flow_ = flows.begin(shape); }
  /// Of SimGrid's. Lets other actors run before it returns.
  void begin(const FlowShape& shape) { flow_ = port::begin_flow(shape); }
  /// Without.
  void end_at(double date_s) { ends_s_ = date_s; }

  bool has_begun() const { return own_flow_ != nullptr || flow_ != nullptr || ends_s_ >= 0; }
  /// Of SimGrid's.
  bool has_flow() const { return flow_ != nullptr; }
  const port::Flow& flow() const { return flow_; }
  /// At the simulated clock.
  bool has_ended() const;
  /// The rank is at its end, on the clock or, if that takes no flow, ahead of it. Blocks.
  void wait(RankClock& clock) const;
  /// Does not block: the bell rings then, unless what is returned is gone before.
  std::shared_ptr<const void> ring_at_end(const simgrid::s4u::SemaphorePtr& bell) const;

 private:
  std::shared_ptr<NetworkFlow> own_flow_;
  port::Flow flow_;
  double ends_s_ = -1;
};

}  // namespace hplcast::smpi_models
