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

/// The limit of a link, in bytes/s.
struct LinkLimit {
  double bytes_per_s = 0;
  bool is_shared = false;  ///< false: as much for every flow, however many there are
};

/// The flow of `wire_bytes` > 0 (envelope included) that takes `mean_s` + `noise_s` >= 0 in an empty network.
///
/// Its rate is 1 / slope: several such flows go on side by side until they fill the link, as on the measured machine.
/// It is that of the link where the line says more, and where the slope is not positive; the time that the bytes do not
/// take at that rate is latency. A shared link is never faster on average than it can: a message takes at least
/// `wire_bytes` / capacity. If the rate alone would make the message longer than it is (a line that starts below zero,
/// noise), the rate gives way; by noise it can exceed that of the link, which then carries these bytes for less.
/// It never exceeds a million times that of the link.
MessageFlow message_flow(double mean_s, double noise_s, double slope_s_per_byte, double wire_bytes,
                         const LinkLimit& link) noexcept;

/// The link that the messages of a scope cross.
LinkLimit link_limit(const ScopeModel& scope, Scope which) noexcept;

/// Latency in s of the link that joins a host to its switch: two of them and a backbone, if there is one, have together
/// the latency of the route that was measured.
double host_link_latency_s(const NetworkModel& network) noexcept;

/// SimGrid settings (name, value) that a network model asks for and that hold for all messages: thresholds, cost of
/// probes and clock reads, plain max-min sharing without background traffic or TCP window.
std::vector<std::pair<std::string, std::string>> smpi_settings(const NetworkModel& network);

}  // namespace hplcast::core
