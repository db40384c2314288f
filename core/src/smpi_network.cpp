#include "hplcast/core/smpi_network.hpp"

#include <algorithm>

#include "hplcast/core/csv.hpp"

namespace hplcast::core {

namespace {

/// SMPI reads thresholds into an int and compares sizes cast to int.
constexpr std::uint64_t max_threshold_bytes = 2147483647;

/// A loop that polls with calls of cost 0 never ends in a simulation.
constexpr double min_poll_s = 1e-7;

std::string threshold(std::uint64_t bytes) {
  return std::to_string(std::min(bytes, max_threshold_bytes));
}

}  // namespace

MessageFlow message_flow(double mean_s, double noise_s, double slope_s_per_byte, double wire_bytes,
                         const LinkLimit& link) noexcept {
  const double fastest = 1e6 * link.bytes_per_s;
  const double limit = link.is_shared ? link.bytes_per_s : fastest;
  const double rate = slope_s_per_byte > 0 ? std::min(1 / slope_s_per_byte, limit) : limit;
  const double duration_s = std::max(mean_s, wire_bytes / limit) + noise_s;
  const double latency = duration_s - wire_bytes / rate;
  if (latency >= 0) return {latency, rate};
  return {0, duration_s > 0 ? std::min(wire_bytes / duration_s, fastest) : fastest};
}

LinkLimit link_limit(const ScopeModel& scope, Scope which) noexcept {
  return {scope.link_bytes_per_s(), which == Scope::remote || scope.capacity.has_value()};
}

double host_link_latency_s(const NetworkModel& network) noexcept {
  const Backbone* backbone = backbone_of(network.values().topology);
  const double backbone_s = backbone == nullptr ? 0 : backbone->latency_s;
  return std::max(0.0, network.scope(Scope::remote).latency_s - backbone_s) / 2;
}

std::vector<std::pair<std::string, std::string>> smpi_settings(const NetworkModel& network) {
  const NetworkModel::Values& values = network.values();
  return {{"smpi/async-small-thresh", threshold(values.async_small_bytes)},
          {"smpi/send-is-detached-thresh", threshold(values.detached_bytes)},
          {"smpi/iprobe", shortest(std::max(values.iprobe_s, min_poll_s))},
          {"smpi/test", shortest(std::max(values.test_s, min_poll_s))},
          {"smpi/wtime", shortest(values.wtime_s)},
          // For platform.xml. A flow gets a share of a link in proportion to 1 / (latency + sum over links of weight-S
          // / bandwidth). With this value the denominator is 1 for the usual route of two links, which is what SimGrid
          // takes for flows without latency, so that all share alike. With 0 it is some 1e-6: flows without latency
          // starve, and the solver loses itself in rounding.
          {"network/weight-S", shortest(network.scope(Scope::remote).link_bytes_per_s() / 2)},
          {"network/crosstraffic", "0"},
          // The window limits a flow to gamma / (2 latency): no such limit was measured.
          {"network/TCP-gamma", "1e+18"}};
}

}  // namespace hplcast::core
