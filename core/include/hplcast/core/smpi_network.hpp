#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/network_model.hpp"

namespace hplcast::core {

/// Bytes that SMPI 3.32 adds to every message on its way through the network (tag, destination, communicator).
inline constexpr double smpi_envelope_bytes = 16;

/// A message as SimGrid moves it: nothing for `latency_s`, then all bytes at up to `bandwidth_bytes_per_s`.
struct MessageFlow {
  double latency_s = 0;
  double bandwidth_bytes_per_s = 0;
};

/// The flow of `wire_bytes` > 0 (envelope included) that takes `duration_s` >= 0 in an empty network. The rate is 1 /
/// slope, so that contention acts as on the measured machine; where that alone would take longer than `duration_s` (a
/// line with a negative intercept), or the slope is not positive, the rate gives way. It never exceeds a million times
/// `link_bandwidth_bytes_per_s`.
MessageFlow message_flow(double duration_s, double slope_s_per_byte, double wire_bytes,
                         double link_bandwidth_bytes_per_s) noexcept;

/// Latency in s of the link that joins a host to its switch: two of them and a backbone, if there is one, have together
/// the latency of the route that was measured.
double host_link_latency_s(const NetworkModel& network) noexcept;

/// SimGrid settings (name, value) that a network model asks for and that hold for all messages: thresholds, cost of
/// probes and clock reads, plain max-min sharing without background traffic or TCP window.
std::vector<std::pair<std::string, std::string>> smpi_settings(const NetworkModel& network);

}  // namespace hplcast::core
