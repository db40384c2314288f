#include <cmath>
#include <nlohmann/json.hpp>

#include "fit/campaign/campaign_steps.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::fit {

namespace {

using Json = nlohmann::ordered_json;

/// Without calls beside others the model of all ranks tells what they take; it is of other minutes, so the error has
/// half of the range of the controls.
core::EstimatedRatio dgemm_alone(const Campaign& campaign, const PairedCalls& calls, const ControlCurve& control,
                                 const core::ClusterModel& cluster) {
  const bool in_pairs = calls.beside.size() == calls.alone.size();
  PairedTimes times;
  for (std::size_t i = 0; i < calls.alone.size(); ++i)
    times.emplace_back(calls.alone[i].duration_s,
                       in_pairs ? calls.beside[i].duration_s : expected_s(cluster, campaign.hosts, calls.alone[i]));
  core::EstimatedRatio ratio = ratio_of(times);
  if (in_pairs || control.is_empty()) return ratio;
  const Json range = core::parse_json<Json>(control.provenance_json());
  const double half = std::log(range.at("high").get<double>() / range.at("low").get<double>()) / 2;
  ratio.standard_error = std::hypot(ratio.standard_error, ratio.ratio * half);
  return ratio;
}

/// HPL's calls on one rank of a host by kernel and block: measured and expected.
using Blocks = std::map<std::string, std::map<std::pair<std::string, double>, std::pair<double, double>>>;

Blocks blocks_of_one_rank(const Campaign& campaign, const core::ClusterModel& cluster) {
  Blocks blocks;
  for_kernel_rows(campaign, [&](const std::string&, const core::KernelMeasurement& row) {
    if (row.busy_ranks != 1 || !is_of_fewer_ranks(campaign.hosts, row) || is_aliased(row) ||
        !reason_to_set_aside(row).empty())
      return;
    auto& [measured_s, model_s] = blocks[row.kernel][{row.host, std::floor(row.start_s / least_block_s)}];
    measured_s += row.duration_s;
    model_s += expected_s(cluster, campaign.hosts, row);
  });
  return blocks;
}

/// HPL's dgemm on one rank beside the model, by block. It gains more than calls by themselves.
PairedTimes dgemm_in_runs(const Blocks& blocks) {
  PairedTimes times;
  if (const auto dgemm = blocks.find("dgemm"); dgemm != blocks.end())
    for (const auto& [block, one] : dgemm->second) times.push_back(one);
  return times;
}

/// Relative to dgemm in the same block, so that it does not matter how fast the machine was then.
PairedTimes beside_dgemm(const Blocks& blocks, const std::string& kernel) {
  PairedTimes times;
  const auto& dgemm = blocks.at("dgemm");
  for (const auto& [block, one] : blocks.at(kernel))
    if (const auto same = dgemm.find(block); same != dgemm.end())
      times.emplace_back(one.first, one.second * same->second.first / same->second.second);
  return times;
}

}  // namespace

core::EstimatedRatio ratio_of(const PairedTimes& times) {
  double measured_s = 0, others_s = 0, squares = 0;
  for (const auto& [measured, other] : times) {
    measured_s += measured;
    others_s += other;
  }
  const double ratio = measured_s / others_s, count = static_cast<double>(times.size());
  for (const auto& [measured, other] : times) squares += std::pow(measured - ratio * other, 2);
  return {ratio, std::sqrt(squares * count / (count - 1)) / others_s};
}

bool is_of_fewer_ranks(const std::vector<MeasuredHost>& hosts, const core::KernelMeasurement& row) {
  const std::size_t host = index_of(hosts, row.host);
  return row.busy_ranks > 0 && host < hosts.size() &&
         static_cast<std::size_t>(row.busy_ranks) < hosts[host].rank_cpus.size();
}

core::KernelModel widened(const core::KernelModel& model, const KernelTable& fewer_ranks) {
  std::vector<ShapeSummary> shapes = fewer_ranks.shapes();
  shapes.push_back({model.range()->min});
  shapes.push_back({model.range()->max});
  return core::KernelModel::make(model.level(), model.cluster_law(), {}, range_of(shapes), model.quality());
}

std::string alone_json(const Campaign& campaign, const PairedCalls& dgemm, const ControlCurve& control,
                       const core::ClusterModel& cluster, std::vector<std::string>& notes) {
  const Blocks blocks = blocks_of_one_rank(campaign, cluster);
  const PairedTimes in_runs = dgemm_in_runs(blocks);
  const bool has_runs = in_runs.size() >= fewest_pairs;
  if (!has_runs && dgemm.alone.size() < few_calls) return "null";
  const core::EstimatedRatio of_dgemm = has_runs ? ratio_of(in_runs) : dgemm_alone(campaign, dgemm, control, cluster);
  Json json = {{"dgemm", of_dgemm.ratio}, {"standard_error", of_dgemm.standard_error}};
  json[has_runs ? "pieces_of_runs" : "calls"] = has_runs ? in_runs.size() : dgemm.alone.size();
  std::string others;
  for (const auto& entry : blocks) {
    if (entry.first == "dgemm" || blocks.count("dgemm") == 0) continue;
    const PairedTimes times = beside_dgemm(blocks, entry.first);
    if (times.size() < fewest_pairs) continue;
    const core::EstimatedRatio ratio = ratio_of(times);
    const double value = ratio.ratio * of_dgemm.ratio;
    const double error =
        value * std::hypot(ratio.standard_error / ratio.ratio, of_dgemm.standard_error / of_dgemm.ratio);
    json["kernels"][entry.first] = {{"ratio", value}, {"standard_error", error}};
    others += core::printed(", %s %.2f (%.2f)", entry.first.c_str(), value, error);
  }
  notes.push_back(
      core::printed("dgemm: takes %.3f (standard error %.3f) times as long while the other ranks of the "
                    "host wait%s: for predictions of fewer ranks per host",
                    of_dgemm.ratio, of_dgemm.standard_error, others.c_str()));
  return core::json_text(json);
}

}  // namespace hplcast::fit
