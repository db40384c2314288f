#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/core/topology.hpp"
#include "hplcast/fit/generative.hpp"
#include "study/whatif/cluster_changes.hpp"

// Transformations of the hosts of a cluster.

namespace hplcast::study {

namespace {

/// "node-12.site" to {"node-", 12, ".site"}: the last number that is not padded; no number: -1.
struct NumberedName {
  std::string prefix;
  long long number = -1;
  std::string suffix;
};

NumberedName numbered(const std::string& name) {
  constexpr const char* digits = "0123456789";
  const std::size_t begin = std::min(name.find_first_of(digits), name.size());
  const std::size_t end = std::min(name.find_first_not_of(digits, begin), name.size());
  const bool padded = end - begin > 1 && name[begin] == '0';
  if (begin == end || padded || end - begin > 15) return {name, -1, ""};
  return {name.substr(0, begin), std::stoll(name.substr(begin, end - begin)), name.substr(end)};
}

/// Names that are not taken, for copies of a host: the next numbers of its family, or "-2", "-3" behind it.
class CopyNames {
 public:
  explicit CopyNames(const std::vector<std::string>& taken)
      : taken_(taken.begin(), taken.end()), last_(numbered(taken.back())) {
    if (last_.number < 0) last_ = {taken.back() + "-", 1, ""};
  }

  std::string next() {
    std::string name;
    do {
      name = last_.prefix + std::to_string(++last_.number) + last_.suffix;
    } while (taken_.count(name) > 0);
    return name;
  }

