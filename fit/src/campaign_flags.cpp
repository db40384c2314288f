#include <algorithm>

#include "campaign_rows.hpp"
#include "hplcast/core/cluster_problems.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::fit::detail {

namespace {

using Flags = std::vector<QualityFlag>;
using Calls = std::map<std::string, std::vector<RelativeCall>>;

void flag_calls(Calls calls, Flags& flags) {
  for (auto& [subject, list] : calls) {
    Flags more = quality_flags(subject, std::move(list));
    flags.insert(flags.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
}

/// Calls of designs only: those of HPL have sizes that change with time.
void flag_designed(const Campaign& campaign, const CampaignRows& rows, const core::ClusterModel& cluster,
                   Flags& flags) {
  Calls calls;
  for (const core::KernelMeasurement& row : rows.designed) {
    const auto host = static_cast<int>(index_of(campaign.hosts, row.host));
    const double expected_s = cluster.kernels.at(row.kernel).law(host, row.cpu).at(row.shape).mean_s(row.shape);
    if (expected_s > 0) calls[row.kernel].push_back({row.start_s, row.duration_s / expected_s});
  }
  flag_calls(std::move(calls), flags);
}

/// Of kernels that only HPL called just the number can be judged.
void flag_few_calls(const CampaignRows& rows, Flags& flags) {
  constexpr long few = 30;
  for (const auto& [kernel, table] : rows.kernels) {
    const auto same = [name = &kernel](const core::KernelMeasurement& row) { return row.kernel == *name; };
    if (table.rows() < few && std::none_of(rows.designed.begin(), rows.designed.end(), same))
      flags.push_back({kernel, "too_few_repetitions", std::to_string(table.rows()) + " calls in the runs of HPL"});
  }
}

/// Expected duration of a row; 0 for operations whose model is one number.
double expected_s(const core::NetworkModel& network, const core::MpiMeasurement& row) {
  using core::MessageCost;
  const core::ScopeModel& scope = network.scope(core::scope_from_name(row.scope));
  const auto cost_s = [&](MessageCost which) { return scope.cost(which).mean_s(row.size_bytes); };
  if (row.operation == "send") return cost_s(MessageCost::send);
  if (row.operation == "isend") return cost_s(MessageCost::isend);
  if (row.operation == "recv") return cost_s(MessageCost::recv);
  if (row.operation != "pingpong") return 0;
  const bool waits = row.size_bytes >= static_cast<double>(network.values().detached_bytes);
  const double overhead_s = waits ? 0 : cost_s(MessageCost::send) + cost_s(MessageCost::recv);
  return 2 * (cost_s(MessageCost::transfer) + overhead_s);
}

void flag_messages(const CampaignRows& rows, const core::NetworkModel& network, Flags& flags) {
  Calls calls;
  std::vector<std::string> known;  // the fit has said them
  rows_of_messages(rows_of(rows.messages), false, known)([&](const core::MpiMeasurement& row) {
    const double expected = row.error.empty() ? expected_s(network, row) : 0;
    if (expected > 0) calls[row.operation + " " + row.scope].push_back({row.start_s, row.duration_s / expected});
  });
  flag_calls(std::move(calls), flags);
}

/// Sizes of that run beyond those measured.
void flag_range(const core::ClusterModel& cluster, const HplSizes& sizes, Flags& flags) {
  const auto& range = cluster.kernels.at("dgemm").range();
  const auto outside = std::count_if(sizes.updates.begin(), sizes.updates.end(), [&](const core::KernelShape& asked) {
    return range && (asked.m > range->max.m || asked.n > range->max.n || asked.k > range->max.k);
  });
  if (outside > 0)
    flags.push_back({"dgemm", "range",
                     std::to_string(outside) + " of " + std::to_string(sizes.updates.size()) + " update shapes of " +
                         sizes.run + " are larger than any measured"});
  const core::NetworkModel::Values& network = cluster.network.values();
  const double measured = network.remote ? network.remote->max_bytes : network.local.max_bytes;
  if (sizes.longest_message_bytes > measured)
    flags.push_back({"network", "range",
                     sizes.run + " sends messages of up to " + core::shortest(sizes.longest_message_bytes) +
                         " bytes; the largest measured has " + core::shortest(measured)});
}

}  // namespace

Flags flags_of(const Campaign& campaign, const CampaignRows& rows, const core::ClusterModel& cluster) {
  Flags flags;
  if (const auto flag = core::formula_flag(cluster)) flags.push_back(*flag);
  flag_designed(campaign, rows, cluster, flags);
  flag_few_calls(rows, flags);
  flag_messages(rows, cluster.network, flags);
  if (campaign.must_cover) flag_range(cluster, *campaign.must_cover, flags);
  return flags;
}

}  // namespace hplcast::fit::detail
