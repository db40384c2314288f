#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hplcast/core/network_model.hpp"
#include "hplcast/core/smpi_network.hpp"

namespace hplcast::smpi_models {

/// Which message a cost is asked for.
struct MessagePath {
  core::Scope scope = core::Scope::local;
  int source_host = 0;  ///< index of the sending host, from 0: names the stream of draws
};

/// The message costs of a network model as SimGrid asks for them, message by message. Where a law has noise, every
/// message draws from the stream (seed, host that sends, operation); a model without noise draws nothing.
class NetworkCosts {
 public:
  /// `noise` false: every message takes its expected time.
  NetworkCosts(core::NetworkModel network, int hosts, std::uint64_t seed, bool noise);

  /// Time in s that a rank spends in its send, isend or recv. `size_bytes` without SMPI's envelope.
  double overhead_s(core::MessageCost which, const MessagePath& path, double size_bytes);

  /// Time in s of a message that has its way to itself, for those that SimGrid does not see. Draws of its own.
  double transfer_s(const MessagePath& path, double size_bytes);

  /// Whether messages that wait for their receivers go one way at a time between two ranks.
  bool is_half_duplex(core::Scope scope) const { return network_.scope(scope).half_duplex; }

  /// Factors on the latency of the route and the bandwidth of its narrowest link, for a message of `wire_bytes` with
  /// SMPI's envelope. SimGrid asks once for each of them, in any order: both see the same draw.
  double latency_factor(const MessagePath& path, double wire_bytes);
  double bandwidth_factor(const MessagePath& path, double wire_bytes);

 private:
  enum Counter {
    send_counter,
    isend_counter,
    recv_counter,
    latency_counter,
    bandwidth_counter,
    unseen_counter,
    counter_count
  };
  double duration_s(core::MessageCost which, const MessagePath& path, double size_bytes, Counter counter);
  core::MessageFlow flow(const MessagePath& path, double wire_bytes, Counter counter);

  core::NetworkModel network_;
  std::uint64_t seed_;
  std::array<std::array<bool, core::message_cost_count>, 2> draws_{};  // by scope and cost
  std::vector<std::array<std::uint64_t, counter_count>> calls_;        // by host
};

}  // namespace hplcast::smpi_models
