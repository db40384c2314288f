#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/core/topology.hpp"
#include "hplcast/fit/generative.hpp"
#include "study/whatif/cluster_changes.hpp"

// Transformations of the hosts of a cluster, and of how ranks use their cores.

namespace hplcast::study {

namespace {

/// "node-12.site" to {"node-", 12, ".site"}: the last number that is not padded; no number: -1.
struct NumberedName {
  std::string prefix;
  long long number = -1;
  std::string suffix;
};

NumberedName numbered(const std::string& name) {
  const auto digit = [&](std::size_t i) { return std::isdigit(static_cast<unsigned char>(name[i])) != 0; };
  std::size_t begin = 0;
  while (begin < name.size() && !digit(begin)) ++begin;
  std::size_t end = begin;
  while (end < name.size() && digit(end)) ++end;
  const bool padded = end - begin > 1 && name[begin] == '0';
  if (begin == end || padded || end - begin > 15) return {name, -1, ""};
  return {name.substr(0, begin), std::stoll(name.substr(begin, end - begin)), name.substr(end)};
}

/// A name that is not taken, for a copy of a host: the next number of its family, or "-2", "-3" behind it.
std::string copy_name(const std::string& name, std::set<std::string>& taken) {
  const NumberedName parts = numbered(name);
  for (long long number = parts.number < 0 ? 2 : parts.number + 1;; ++number) {
    const std::string candidate =
        parts.number < 0 ? name + "-" + std::to_string(number) : parts.prefix + std::to_string(number) + parts.suffix;
    if (taken.insert(candidate).second) return candidate;
  }
}

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
  std::vector<int> result;
  for (const auto& [distance, host] : by_distance) result.push_back(host);
  return result;
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
    if (!one.host) {
      values.overrides.push_back(std::move(one));
      continue;
    }
    const int source = *one.host;
    for (std::size_t host = 0; host < sources.size(); ++host) {
      if (sources[host] != source) continue;
      one.host = static_cast<int>(host);
      values.overrides.push_back(one);
    }
  }
  return core::PowerModel::make(std::move(values));
}

/// The laws and watts of host `sources[i]` become those of host i; what the hosts are called stays.
ClusterModel with_models_of(ClusterModel cluster, const std::vector<int>& sources) {
  for (auto& [kernel, model] : cluster.kernels) {
    std::map<int, std::vector<core::CpuLaw>> laws_of_host;
    for (const core::CpuLaw& law : model.overrides()) laws_of_host[law.host].push_back(law);
    std::vector<core::CpuLaw> laws;
    for (std::size_t host = 0; host < sources.size(); ++host) {
      for (core::CpuLaw law : laws_of_host[sources[host]]) {
        law.host = static_cast<int>(host);
        laws.push_back(std::move(law));
      }
    }
    model = model.with_overrides(std::move(laws));
  }
  if (cluster.power) cluster.power = with_watts_of(*cluster.power, sources);
  return cluster;
}

