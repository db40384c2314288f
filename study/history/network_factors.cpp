// Costs of messages as factors.
#include "study/history/network_factors.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/study/archive_campaign.hpp"

namespace hplcast::study {

namespace {

constexpr double short_bytes = 8, kibibyte = 1 << 10, mebibyte = 1 << 20;

/// Half a round trip: what fits take apart into these three is what was measured.
double message_s(const core::ScopeModel& scope, double bytes) {
  double sum = 0;
  for (const auto cost : {core::MessageCost::send, core::MessageCost::transfer, core::MessageCost::recv})
    sum += scope.cost(cost).mean_s(bytes);
  return sum;
}

void observe(const Place& place, const std::string& factor, double value, CampaignRecord& record) {
  if (std::isfinite(value) && value > 0) record.observations.push_back({place, factor, record.start_s, value});
}

/// Calls `each` with the scopes that a network has.
template <typename Each>
void for_scopes(const core::NetworkModel& network, Each each) {
  each(core::Scope::local);
  if (network.values().remote) each(core::Scope::remote);
}

std::string size_name(double bytes) {
  bytes = std::round(bytes);
  if (std::fmod(bytes, mebibyte) == 0 && bytes > 0) return core::shortest(bytes / mebibyte) + "mib";
  if (std::fmod(bytes, kibibyte) == 0 && bytes > 0) return core::shortest(bytes / kibibyte) + "kib";
  return core::shortest(bytes) + "b";
}

/// The segments of `reference` with what `scope` says of them: its own segments may begin elsewhere, as those of every
/// fit do. The first latency is latency_us.
void add_segments(const core::ScopeModel& scope, const core::ScopeModel& reference, const Place& place,
                  CampaignRecord& record) {
  const auto& segments = reference.cost(core::MessageCost::transfer).segments();
  const double most = std::min(scope.max_bytes, reference.max_bytes);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const double name = segments[i].min_bytes, begin = std::max(name, short_bytes);
    const double end = i + 1 < segments.size() ? std::min(segments[i + 1].min_bytes - 1, most) : most;
    if (end <= begin) continue;
    if (i > 0) observe(place, "latency_from_" + size_name(name) + "_us", 1e6 * message_s(scope, begin), record);
    if (end != 64 * kibibyte && end != mebibyte)  // which have names of their own
      observe(place, "bandwidth_from_" + size_name(name) + "_gbps", 1e-9 * end / message_s(scope, end), record);
  }
}

}  // namespace

Place network_place(const CampaignRecord& record, core::Scope scope) {
  if (scope == core::Scope::local && record.hosts.size() == 1) return {record.cluster, record.hosts.front(), -1};
  return {record.cluster, std::string("network ") + to_string(scope), -1};
}

void add_messages(const core::NetworkModel& network, CampaignRecord& record) {
  for_scopes(network, [&](core::Scope which) {
    const core::ScopeModel& scope = network.scope(which);
    const Place place = network_place(record, which);
    observe(place, "latency_us", 1e6 * message_s(scope, short_bytes), record);
    const std::pair<const char*, double> sizes[] = {{"bandwidth_64kib_gbps", 64 * kibibyte},
                                                    {"bandwidth_1mib_gbps", mebibyte}};
    for (const auto& [factor, bytes] : sizes)
      if (scope.max_bytes >= bytes) observe(place, factor, 1e-9 * bytes / message_s(scope, bytes), record);
  });
}

void add_network_segments(CampaignRecord& record, const std::string& reference_json) {
  if (record.cluster_json.empty()) return;
  const auto network_of = [](const std::string& json) {
    std::istringstream in(json);
    return core::read_cluster(in, "the models of a campaign").network;
  };
  const core::NetworkModel network = network_of(record.cluster_json);
  const core::NetworkModel reference = reference_json.empty() ? network : network_of(reference_json);
  for_scopes(network, [&](core::Scope which) {
    if (which == core::Scope::remote && !reference.values().remote) return;
    add_segments(network.scope(which), reference.scope(which), network_place(record, which), record);
  });
}

}  // namespace hplcast::study
