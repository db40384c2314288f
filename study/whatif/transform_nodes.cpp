#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <set>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/topology.hpp"
#include "study/whatif/cluster_changes.hpp"

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

int check_count(const core::ClusterModel& cluster, int count, int most) {
  if (count < 0 || count > most) {
    throw core::DomainError("number of hosts", count,
                            "0 to " + std::to_string(most) + " of the " + std::to_string(cluster.hosts.count()) +
                                " hosts of " + cluster.name);
  }
  return count;
}

/// The hosts from the one that is `which` on. From the median: the nearest in speed rank, the slower first.
std::vector<int> hosts_from(const core::ClusterModel& cluster, SpeedRank which) {
  std::vector<int> order = hosts_by_rate(cluster);
  if (which == SpeedRank::fastest) std::reverse(order.begin(), order.end());
  if (which != SpeedRank::median) return order;
  const auto middle = static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
  std::vector<int> result;
  for (std::ptrdiff_t distance = 0; result.size() < order.size(); ++distance) {
    if (middle - distance >= 0) result.push_back(order[static_cast<std::size_t>(middle - distance)]);
    const std::ptrdiff_t above = middle + distance;
    if (distance > 0 && above < static_cast<std::ptrdiff_t>(order.size())) {
      result.push_back(order[static_cast<std::size_t>(above)]);
    }
  }
  return result;
}

std::vector<int> all_hosts(const core::ClusterModel& cluster) {
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
core::ClusterModel with_models_of(core::ClusterModel cluster, const std::vector<int>& sources) {
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
    model =
        core::KernelModel::make(model.level(), model.cluster_law(), std::move(laws), model.range(), model.quality());
  }
  if (cluster.power) cluster.power = with_watts_of(*cluster.power, sources);
  return cluster;
}

}  // namespace

std::vector<double> host_rates(const core::ClusterModel& cluster) {
  std::vector<double> rates(static_cast<std::size_t>(cluster.hosts.count()), 1.0);
  const auto dgemm = cluster.kernels.find("dgemm");
  if (dgemm == cluster.kernels.end()) return rates;
  constexpr core::KernelShape shape{2048, 2048, 128};
  constexpr double flop = 2 * shape.m * shape.n * shape.k;
  const int cpus = cluster.hosts.values().cpus;
  for (std::size_t host = 0; host < rates.size(); ++host) {
    double sum_s = 0;
    for (int cpu = 0; cpu < cpus; ++cpu) {
      sum_s += dgemm->second.law(static_cast<int>(host), cpu).at(shape).mean_s(shape);
    }
    rates[host] = flop * cpus / sum_s;
  }
  return rates;
}

std::vector<int> hosts_by_rate(const core::ClusterModel& cluster) {
  const std::vector<double> rates = host_rates(cluster);
  std::vector<int> order = all_hosts(cluster);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return rates[static_cast<std::size_t>(a)] < rates[static_cast<std::size_t>(b)];
  });
  return order;
}

core::ClusterModel with_hosts(const core::ClusterModel& cluster, const std::vector<int>& hosts) {
  const core::Topology& topology = cluster.network.values().topology;
  if (core::hosts_of(topology) && static_cast<int>(hosts.size()) != cluster.hosts.count()) {
    throw core::DomainError(
        "hosts", std::to_string(hosts.size()),
        "the " + std::to_string(cluster.hosts.count()) + " hosts that its " + core::kind_of(topology) + " joins",
        "change the number of hosts first, then the topology");
  }
  const std::vector<std::string>& old_names = cluster.hosts.names();
  std::set<std::string> taken(old_names.begin(), old_names.end());
  std::set<int> used;
  std::vector<std::string> names;
  for (const int host : hosts) {
    if (host < 0 || host >= cluster.hosts.count()) {
      throw core::DomainError("host", host, "0 to " + std::to_string(cluster.hosts.count() - 1));
    }
    const std::string& name = old_names[static_cast<std::size_t>(host)];
    names.push_back(used.insert(host).second ? name : copy_name(old_names.back(), taken));
  }
  if (names.empty()) throw core::DomainError("hosts", 0, "at least one host that stays");
  core::ClusterModel result = with_models_of(cluster, hosts);
  core::Hosts::Values values = cluster.hosts.values();
  values.names = compressed_hosts(names);
  result.hosts = core::Hosts::make(std::move(values));
  return result;
}

core::ClusterModel remove_nodes(const core::ClusterModel& cluster, int count, SpeedRank which) {
  check_count(cluster, count, cluster.hosts.count() - 1);
  const std::vector<int> order = hosts_from(cluster, which);
  const std::set<int> gone(order.begin(), order.begin() + count);
  std::vector<int> stay;
  for (const int host : all_hosts(cluster)) {
    if (gone.count(host) == 0) stay.push_back(host);
  }
  return with_hosts(cluster, stay);
}