/// The cluster of these hosts (indices of the old ones, in the new order; repeated: copies, which get new names). Laws
/// of CPUs go with their hosts. @throws core::DomainError for no hosts, or a topology other than one switch when the
/// number of hosts changes.
ClusterModel with_hosts(const ClusterModel& cluster, const std::vector<int>& hosts) {
  const core::Topology& topology = cluster.network.values().topology;
  const auto* groups = std::get_if<core::HostGroups>(&topology);
  if (groups == nullptr && core::hosts_of(topology) && static_cast<int>(hosts.size()) != cluster.hosts.count())
    throw core::DomainError(
        "hosts", std::to_string(hosts.size()),
        "the " + std::to_string(cluster.hosts.count()) + " hosts that its " + core::kind_of(topology) + " joins",
        "change the number of hosts first, then the topology");
  const std::vector<std::string>& old_names = cluster.hosts.names();
  std::set<std::string> taken(old_names.begin(), old_names.end());
  std::set<int> used;
  std::vector<std::string> names;
  for (const int host : hosts) {
    if (host < 0 || host >= cluster.hosts.count())
      throw core::DomainError("host", host, "0 to " + std::to_string(cluster.hosts.count() - 1));
    const std::string& name = old_names[static_cast<std::size_t>(host)];
    names.push_back(used.insert(host).second ? name : copy_name(old_names.back(), taken));
  }
  if (names.empty()) throw core::DomainError("hosts", 0, "at least one host that stays");
  ClusterModel result = with_models_of(cluster, hosts);
  core::Hosts::Values values = cluster.hosts.values();
  values.names = compressed_hosts(names);
  result.hosts = core::Hosts::make(std::move(values));
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

/// Names stay.
ClusterModel replace_nodes(ClusterModel cluster, const Argument& argument) {
  const SpeedRank which = argument.rank(1, SpeedRank::slowest), by = argument.rank(2, SpeedRank::median);
  const int count = count_of(cluster, argument, cluster.hosts.count());
  const std::vector<int> order = hosts_from(cluster, which);
  const int source = hosts_from(cluster, by).front();
  std::vector<int> sources = all_hosts(cluster);
  for (int i = 0; i < count; ++i) sources[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = source;
  return with_models_of(cluster, sources);
}

/// The same hosts in another order: ranks fill hosts from the first on. The models move to the names that are there.
ClusterModel sort_nodes(ClusterModel cluster, const Argument& argument) {
  const SpeedRank first = argument.rank(0, SpeedRank::fastest);
  if (first == SpeedRank::median) argument.fail();
  return with_models_of(cluster, hosts_from(cluster, first));
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
    const bool numeric = core::parse_double(value, number) && number >= 0;
    if (key == "hosts" && !value.empty()) {
      core::Hosts::Values hosts = cluster.hosts.values();
      hosts.names = value;
      cluster.hosts = core::Hosts::make(std::move(hosts));
      for (auto& [kernel, law] : cluster.kernels) law = core::KernelModel::make(law.level(), law.cluster_law());
    } else if (numeric && (key == "seed" || key == "day") && number == std::floor(number)) {
      (key == "seed" ? options.seed : options.day) = static_cast<std::uint64_t>(number);
    } else if (numeric && (key == "spatial" || key == "temporal")) {
      (key == "spatial" ? options.spatial : options.temporal) = number;
    } else {
      argument.fail();
    }
  }
  return fit::sample_cluster(cluster, model, options);
}

constexpr const char* threaded_kernels[] = {"dgemm", "dtrsm"};

core::PowerModel without_cpus_from(const core::PowerModel& power, int cpus) {
  core::PowerModel::Values values = power.values();
  auto& overrides = values.overrides;
  overrides.erase(std::remove_if(overrides.begin(), overrides.end(),
                                 [&](const core::PowerOverride& one) { return one.cpu.value_or(0) >= cpus; }),
                  overrides.end());
  return core::PowerModel::make(std::move(values));
}

core::Watts times(const core::Watts& watts, double factor) {
  return std::visit(core::Visitor{[&](core::Watts::Coefficients coefficients) {
                                    for (double& c : coefficients) c *= factor;
                                    return core::Watts::polynomial(std::move(coefficients));
                                  },
                                  [&](core::Watts::Table table) {
                                    for (double& w : table.w) w *= factor;
                                    return core::Watts::table(std::move(table));
                                  }},
                    watts.law());
}

/// A core of the model stands for so many: those of the threads of a rank.
core::PowerModel with_threads(const core::PowerModel& power, int threads) {
  core::PowerModel::Values values = power.values();
  const auto multiply = [&](std::map<std::string, core::Watts>& states, const std::string& kernel, bool or_default) {
    auto entry = states.find(kernel);
    if (entry == states.end() && or_default) entry = states.find(core::default_state);
    if (entry != states.end()) states[kernel] = times(entry->second, threads);
  };
  for (const char* kernel : threaded_kernels) {
    const bool or_default = values.states.count(kernel) == 0;
    multiply(values.states, kernel, or_default);
    for (core::PowerOverride& one : values.overrides) multiply(one.states, kernel, or_default);
  }
  return core::PowerModel::make(std::move(values));
}

/// The other cores stay idle. Ranks are spread over the CPUs as before (block or cyclic). Kernels keep their speed: a
/// core that has its CPU for itself may be faster than that.
ClusterModel with_ranks_per_node(ClusterModel cluster, int ranks) {
  core::Hosts::Values values = cluster.hosts.values();
  if (ranks < 1 || ranks > values.cores)
    throw core::DomainError("ranks per node", ranks, "1 to " + std::to_string(values.cores) + ", the cores of a host");
  const bool cyclic = values.rank_to_cpu.kind == core::RankToCpu::Kind::cyclic;
  std::vector<int> cpus;
  for (int rank = 0; rank < ranks; ++rank) {
    // The core that the rank gets when they are spread evenly over the host.
    const int core = cyclic ? rank : static_cast<int>(static_cast<long long>(rank) * values.cores / ranks);
    cpus.push_back(cluster.hosts.cpu_of(core));
  }
  values.cores = ranks;
  values.rank_to_cpu = {core::RankToCpu::Kind::list, cpus};
  // Hosts::make wants at least one core a CPU: CPUs without ranks at the end are left out.
  int used = 1;
  for (const int cpu : cpus) used = std::max(used, cpu + 1);
  values.cpus = used;
  if (values.cpus > values.cores)
    throw core::DomainError("ranks per node", ranks, "at least one for each CPU up to the last that is used");
  for (auto& [kernel, model] : cluster.kernels) {
    std::vector<core::CpuLaw> laws;
    for (const core::CpuLaw& law : model.overrides())
      if (law.cpu < used) laws.push_back(law);
    model =
        core::KernelModel::make(model.level(), model.cluster_law(), std::move(laws), model.range(), model.quality());
  }
  cluster.hosts = core::Hosts::make(std::move(values));
  if (cluster.power) cluster.power = without_cpus_from(*cluster.power, used);
  return cluster;
}

/// Every rank runs threads on cores of its own, so there are fewer ranks. dgemm and dtrsm are shared by the threads
/// with parallel efficiency in (0, 1], and their watts are those of all threads; the other kernels are taken to run on
/// one.
ClusterModel with_threads_per_rank(ClusterModel cluster, const Argument& argument) {
  const int threads = argument.integer(0);
  const double efficiency = argument.size() > 1 ? argument.number(1) : 1;
  const int cores = cluster.hosts.values().cores;
  if (threads < 1 || cores % threads != 0)
    throw core::DomainError("threads per rank", threads,
                            "a divisor of the " + std::to_string(cores) + " cores of a host",
                            "threads-per-rank alone makes cores / threads ranks per host; after ranks-per-node only "
                            "the cores of those ranks are left to share");
  if (!(efficiency > 0 && efficiency <= 1)) throw core::DomainError("efficiency", efficiency, "a number in (0, 1]");
  for (const char* kernel : threaded_kernels) {
    const auto model = cluster.kernels.find(kernel);
    if (model == cluster.kernels.end()) continue;
    model->second = slowed(model->second, threads == 1 ? 1 : 1 / (threads * efficiency));
  }
  if (cluster.power) cluster.power = with_threads(*cluster.power, threads);
  core::Hosts::Values hosts = cluster.hosts.values();
  hosts.threads_per_rank *= threads;
  cluster.hosts = core::Hosts::make(std::move(hosts));
  return with_ranks_per_node(std::move(cluster), cores / threads);
}

}  // namespace

