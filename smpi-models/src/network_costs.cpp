#include "network_costs.hpp"

#include <algorithm>
#include <utility>

#include "hplcast/core/random_stream.hpp"

namespace hplcast::smpi_models {

namespace {

bool has_noise(const core::SegmentedLaw& law) {
  return std::any_of(law.segments().begin(), law.segments().end(),
                     [](const core::Segment& s) { return s.sd_s > 0 || !s.modes.empty(); });
}

}  // namespace

NetworkCosts::NetworkCosts(core::NetworkModel network, int hosts, std::uint64_t seed, bool noise)
    : network_(std::move(network)), seed_(seed), calls_(static_cast<std::size_t>(hosts)) {
  // Far from the draws of the messages that SimGrid sees.
  for (auto& calls : calls_) calls[unseen_counter] = std::uint64_t{1} << 63;
  for (const core::Scope scope : {core::Scope::local, core::Scope::remote}) {
    for (std::size_t i = 0; i < core::message_cost_count; ++i) {
      draws_[static_cast<std::size_t>(scope)][i] = noise && has_noise(network_.scope(scope).costs[i]);
    }
  }
}

double NetworkCosts::duration_s(core::MessageCost which, const MessagePath& path, double size_bytes, Counter counter) {
  const core::SegmentedLaw& law = network_.scope(path.scope).cost(which);
  if (!draws_[static_cast<std::size_t>(path.scope)][static_cast<std::size_t>(which)]) return law.mean_s(size_bytes);
  const auto host = static_cast<std::size_t>(path.source_host);
  const core::StreamName stream{seed_, core::stream_message, static_cast<std::uint32_t>(path.source_host),
                                static_cast<std::uint32_t>(which)};
  return law.sample_s(size_bytes, core::draw(stream, calls_[host][counter]++));
}

double NetworkCosts::overhead_s(core::MessageCost which, const MessagePath& path, double size_bytes) {
  const Counter counter = which == core::MessageCost::send    ? send_counter
                          : which == core::MessageCost::isend ? isend_counter
                                                              : recv_counter;
  return duration_s(which, path, size_bytes, counter);
}

double NetworkCosts::transfer_s(const MessagePath& path, double size_bytes) {
  return duration_s(core::MessageCost::transfer, path, size_bytes, unseen_counter);
}

core::MessageFlow NetworkCosts::flow(const MessagePath& path, double wire_bytes, Counter counter) {
  const core::ScopeModel& scope = network_.scope(path.scope);
  const double size_bytes = std::max(0.0, wire_bytes - core::smpi_envelope_bytes);
  const double duration = duration_s(core::MessageCost::transfer, path, size_bytes, counter);
  return core::message_flow(duration, scope.cost(core::MessageCost::transfer).at(size_bytes).slope_s_per_byte,
                            wire_bytes, scope.bandwidth_bytes_per_s);
}

double NetworkCosts::latency_factor(const MessagePath& path, double wire_bytes) {
  return flow(path, wire_bytes, latency_counter).latency_s / network_.scope(path.scope).latency_s;
}

double NetworkCosts::bandwidth_factor(const MessagePath& path, double wire_bytes) {
  return flow(path, wire_bytes, bandwidth_counter).bandwidth_bytes_per_s /
         network_.scope(path.scope).bandwidth_bytes_per_s;
}

}  // namespace hplcast::smpi_models
