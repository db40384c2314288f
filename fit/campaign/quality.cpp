#include "fit/campaign/campaign_rows.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::fit {

namespace {

constexpr std::size_t few_calls = 30;
constexpr double drift_that_matters = 0.03;
constexpr double drift_by_chance = 1e-3;
constexpr double share_of_a_mode = 0.1;
constexpr double distance_of_modes = 0.1;  // of logarithms
constexpr double sds_between_modes = 2;

/// Of calls in the order of time.
std::optional<std::string> drift(const std::vector<RelativeCall>& calls) {
  std::vector<double> first, last;
  const std::size_t third = calls.size() / 3;
  for (std::size_t i = 0; i < third; ++i) {
    first.push_back(calls[i].ratio);
    last.push_back(calls[calls.size() - 1 - i].ratio);
  }
  const double change = detail::quantile_of(last, 0.5) / detail::quantile_of(first, 0.5) - 1;
  if (std::abs(change) < drift_that_matters) return std::nullopt;
  const double p_value = mann_whitney(first, last).p_value;
  if (p_value > drift_by_chance) return std::nullopt;
  return core::printed("the last third of the calls took %+.1f %% compared with the first third (p = %.1g)",
                       100 * change, p_value);
}

std::optional<std::string> several_modes(const std::vector<RelativeCall>& calls) {
  std::vector<double> logarithms;
  logarithms.reserve(calls.size());
  for (const RelativeCall& call : calls) logarithms.push_back(std::log(call.ratio));
  GaussianMixtureOptions options;
  options.max_modes = 3;
  std::vector<core::MixtureMode> modes;
  for (const core::MixtureMode& mode : fit_gaussian_mixture(logarithms, options))
    if (mode.probability >= share_of_a_mode) modes.push_back(mode);
  for (std::size_t i = 1; i < modes.size(); ++i) {
    const double distance = modes[i].mean - modes[i - 1].mean;
    if (distance < distance_of_modes || distance < sds_between_modes * (modes[i].sd + modes[i - 1].sd)) continue;
    return core::printed("%.0f %% of the calls take %.2f times as long as another %.0f %%", 100 * modes[i].probability,
                         std::exp(distance), 100 * modes[i - 1].probability);
  }
  return std::nullopt;
}

}  // namespace

std::vector<QualityFlag> quality_flags(const std::string& subject, std::vector<RelativeCall> calls) {
  for (const RelativeCall& call : calls) {
    if (!(call.ratio > 0) || !std::isfinite(call.ratio))
      throw core::DomainError("ratio of a call", call.ratio, "a positive number");
  }
  if (calls.size() < few_calls)
    return {{subject, "too_few_repetitions",
             std::to_string(calls.size()) + " calls; at least " + std::to_string(few_calls) + " tell mean and noise"}};
  std::stable_sort(calls.begin(), calls.end(),
                   [](const RelativeCall& a, const RelativeCall& b) { return a.start_s < b.start_s; });
  std::vector<QualityFlag> flags;
  if (const auto found = drift(calls)) flags.push_back({subject, "drift", *found});
  if (const auto found = several_modes(calls)) flags.push_back({subject, "several_modes", *found});
  return flags;
}

}  // namespace hplcast::fit

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
