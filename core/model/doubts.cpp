#include "hplcast/core/doubts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/cluster_json/cluster_pieces.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

/// Two measurements of one network agree no better: rates of single messages and capacities are of different programs.
constexpr double worth_telling = 1.05;

/// Buffers on the way (sockets, cards, shapers) take in shorter messages faster than the link carries them, and no link
/// is filled with these.
constexpr double short_message_bytes = 65536;

std::string a_single(const SingleFlow& flow) {
  return printed("a single %s of %.0f bytes goes at ", flow.is_panel ? "panel" : "message", flow.size_bytes) +
         rate_text(flow.bytes_per_s);
}

/// Upper limit of the capacity.
double most_bytes_per_s(const ScopeModel& scope) {
  const double high = scope.capacity ? scope.capacity->high_bytes_per_s : 0;
  return std::max(scope.link_bytes_per_s(), high);
}

/// Whether a model has messages of this scope at all: a machine of one host has no remote ones.
bool exists(const NetworkModel& network, Scope which) {
  return which == Scope::local || network.values().remote.has_value();
}

}  // namespace

std::optional<SingleFlow> fastest_flow(const ScopeModel& scope) {
  std::optional<SingleFlow> fastest;
  for (const bool is_panel : {false, true}) {
    const SegmentedLaw& transfer = scope.transfer(is_panel);
    const std::vector<Segment>& segments = transfer.segments();
    const auto look_at = [&](double size_bytes) {
      const double mean_s = transfer.mean_s(size_bytes);
      if (size_bytes < short_message_bytes || !(mean_s > 0)) return;
      const double rate = (size_bytes + smpi_envelope_bytes) / mean_s;
      if (!fastest || rate > fastest->bytes_per_s) fastest = SingleFlow{size_bytes, rate, is_panel};
    };
    // Between its ends the rate of a segment rises or falls all the way.
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const bool last = i + 1 == segments.size();
      const double begin = std::max(segments[i].min_bytes, short_message_bytes);
      const double end = last ? scope.max_bytes : segments[i + 1].min_bytes - 1;
      const double measured_end = scope.max_bytes > 0 ? std::min(end, scope.max_bytes) : end;
      if (scope.max_bytes <= 0 || begin <= scope.max_bytes) look_at(begin);
      if (measured_end >= begin) look_at(measured_end);
    }
  }
  return fastest;
}

std::optional<QualityFlag> capacity_below_rate(const NetworkModel& network, Scope which) {
  if (!exists(network, which)) return std::nullopt;
  const ScopeModel& scope = network.scope(which);
  if (!link_limit(scope, which).is_shared) return std::nullopt;
  const std::optional<SingleFlow> fastest = fastest_flow(scope);
  if (!fastest || fastest->bytes_per_s <= worth_telling * most_bytes_per_s(scope)) return std::nullopt;
  const Topology& topology = network.values().topology;
  std::string links = scope.capacity ? "the capacity" : "the bandwidth of the link";
  if (which == Scope::remote && has_shared_links(topology))
    links += std::string(" of each link of the ") + kind_of(topology);
  return QualityFlag{to_string(which), "capacity_below_rate",
                     a_single(*fastest) + ", but " + links + " is " + rate_text(scope.link_bytes_per_s()) +
                         ": in the simulation no message goes faster than that"};
}

std::optional<QualityFlag> slow_backbone(const NetworkModel& network) {
  const Backbone* backbone = backbone_of(network.values().topology);
  if (!network.values().remote || backbone == nullptr) return std::nullopt;
  const std::optional<SingleFlow> fastest = fastest_flow(network.scope(Scope::remote));
  if (!fastest || fastest->bytes_per_s <= worth_telling * backbone->bandwidth_bytes_per_s) return std::nullopt;
  return QualityFlag{
      "topology", "slow_backbone",
      a_single(*fastest) + ", but the backbone that all hosts share has " + rate_text(backbone->bandwidth_bytes_per_s)};
}

std::optional<QualityFlag> capacity_unknown(const NetworkModel& network, Scope which) {
  if (!exists(network, which) || network.scope(which).capacity) return std::nullopt;
  if (which == Scope::local)
    return QualityFlag{to_string(which), "capacity_unknown",
                       "the capacity for several messages inside a host was not measured: it is assumed that they "
                       "do not slow each other down"};
  return QualityFlag{to_string(which), "capacity_unknown",
                     "the capacity of the link of a host was not measured: it is assumed to be the bandwidth of a "
                     "single flow, " +
                         rate_text(network.scope(which).link_bytes_per_s())};
}