 private:
  std::set<std::string> taken_;
  NumberedName last_;
};

/// The number of hosts that the argument begins with, from 0 to `most`; its form is looked at before: a wrong one is
/// wrong for any cluster.
int count_of(const ClusterModel& cluster, const Argument& argument, int most) {
  const int count = argument.integer(0);
  if (count < 0 || count > most)
    throw core::DomainError("number of hosts", count,
                            "0 to " + std::to_string(most) + " of the " + std::to_string(cluster.hosts.count()) +
                                " hosts of " + cluster.name);
  return count;
}

/// The hosts from the one that is `which` on. From the median: the nearest in speed rank, the slower first.
std::vector<int> hosts_from(const ClusterModel& cluster, SpeedRank which) {
  std::vector<int> order = hosts_by_rate(cluster);
  if (which == SpeedRank::fastest) std::reverse(order.begin(), order.end());
  if (which != SpeedRank::median) return order;
  const int middle = (static_cast<int>(order.size()) - 1) / 2;
  std::multimap<int, int> by_distance;
  for (const int host : order) by_distance.emplace(std::abs(static_cast<int>(by_distance.size()) - middle), host);
  order.clear();
  for (const auto& [distance, host] : by_distance) order.push_back(host);
  return order;
}

std::vector<int> all_hosts(const ClusterModel& cluster) {
  std::vector<int> hosts(static_cast<std::size_t>(cluster.hosts.count()));
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

/// The same of a power model alone.
core::PowerModel with_watts_of(const core::PowerModel& power, const std::vector<int>& sources) {
  core::PowerModel::Values values = power.values();
  values.overrides.clear();
  for (core::PowerOverride one : power.values().overrides) {
    const std::optional<int> source = one.host;
    if (!source) values.overrides.push_back(one);
    for (std::size_t host = 0; host < sources.size(); ++host) {
      if (source != sources[host]) continue;
      one.host = static_cast<int>(host);
      values.overrides.push_back(one);
    }
  }
  return core::PowerModel::make(std::move(values));
}

/// Hosts of these names (`radical`), each of the kind that host `sources[i]` is of.
core::Hosts hosts_like(const core::Hosts& hosts, const std::vector<int>& sources, const std::vector<std::string>& names,
                       std::string radical) {
  core::Hosts::Values values = hosts.values();
  values.names = std::move(radical);
  values.kinds.clear();
  for (int kind = 0; kind < static_cast<int>(hosts.values().kinds.size()); ++kind) {
    std::vector<std::string> of_kind;
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (hosts.kind_of(sources[i]) == kind) of_kind.push_back(names[i]);
    if (of_kind.empty()) continue;
    values.kinds.push_back(hosts.values().kinds[static_cast<std::size_t>(kind)]);
    values.kinds.back().hosts = compressed_hosts(of_kind);
  }
  return core::Hosts::make(std::move(values));
}

/// Laws and watts of host `sources[i]` become those of host i of `hosts`.
ClusterModel with_models_of(ClusterModel cluster, const std::vector<int>& sources, core::Hosts hosts) {
  cluster.hosts = std::move(hosts);
  edit_models(cluster, [&](core::KernelModel& model) {
    std::map<int, std::vector<core::CpuLaw>> laws_of_host;
    for (const core::CpuLaw& law : model.overrides()) laws_of_host[law.host].push_back(law);
    std::vector<core::CpuLaw> laws;
    for (std::size_t host = 0; host < sources.size(); ++host)
      for (const core::CpuLaw& law : laws_of_host[sources[host]])
        laws.push_back({static_cast<int>(host), law.cpu, law.law});
    model = model.with_overrides(std::move(laws));
  });
  if (cluster.power) cluster.power = with_watts_of(*cluster.power, sources);
  return cluster;
}

/// Host i becomes like host `sources[i]`, but is called as before.
ClusterModel rearranged(const ClusterModel& cluster, const std::vector<int>& sources) {
  const core::Hosts& hosts = cluster.hosts;
  return with_models_of(cluster, sources, hosts_like(hosts, sources, hosts.names(), hosts.values().names));
}

/// @throws core::DomainError for another number of hosts where the topology is more than one switch.
void require_as_many(const ClusterModel& cluster, std::size_t hosts) {
  const core::Topology& topology = cluster.network.values().topology;
  if (core::hosts_of(topology) && static_cast<int>(hosts) != cluster.hosts.count())
    throw core::DomainError(
        "hosts", std::to_string(hosts),
        "the " + std::to_string(cluster.hosts.count()) + " hosts that its " + core::kind_of(topology) + " joins",
        "begin with the transformation single-switch, then change the hosts, then the topology");
}

/// The cluster of these hosts (indices of the old ones, in the new order; repeated: copies, which get new names). Laws
/// of CPUs go with their hosts. @throws core::DomainError for no hosts, and as require_as_many().
ClusterModel with_hosts(const ClusterModel& cluster, const std::vector<int>& hosts) {
  const auto* groups = std::get_if<core::HostGroups>(&cluster.network.values().topology);
  if (groups == nullptr) require_as_many(cluster, hosts.size());
  const std::vector<std::string>& old_names = cluster.hosts.names();
  CopyNames copies(old_names);
  std::set<int> used;
  std::vector<std::string> names;
  for (const int host : hosts) {
    const std::string& name = old_names[static_cast<std::size_t>(host)];
    names.push_back(used.insert(host).second ? name : copies.next());
  }
  if (names.empty()) throw core::DomainError("hosts", 0, "at least one host that stays");
  ClusterModel result =
      with_models_of(cluster, hosts, hosts_like(cluster.hosts, hosts, names, compressed_hosts(names)));
  if (groups != nullptr) {  // hosts stay in theirs
    core::HostGroups changed = *groups;
    changed.groups.clear();
    for (const int host : hosts) changed.groups.push_back(groups->groups.at(static_cast<std::size_t>(host)));
    result = with_network(std::move(result),
                          [&](core::NetworkModel::Values& network) { network.topology = std::move(changed); });
  }
  return result;
}

/// The first ones by speed go.
ClusterModel remove_nodes(ClusterModel cluster, const Argument& argument) {
  const SpeedRank which = argument.rank(1, SpeedRank::slowest);
  const int count = count_of(cluster, argument, cluster.hosts.count() - 1);
  const std::vector<int> order = hosts_from(cluster, which);
  std::vector<int> stay(order.begin() + count, order.end());
  std::sort(stay.begin(), stay.end());
  return with_hosts(cluster, stay);
}

/// Copies stand at the end.
ClusterModel add_nodes(ClusterModel cluster, const Argument& argument) {
  constexpr int most = 1000000;  // beyond any machine: a mistake, which would fill the memory
  const SpeedRank which = argument.rank(1, SpeedRank::median);
  const int count = count_of(cluster, argument, most);
  std::vector<int> hosts = all_hosts(cluster);
  hosts.insert(hosts.end(), static_cast<std::size_t>(count), hosts_from(cluster, which).front());
  return with_hosts(cluster, hosts);
}

// --- hosts of another cluster

/// The sizes that both were fitted on; nothing: none, or not known.
std::optional<core::ShapeRange> common(const std::optional<core::ShapeRange>& a,
                                       const std::optional<core::ShapeRange>& b) {
  if (!a || !b) return std::nullopt;
  const auto most = [](const core::KernelShape& x, const core::KernelShape& y) {
    return core::KernelShape{std::max(x.m, y.m), std::max(x.n, y.n), std::max(x.k, y.k)};
  };
  const auto least = [](const core::KernelShape& x, const core::KernelShape& y) {
    return core::KernelShape{std::min(x.m, y.m), std::min(x.n, y.n), std::min(x.k, y.k)};
  };
  const core::ShapeRange both{most(a->min, b->min), least(a->max, b->max)};
  const bool any = both.min.m <= both.max.m && both.min.n <= both.max.n && both.min.k <= both.max.k;
  return any ? std::optional(both) : std::nullopt;
}

template <typename Override>
std::vector<Override> without_hosts(std::vector<Override> all, const std::set<int>& hosts) {
  const auto is_gone = [&](const Override& one) { return hosts.count(std::optional<int>(one.host).value_or(-1)) > 0; };
  all.erase(std::remove_if(all.begin(), all.end(), is_gone), all.end());
  return all;
}

/// Laws of the hosts of `other`, one after the other. A kernel that only one of both has costs nothing on the other.
void take_laws(ClusterModel& cluster, const std::set<int>& replaced, const ClusterModel& other) {
  const core::PiecewiseLaw free;
  for (const auto& [name, model] : other.kernels)
    if (cluster.kernels.count(name) == 0)
      cluster.kernels[name] = core::KernelModel::make(model.level(), free, {}, model.range());
  for (auto& [name, model] : cluster.kernels) {
    const auto own = other.kernels.find(name);
    const bool has_own = own != other.kernels.end();
    std::vector<core::CpuLaw> laws = without_hosts(model.overrides(), replaced);
    int source = 0;
    for (const int host : replaced) {
      for (int cpu = 0; cpu < cluster.hosts.cpus_of(host); ++cpu)
        laws.push_back({host, cpu, has_own ? own->second.law(source, cpu) : free});
      source = (source + 1) % other.hosts.count();
    }
    const auto range = has_own ? common(model.range(), own->second.range()) : model.range();
    model = core::KernelModel::make(model.level(), model.cluster_law(), std::move(laws), range, model.quality());
  }
}

/// Their watts at the frequencies that they have there.
core::PowerModel with_watts(const core::PowerModel& power, const core::Hosts& hosts, const std::set<int>& replaced,
                            const ClusterModel& other) {
  core::PowerModel::Values values = power.values();
  values.overrides = without_hosts(std::move(values.overrides), replaced);
  std::set<std::string> states;
  for (const core::PowerModel* one : {&power, &*other.power}) {
    for (const auto& state : one->values().states) states.insert(state.first);
    for (const core::PowerOverride& own : one->values().overrides)
      for (const auto& state : own.states) states.insert(state.first);
  }
  const double efficiency = values.supply_efficiency / other.power->values().supply_efficiency;
  int source = 0;
  for (const int host : replaced) {
    const core::HostPower its(*other.power, other.hosts, source);
    core::PowerOverride whole;
    whole.host = host;
    whole.idle = core::Watts(its.idle_w() * efficiency);
    whole.awake = core::Watts(its.awake_w() * efficiency);
    whole.off_w = other.power->off_w(source) * efficiency;
    values.overrides.push_back(std::move(whole));
    for (int cpu = 0; cpu < hosts.cpus_of(host); ++cpu) {
      core::PowerOverride one;
      one.host = host;
      one.cpu = cpu;
      for (const std::string& name : states) {
        const bool is_default = name == core::default_state;
        const auto hz = other.power->frequency_hz(source, cpu);
        const double w = is_default ? other.power->default_core(source, cpu).at(hz)
                                    : its.core_w(cpu, *core::core_state_from_name(name));
        one.states.emplace(name, core::Watts(w * efficiency));
      }
      values.overrides.push_back(std::move(one));
    }
    source = (source + 1) % other.hosts.count();
  }
  return core::PowerModel::make(std::move(values));
}

void refuse_unlike(const ClusterModel& cluster, const ClusterModel& other) {
  if (other.hosts.has_kinds())
    throw core::DomainError("kinds of hosts of " + other.name, other.hosts.text(), "a cluster of one kind");
  if (other.accelerators)
    for (const auto& [name, one] : other.accelerators->kernels)
      if (one.model && !one.model->overrides().empty())
        throw core::DomainError("accelerators of " + other.name, "overrides of " + name,
                                "a model for the accelerators of all its hosts");
  if (other.kernels.count("dgemm") == 0) throw core::DomainError("dgemm of " + other.name, "missing", "a model");
  const int threads = cluster.hosts.values().threads_per_rank;
  core::require(other.hosts.values().threads_per_rank == threads, "threads_per_rank of " + other.name,
                other.hosts.values().threads_per_rank, std::to_string(threads) + ", as " + cluster.name);
  if (cluster.power.has_value() != other.power.has_value())
    throw core::DomainError("power of " + (cluster.power ? other : cluster).name, "missing", "watts of both clusters",
                            "take `power` out of the other file, or add it here (docs/formats/cluster-json.md#power)");
}

/// In `cluster`: nothing where both have the same.
std::optional<core::AcceleratorModel> own_accelerators(const ClusterModel& cluster, const ClusterModel& other) {
  ClusterModel one, two;
  one.accelerators = cluster.accelerators;
  two.accelerators = other.accelerators;
  edit_accelerators(two, [&](core::AcceleratorModel& model) {
    if (!model.power || !cluster.power) return;
    core::AcceleratorPower& power = *model.power;  // behind another supply as many at the wall
    const double efficiency = cluster.power->values().supply_efficiency / other.power->values().supply_efficiency;
    for (double* watts : {&power.idle_w, &power.waiting_w, &power.busy_w}) *watts *= efficiency;
    for (auto& [name, kernel] : model.kernels)
      if (kernel.power_w) *kernel.power_w *= efficiency;
  });
  if (core::cluster_sha256(one) == core::cluster_sha256(two)) return std::nullopt;
  core::AcceleratorModel none;
  none.per_host = 0;
  return two.accelerators.value_or(none);
}

/// The kind that the hosts of `other` are of in `cluster`, with hosts of these names.
core::HostKind kind_of(const ClusterModel& other, const ClusterModel& cluster, const std::vector<std::string>& names) {
  const core::Hosts::Values& values = other.hosts.values();
  core::HostKind kind{
      other.name, compressed_hosts(names),         values.cores, values.cpus, values.rank_to_cpu, values.memory_bytes,
      1,          own_accelerators(cluster, other)};
  const auto is_taken = [&](const std::string& name) {
    const auto& kinds = cluster.hosts.values().kinds;
    return name.empty() || name == cluster.hosts.kind_name(core::Hosts::no_kind) ||
           std::any_of(kinds.begin(), kinds.end(), [&](const core::HostKind& one) { return one.name == name; });
  };
  for (int number = 2; is_taken(kind.name); ++number) kind.name = other.name + "-" + std::to_string(number);
  if (cluster.network.values().remote && other.network.values().remote)
    kind.link_share = std::min(
        1.0, other.network.values().remote->link_bytes_per_s() / cluster.network.values().remote->link_bytes_per_s());
  return kind;
}

/// The first or last hosts, or those of a rank by speed.
std::set<int> chosen_hosts(const ClusterModel& cluster, const Argument& argument) {
  const int count = count_of(cluster, argument, cluster.hosts.count());
  const std::string which = argument.size() > 2 ? argument.text(1) : "";
  std::vector<int> order = all_hosts(cluster);
  if (which == "last")
    std::reverse(order.begin(), order.end());
  else if (which != "first")
    order = hosts_from(cluster, argument.size() > 2 ? argument.rank(1, SpeedRank::slowest) : SpeedRank::slowest);
  return std::set<int>(order.begin(), order.begin() + count);
}

/// "8:last:newer.json". The network stays, but for links that are slower there.
ClusterModel replace_by_kind(ClusterModel cluster, const Argument& argument) {
  const ClusterModel other = core::read_from(argument.text(argument.size() - 1), core::read_cluster);
  const std::set<int> replaced = chosen_hosts(cluster, argument);
  if (replaced.empty()) return cluster;
  refuse_unlike(cluster, other);
  std::vector<int> stay;
  std::vector<std::string> names, others;
  for (const int host : all_hosts(cluster)) {
    (replaced.count(host) > 0 ? names : others).push_back(cluster.hosts.names()[static_cast<std::size_t>(host)]);
    if (replaced.count(host) == 0) stay.push_back(host);
  }
  core::Hosts::Values values = hosts_like(cluster.hosts, stay, others, cluster.hosts.values().names).values();
  values.kinds.push_back(kind_of(other, cluster, names));
  cluster.hosts = core::Hosts::make(std::move(values));
  take_laws(cluster, replaced, other);
  if (cluster.power) cluster.power = with_watts(*cluster.power, cluster.hosts, replaced, other);
  core::check_links(cluster);
  return cluster;
}

/// Names stay.
ClusterModel replace_nodes(ClusterModel cluster, const Argument& argument) {
  if (argument.size() > 1 && core::ends_with(argument.text(argument.size() - 1), ".json"))
    return replace_by_kind(std::move(cluster), argument);
  const SpeedRank which = argument.rank(1, SpeedRank::slowest), by = argument.rank(2, SpeedRank::median);
  const int count = count_of(cluster, argument, cluster.hosts.count());
  const std::vector<int> order = hosts_from(cluster, which);
  const int source = hosts_from(cluster, by).front();
  std::vector<int> sources = all_hosts(cluster);
  for (int i = 0; i < count; ++i) sources[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = source;
  return rearranged(cluster, sources);
}

/// The same hosts in another order: ranks fill hosts from the first on. The models move to the names that are there.
ClusterModel sort_nodes(ClusterModel cluster, const Argument& argument) {
  const SpeedRank first = argument.rank(0, SpeedRank::fastest);
  if (first == SpeedRank::median) argument.fail();
  return rearranged(cluster, hosts_from(cluster, first));
}

/// "MODEL.json;seed=7;day=0;hosts=node-[1-64];spatial=1;temporal=1"
ClusterModel generate(ClusterModel cluster, const Argument& argument) {
  const core::GenerativeModel model = core::read_from(argument.text(0), core::read_generative);
  fit::GenerateOptions options;
  for (std::size_t i = 1; i < argument.size(); ++i) {
    const std::string& part = argument.text(i);
    const std::size_t equal = part.find('=');
    const std::string key = part.substr(0, equal);
    const std::string value = equal == std::string::npos ? "" : part.substr(equal + 1);
    double number = 0;
    std::uint64_t whole = 0;
    const bool numeric = core::parse_double(value, number) && number >= 0;
    if (key == "hosts" && !value.empty()) {
      cluster = with_host_names(std::move(cluster), value);
    } else if ((key == "seed" || key == "day") && core::parse_integer(value, whole)) {
      (key == "seed" ? options.seed : options.day) = whole;
    } else if (numeric && (key == "spatial" || key == "temporal")) {
      (key == "spatial" ? options.spatial : options.temporal) = number;
    } else {
      argument.fail();
    }
  }
  return fit::sample_cluster(cluster, model, options);
}

}  // namespace

std::vector<double> host_rates(const ClusterModel& cluster) {
  std::vector<double> rates(static_cast<std::size_t>(cluster.hosts.count()), 1.0);
  const auto dgemm = cluster.kernels.find("dgemm");
  if (dgemm == cluster.kernels.end()) return rates;
  constexpr core::KernelShape shape{2048, 2048, 128};
  constexpr double flop = 2 * shape.m * shape.n * shape.k;
  for (std::size_t host = 0; host < rates.size(); ++host) {
    const int cpus = cluster.hosts.cpus_of(static_cast<int>(host));
    double sum_s = 0;
    for (int cpu = 0; cpu < cpus; ++cpu)
      sum_s += dgemm->second.law(static_cast<int>(host), cpu).at(shape).mean_s(shape);
    rates[host] = flop * cpus / sum_s;
  }
  return rates;
}

std::vector<int> hosts_by_rate(const ClusterModel& cluster) {
  const std::vector<double> rates = host_rates(cluster);
  std::vector<int> order = all_hosts(cluster);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return rates[static_cast<std::size_t>(a)] < rates[static_cast<std::size_t>(b)];
  });
  return order;
}

ClusterModel remove_named_nodes(const ClusterModel& cluster, const std::vector<std::string>& names) {
  std::set<std::string> gone(names.begin(), names.end());
  std::vector<int> stay;
  for (const int host : all_hosts(cluster))
    if (gone.erase(cluster.hosts.names()[static_cast<std::size_t>(host)]) == 0) stay.push_back(host);
  if (!gone.empty())
    throw core::DomainError("host", *gone.begin(), "a host of " + cluster.name + ": " + cluster.hosts.values().names);
  return with_hosts(cluster, stay);
}

ClusterModel with_host_names(ClusterModel cluster, const std::string& names) {
  core::Hosts::Values values = cluster.hosts.values();
  values.names = names;
  require_as_many(cluster, core::expand_hosts(names).size());
  cluster.hosts = core::Hosts::make(std::move(values));
  cluster = with_models_of(cluster, all_hosts(cluster), cluster.hosts);
  if (cluster.power) core::check_power(*cluster.power, cluster.hosts);
  return cluster;
}

std::string compressed_hosts(const std::vector<std::string>& names) {
  const auto parts = core::mapped(names, numbered);
  const bool one_family = std::all_of(parts.begin(), parts.end(), [&](const NumberedName& p) {
    return p.number >= 0 && p.prefix == parts.front().prefix && p.suffix == parts.front().suffix;
  });
  if (!one_family || names.size() < 2) return core::joined(names, ",");
  std::string text;
  for (std::size_t first = 0; first < parts.size();) {
    std::size_t last = first;
    while (last + 1 < parts.size() && parts[last + 1].number == parts[last].number + 1) ++last;
    text += (first == 0 ? "" : ",") + std::to_string(parts[first].number);
    if (last > first) text += "-" + std::to_string(parts[last].number);
    first = last + 1;
  }
  return parts.front().prefix + "[" + text + "]" + parts.front().suffix;
}

std::vector<KnownTransformation> node_changes() {
  return {{{"remove-nodes", "COUNT[:slowest|median|fastest]", "without hosts, the slowest first"}, remove_nodes},
          {{"remove-hosts", "NAMES", "without these hosts: node-[3,7]"},
           [](ClusterModel cluster, const Argument& argument) {
             return remove_named_nodes(cluster, core::expand_hosts(argument.text()));
           },
           Argument::nothing},
          {{"add-nodes", "COUNT[:slowest|median|fastest]", "more hosts, copies of the median one"}, add_nodes},
          {{"replace-nodes", "COUNT[:WHICH[:BY]]", "hosts (slowest) become like another (median), or those of BY.json"},
           replace_nodes},
          {{"sort-nodes", "fastest|slowest", "hosts in the order of their speed, these first"}, sort_nodes},
          {{"generate", "MODEL.json[;seed=N][;day=N][;hosts=NAMES][;spatial=F][;temporal=F]",
            "dgemm of every CPU drawn from a generative model"},
           generate,
           Argument::semicolon}};
}

}  // namespace hplcast::study
