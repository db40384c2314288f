#include "hplcast/platforms/platform_xml.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <tuple>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/network_model.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "platforms/xml/xml_costs.hpp"

namespace hplcast::platforms {

namespace {

using core::ClusterModel;
using core::shortest;
using core::xml_escaped;

/// Speed of a core. Kernels take the time of their models; only the cost of a probe passes through it, and comes out
/// unchanged.
constexpr const char* core_speed = "1Gf";

/// A comment may not contain two hyphens in a row, nor end with one.
std::string comment(std::string text) {
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i] == '-' && text[i - 1] == '-') text[i] = '_';
  return "<!-- " + text + " -->\n";
}

std::string bandwidth(double bytes_per_s) {
  return shortest(bytes_per_s) + "Bps";
}
std::string latency(double s) {
  return shortest(s) + "s";
}

const core::ScopeModel& main_scope(const ClusterModel& cluster) {
  return cluster.network.scope(core::Scope::remote);
}

/// "pre-[1-3,7]suf" with numbers that are not padded: what SimGrid's <cluster> can name.
struct NumberedHosts {
  std::string prefix, radical, suffix;
};

std::optional<NumberedHosts> numbered_hosts(const core::Hosts& hosts) {
  const std::string& names = hosts.values().names;
  const std::size_t open = names.find('[');
  const std::size_t close = names.find(']');
  if (open == std::string::npos || close == std::string::npos || names.find('[', open + 1) != std::string::npos)
    return std::nullopt;
  NumberedHosts result{names.substr(0, open), names.substr(open + 1, close - open - 1), names.substr(close + 1)};
  const auto npos = std::string::npos;
  if (result.prefix.find(',') != npos || result.suffix.find(',') != npos) return std::nullopt;
  for (std::size_t i = 0; i + 1 < result.radical.size(); ++i) {
    const bool starts = i == 0 || std::isdigit(static_cast<unsigned char>(result.radical[i - 1])) == 0;
    const bool goes_on = std::isdigit(static_cast<unsigned char>(result.radical[i + 1])) != 0;
    if (starts && result.radical[i] == '0' && goes_on) return std::nullopt;
  }
  return result;
}

bool hosts_differ(const core::PowerModel& power) {
  const auto& overrides = power.values().overrides;
  return std::any_of(overrides.begin(), overrides.end(), [](const auto& one) { return one.host.has_value(); });
}

/// How fast a host is and what it draws, in all of its frequency states; a <cluster> has those of its first host.
struct HostStates {
  std::string speed = core_speed;
  std::string properties;
};

HostStates host_states(const ClusterModel& cluster, const std::string& indent, int host = 0) {
  if (!cluster.power) return {};
  const core::SimgridPstates states = core::simgrid_pstates(*cluster.power, cluster.hosts, host);
  HostStates result;
  for (std::size_t i = 1; i < states.speeds.size(); ++i) result.speed += "," + shortest(states.speeds[i]) + "Gf";
  result.properties = indent + "<prop id=\"wattage_per_state\" value=\"" + states.wattage_per_state + "\"/>\n" +
                      indent + "<prop id=\"wattage_off\" value=\"" + shortest(states.off_w) + "\"/>\n";
  return result;
}

void write_property(std::ostream& out, const std::string& name, const std::string& value) {
  out << "    <prop id=\"" << name << "\" value=\"" << value << "\"/>\n";
}

void write_config(std::ostream& out, const ClusterModel& cluster, const XmlSettings& more) {
  out << "  <config>\n";
  for (const auto& [name, value] : more) write_property(out, name, value);
  for (const auto& [name, value] : core::smpi_settings(cluster.network)) write_property(out, name, value);
  const XmlCosts costs = xml_costs(main_scope(cluster));
  write_property(out, "smpi/os", costs.os);
  write_property(out, "smpi/ois", costs.ois);
  write_property(out, "smpi/or", costs.overhead_recv);
  write_property(out, "smpi/bw-factor", costs.bw_factor);
  write_property(out, "smpi/lat-factor", costs.lat_factor);
  out << "  </config>\n";
}

