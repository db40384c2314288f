#include "hplcast/study/transform_placement.hpp"

#include <algorithm>

#include "cluster_edit.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/topology.hpp"

namespace hplcast::study {

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
    model->second = edited(model->second, [&](const core::DurationLaw& law) {
      return slowed(law, threads == 1 ? 1 : 1 / (threads * efficiency));
    });
  }
  if (cluster.power) cluster.power = with_threads(*cluster.power, threads);
  return with_ranks_per_node(std::move(cluster), cores / threads);
}

}  // namespace hplcast::study
