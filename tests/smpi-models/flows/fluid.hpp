#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "hplcast/core/network_model.hpp"

/// What the message engine is compared with: the semantics of a message, and links shared by max-min fairness, written
/// down once more and as simply as possible.
namespace hplcast::tests {

/// A message that has its way to itself: nothing for `latency_s`, then its bytes at `rate_bytes_per_s`.
struct LoneMessage {
  double wire_bytes;
  double latency_s;
  double rate_bytes_per_s;
};

/// Of a scope whose link is shared.
inline LoneMessage lone_message(const core::ScopeModel& scope, double size_bytes) {
  const core::Segment& line = scope.cost(core::MessageCost::transfer).at(size_bytes);
  const double capacity = scope.link_bytes_per_s();
  const double wire = size_bytes + core::smpi_envelope_bytes;
  const double duration_s = std::max(line.intercept_s + line.slope_s_per_byte * size_bytes, wire / capacity);
  const double rate = line.slope_s_per_byte > 1 / capacity ? 1 / line.slope_s_per_byte : capacity;
  if (duration_s >= wire / rate) return {wire, duration_s - wire / rate, rate};
  return {wire, 0, wire / duration_s};
}

/// A message among others.
struct FluidFlow {
  double begin_s;  ///< of its bytes
  double bytes;
  double rate_limit;
  std::vector<std::size_t> links;
  double penalty = 1;  ///< its share of a link is in proportion to 1 / this
  double gain = 1;     ///< bytes that it moves per byte that links carry for it
};

/// Max-min fair rates of the flows `active` (indices): all rise together in level, which is what links carry for them
/// times their penalty; those that reach their own limit, or cross a link that is full, stay there.
inline std::vector<double> fair_rates(const std::vector<FluidFlow>& flows, std::vector<std::size_t> active,
                                      std::vector<double> capacities) {
  std::vector<double> rates(flows.size(), 0);
  while (!active.empty()) {
    std::vector<double> crossing(capacities.size(), 0);
    for (const std::size_t flow : active)
      for (const std::size_t link : flows[flow].links) crossing[link] += 1 / flows[flow].penalty;
    const auto level_of = [&](std::size_t flow) {
      double level = flows[flow].rate_limit / flows[flow].gain * flows[flow].penalty;
      for (const std::size_t link : flows[flow].links) level = std::min(level, capacities[link] / crossing[link]);
      return level;
    };
    double level = std::numeric_limits<double>::infinity();
    for (const std::size_t flow : active) level = std::min(level, level_of(flow));
    std::vector<std::size_t> rest;
    std::vector<std::size_t> fixed;
    for (const std::size_t flow : active) (level_of(flow) <= level * (1 + 1e-12) ? fixed : rest).push_back(flow);
    for (const std::size_t flow : fixed) {
      const double carried = level / flows[flow].penalty;
      rates[flow] = flows[flow].gain * carried;
      for (const std::size_t link : flows[flow].links) capacities[link] = std::max(0.0, capacities[link] - carried);
    }
    active = rest;
  }
  return rates;
}

/// When each flow ends, in s: from event to event, an event being the begin or the end of a flow.
inline std::vector<double> fluid_ends_s(const std::vector<FluidFlow>& flows, const std::vector<double>& capacities) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> ends(flows.size(), never);
  std::vector<double> left;
  for (const FluidFlow& flow : flows) left.push_back(flow.bytes);
  for (double now = 0;;) {
    std::vector<std::size_t> active;
    double next = never;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (ends[i] < never) continue;
      if (flows[i].begin_s <= now)
        active.push_back(i);
      else
        next = std::min(next, flows[i].begin_s);
    }
    const std::vector<double> rates = fair_rates(flows, active, capacities);
    for (const std::size_t i : active) next = std::min(next, now + left[i] / rates[i]);
    if (next == never) return ends;
    for (const std::size_t i : active) {
      left[i] -= rates[i] * (next - now);
      if (left[i] <= 1e-9 * flows[i].bytes) ends[i] = next;  // the rest is rounding
    }
    now = next;
  }
}

}  // namespace hplcast::tests