/// Every host by name, each with a link of its own to the switch and one to itself.
void write_single_switch(std::ostream& out, const ClusterModel& cluster) {
  const core::ScopeModel& remote = main_scope(cluster);
  const core::ScopeModel& local = cluster.network.scope(core::Scope::local);
  out << "  <zone id=\"" << xml_escaped(cluster.name) << "\" routing=\"Cluster\">\n";
  for (int index = 0; index < cluster.hosts.count(); ++index) {
    const std::string host = xml_escaped(cluster.hosts.names()[static_cast<std::size_t>(index)]);
    const HostStates states = host_states(cluster, "      ", index);
    out << "    <host id=\"" << host << "\" speed=\"" << states.speed << "\" core=\"" << cluster.hosts.cores_of(index)
        << (states.properties.empty() ? "\"/>\n" : "\">\n" + states.properties + "    </host>\n");
    out << "    <link id=\"" << host << "_link\" bandwidth=\""
        << bandwidth(remote.link_bytes_per_s() * cluster.hosts.link_share_of(index)) << "\" latency=\""
        << latency(core::host_link_latency_s(cluster.network)) << "\" sharing_policy=\"SPLITDUPLEX\"/>\n";
    out << "    <link id=\"" << host << "_loopback\" bandwidth=\"" << bandwidth(local.link_bytes_per_s())
        << "\" latency=\"" << latency(local.latency_s) << "\" sharing_policy=\""
        << (local.capacity ? "SHARED" : "FATPIPE") << "\"/>\n";
    out << "    <host_link id=\"" << host << "\" up=\"" << host << "_link_UP\" down=\"" << host << "_link_DOWN\"/>\n";
  }
  if (const core::Backbone* backbone = core::backbone_of(cluster.network.values().topology))
    out << "    <backbone id=\"backbone\" bandwidth=\"" << bandwidth(backbone->bandwidth_bytes_per_s) << "\" latency=\""
        << latency(backbone->latency_s) << "\"/>\n";
  for (const std::string& name : cluster.hosts.names()) {
    const std::string host = xml_escaped(name);
    out << "    <route src=\"" << host << "\" dst=\"" << host << "\" symmetrical=\"NO\"><link_ctn id=\"" << host
        << "_loopback\"/></route>\n";
  }
  out << "  </zone>\n";
}

bool has_free_places(const ClusterModel& cluster, const core::FatTree& tree) {
  return tree.hosts() > static_cast<unsigned long>(cluster.hosts.count());
}

/// The name of a topology that SimGrid's <cluster> can say, or null.
const char* cluster_element_name(const ClusterModel& cluster) {
  return core::visit_topology(
      cluster.network.values().topology, [](const core::SingleSwitch&) -> const char* { return nullptr; },
      [](const core::HostGroups&) -> const char* { return nullptr; },
      [&](const core::FatTree& tree) { return has_free_places(cluster, tree) ? nullptr : "FAT_TREE"; },
      [](const core::Dragonfly&) { return "DRAGONFLY"; }, [](const core::Torus&) { return "TORUS"; });
}

void write_cluster_element(std::ostream& out, const ClusterModel& cluster, const char* topology_name) {
  const core::ScopeModel& remote = main_scope(cluster);
  const core::ScopeModel& local = cluster.network.scope(core::Scope::local);
  const core::Topology& topology = cluster.network.values().topology;
  const auto hosts = numbered_hosts(cluster.hosts);
  if (!hosts)
    throw core::DomainError("host names", cluster.hosts.values().names,
                            std::string("one bracket of numbers without padding, such as node-[1-32], for topology ") +
                                core::kind_of(topology));
  const HostStates states = host_states(cluster, "      ");
  out << "  <zone id=\"world\" routing=\"Full\">\n"
      << "    <cluster id=\"" << xml_escaped(cluster.name) << "\" prefix=\"" << xml_escaped(hosts->prefix)
      << "\" radical=\"" << hosts->radical << "\" suffix=\"" << xml_escaped(hosts->suffix) << "\" speed=\""
      << states.speed << "\" core=\"" << cluster.hosts.values().cores << "\" bw=\""
      << bandwidth(remote.link_bytes_per_s()) << "\" lat=\"" << latency(core::host_link_latency_s(cluster.network))
      << "\" loopback_bw=\"" << bandwidth(local.link_bytes_per_s()) << "\" loopback_lat=\"" << latency(local.latency_s)
      << "\" topology=\"" << topology_name << "\" topo_parameters=\"" << core::parameters_of(topology)
      << (states.properties.empty() ? "\"/>\n" : "\">\n" + states.properties + "    </cluster>\n") << "  </zone>\n";
}

}  // namespace