std::vector<double> host_rates(const ClusterModel& cluster) {
  std::vector<double> rates(static_cast<std::size_t>(cluster.hosts.count()), 1.0);
  const auto dgemm = cluster.kernels.find("dgemm");
  if (dgemm == cluster.kernels.end()) return rates;
  constexpr core::KernelShape shape{2048, 2048, 128};
  constexpr double flop = 2 * shape.m * shape.n * shape.k;
  const int cpus = cluster.hosts.values().cpus;
  for (std::size_t host = 0; host < rates.size(); ++host) {
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
  if (!gone.empty()) throw core::DomainError("host", *gone.begin(), "a host of " + cluster.name);
  return with_hosts(cluster, stay);
}

std::string compressed_hosts(const std::vector<std::string>& names) {
  std::vector<NumberedName> parts;
  for (const std::string& name : names) parts.push_back(numbered(name));
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
          {{"replace-nodes", "COUNT[:WHICH[:BY]]", "hosts (slowest) become like another (median)"}, replace_nodes},
          {{"sort-nodes", "fastest|slowest", "hosts in the order of their speed, these first"}, sort_nodes},
          {{"generate", "MODEL.json[;seed=N][;day=N][;hosts=NAMES][;spatial=F][;temporal=F]",
            "dgemm of every CPU drawn from a generative model"},
           generate,
           Argument::semicolon}};
}

std::vector<KnownTransformation> placement_changes() {
  return {{{"ranks-per-node", "COUNT", "ranks on each host; other cores stay idle"},
           [](ClusterModel cluster, const Argument& argument) {
             return with_ranks_per_node(std::move(cluster), argument.integer());
           }},
          {{"threads-per-rank", "COUNT[:EFFICIENCY]", "threads that share dgemm and dtrsm of a rank"},
           with_threads_per_rank}};
}

}  // namespace hplcast::study
