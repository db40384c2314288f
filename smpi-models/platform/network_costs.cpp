#include "smpi-models/platform/network_costs.hpp"

#include <limits>
#include <utility>

namespace hplcast::smpi_models {

SendingNumbers::Cell& SendingNumbers::cell_of(std::uint32_t destination, std::uint32_t tag) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // Knuth's multiplicative hashing
  const std::uint64_t hash = ((static_cast<std::uint64_t>(destination) << 32) | tag) * golden;
  std::size_t place = (hash >> 32) & (cells_.size() - 1);
  while (cells_[place].count > 0 && !(cells_[place].destination == destination && cells_[place].tag == tag))
    place = (place + 1) & (cells_.size() - 1);
  return cells_[place];
}

std::uint32_t SendingNumbers::next(std::uint32_t destination, std::uint32_t tag) {
  if (2 * used_ >= cells_.size()) {
    std::vector<Cell> before(std::max<std::size_t>(16, 2 * cells_.size()));
    before.swap(cells_);
    for (const Cell& one : before)
      if (one.count > 0) cell_of(one.destination, one.tag) = one;
  }
  Cell& cell = cell_of(destination, tag);
  if (cell.count == 0) {
    ++used_;
    cell = {destination, tag, 0};
  }
  return cell.count++;
}

namespace {

bool has_noise(const core::SegmentedLaw& law) {
  return std::any_of(law.segments().begin(), law.segments().end(),
                     [](const core::Segment& s) { return s.has_noise(); });
}

core::StreamName stream_of(std::uint64_t seed, core::MessageCost which, const MessageName& name) {
  return {seed, name.by_smpi ? core::stream_smpi_message : core::stream_message, name.source,
          static_cast<std::uint32_t>(which), (static_cast<std::uint64_t>(name.destination) << 32) | name.tag};
}

}  // namespace

NetworkCosts::NetworkCosts(core::NetworkModel network, std::uint64_t seed, bool noise, std::vector<double> link_shares)
    : network_(std::move(network)), link_shares_(std::move(link_shares)), seed_(seed) {
  for (const core::Scope scope : {core::Scope::local, core::Scope::remote}) {
    for (std::size_t i = 0; i < core::message_cost_count; ++i) {
      const core::ScopeModel& model = network_.scope(scope);
      const bool of_panels =
          i == static_cast<std::size_t>(core::MessageCost::transfer) && has_noise(model.transfer(true));
      const bool draws = noise && (has_noise(model.costs[i]) || of_panels);
      draws_[static_cast<std::size_t>(scope)][i] = draws;
      draws_any_ = draws_any_ || draws;
    }
  }
}

double NetworkCosts::noise_s(core::MessageCost which, const core::SegmentedLaw& law, core::Scope scope,
                             double size_bytes, double mean_s, const MessageName* name) const {
  if (name == nullptr || !draws_[static_cast<std::size_t>(scope)][static_cast<std::size_t>(which)]) return 0;
  return law.sample_s(size_bytes, core::draw(stream_of(seed_, which, *name), name->number)) - mean_s;
}

double NetworkCosts::overhead_s(core::MessageCost which, core::Scope scope, double size_bytes,
                                const MessageName* name) const {
  const core::SegmentedLaw& law = network_.scope(scope).cost(which);
  const double mean_s = law.mean_s(size_bytes);
  return mean_s + noise_s(which, law, scope, size_bytes, mean_s, name);
}

core::MessageFlow NetworkCosts::flow(core::Scope scope, double size_bytes, const MessageName* name, bool panel) const {
  const core::SegmentedLaw& law = network_.scope(scope).transfer(panel);
  const double mean_s = law.mean_s(size_bytes);
  return flow_of(scope, law, size_bytes, mean_s,
                 noise_s(core::MessageCost::transfer, law, scope, size_bytes, mean_s, name));
}

double NetworkCosts::least_time_s(core::Scope scope, double size_bytes) const {
  double least_s = std::numeric_limits<double>::infinity();
  for (const bool panel : {false, true}) {
    const core::SegmentedLaw& law = network_.scope(scope).transfer(panel);
    const double mean_s = law.mean_s(size_bytes);
    const core::MessageFlow flow = flow_of(scope, law, size_bytes, mean_s, law.least_s(size_bytes) - mean_s);
    const double moving_s = (size_bytes + core::smpi_envelope_bytes) / flow.bandwidth_bytes_per_s;
    least_s = std::min(least_s, (1 - 1e-9) * (flow.latency_s / 2 + moving_s));
  }
  return least_s;
}

core::MessageFlow NetworkCosts::flow_of(core::Scope scope, const core::SegmentedLaw& law, double size_bytes,
                                        double mean_s, double noise_s) const {
  const core::LinkLimit link = core::link_limit(network_.scope(scope), scope);
  // Nobody else is concerned by the rate on a link that is not shared: all is latency, which SimGrid need not share
  // out.
  const double slope_s_per_byte = link.is_shared ? law.at(size_bytes).slope_s_per_byte : 0;
  return core::message_flow(mean_s, noise_s, slope_s_per_byte, size_bytes + core::smpi_envelope_bytes, link);
}

core::MessageFlow NetworkCosts::flow(const core::DeviceMessage& own, core::Scope scope, double size_bytes) const {
  const core::LinkLimit link = core::link_limit(network_.scope(scope), scope);
  const double slope_s_per_byte = 1 / own.bytes_per_s;
  return core::message_flow(own.latency_s + size_bytes * slope_s_per_byte, 0, link.is_shared ? slope_s_per_byte : 0,
                            size_bytes + core::smpi_envelope_bytes, link);
}

}  // namespace hplcast::smpi_models