std::vector<std::string> platform_xml_losses(const ClusterModel& cluster) {
  const core::ScopeModel& local = cluster.network.scope(core::Scope::local);
  std::vector<std::string> losses;
  if (core::frequency_changes(cluster.power))
    losses.emplace_back("schedules and controllers of frequencies: they stay as they are at the begin");
  if (!cluster.detours.empty()) losses.emplace_back("detours: what SMPI spends in messages is not held up");
  if (cluster.network.values().late_probes)
    losses.emplace_back("late_probes: SMPI's MPI_Iprobe finds a message at the first call after it has come");
  if (const auto* tree = std::get_if<core::FatTree>(&cluster.network.values().topology))
    if (has_free_places(cluster, *tree))
      losses.emplace_back("topology: a fat tree whose last leaf switch has places left is a single switch");
  if (!core::has_static_routes(cluster.network.values().topology))
    losses.emplace_back("routing: routes are static, over all links");
  if (std::holds_alternative<core::HostGroups>(cluster.network.values().topology))
    losses.emplace_back("topology: messages between groups of hosts are as fast as inside of them");
  if (local.panels || cluster.network.scope(core::Scope::remote).panels)
    losses.emplace_back("panels: they cost what other messages do");
  if (cluster.network.values().rails) losses.emplace_back("rails: every host has one card, as near to all its CPUs");
  if (cluster_element_name(cluster) != nullptr && cluster.hosts.has_kinds())
    losses.emplace_back("kinds of hosts: all have as many cores as those of no kind; model.h has the kinds");
  if (cluster_element_name(cluster) != nullptr && cluster.power && hosts_differ(*cluster.power))
    losses.emplace_back("power: all hosts have the watts of the first");
  for (const SharingLoss& loss : sharing_losses(cluster)) losses.push_back(to_string(loss));
  if (local.capacity && cluster_element_name(cluster) != nullptr)
    losses.push_back(
        "local capacity: messages inside a host do not slow each other down (a <cluster> cannot say it): n "
        "at once get " +
        shortest(local.link_bytes_per_s() / 1e9) + " GB/s each, not together");
  if (cluster.network.values().remote) {
    core::append(losses, xml_cost_losses(main_scope(cluster), core::Scope::remote));
    core::append(losses, xml_scope_losses(local, main_scope(cluster)));
  }
  core::append(losses, xml_cost_losses(local, core::Scope::local));
  return losses;
}

void write_platform_xml(std::ostream& out, const ClusterModel& cluster, const XmlSettings& more) {
  out << "<?xml version=\"1.0\"?>\n"
      << "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      << comment("Made by hplcast from the cluster model " + cluster.name +
                 "; do not edit. Message costs: docs/internals/platform.md.");
  for (const std::string& loss : platform_xml_losses(cluster)) out << comment("Not carried: " + loss);
  out << "<platform version=\"4.1\">\n";
  write_config(out, cluster, more);
  if (const char* topology_name = cluster_element_name(cluster)) {
    write_cluster_element(out, cluster, topology_name);
  } else {
    write_single_switch(out, cluster);
  }
  out << "</platform>\n";
}

