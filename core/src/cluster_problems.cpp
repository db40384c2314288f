#include "hplcast/core/cluster_problems.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "cluster_schema.hpp"
#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

/// Sizes at which a polynomial is looked at: the corners of the range that it was fitted on, or of what HPL calls.
std::vector<KernelShape> corners(const KernelModel& model) {
  ShapeRange range{{1, 1, 1}, {1000, 1000, 128}};
  if (model.range()) range = *model.range();
  std::vector<KernelShape> all;
  for (const double m : {range.min.m, range.max.m})
    for (const double n : {range.min.n, range.max.n})
      for (const double k : {range.min.k, range.max.k}) all.push_back({m, n, k});
  return all;
}

void doubt_kernel(const std::string& name, const KernelModel& model, std::vector<QualityFlag>& flags) {
  const std::vector<KernelShape> shapes = corners(model);
  const auto cost_s = [&](const KernelShape& shape) { return model.cluster_law().at(shape).mu()(shape); };
  const bool ever_positive = std::any_of(shapes.begin(), shapes.end(), [&](const auto& s) { return cost_s(s) > 0; });
  if (!ever_positive) {
    flags.push_back(
        {"/kernels/" + name + "/mu", "never_positive", "no size of this kernel takes time: its calls cost nothing"});
    return;
  }
  // Where a fit comes out below zero for its smallest calls, nothing is lost; for its largest, it is wrong.
  if (cost_s(shapes.back()) <= 0)
    flags.push_back(
        {"/kernels/" + name + "/mu", "negative_for_large", "the largest calls take no time: their mu is negative"});
}

void doubt_costs(const std::string& field, const ScopeModel& scope, std::vector<QualityFlag>& flags) {
  for (std::size_t i = 0; i < message_cost_count; ++i) {
    const std::vector<Segment>& segments = scope.costs[i].segments();
    for (std::size_t s = 0; s < segments.size(); ++s) {
      const Segment& one = segments[s];
      const double first_s = one.intercept_s + one.slope_s_per_byte * one.min_bytes;
      const bool falls = one.slope_s_per_byte < 0 && s + 1 == segments.size();
      if (!one.modes.empty() || (first_s >= 0 && !falls)) continue;
      flags.push_back({field + "/operations/" + message_cost_names[i] + "/" + std::to_string(s), "negative_cost",
                       falls ? "slope_s_per_byte is negative in the last segment: long messages cost nothing"
                             : "the cost is negative for the smallest messages: it is simulated as 0"});
    }
  }
  for (const std::string& note : scope.notes)
    if (begins_with(note, "imported: ")) flags.push_back({field, "imported", note});
}

}  // namespace

std::optional<QualityFlag> formula_flag(const ClusterModel& cluster) {
  constexpr double poor = 0.9, none = 0.5;
  const auto dgemm = cluster.kernels.find("dgemm");
  if (dgemm == cluster.kernels.end()) return std::nullopt;
  const FitQuality& quality = dgemm->second.quality();
  if (quality.rows == 0 || quality.r2 >= poor) return std::nullopt;  // no rows: not from a fit
  return QualityFlag{"dgemm", quality.r2 < none ? "no_fit" : "poor_fit",
                     "the formula explains " + shortest(std::round(1000 * std::max(0.0, quality.r2)) / 10) +
                         " % of the variation of its calls; of a quiet machine it is more than 95 %"};
}

std::vector<QualityFlag> doubts(const ClusterModel& cluster) {
  std::vector<QualityFlag> flags;
  const NetworkModel::Values& network = cluster.network.values();
  if (cluster.hosts.count() > 1 && !network.remote) {
    flags.push_back({"/network/remote", "no_remote_costs",
                     std::to_string(cluster.hosts.count()) +
                         " hosts, but no costs of messages between them: they are taken to be those inside a host"});
  }
  if (cluster.kernels.empty())
    flags.push_back({"/kernels", "no_kernels", "no kernel has a model: all computation is free"});
  for (const auto& [name, model] : cluster.kernels) doubt_kernel(name, model, flags);
  if (const auto flag = formula_flag(cluster)) flags.push_back({"/kernels/dgemm", flag->flag, flag->detail});
  if (const double detours = most_share(cluster.detours); detours > much_for_detours)
    flags.push_back({"/detours", "much_for_detours",
                     "they take " + shortest(std::round(1000 * detours) / 10) +
                         " % of the time of a core: were they measured beside other programs?"});
  doubt_costs("/network/local", network.local, flags);
  if (network.remote) doubt_costs("/network/remote", *network.remote, flags);
  return flags;
}

std::vector<QualityFlag> missing_kernels(const ClusterModel& cluster) {
  std::vector<QualityFlag> flags;
  for (const char* kernel : {"dgemm", "dtrsm", "dlacpy"}) {
    if (cluster.kernels.count(kernel) == 0)
      flags.push_back({std::string("/kernels/") + kernel, "no_model", "no model: every call of it is free"});
  }
  const bool swaps = std::any_of(cluster.kernels.begin(), cluster.kernels.end(),
                                 [](const auto& entry) { return entry.first.compare(0, 6, "dlaswp") == 0; });
  if (!swaps) flags.push_back({"/kernels", "no_model", "no model of any dlaswp: swapping rows is free"});
  return flags;
}

std::vector<Problem> cluster_problems(std::istream& in, const std::string& name) {
  std::vector<Problem> problems;
  try {
    const detail::Json json = detail::parse_json(in, name);
    detail::Node(json, name).object();
    problems = detail::schema_problems(json);
    if (!problems.empty()) return problems;
    std::istringstream again(json.dump());
    const ClusterModel cluster = read_cluster(again, name);
    for (const auto& flags : {doubts(cluster), missing_kernels(cluster)})
      for (const QualityFlag& doubt : flags) problems.push_back({false, doubt.subject, doubt.detail, ""});
  } catch (const ParseError& error) {
    problems.push_back({true, error.location().field, error.what(), ""});
  }
  return problems;
}

}  // namespace hplcast::core
