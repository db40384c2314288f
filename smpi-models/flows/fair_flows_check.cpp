// Checks of flows under HPLCAST_CHECKS: slow, and apart from the way in which they are computed.

#include <algorithm>
#include <cmath>

#include "smpi-models/flows/fair_flows.hpp"
#include "smpi-models/session/invariants.hpp"

namespace hplcast::smpi_models {

namespace {

constexpr double rounding = 1e-9;  // of rates; share_out() leaves 1e-12

}  // namespace

void require_max_min(const std::vector<double>& capacities, const std::vector<FairShare>& shares) {
  std::vector<double> carried(capacities.size(), 0);
  std::vector<double> highest(capacities.size(), 0);
  for (const FairShare& share : shares) {
    for (const std::uint32_t link : *share.links) {
      carried[link] += share.weight * share.level;
      highest[link] = std::max(highest[link], share.level);
    }
  }
  for (std::size_t link = 0; link < capacities.size(); ++link) {
    const double excess = carried[link] / capacities[link] - 1;
    if (excess > rounding) end_for("link", link, "it carries more than its capacity, by a share of it of", excess);
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const FairShare& share = shares[i];
    const double excess = share.level / share.level_limit - 1;
    if (!(excess <= rounding)) end_for("class of flows", i, "it exceeds its limit by a share of", excess);
    const auto is_bottleneck = [&](std::uint32_t link) {
      return carried[link] >= capacities[link] * (1 - rounding) && highest[link] <= share.level * (1 + rounding);
    };
    const bool has_bottleneck = std::any_of(share.links->begin(), share.links->end(), is_bottleneck);
    if (!has_bottleneck && excess < -rounding)
      end_for("class of flows", i, "without a bottleneck it is below its limit by a share of", -excess);
  }
}

void FairFlows::check_rates() const {
  std::vector<double> capacities;
  for (const LinkState& link : links_) capacities.push_back(link.bytes_per_s);
  std::vector<FairShare> shares;
  for (const Class& of : classes_) {
    const RouteState& route = routes_[of.kind.route];
    if (of.flows.empty() || route.links.empty()) continue;
    const double level = of.rate_bytes_per_s / of.kind.gain * route.penalty;
    shares.push_back({&route.links, static_cast<double>(of.flows.size()) / route.penalty, level, of.level_limit});
  }
  require_max_min(capacities, shares);
}

void FairFlows::count_moved() {
  for (const Class& of : classes_)
    for (const Moving& flow : of.flows) bytes_[flow.name].moved += of.rate_bytes_per_s * (now_s_ - counted_s_);
  counted_s_ = now_s_;
}

void FairFlows::check_ended(std::uint32_t name) {
  const Bytes& bytes = bytes_[name];
  const double excess = bytes.moved - bytes.begun;
  const double rate_bytes_per_s = classes_[places_[name].of].rate_bytes_per_s;
  const double rounding_bytes = rounding * bytes.begun + rate_bytes_per_s * rounding_of_dates_s(now_s_);
  if (std::abs(excess) > rounding_bytes) end_for("flow", name, "it ends, but has moved too many bytes", excess);
  ended_bytes_ += bytes.begun;
}

void FairFlows::check_end() const {
  double expected_bytes = ended_bytes_;
  for (const Class& of : classes_)
    for (const Moving& flow : of.flows) expected_bytes += bytes_[flow.name].begun;
  const double lost_bytes = begun_bytes_ - expected_bytes;
  if (checks_ && std::abs(lost_bytes) > rounding * begun_bytes_)
    end_for("flow", bytes_.size(), "of all that have begun, bytes were lost", lost_bytes);
}

}  // namespace hplcast::smpi_models