namespace {

/// A setting of <config>, or SMPI's default.
double setting(const PlatformFile& file, const std::string& name, double otherwise) {
  const auto found = file.settings.find(name);
  double value = otherwise;
  if (found != file.settings.end() && (!core::parse_double(found->second, value) || value < 0))
    throw core::ParseError(file.config, name + ": found `" + found->second + "`; expected a number from 0");
  return value;
}

/// A switch of <config>, in the words of SimGrid; on by default.
bool is_on(const PlatformFile& file, const std::string& name) {
  const auto found = file.settings.find(name);
  const std::string word = found == file.settings.end() ? "yes" : found->second;
  for (const auto& [on, off] : {std::pair("yes", "no"), {"on", "off"}, {"true", "false"}, {"1", "0"}})
    if (word == on || word == off) return word == on;
  throw core::ParseError(file.config, name + ": found `" + word + "`; expected yes or no");
}

core::Hosts hosts_of(const HostGroup& group, double widest) {
  core::Hosts::Values values;
  values.names = group.names;
  values.cores = 0;  // of the first host with the widest link
  std::map<std::pair<int, double>, std::string> kinds;
  for (const XmlHost& host : group.hosts) {
    const double share = widest > 0 ? host.link.bytes_per_s / widest : 1;
    if (values.cores == 0 && share == 1) values.cores = host.cores;
    std::string& names = kinds[{host.cores, share}];
    names += (names.empty() ? "" : ",") + host.name;
  }
  for (const auto& [kind, names] : kinds) {
    const auto [cores, share] = kind;
    const std::string name = std::to_string(cores) + "-cores-link-" + shortest(share);
    if (kind != std::pair(values.cores, 1.0)) values.kinds.push_back({name, names, cores, 1, {}, 0, share});
  }
  return core::Hosts::make(std::move(values));
}

/// Defaults are those of SMPI, measured between hosts with links of 1 Gbit/s.
XmlCosts costs_of(const PlatformFile& file) {
  const auto list = [&](const char* name, const char* other_name, const char* otherwise) -> std::string {
    for (const char* one : {name, other_name})
      if (file.settings.count(one) > 0) return file.settings.at(one);
    return otherwise;
  };
  return {list("smpi/os", "", "0:0:0"), list("smpi/ois", "", "0:0:0"), list("smpi/or", "", "0:0:0"),
          list("smpi/bw-factor", "network/bandwidth-factor",
               "65472:0.940694;15424:0.697866;9376:0.58729;5776:1.08739;3484:0.77493;1426:0.608902;732:0.341987;"
               "257:0.338112;0:0.812084"),
          list("smpi/lat-factor", "network/latency-factor",
               "65472:11.6436;15424:3.48845;9376:2.59299;5776:2.18796;3484:1.88101;1426:1.61075;732:1.9503;"
               "257:1.95341;0:2.01467")};
}

/// The hosts of a file; `between`: the way from a switch to another, if they are on several.
struct JoinedHosts {
  HostGroup group;
  double widest_bytes_per_s = 0;  ///< of the links of hosts
  std::optional<Wire> between;
};

/// Several groups as one: each is a switch whose backbone is part of the links of its hosts.
HostGroup merged(PlatformFile& file) {
  core::HostGroups numbers;
  HostGroup all = {file.id, {}, {}, {}, {}, file.groups.front().loopback, {}};
  const auto lose = [&](const HostGroup& one, const std::string& what) {
    file.losses.push_back("zone " + one.id + ": " + what);
  };
  for (HostGroup& one : file.groups) {
    if (!std::holds_alternative<core::SingleSwitch>(one.topology))
      lose(one, std::string(core::kind_of(one.topology)) + ", here a switch");
    if (one.backbone) lose(one, "messages do not share its backbone here");
    if (one.loopback.has_value() != all.loopback.has_value() ||
        (one.loopback && (differ(one.loopback->bytes_per_s, all.loopback->bytes_per_s) ||
                          differ(one.loopback->latency_s, all.loopback->latency_s))))
      lose(one, "another loopback, here that of zone " + file.groups.front().id);
    for (XmlHost& host : one.hosts) {
      if (one.backbone) host.link.latency_s += one.backbone->latency_s / 2;
      if (one.backbone) host.link.bytes_per_s = std::min(host.link.bytes_per_s, one.backbone->bytes_per_s);
      if (one.hosts.size() == 1)  // a zone of one host says nothing of its link
        for (const auto& [ends, way] : file.between)
          if (&one == &file.groups[ends.first] || &one == &file.groups[ends.second])
            host.link.bytes_per_s = std::max(host.link.bytes_per_s, way.bytes_per_s);
      numbers.groups.push_back(static_cast<unsigned>(&one - file.groups.data()));
    }
    all.hosts.insert(all.hosts.end(), one.hosts.begin(), one.hosts.end());
    all.names += (all.names.empty() ? "" : ",") + one.names;
  }
  all.topology = std::move(numbers);
  return all;
}

JoinedHosts joined_hosts(PlatformFile& file) {
  JoinedHosts all;
  all.group = file.groups.size() == 1 ? file.groups.front() : merged(file);
  for (const XmlHost& host : all.group.hosts)
    all.widest_bytes_per_s = std::max(all.widest_bytes_per_s, host.link.bytes_per_s);
  if (file.between.empty()) return all;
  std::vector<double> shares, latencies;
  for (const auto& [ends, way] : file.between) {
    const auto link = [&](std::size_t group) { return file.groups[group].hosts.front().link.bytes_per_s; };
    shares.push_back(std::min(1.0, way.bytes_per_s / std::min(link(ends.first), link(ends.second))));
    latencies.push_back(way.latency_s);
  }
  const double share = core::median(shares), latency_s = core::median(latencies);
  all.between = Wire{share * all.widest_bytes_per_s, latency_s, ""};
  file.losses.push_back("messages between zones share the links of their hosts only, not those between the zones");
  std::size_t odd = 0;
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (differ(shares[i], share) || differ(latencies[i], latency_s)) ++odd;
  if (odd > 0)
    file.losses.push_back(std::to_string(odd) + " of " + std::to_string(shares.size()) +
                          " routes between zones differ (up to " +
                          core::time_text(*std::max_element(latencies.begin(), latencies.end())) + ", down to " +
                          core::printed("%.3g", *std::min_element(shares.begin(), shares.end())) +
                          " of the hosts' bandwidth): here all have the median, " + core::time_text(latency_s) +
                          " and " + core::printed("%.3g", share));
  return all;
}

/// Latency and bandwidth between groups relative to those inside, both with the factors of messages.
void set_between(core::HostGroups& groups, const core::ScopeModel& between, const core::ScopeModel& inside) {
  const auto latency_s = [](const core::ScopeModel& scope) {
    const core::Segment& first = scope.cost(core::MessageCost::transfer).segments().front();
    return first.intercept_s - core::smpi_envelope_bytes * first.slope_s_per_byte;
  };
  groups.extra_latency_s = std::max(0.0, latency_s(between) - latency_s(inside));
  groups.bandwidth_share = std::min(1.0, between.bandwidth_bytes_per_s / inside.bandwidth_bytes_per_s);
}

core::NetworkModel network_of(PlatformFile& file, const JoinedHosts& all) {
  const HostGroup& group = all.group;
  const double widest = all.widest_bytes_per_s;
  const XmlCosts costs = costs_of(file);
  const double window = setting(file, "network/TCP-gamma", 4194304);
  core::NetworkModel::Values values{};
  const auto latencies = core::mapped(group.hosts, [](const XmlHost& host) { return host.link.latency_s; });
  Wire route{widest, 2 * core::median(latencies), ""};
  values.topology = group.topology;
  if (group.backbone) {
    values.topology = core::SingleSwitch{core::Backbone{group.backbone->bytes_per_s, group.backbone->latency_s}};
    route = {std::min(widest, group.backbone->bytes_per_s), route.latency_s + group.backbone->latency_s, ""};
  }
  const Wire loopback = group.loopback.value_or(route);
  values.local = scope_of(costs, loopback.bytes_per_s, loopback.latency_s, window);
  if (loopback.policy == "SHARED")
    values.local.capacity = core::LinkCapacity{loopback.bytes_per_s, 0, 0, core::LinkCapacity::Origin::published};
  if (group.hosts.size() > 1) {
    values.remote = scope_of(costs, route.bytes_per_s, route.latency_s, window);
    values.remote->capacity = core::LinkCapacity{widest, 0, 0, core::LinkCapacity::Origin::published};
  }
  if (auto* groups = std::get_if<core::HostGroups>(&values.topology))
    set_between(*groups, scope_of(costs, all.between->bytes_per_s, all.between->latency_s, window), *values.remote);
  values.async_small_bytes = static_cast<std::uint64_t>(setting(file, "smpi/async-small-thresh", 0));
  values.detached_bytes = static_cast<std::uint64_t>(setting(file, "smpi/send-is-detached-thresh", 65536));
  values.iprobe_s = setting(file, "smpi/iprobe", 1e-4);
  values.test_s = setting(file, "smpi/test", 1e-4);
  values.wtime_s = setting(file, "smpi/wtime", 1e-8);
  values.growing_probes = is_on(file, "smpi/grow-injected-times");
  // SimGrid's links do more than these.
  const auto lose = [&](bool lost, const std::string& text) {
    if (lost) file.losses.push_back(text);
  };
  const double least = *std::min_element(latencies.begin(), latencies.end());
  lose(least < *std::max_element(latencies.begin(), latencies.end()),
       "links of different latency: all have the median");
  lose(all.between && costs.lat_factor.find(';') != std::string::npos,
       "latency factors by size: the latency between zones has that of the shortest messages");
  lose(!group.loopback, "no loopback: messages inside a host take what those between hosts do, beside their links");
  if (values.remote) {
    const std::vector<core::Segment>& segments = values.remote->cost(core::MessageCost::transfer).segments();
    lose(std::any_of(segments.begin(), segments.end(),
                     [&](const auto& one) { return one.slope_s_per_byte * route.bytes_per_s < 1 - 1e-9; }),
         "bandwidth factors above 1: no message is faster than its link here");
  }
  const std::string& policy = group.hosts.front().link.policy;
  lose(values.remote && policy == "SHARED", "SHARED links: messages in both directions do not share them here");
  lose(values.remote && policy == "FATPIPE", "FATPIPE links: messages share them here");
  lose(is_on(file, "network/crosstraffic"), "network/crosstraffic: answers take nothing of the links");
  for (const auto& [name, value] : file.settings)
    lose(name.find("/loopback-") != std::string::npos, "not read: " + name + ", of messages inside a host");
  lose(file.settings.count("smpi/bw-factor") == 0, "no smpi/bw-factor in <config>: SMPI's own costs of messages");
  return core::NetworkModel::make(std::move(values));
}

/// BLAS at the speed of each host.
std::map<std::string, core::KernelModel> kernels_of(const HostGroup& group) {
  constexpr core::Monomial mnk{1, 1, 1}, mn{1, 1, 0}, n{0, 1, 0}, nn{0, 2, 0};
  constexpr std::array<std::tuple<const char*, core::Monomial, double>, 7> all = {{{"dgemm", mnk, 2},
                                                                                   {"dtrsm", mnk, 1},
                                                                                   {"dgemv", mn, 2},
                                                                                   {"dger", mn, 2},
                                                                                   {"dtrsv", nn, 1},
                                                                                   {"daxpy", n, 2},
                                                                                   {"dscal", n, 1}}};
  std::map<std::string, core::KernelModel> kernels;
  for (const auto& [name, unit, flop] : all) {
    const auto law = [unit = unit, flop = flop](const XmlHost& host) {
      return core::PiecewiseLaw(core::DurationLaw::make(core::Polynomial::make({unit}, {flop / host.flop_per_s}), {},
                                                        core::NoiseFamily::none));
    };
    std::vector<core::CpuLaw> others;
    for (std::size_t i = 0; i < group.hosts.size(); ++i)
      if (group.hosts[i].flop_per_s != group.hosts.front().flop_per_s)
        others.push_back({static_cast<int>(i), 0, law(group.hosts[i])});
    kernels[name] = core::KernelModel::make("M1", law(group.hosts.front()), std::move(others));
  }
  return kernels;
}

}  // namespace

