#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/network_model.hpp"
#include "hplcast/core/quality_flag.hpp"

/// Doubts about a network model where messages share links. All texts about them are here.
namespace hplcast::core {

/// A message size, and the bandwidth of a single message of that size in an empty network.
struct SingleFlow {
  double size_bytes = 0;
  double bytes_per_s = 0;  ///< wire bytes over expected time in the network
};

/// The fastest message of a scope of 64 KiB or more, among the sizes measured (up to the start of the last segment
/// where that is not known). Messages that cost nothing are left out; nothing if there are no others.
std::optional<SingleFlow> fastest_flow(const ScopeModel& scope);

/// capacity_below_rate: a single message is faster than the capacity, the total of all messages, by more than 5 % and
/// the interval of the capacity. The simulator limits it to the capacity. On a fat tree, torus or dragonfly every link
/// has that capacity.
std::optional<QualityFlag> capacity_below_rate(const NetworkModel& network, Scope which);

/// slow_backbone: a single message between hosts is faster than the backbone that all of them share.
std::optional<QualityFlag> slow_backbone(const NetworkModel& network);

/// capacity_unknown: it was neither measured nor published nor given; states the assumption.
std::optional<QualityFlag> capacity_unknown(const NetworkModel& network, Scope which);

/// capacity_below_rate() of each scope that there is, and slow_backbone().
std::vector<QualityFlag> contradictions(const NetworkModel& network);

/// "12.5 GB/s": a rate for people, three digits.
std::string rate_text(double bytes_per_s);

}  // namespace hplcast::core