core::ClusterModel remove_named_nodes(const core::ClusterModel& cluster, const std::vector<std::string>& names) {
  std::set<std::string> gone(names.begin(), names.end());
  std::vector<int> stay;
  for (const int host : all_hosts(cluster)) {
    if (gone.erase(cluster.hosts.names()[static_cast<std::size_t>(host)]) == 0) stay.push_back(host);
  }
  if (!gone.empty()) throw core::DomainError("host", *gone.begin(), "a host of " + cluster.name);
  return with_hosts(cluster, stay);
}

core::ClusterModel add_nodes(const core::ClusterModel& cluster, int count, SpeedRank which) {
  constexpr int most = 1000000;  // beyond any machine: a mistake, which would fill the memory
  check_count(cluster, count, most);
  std::vector<int> hosts = all_hosts(cluster);
  hosts.insert(hosts.end(), static_cast<std::size_t>(count), hosts_from(cluster, which).front());
  return with_hosts(cluster, hosts);
}

core::ClusterModel replace_nodes(const core::ClusterModel& cluster, int count, SpeedRank which, SpeedRank by) {
  check_count(cluster, count, cluster.hosts.count());
  const std::vector<int> order = hosts_from(cluster, which);
  const int source = hosts_from(cluster, by).front();
  std::vector<int> sources = all_hosts(cluster);
  for (int i = 0; i < count; ++i) sources[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = source;
  return with_models_of(cluster, sources);
}

core::ClusterModel sort_nodes(const core::ClusterModel& cluster, bool fastest_first) {
  std::vector<int> order = hosts_by_rate(cluster);
  if (fastest_first) std::reverse(order.begin(), order.end());
  return with_models_of(cluster, order);
}

std::string compressed_hosts(const std::vector<std::string>& names) {
  std::vector<NumberedName> parts;
  for (const std::string& name : names) parts.push_back(numbered(name));
  const bool one_family = std::all_of(parts.begin(), parts.end(), [&](const NumberedName& p) {
    return p.number >= 0 && p.prefix == parts.front().prefix && p.suffix == parts.front().suffix;
  });
  std::string text;
  if (!one_family || names.size() < 2) {
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text;
  }
  for (std::size_t first = 0; first < parts.size();) {
    std::size_t last = first;
    while (last + 1 < parts.size() && parts[last + 1].number == parts[last].number + 1) ++last;
    text += (first == 0 ? "" : ",") + std::to_string(parts[first].number);
    if (last > first) text += "-" + std::to_string(parts[last].number);
    first = last + 1;
  }
  return parts.front().prefix + "[" + text + "]" + parts.front().suffix;
}

namespace {

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

}  // namespace

core::ClusterModel with_ranks_per_node(core::ClusterModel cluster, int ranks) {
  core::Hosts::Values values = cluster.hosts.values();
  if (ranks < 1 || ranks > values.cores) {
    throw core::DomainError("ranks per node", ranks, "1 to " + std::to_string(values.cores) + ", the cores of a host");
  }
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
  if (values.cpus > values.cores) {
    throw core::DomainError("ranks per node", ranks, "at least one for each CPU up to the last that is used");
  }
  for (auto& [kernel, model] : cluster.kernels) {
    std::vector<core::CpuLaw> laws;
    for (const core::CpuLaw& law : model.overrides()) {
      if (law.cpu < used) laws.push_back(law);
    }
    model =
        core::KernelModel::make(model.level(), model.cluster_law(), std::move(laws), model.range(), model.quality());
  }
  cluster.hosts = core::Hosts::make(std::move(values));
  if (cluster.power) cluster.power = without_cpus_from(*cluster.power, used);
  return cluster;
}

core::ClusterModel with_threads_per_rank(core::ClusterModel cluster, int threads, double efficiency) {
  const int cores = cluster.hosts.values().cores;
  if (threads < 1 || cores % threads != 0) {
    throw core::DomainError("threads per rank", threads,
                            "a divisor of the " + std::to_string(cores) + " cores of a host");
  }
  if (!(efficiency > 0 && efficiency <= 1)) throw core::DomainError("efficiency", efficiency, "a number in (0, 1]");
  for (const char* kernel : threaded_kernels) {
    const auto model = cluster.kernels.find(kernel);
    if (model == cluster.kernels.end()) continue;
    model->second = slowed(model->second, threads == 1 ? 1 : 1 / (threads * efficiency));
  }
  if (cluster.power) cluster.power = with_threads(*cluster.power, threads);
  return with_ranks_per_node(std::move(cluster), cores / threads);
}

}  // namespace hplcast::study