ImportedPlatform read_platform_xml(std::istream& in, const std::string& name, const std::string& zone,
                                   const ClusterModel* models) {
  PlatformFile file = read_platform_file(in, name, zone);
  const JoinedHosts all = joined_hosts(file);
  ImportedPlatform result;
  result.cluster.name = all.group.id;
  nlohmann::ordered_json provenance = {{"origin", "hplcast import: a platform of SimGrid"}};
  try {
    result.cluster.hosts = hosts_of(all.group, all.widest_bytes_per_s);
    result.cluster.network = network_of(file, all);
    core::check_links(result.cluster);
  } catch (const core::DomainError& error) {
    throw core::ParseError({name, 0, ""}, error.what());
  }
  if (models == nullptr) {
    result.cluster.kernels = kernels_of(all.group);
    provenance["quality_flags"].push_back(
        {{"subject", "kernels"},
         {"flag", "not_calibrated"},
         {"detail", "BLAS at the `speed` of hosts; kernels that move memory cost nothing"}});
  } else {
    for (const auto& [kernel, model] : models->kernels) result.cluster.kernels[kernel] = model.with_overrides({});
    result.cluster.aliased = models->aliased;
    result.cluster.empty_call_s = models->empty_call_s;
    result.cluster.program = models->program;
  }
  result.losses = std::move(file.losses);
  provenance["quality_flags"].push_back({{"subject", "network"},
                                         {"flag", "imported"},
                                         {"detail", "not measured" + std::string(result.losses.empty() ? "" : "; ") +
                                                        core::joined(result.losses, "; ")}});
  result.cluster.provenance = core::json_text(provenance);
  return result;
}

}  // namespace hplcast::platforms
