#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "study/whatif/cluster_changes.hpp"

// How ranks use the cores of their hosts.

namespace hplcast::study {

namespace {

constexpr const char* threaded_kernels[] = {"dgemm", "dtrsm"};

core::PowerModel without_lost_cpus(const core::PowerModel& power, const core::Hosts& hosts) {
  core::PowerModel::Values values = power.values();
  auto& overrides = values.overrides;
  overrides.erase(std::remove_if(overrides.begin(), overrides.end(),
                                 [&](const core::PowerOverride& one) {
                                   const int cpus = one.host ? hosts.cpus_of(*one.host) : hosts.most_cpus();
                                   return one.cpu.value_or(0) >= cpus;
                                 }),
                  overrides.end());
  return core::PowerModel::make(std::move(values));
}

/// a + factor b. A table goes before coefficients, which are taken at its frequencies.
core::Watts sum(const core::Watts& a, double factor, const core::Watts& b) {
  const auto* table = std::get_if<core::Watts::Table>(&a.law());
  if (table == nullptr) table = std::get_if<core::Watts::Table>(&b.law());
  if (table != nullptr) {
    core::Watts::Table both = *table;
    for (std::size_t i = 0; i < both.w.size(); ++i)
      both.w[i] = a.at(1e9 * both.ghz[i]) + factor * b.at(1e9 * both.ghz[i]);
    return core::Watts::table(std::move(both));
  }
  auto c = std::get<core::Watts::Coefficients>(a.law());
  const auto& more = std::get<core::Watts::Coefficients>(b.law());
  c.resize(std::max(c.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) c[i] += factor * more[i];
  return core::Watts::polynomial(std::move(c));
}

/// A core of the model stands for so many: those of the threads of a rank. In dgemm and dtrsm all of them work; in all
/// else one does what the rank does, and the others draw nothing, or (`spin`) what a core draws that polls.
core::PowerModel with_threads(const core::PowerModel& power, int threads, bool spin) {
  core::PowerModel::Values values = power.values();
  const std::map<std::string, core::Watts> everywhere = values.states;
  const std::set<std::string> waits = {"polling", "blocked", "messages"};
  if (spin && everywhere.count("polling") == 0)
    throw core::DomainError("power", "no watts of `polling`", "those of a thread that spins",
                            "measure them (docs/use/power-measuring.md), or take `sleep`");
  const auto change = [&](std::map<std::string, core::Watts>& states, bool is_override) {
    const std::map<std::string, core::Watts> own = states;
    const auto watts = [&](const std::string& state) {
      for (const auto* known : {&own, &everywhere})
        if (const auto entry = known->find(state); entry != known->end()) return entry->second;
      if (waits.count(state) > 0) return core::Watts();
      const auto of_default = own.find(core::default_state);
      return of_default != own.end() ? of_default->second : everywhere.at(core::default_state);
    };
    std::set<std::string> changed(std::begin(threaded_kernels), std::end(threaded_kernels));
    if (spin) {
      for (const auto* known : {&own, &everywhere})
        for (const auto& [state, of_state] : *known) changed.insert(state);
      changed.insert(waits.begin(), waits.end());
    }
    for (const std::string& state : changed) {
      const bool takes_default = own.count(core::default_state) > 0 && everywhere.count(state) == 0;
      if (is_override && !spin && own.count(state) == 0 && !takes_default) continue;
      const bool works = std::count(std::begin(threaded_kernels), std::end(threaded_kernels), state) > 0;
      states[state] =
          works ? sum(core::Watts(), threads, watts(state)) : sum(watts(state), threads - 1, watts("polling"));
    }
  };
  change(values.states, false);
  for (core::PowerOverride& one : values.overrides)
    if (!one.states.empty()) change(one.states, true);
  return core::PowerModel::make(std::move(values));
}

/// `ranks` of the places of Hosts::Values or HostKind, spread over the CPUs. `cpu_of`: of a core there.
template <typename Shape, typename CpuOf>
void leave_ranks(Shape& values, int ranks, CpuOf cpu_of) {
  if (ranks < 1 || ranks > values.cores)
    throw core::DomainError("ranks per node", ranks, "1 to " + std::to_string(values.cores) + ", the cores of a host");
  std::map<int, int> cores_on;  // each CPU
  std::vector<std::pair<int, int>> cores;
  for (int core = 0; core < values.cores; ++core) cores.emplace_back(cores_on[cpu_of(core)]++, core);
  std::sort(cores.begin(), cores.end());  // the first of each CPU, the second ...
  cores.resize(static_cast<std::size_t>(ranks));
  std::sort(cores.begin(), cores.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<int> cpus;
  for (const auto& [place, core] : cores) cpus.push_back(cpu_of(core));
  values.cores = ranks;
  // Hosts::make wants at least one core a CPU: CPUs without ranks at the end are left out.
  values.cpus = 1 + *std::max_element(cpus.begin(), cpus.end());
  values.rank_to_cpu = {core::RankToCpu::Kind::list, std::move(cpus)};
}

/// The other cores stay idle. Kernels keep their speed: a core that has its CPU for itself may be faster than that.
/// `ranks_of`: a host.
template <typename RanksOf>
ClusterModel with_ranks_per_node(ClusterModel cluster, RanksOf ranks_of) {
  const core::Hosts old = cluster.hosts;
  core::Hosts::Values values = old.values();
  const auto some_host = [&](int kind) {
    int host = 0;
    while (host < old.count() && old.kind_of(host) != kind) ++host;
    return host;
  };
  if (const int host = some_host(core::Hosts::no_kind); host < old.count())
    leave_ranks(values, ranks_of(host), [&](int core) { return old.cpu_of(host, core); });
  for (std::size_t kind = 0; kind < values.kinds.size(); ++kind) {
    const int host = some_host(static_cast<int>(kind));
    leave_ranks(values.kinds[kind], ranks_of(host), [&](int core) { return old.cpu_of(host, core); });
  }
  cluster.hosts = core::Hosts::make(std::move(values));
  for (const core::DetourSource& source : cluster.detours)
    if (!source.values().cores.empty() && cluster.hosts.total_cores() != old.total_cores())
      throw core::DomainError("detours " + source.values().name, "of single cores, by the ranks that there were",
                              "detours of all cores of a host",
                              "change the ranks first; add-detours and set-detours then count those that are left");
  edit_models(cluster, [&](core::KernelModel& model) {
    std::vector<core::CpuLaw> laws;
    for (const core::CpuLaw& law : model.overrides())
      if (law.cpu < cluster.hosts.cpus_of(law.host)) laws.push_back(law);
    model = model.with_overrides(std::move(laws));
  });
  if (cluster.power) cluster.power = without_lost_cpus(*cluster.power, cluster.hosts);
  return cluster;
}

/// Every rank runs threads on cores of its own, so there are fewer ranks. dgemm and dtrsm are shared by the threads
/// with parallel efficiency in (0, 1], and their watts are those of all threads; the other kernels are taken to run on
/// one. A pool that spins changes watts only, as its cores are those of the rank.
ClusterModel with_threads_per_rank(ClusterModel cluster, const Argument& argument) {
  const int threads = argument.integer(0);
  const double efficiency = argument.size() > 1 ? argument.number(1) : 1;
  const std::string pool = argument.size() > 2 ? argument.text(2) : "sleep";
  if (pool != "spin" && pool != "sleep") argument.fail();
  for (int host = 0; host < cluster.hosts.count(); ++host) {
    const int cores = cluster.hosts.cores_of(host);
    if (threads < 1 || cores % threads != 0)
      throw core::DomainError("threads per rank", threads,
                              "a divisor of the " + std::to_string(cores) + " cores of a host",
                              "threads-per-rank alone makes cores / threads ranks per host; after ranks-per-node only "
                              "the cores of those ranks are left to share");
  }
  if (!(efficiency > 0 && efficiency <= 1)) throw core::DomainError("efficiency", efficiency, "a number in (0, 1]");
  for (const char* kernel : threaded_kernels) {
    const auto model = cluster.kernels.find(kernel);
    if (model == cluster.kernels.end()) continue;
    model->second = slowed(model->second, threads == 1 ? 1 : 1 / (threads * efficiency));
  }
  if (cluster.power) cluster.power = with_threads(*cluster.power, threads, pool == "spin");
  core::Hosts::Values hosts = cluster.hosts.values();
  hosts.threads_per_rank *= threads;
  cluster.hosts = core::Hosts::make(std::move(hosts));
  const core::Hosts old = cluster.hosts;
  return with_ranks_per_node(std::move(cluster), [&](int host) { return old.cores_of(host) / threads; });
}

ClusterModel with_ranks_of_accelerators(const ClusterModel& cluster) {
  return with_ranks_per_node(cluster, [&](int host) {
    const core::AcceleratorModel* const model = cluster.accelerators_of(host);
    if (model != nullptr) return model->per_host;
    throw core::DomainError("accelerators of host " + cluster.hosts.names()[static_cast<std::size_t>(host)], "none",
                            "hosts with accelerators", "remove-hosts takes the others out");
  });
}

}  // namespace

BusyRanks with_busy_ranks(const core::ClusterModel& cluster, int ranks_per_host) {
  if (cluster.provenance.empty() || cluster.hosts.has_kinds()) return {};  // it says it of one kind of hosts
  auto provenance = core::parse_json<Json>(cluster.provenance);
  if (!provenance.is_object() || provenance.contains("busy_cores")) return {};
  // Threads of each rank when it was measured.
  const double threads = std::max(1.0, core::number_at(provenance, "/surroundings/software/blas_threads"));
  const double measured = threads * core::number_at(provenance, "/ranks_per_host");
  const double busy = static_cast<double>(ranks_per_host) * cluster.hosts.values().threads_per_rank;
  if (busy >= measured || cluster.kernels.count("dgemm") == 0) return {};
  const std::string differs = core::printed(
      "the kernels of %s were measured with %g busy cores per host, and this run has %g: ", cluster.name.c_str(),
      measured, busy);
  const auto alone = provenance.find("alone");
  const double ratio = alone != provenance.end() ? core::number_at(*alone, "/dgemm") : 0;
  if (!(ratio > 0)) return {differs + "they may be faster then; the step dgemm of a campaign measures it", {}};
  const double part = std::min(1.0, (measured - busy) / std::max(1.0, measured - threads));
  Json factors;
  const auto add = [&](const std::string& kernel, const core::EstimatedRatio& change) {
    const double factor = change.ratio > 0 ? std::pow(change.ratio, part * change.certainty()) : 1;
    if (factor != 1 && cluster.kernels.count(kernel) > 0) factors[kernel] = factor;
  };
  add("dgemm", {ratio, core::number_at(*alone, "/standard_error")});
  if (const auto others = alone->find("kernels"); others != alone->end() && others->is_object())
    for (const auto& [kernel, one] : others->items())
      add(kernel, {core::number_at(one, "/ratio"), core::number_at(one, "/standard_error")});
  if (factors.empty())
    return {differs + "dgemm was measured so, too, and differs by no more than the machine scatters", {}};
  core::ClusterModel changed = cluster;
  std::string what;
  for (const auto& [kernel, factor] : factors.items()) {
    core::KernelModel& model = changed.kernels.at(kernel);
    model = slowed(model, factor.get<double>());
    what += core::printed("%s%s %.3f", what.empty() ? "" : ", ", kernel.c_str(), factor.get<double>());
  }
  provenance["busy_cores"] = {{"per_host", busy}, {"factors", factors}};
  changed.provenance = core::json_text(provenance);
  return {differs + "they take so many times as long" + (busy == threads ? "" : ", by interpolation") + ": " + what,
          std::move(changed)};
}

std::vector<KnownTransformation> placement_changes() {
  return {{{"ranks-per-node", "COUNT|accelerators",
            "ranks on each host, or one for each accelerator; other cores stay idle"},
           [](ClusterModel cluster, const Argument& argument) {
             if (argument.text() == "accelerators") return with_ranks_of_accelerators(cluster);
             return with_ranks_per_node(std::move(cluster), [ranks = argument.integer()](int) { return ranks; });
           }},
          {{"threads-per-rank", "COUNT[:EFFICIENCY[:POOL]]",
            "threads that share dgemm and dtrsm of a rank; POOL: do the others spin or sleep while one works?"},
           with_threads_per_rank}};
}

}  // namespace hplcast::study