std::vector<QualityFlag> contradictions(const NetworkModel& network) {
  std::vector<QualityFlag> doubts;
  for (const auto& doubt : {capacity_below_rate(network, Scope::local), capacity_below_rate(network, Scope::remote),
                            slow_backbone(network)}) {
    if (doubt) doubts.push_back(*doubt);
  }
  return doubts;
}

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

/// `field`: "/kernels/dgemm".
void doubt_kernel(const std::string& field, const KernelModel& model, std::vector<QualityFlag>& flags) {
  const std::vector<KernelShape> shapes = corners(model);
  const auto cost_s = [&](const KernelShape& shape) { return model.cluster_law().at(shape).mu()(shape); };
  const bool ever_positive = std::any_of(shapes.begin(), shapes.end(), [&](const auto& s) { return cost_s(s) > 0; });
  if (!ever_positive) {
    flags.push_back({field + "/mu", "never_positive", "no size of this kernel takes time: its calls cost nothing"});
    return;
  }
  // Where a fit comes out below zero for its smallest calls, nothing is lost; for its largest, it is wrong.
  if (cost_s(shapes.back()) <= 0)
    flags.push_back({field + "/mu", "negative_for_large", "the largest calls take no time: their mu is negative"});
}

void doubt_costs(const std::string& field, const ScopeModel& scope, std::vector<QualityFlag>& flags) {
  const auto look_at = [&](const SegmentedLaw& law, const std::string& name) {
    const std::vector<Segment>& segments = law.segments();
    for (std::size_t s = 0; s < segments.size(); ++s) {
      const Segment& one = segments[s];
      const double first_s = one.intercept_s + one.slope_s_per_byte * one.min_bytes;
      const bool falls = one.slope_s_per_byte < 0 && s + 1 == segments.size();
      if (!one.modes.empty() || (first_s >= 0 && !falls)) continue;
      flags.push_back({field + name + "/" + std::to_string(s), "negative_cost",
                       falls ? "slope_s_per_byte is negative in the last segment: long messages cost nothing"
                             : "the cost is negative for the smallest messages: it is simulated as 0"});
    }
  };
  for (std::size_t i = 0; i < message_cost_count; ++i)
    look_at(scope.costs[i], std::string("/operations/") + message_cost_names[i]);
  if (scope.panels) look_at(*scope.panels, "/panels");
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

namespace {

/// dgemm of a design is measured on all ranks of a host at once. What turbo and memory leave to more was not seen.
std::optional<QualityFlag> more_ranks_than_measured(const ClusterModel& cluster) {
  const double measured = number_at(parse_json<nlohmann::json>(cluster.provenance), "/ranks_per_host");
  const int ranks = cluster.hosts.most_cores();
  if (measured <= 0 || ranks <= measured) return std::nullopt;
  return QualityFlag{"/kernels", "more_ranks_than_measured",
                     "kernels were measured with " + shortest(measured) + " busy ranks per host, and the model has " +
                         std::to_string(ranks) + ": with more of them each may be slower (turbo, memory)"};
}

}  // namespace

std::vector<QualityFlag> doubts(const ClusterModel& cluster) {
  std::vector<QualityFlag> flags;
  if (const auto flag = more_ranks_than_measured(cluster)) flags.push_back(*flag);
  for (QualityFlag& flag : implausible(cluster)) flags.push_back(std::move(flag));
  const NetworkModel::Values& network = cluster.network.values();
  if (cluster.hosts.count() > 1 && !network.remote)
    flags.push_back({"/network/remote", "no_remote_costs",
                     std::to_string(cluster.hosts.count()) +
                         " hosts, but no costs of messages between them: they are taken to be those inside a host"});
  const auto has_kernels = [&](int host) {
    const auto dgemm = cluster.kernels.find("dgemm");
    return dgemm != cluster.kernels.end() && !dgemm->second.law(host, 0).pieces().front().law.mu().empty();
  };
  std::set<int> kinds;
  for (int host = 0; cluster.hosts.has_kinds() && host < cluster.hosts.count(); ++host) {
    const int kind = cluster.hosts.kind_of(host);
    if (kinds.insert(kind).second && !has_kernels(host))
      flags.push_back(
          {"/kernels/dgemm", "no_model", "no model for the hosts of kind " + cluster.hosts.kind_name(kind)});
  }
  if (cluster.kernels.empty())
    flags.push_back({"/kernels", "no_kernels", "no kernel has a model: all computation is free"});
  for (const auto& [name, model] : cluster.kernels) doubt_kernel("/kernels/" + name, model, flags);
  if (cluster.program) {
    for (const auto& [name, model] : cluster.program->routines) doubt_kernel("/program/routines/" + name, model, flags);
    for (const auto& [name, region] : cluster.program->regions)
      if (region.mode == RegionMode::model && !is_stretch(name))
        doubt_kernel("/program/regions/" + name, region.model, flags);
  }
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
  for (const char* kernel : {"dgemm", "dtrsm", "dlacpy"})
    if (cluster.kernels.count(kernel) == 0)
      flags.push_back({std::string("/kernels/") + kernel, "no_model", "no model: every call of it is free"});
  const bool swaps = std::any_of(cluster.kernels.begin(), cluster.kernels.end(),
                                 [](const auto& entry) { return entry.first.compare(0, 6, "dlaswp") == 0; });
  if (!swaps) flags.push_back({"/kernels", "no_model", "no model of any dlaswp: swapping rows is free"});
  return flags;
}

std::vector<Problem> cluster_problems(std::istream& in, const std::string& name, std::optional<ClusterModel>* found) {
  std::vector<Problem> problems;
  try {
    const detail::Json json = detail::parse_json(in, name);
    detail::Node(json, name).object();
    problems = detail::schema_problems(json);
    if (!problems.empty()) return problems;
    const ClusterModel cluster = read_cluster(TextStream(json_text(json)), name);
    for (const auto& flags : {doubts(cluster), missing_kernels(cluster)})
      for (const QualityFlag& doubt : flags) problems.push_back({false, doubt.subject, doubt.detail, ""});
    if (found != nullptr) *found = cluster;
  } catch (const ParseError& error) {
    problems.push_back({true, error.location().field, error.what(), ""});
  }
  return problems;
}

Usability usability_with(const QualityFlag& flag) {
  if (flag.flag == "oversubscribed" || flag.flag == "no_fit") return Usability::unusable;
  if (flag.flag == "too_few_repetitions" && flag.subject == "dgemm") return Usability::unusable;
  if (flag.flag == "capacity_unknown" || flag.flag == "capacity_lower_bound") return Usability::usable;
  return Usability::doubtful;
}

Verdict verdict_on(const std::vector<QualityFlag>& flags) {
  Verdict verdict;
  for (const QualityFlag& flag : flags) verdict.usability = std::max(verdict.usability, usability_with(flag));
  if (verdict.usability == Usability::usable) return verdict;
  for (const QualityFlag& flag : flags)
    if (usability_with(flag) == verdict.usability) verdict.reasons.push_back(flag);
  return verdict;
}

std::string to_string(const Verdict& verdict) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> subjects;
  for (const QualityFlag& flag : verdict.reasons) {
    if (subjects.count(flag.flag) == 0) order.push_back(flag.flag);
    subjects[flag.flag].push_back(flag.subject);
  }
  std::string text = to_string(verdict.usability);
  for (std::size_t i = 0; i < order.size(); ++i) {
    text += i == 0 ? " because of " : i + 1 < order.size() ? ", " : " and ";
    text += order[i] + " (" + comma_separated(subjects[order[i]]) + ")";
  }
  return text;
}

