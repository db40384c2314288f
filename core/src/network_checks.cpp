#include "hplcast/core/network_checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hplcast/core/smpi_network.hpp"

namespace hplcast::core {

namespace {

/// Two measurements of one network agree no better: rates of single messages and capacities are of different programs.
constexpr double worth_telling = 1.05;

/// Buffers on the way (sockets, cards, shapers) take in shorter messages faster than the link carries them, and no link
/// is filled with these.
constexpr double short_message_bytes = 65536;

std::string size_text(double bytes) {
  return std::to_string(std::llround(bytes)) + " bytes";
}

/// Upper limit of the capacity.
double most_bytes_per_s(const ScopeModel& scope) {
  const double high = scope.capacity ? scope.capacity->high_bytes_per_s : 0;
  return std::max(scope.link_bytes_per_s(), high);
}

/// Whether a model has messages of this scope at all: a machine of one host has no remote ones.
bool exists(const NetworkModel& network, Scope which) {
  return which == Scope::local || network.values().remote.has_value();
}

}  // namespace

std::string rate_text(double bytes_per_s) {
  char text[40];
  if (bytes_per_s >= 1e9) {
    std::snprintf(text, sizeof text, "%.3g GB/s", bytes_per_s / 1e9);
  } else {
    std::snprintf(text, sizeof text, "%.3g MB/s", bytes_per_s / 1e6);
  }
  return text;
}

std::optional<SingleFlow> fastest_flow(const ScopeModel& scope) {
  const SegmentedLaw& transfer = scope.cost(MessageCost::transfer);
  const std::vector<Segment>& segments = transfer.segments();
  std::optional<SingleFlow> fastest;
  const auto look_at = [&](double size_bytes) {
    const double mean_s = transfer.mean_s(size_bytes);
    if (size_bytes < short_message_bytes || !(mean_s > 0)) return;
    const double rate = (size_bytes + smpi_envelope_bytes) / mean_s;
    if (!fastest || rate > fastest->bytes_per_s) fastest = SingleFlow{size_bytes, rate};
  };
  // Between its ends the rate of a segment rises or falls all the way.
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool last = i + 1 == segments.size();
    const double begin = std::max(segments[i].min_bytes, short_message_bytes);
    const double end = last ? scope.max_bytes : segments[i + 1].min_bytes - 1;
    const double measured_end = scope.max_bytes > 0 ? std::min(end, scope.max_bytes) : end;
    if (scope.max_bytes <= 0 || begin <= scope.max_bytes) look_at(begin);
    if (measured_end >= begin) look_at(measured_end);
  }
  return fastest;
}

std::optional<QualityFlag> capacity_below_rate(const NetworkModel& network, Scope which) {
  if (!exists(network, which)) return std::nullopt;
  const ScopeModel& scope = network.scope(which);
  if (!link_limit(scope, which).is_shared) return std::nullopt;
  const std::optional<SingleFlow> fastest = fastest_flow(scope);
  if (!fastest || fastest->bytes_per_s <= worth_telling * most_bytes_per_s(scope)) return std::nullopt;
  const Topology& topology = network.values().topology;
  std::string links = scope.capacity ? "the capacity" : "the bandwidth of the link";
  if (which == Scope::remote && hosts_of(topology)) links += std::string(" of each link of the ") + kind_of(topology);
  return QualityFlag{to_string(which), "capacity_below_rate",
                      "a single message of " + size_text(fastest->size_bytes) + " goes at " +
                          rate_text(fastest->bytes_per_s) + ", but " + links + " is " +
                          rate_text(scope.link_bytes_per_s()) + ": in the simulation no message goes faster than that"};
}

std::optional<QualityFlag> slow_backbone(const NetworkModel& network) {
  const Backbone* backbone = backbone_of(network.values().topology);
  if (!network.values().remote || backbone == nullptr) return std::nullopt;
  const std::optional<SingleFlow> fastest = fastest_flow(network.scope(Scope::remote));
  if (!fastest || fastest->bytes_per_s <= worth_telling * backbone->bandwidth_bytes_per_s) return std::nullopt;
  return QualityFlag{"topology", "slow_backbone",
                      "a single message of " + size_text(fastest->size_bytes) + " goes at " +
                          rate_text(fastest->bytes_per_s) + ", but the backbone that all hosts share has " +
                          rate_text(backbone->bandwidth_bytes_per_s)};
}

std::optional<QualityFlag> capacity_unknown(const NetworkModel& network, Scope which) {
  if (!exists(network, which) || network.scope(which).capacity) return std::nullopt;
  if (which == Scope::local) {
    return QualityFlag{to_string(which), "capacity_unknown",
                       "the capacity for several messages inside a host was not measured: it is assumed that they "
                       "do not slow each other down"};
  }
  return QualityFlag{to_string(which), "capacity_unknown",
                     "the capacity of the link of a host was not measured: it is assumed to be the bandwidth of a "
                     "single flow, " +
                         rate_text(network.scope(which).link_bytes_per_s())};
}

std::vector<QualityFlag> contradictions(const NetworkModel& network) {
  std::vector<QualityFlag> doubts;
  for (const auto& doubt : {capacity_below_rate(network, Scope::local), capacity_below_rate(network, Scope::remote),
                            slow_backbone(network)}) {
    if (doubt) doubts.push_back(*doubt);
  }
  return doubts;
}

}  // namespace hplcast::core
