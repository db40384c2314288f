#include "hplcast/fit/campaign.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fit/campaign/campaign_steps.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/hpl_kernels.hpp"
#include "hplcast/fit/pair_topology.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::fit {

namespace {

/// The measurements of a campaign, read. Memory grows with the calls of designs, and not with those of HPL.
struct CampaignRows {
  std::map<std::string, KernelTable> kernels;                  ///< all calls by kernel
  std::map<std::string, int> kind_of_host;                     ///< if there are kinds: by the name of the host
  std::map<std::string, std::map<int, KernelTable>> of_kinds;  ///< likewise: calls by kernel and kind
  std::vector<core::KernelMeasurement> designed;               ///< those of designs that count
  std::map<std::string, KernelTable> of_fewer_ranks;           ///< HPL's calls by kernel (is_of_fewer_ranks())
  std::map<std::string, KernelTable> aliased;                  ///< likewise (is_aliased())
  std::map<std::string, KernelTable> empty;                    ///< likewise, by dgemm_empty (is_empty())
  PairedCalls pairs_of_dgemm;
  std::vector<core::MpiMeasurement> messages;  ///< all rows
  std::string thresholds_name, thresholds;     ///< JSON; empty: not measured
  std::vector<PairMeasurement> pairs;          ///< of hosts
  std::vector<CpuMessage> between_cpus;
  ControlCurve control;
  std::vector<std::string> notes;
};

/// Calls that were measured while the control is well above its median are set aside, but of kernels that it keeps; all
/// others are taken to its median.
void add_kernels(const std::string& name, const std::string& text, const std::vector<MeasuredHost>& hosts,
                 CampaignRows& rows) {
  core::read_kernel_csv(core::TextStream(text), name, "dgemm", [&](core::KernelMeasurement row) {
    if (is_of_columns(row) || (is_empty(row) && !row.error.empty())) return;
    if (is_empty(row))
      return rows.empty[row.kernel].add(row.shape, row.duration_s / rows.control.slowdown(row.host, row.start_s));
    const bool in_pair = is_alone(row) || is_beside(row);  // no kernel of its own
    if (rows.control.sets_aside(name, row.kernel, row.host, row.start_s))
      return rows.kernels[in_pair ? "dgemm" : row.kernel].set_aside("the control was above 1.1 times the median");
    row.duration_s /= rows.control.slowdown(row.host, row.start_s);
    if (in_pair) {
      auto& calls = is_alone(row) ? rows.pairs_of_dgemm.alone : rows.pairs_of_dgemm.beside;
      row.kernel = "dgemm";
      if (reason_to_set_aside(row).empty()) calls.push_back(std::move(row));
      return;
    }
    if (is_aliased(row)) return add_row(row, rows.aliased[row.kernel]);
    if (is_of_fewer_ranks(hosts, row)) return add_row(row, rows.of_fewer_ranks[row.kernel]);
    rows.control.count(row.host, row.start_s, row.duration_s);
    add_row(row, rows.kernels[row.kernel]);
    const auto kind = rows.kind_of_host.find(row.host);
    if (kind != rows.kind_of_host.end()) add_row(row, rows.of_kinds[row.kernel][kind->second]);
    if (is_designed(row) && reason_to_set_aside(row).empty()) rows.designed.push_back(row);
  });
}

/// Calls that are kept apart count for kernels that have few others. `runs`: those that they are of.
void take_where_few(std::map<std::string, KernelTable>& apart, const std::string& runs, CampaignRows& rows) {
  for (auto& [kernel, table] : apart) {
    KernelTable& all = rows.kernels[kernel];
    if (all.rows() >= static_cast<long>(few_calls) || all.rows() >= table.rows()) {
      all.set_aside("of " + runs, table.rows());
    } else {
      std::swap(all, table);
      rows.notes.push_back(kernel + ": measured in " + runs);
    }
  }
}

CampaignRows read_rows(const Campaign& campaign, const core::Hosts& hosts) {
  CampaignRows rows;
  for (int host = 0; hosts.has_kinds() && host < hosts.count(); ++host)
    rows.kind_of_host[hosts.names()[static_cast<std::size_t>(host)]] = hosts.kind_of(host);
  rows.control = ControlCurve(campaign.controls, core::campaign_control_file);
  for (const auto& [name, text] : campaign.measurements) {
    if (core::ends_with(name, ".json")) {
      rows.thresholds_name = name;
      rows.thresholds = text;
      continue;
    }
    for (const std::string& kernel : rows.control.keep_mostly_disturbed(text, name))
      rows.notes.push_back("control: most rows of " + name + (kernel.empty() ? "" : " (" + kernel + ")") +
                           " were measured while it was above 1.1 times the median: they count nevertheless");
    if (core::ends_with(name, "-pairs.csv")) {
      rows.pairs = read_pairs(core::TextStream(text), name);
    } else if (core::ends_with(name, "-rails.csv") || core::ends_with(name, "-rails-together.csv")) {
      read_cpu_messages(core::TextStream(text), name, campaign.cpu_of_rank, rows.between_cpus);
    } else if (is_mpi(name, text)) {
      core::read_mpi_csv(core::TextStream(text), name, "", [&](const core::MpiMeasurement& row) {
        if (campaign.idle_messages && row.background != "none" && !row.background.empty()) return;
        if (!rows.control.sets_aside(name, "", row.host, row.start_s)) rows.messages.push_back(row);
      });
    } else {
      add_kernels(name, text, campaign.hosts, rows);
    }
  }
  if (!rows.control.is_empty()) rows.notes.insert(rows.notes.begin(), rows.control.note());
  take_where_few(rows.aliased, "runs with columns a multiple of 4096 bytes apart", rows);
  take_where_few(rows.of_fewer_ranks, "runs with fewer ranks on the host than the campaign has", rows);
  return rows;
}

/// Cores with ranks of these hosts, in the order of the local ranks. `Shape`: Hosts::Values or HostKind.
template <typename Shape>
void take_cores(const std::vector<MeasuredHost>& measured, Shape& values) {
  values.cores = 0;
  for (const MeasuredHost& host : measured) {
    values.memory_bytes =
        values.memory_bytes > 0 ? std::min(values.memory_bytes, host.memory_bytes) : host.memory_bytes;
    if (static_cast<int>(host.rank_cpus.size()) <= values.cores) continue;
    values.cores = static_cast<int>(host.rank_cpus.size());
    values.rank_to_cpu = {core::RankToCpu::Kind::list, {}};
    for (const int cpu : host.rank_cpus) values.rank_to_cpu.list.push_back(cpu_in_model(host, cpu));
    values.cpus = 1 + *std::max_element(values.rank_to_cpu.list.begin(), values.rank_to_cpu.list.end());
  }
  if (values.cpus == 1) values.rank_to_cpu = {};
}

/// Hosts by kind: those that were named, and among the rest those of other numbers of ranks than most have.
std::map<std::string, std::vector<MeasuredHost>> kinds_of(const Campaign& campaign) {
  std::map<std::string, std::vector<MeasuredHost>> kinds;
  std::map<std::size_t, std::vector<MeasuredHost>> by_ranks;
  for (const MeasuredHost& host : campaign.hosts) {
    const auto has_it = [&](const auto& kind) {
      return std::find(kind.second.begin(), kind.second.end(), host.name) != kind.second.end();
    };
    const auto named = std::find_if(campaign.kinds.begin(), campaign.kinds.end(), has_it);
    (named != campaign.kinds.end() ? kinds[named->first] : by_ranks[host.rank_cpus.size()]).push_back(host);
  }
  const auto most = std::max_element(by_ranks.begin(), by_ranks.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  for (auto one = by_ranks.begin(); one != by_ranks.end(); ++one)
    if (one != most) kinds[std::to_string(one->first) + "-ranks"] = one->second;
  return kinds;
}

core::Hosts hosts_of(const Campaign& campaign) {
  core::Hosts::Values values;
  values.names.clear();
  std::vector<MeasuredHost> others = campaign.hosts;
  for (const MeasuredHost& host : campaign.hosts) values.names += (values.names.empty() ? "" : ",") + host.name;
  for (const auto& [name, hosts] : kinds_of(campaign)) {
    core::HostKind& kind = values.kinds.emplace_back();
    kind.name = name;
    for (const MeasuredHost& host : hosts) {
      kind.hosts += (kind.hosts.empty() ? "" : ",") + host.name;
      const auto same = [&](const MeasuredHost& other) { return other.name == host.name; };
      others.erase(std::remove_if(others.begin(), others.end(), same), others.end());
    }
    take_cores(hosts, kind);
  }
  take_cores(others.empty() ? campaign.hosts : others, values);
  values.threads_per_rank = campaign.threads_per_rank;
  return core::Hosts::make(values);
}

/// Every kind of hosts has laws of its own, as far as its calls say them.
void fit_kinds(const CampaignRows& rows, CampaignFit& fit) {
  const core::Hosts& hosts = fit.cluster.hosts;
  for (const auto& [kernel, kinds] : rows.of_kinds) {
    KernelFit& all = fit.kernels.at(kernel);
    const std::optional<core::ShapeRange> range = all.model.range();  // of all kinds
    std::vector<core::CpuLaw> laws;
    for (const auto& [kind, table] : kinds) {
      KernelFit one = fit_hpl_kernel(kernel, table);
      if (!one.ok()) {
        fit.notes.push_back(kernel + ": the hosts of kind " + hosts.kind_name(kind) +
                            " have the law of all: " + one.reason);
      } else if (kind == core::Hosts::no_kind) {
        all = std::move(one);
      } else {
        for (int host = 0; host < hosts.count(); ++host)
          for (int cpu = 0; hosts.kind_of(host) == kind && cpu < hosts.cpus_of(host); ++cpu)
            laws.push_back({host, cpu, one.model.cluster_law()});
      }
    }
    const core::KernelModel& model = all.model;
    fit.cluster.kernels[kernel] =
        core::KernelModel::make(model.level(), model.cluster_law(), std::move(laws), range, model.quality());
  }
}

void fit_kernels(const CampaignRows& rows, CampaignFit& fit) {
  if (rows.kernels.empty()) throw core::InputError("the campaign has measured no kernels");
  for (const auto& [kernel, table] : rows.kernels) {
    if (!core::kernel_from_name(kernel))
      throw core::InputError("the campaign has calls of `" + kernel + "`; expected kernels of HPL");
    KernelFit one = fit_hpl_kernel(kernel, table);
    if (!one.ok())
      throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit of " + kernel + ": " + one.reason);
    if (const auto fewer = rows.of_fewer_ranks.find(kernel); fewer != rows.of_fewer_ranks.end() && one.model.range())
      one.model = widened(one.model, fewer->second);
    fit.cluster.kernels.emplace(kernel, one.model);
    fit.kernels.emplace(kernel, std::move(one));
  }
  if (fit.cluster.kernels.count("dgemm") == 0)
    throw core::Error(core::ExitCode::no_acceptable_fit, "the campaign has no calls of dgemm");
}

/// A BLAS that returns at once has none.
void add_empty_calls(const CampaignRows& rows, CampaignFit& fit) {
  constexpr double at_once_s = 1e-6;  // the clock takes a twentieth of it
  for (const auto& [name, table] : rows.empty) {
    const double mean_s = table.total_s() / static_cast<double>(table.rows());
    if (table.rows() < static_cast<long>(few_calls) || mean_s < at_once_s) continue;
    const std::string kernel = name.substr(0, name.size() - std::string_view(HPLCAST_EMPTY_CALLS).size());
    fit.cluster.empty_call_s[kernel] = mean_s;
    fit.notes.push_back(
        core::printed("%s: calls without work (a size of 0) take %.1f us", kernel.c_str(), 1e6 * mean_s));
  }
}

void add_cpu_laws(const std::vector<MeasuredHost>& hosts, const CampaignRows& rows, CampaignFit& fit) {
  std::map<std::string, TablesByCpu> kernels;
  for (const core::KernelMeasurement& row : rows.designed) {
    const std::size_t host = index_of(hosts, row.host);
    if (host == hosts.size()) continue;
    const CpuPlace place{static_cast<int>(host), cpu_in_model(hosts[host], row.cpu)};
    if (place.second < fit.cluster.hosts.cpus_of(place.first)) add_row(row, kernels[row.kernel][place]);
  }
  for (const auto& [kernel, tables] : kernels) {
    std::vector<std::string> notes;
    core::KernelModel& model = fit.cluster.kernels.at(kernel);
    model = with_cpu_laws(
        model, tables,
        [&name = kernel](const CpuPlace&, const KernelTable& table) { return fit_hpl_kernel(name, table); }, notes);
    for (const std::string& note : notes) fit.notes.push_back(kernel + ": " + note);
  }
}

/// One rank sends no messages; a model must have a network nevertheless.
NetworkFit network_of_one_rank() {
  core::NetworkModel::Values values;
  values.local.bandwidth_bytes_per_s = 1e10;
  values.local.latency_s = 1e-6;
  NetworkFit fit;
  fit.status = NetworkStatus::ok;
  fit.model = core::NetworkModel::make(values);
  fit.notes.push_back("no network was measured: the model is good for HPL on one process only");
  return fit;
}

NetworkFit fit_messages(const Campaign& campaign, const CampaignRows& rows) {
  if (rows.messages.empty()) {
    if (campaign.hosts.size() == 1 && campaign.hosts.front().rank_cpus.size() <= 1) return network_of_one_rank();
    throw core::Error(
        core::ExitCode::no_acceptable_fit,
        campaign.idle_messages
            ? "the campaign has no messages of idle ranks\n  hint: its step `mpi` measures some unless it "
              "says another `background`"
            : "the campaign has no step `mpi`, so that there is no network to fit");
  }
  NetworkFitOptions options;
  options.means = true;
  options.noise = SegmentNoiseKind::mixture;
  if (!rows.thresholds.empty()) set_thresholds(core::TextStream(rows.thresholds), rows.thresholds_name, options);
  NetworkFit fit = fit_network(rows.messages, options);
  std::map<std::string, bool> loaded;  // by scope
  for (const core::MpiMeasurement& row : rows.messages) loaded[row.scope] = loaded[row.scope] || is_loaded(row);
  for (const auto& [scope, any] : loaded)
    if (!any)
      fit.flags.push_back({"network", "idle_messages",
                           "all " + scope +
                               " messages were measured while the other ranks were idle; those of HPL, which computes "
                               "and polls meanwhile (background dgemm+iprobe), take longer"});
  if (!fit.ok()) throw core::Error(core::ExitCode::no_acceptable_fit, "no network model: " + fit.reason);
  return fit;
}

using Flags = std::vector<QualityFlag>;
using Calls = std::map<std::string, std::vector<RelativeCall>>;

void flag_calls(Calls calls, Flags& flags) {
  for (auto& [subject, list] : calls)
    for (QualityFlag& flag : quality_flags(subject, std::move(list))) flags.push_back(std::move(flag));
}

/// Calls of designs only: those of HPL have sizes that change with time.
Calls designed_calls(const Campaign& campaign, const CampaignRows& rows, const core::ClusterModel& cluster) {
  Calls calls;
  for (const core::KernelMeasurement& row : rows.designed) {
    const double expected = expected_s(cluster, campaign.hosts, row);
    if (expected > 0) calls[row.kernel].push_back({row.start_s, row.duration_s / expected});
  }
  return calls;
}

/// A machine that changed while it was measured changes afterwards, too: by as much again, as a random walk does in as
/// much time.
void add_drift(const Calls& calls, std::optional<core::Uncertainty>& uncertainty) {
  const auto dgemm = calls.find("dgemm");
  if (!uncertainty || dgemm == calls.end()) return;
  const double change = relative_drift(dgemm->second);
  if (change != 0) uncertainty->drift = core::EstimatedSd{std::abs(std::log1p(change)), 0};
}

/// Kernels that only HPL called can be judged only by their number of calls.
void flag_few_calls(const CampaignRows& rows, Flags& flags) {
  for (const auto& [kernel, table] : rows.kernels) {
    const auto same = [name = &kernel](const core::KernelMeasurement& row) { return row.kernel == *name; };
    if (table.rows() < static_cast<long>(few_calls) && std::none_of(rows.designed.begin(), rows.designed.end(), same))
      flags.push_back({kernel, "too_few_repetitions", std::to_string(table.rows()) + " calls in the runs of HPL"});
  }
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

/// Share of the messages between hosts whose hosts are of different groups.
double share_apart(const std::vector<core::MpiMeasurement>& messages, const PairTopology& found) {
  std::map<std::string, std::size_t> group;
  for (std::size_t g = 0; g < found.groups.size(); ++g)
    for (const std::string& host : found.groups[g]) group[host] = g;
  double all = 0, apart = 0;
  for (const core::MpiMeasurement& row : messages) {
    if (row.scope != "remote" || group.count(row.host) == 0 || group.count(row.peer) == 0) continue;
    ++all;
    apart += group[row.host] == group[row.peer] ? 0 : 1;
  }
  return all > 0 ? apart / all : 0;
}

/// Groups of hosts from the latencies of all pairs become the topology; slow hosts and pairs are told.
void add_topology(const CampaignRows& rows, CampaignFit& fit) {
  if (rows.pairs.empty()) return;
  const PairTopology found = fit_pair_topology(rows.pairs);
  std::string text = "one switch explains the latencies";
  bool carried = true;
  if (found.groups.size() > 1) {
    text = std::to_string(found.groups.size()) + " groups of hosts (";
    for (const auto& group : found.groups)
      text += (group == found.groups.front() ? "" : ", ") + core::counted(group.size(), "host");
    text += core::printed("), %.3g us inside, %.3g us between them", 1e6 * found.within_s, 1e6 * found.between_s);
    try {
      fit.cluster = with_groups(fit.cluster, found, share_apart(rows.messages, found));
    } catch (const core::InputError&) {  // ranks of one host, or another list of hosts
      carried = false;
    }
  }
  const std::string slow = core::joined(found.slow_hosts, ", ", [](const SlowHost& one) { return one.host; });
  if (!slow.empty()) text += "; slow to all others: " + slow;
  if (!found.slow_pairs.empty()) text += "; " + std::to_string(found.slow_pairs.size()) + " slow pairs";
  fit.notes.push_back("topology: " + text + " (`fit topology` has the details)");
  if (!carried)
    fit.flags.push_back(
        {"topology", "hosts_differ", text + "; the model has one latency for all, as these are not its hosts"});
  else if (!slow.empty() || !found.slow_pairs.empty())
    fit.flags.push_back({"topology", "hosts_differ", text + "; the model has the groups, but no slow hosts or pairs"});
}

/// Cards of the hosts, and which CPUs are near them.
void add_rails(const CampaignRows& rows, CampaignFit& fit) {
  if (rows.between_cpus.empty()) return;
  const RailsFit found = fit_rails(rows.between_cpus);
  fit.cluster.network = with_rails(fit.cluster.network, found);
  fit.notes.push_back("rails: " + found.text);
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

/// Doubts about measurements and models, beside those that the network fit has: few calls, drift, several modes, sizes
/// that were not measured.
Flags flags_of(const Campaign& campaign, const CampaignRows& rows, const core::ClusterModel& cluster, Calls designed) {
  Flags flags;
  if (const auto flag = core::formula_flag(cluster)) flags.push_back(*flag);
  flag_calls(std::move(designed), flags);
  flag_few_calls(rows, flags);
  flag_messages(rows, cluster.network, flags);
  if (campaign.must_cover) flag_range(cluster, *campaign.must_cover, flags);
  return flags;
}

using Json = nlohmann::ordered_json;

std::string provenance_of(const Campaign& campaign, const ControlCurve& control, const Json& alone,
                          const CampaignFit& fit) {
  Json json = core::parse_json<Json>(campaign.origin);
  if (!control.is_empty()) json["control"] = core::parse_json<Json>(control.provenance_json());
  if (!alone.is_null()) json["alone"] = alone;
  json["quality_flags"] = Json::array();
  for (const QualityFlag& flag : fit.flags) json["quality_flags"].push_back(HPLCAST_JSON(flag, subject, flag, detail));
  const core::Verdict verdict = core::verdict_on(fit.flags);
  json["verdict"] = {{"usability", core::to_string(verdict.usability)}, {"text", core::to_string(verdict)}};
  json["notes"] = fit.notes;
  return core::json_text(json);
}

std::string text_of(const core::CampaignArchive& archive, const std::string& path) {
  const auto found = archive.files.find(path);
  return found == archive.files.end() ? "" : found->second;
}

/// The time, place and software of the measurements: a JSON object for the provenance.
std::string origin_json(const core::CampaignArchive& archive) {
  Json json;
  json["campaign_file"] = text_of(archive, "campaign.yaml");
  const std::string start = text_of(archive, "start");
  if (!start.empty()) core::check_json(start, "start");
  json["start_unix_s"] = start.empty() ? Json() : core::parse_json<Json>(start);
  std::map<std::string, int> ranks;
  int most = 0;
  for (const core::RankPlace& place : archive.context.ranks) most = std::max(most, ++ranks[place.host]);
  json["ranks_per_host"] = most;
  json["surroundings"] = core::parse_json<Json>(archive.files.at(core::campaign_hosts_file));
  const std::string git = text_of(archive, "surroundings/git.txt");
  json["hplcast_commit"] = git.substr(0, git.find(' '));
  return core::json_text(json);
}

}  // namespace

Campaign campaign_of(const core::CampaignArchive& archive) {
  Campaign campaign;
  const std::vector<core::RankPlace>& ranks = archive.context.ranks;
  campaign.cpu_of_rank.resize(ranks.size());
  for (const core::MachineDescription& machine : archive.context.machines) {
    MeasuredHost host{machine.host, machine.memory_bytes, {}};
    for (const core::RankPlace& place : ranks)
      if (place.host == machine.host) host.rank_cpus.push_back(place.cpu);
    for (const core::RankPlace& place : ranks) {
      if (place.host != machine.host) continue;
      core::require(place.rank >= 0 && static_cast<std::size_t>(place.rank) < ranks.size(), "a rank in hosts.json",
                    place.rank, "numbers from 0 to that of the last of its " + std::to_string(ranks.size()) + " ranks");
      campaign.cpu_of_rank[static_cast<std::size_t>(place.rank)] = cpu_in_model(host, place.cpu);
    }
    campaign.hosts.push_back(std::move(host));
  }
  campaign.threads_per_rank = std::max(1, archive.context.software.blas_threads);
  campaign.measurements = archive.measurements;
  campaign.origin = origin_json(archive);
  campaign.doubts = archive.doubts;
  campaign.controls = text_of(archive, core::campaign_control_file);
  return campaign;
}

CampaignFit fit_campaign(const Campaign& campaign) {
  CampaignFit fit;
  fit.cluster.name = campaign.hosts.front().name;
  fit.cluster.hosts = hosts_of(campaign);
  const CampaignRows rows = read_rows(campaign, fit.cluster.hosts);
  fit_kernels(rows, fit);
  fit_kinds(rows, fit);
  add_empty_calls(rows, fit);
  add_cpu_laws(campaign.hosts, rows, fit);
  fit.network = fit_messages(campaign, rows);
  fit.cluster.network = fit.network.model;
  for (const std::string& note : fit.network.notes) fit.notes.push_back("network: " + note);
  add_group_errors(campaign, rows.designed, rows.messages, rows.control, fit);
  fit.notes.insert(fit.notes.end(), rows.notes.begin(), rows.notes.end());
  Calls designed = designed_calls(campaign, rows, fit.cluster);
  add_drift(designed, fit.cluster.uncertainty);
  fit.cluster.aliased = aliased_columns(campaign, rows.control, fit.cluster, fit.notes);
  const Json alone =
      core::parse_json<Json>(alone_json(campaign, rows.pairs_of_dgemm, rows.control, fit.cluster, fit.notes));
  fit.flags = campaign.doubts;
  core::append(fit.flags, flags_of(campaign, rows, fit.cluster, std::move(designed)));
  core::append(fit.flags, fit.network.flags);
  add_topology(rows, fit);
  add_rails(rows, fit);
  fit.cluster.provenance = provenance_of(campaign, rows.control, alone, fit);
  return fit;
}

}  // namespace hplcast::fit