std::vector<QualityFlag> recorded_flags(const ClusterModel& cluster) {
  std::vector<QualityFlag> flags;
  const auto recorded = parse_json<nlohmann::json>(cluster.provenance).value("quality_flags", nlohmann::json::array());
  const auto text = [](const nlohmann::json& flag, const char* key) {
    return flag.contains(key) && flag.at(key).is_string() ? flag.at(key).get<std::string>() : std::string("unknown");
  };
  for (const nlohmann::json& flag : recorded)
    if (flag.is_object()) flags.push_back({text(flag, "subject"), text(flag, "flag"), text(flag, "detail")});
  return flags;
}

std::vector<std::string> model_doubts(const ClusterModel& cluster) {
  std::vector<std::string> lines;
  const std::vector<QualityFlag> recorded = recorded_flags(cluster);
  for (const QualityFlag& flag : recorded)
    if (usability_with(flag) != Usability::usable)
      lines.push_back(flag.subject + ": " + flag.flag + ": " + flag.detail);
  for (const QualityFlag& doubt : doubts(cluster)) {
    const auto is_this = [&](const QualityFlag& flag) {
      return flag.flag == doubt.flag && flag.detail == doubt.detail;
    };
    if (std::none_of(recorded.begin(), recorded.end(), is_this)) lines.push_back(doubt.subject + ": " + doubt.detail);
  }
  return lines;
}

}  // namespace hplcast::core
