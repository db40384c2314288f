#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/study/history_check.hpp"
#include "hplcast/study/predict.hpp"
#include "study/whatif/cluster_changes.hpp"

namespace hplcast::study {

core::ClusterModel with_cpu_speed(const core::ClusterModel& cluster, const std::string& host, int cpu, double factor) {
  if (!(factor > 0) || !std::isfinite(factor)) throw core::DomainError("speed factor", factor, "a number > 0");
  const auto& names = cluster.hosts.names();
  const auto found = std::find(names.begin(), names.end(), host);
  if (!host.empty() && found == names.end())
    throw core::DomainError("host", host,
                            "a host of the cluster " + cluster.name + " (" + cluster.hosts.values().names + ")",
                            "give models of the cluster that was watched with --normal");
  const int cpus =
      host.empty() ? cluster.hosts.most_cpus() : cluster.hosts.cpus_of(static_cast<int>(found - names.begin()));
  if (cpu >= cpus) throw core::DomainError("CPU of " + host, cpu, "below " + std::to_string(cpus));
  core::ClusterModel result = cluster;
  const auto kernel = result.kernels.find("dgemm");
  if (kernel == result.kernels.end()) throw core::DomainError("dgemm", "missing", "a cluster with a model of it");
  const core::KernelModel& model = kernel->second;
  std::vector<core::CpuLaw> laws;
  for (int h = 0; h < cluster.hosts.count(); ++h) {
    for (int c = 0; c < cluster.hosts.cpus_of(h); ++c) {
      const bool changed = (host.empty() || names[static_cast<std::size_t>(h)] == host) && (cpu < 0 || c == cpu);
      const bool own = std::any_of(model.overrides().begin(), model.overrides().end(),
                                   [&](const core::CpuLaw& law) { return law.host == h && law.cpu == c; });
      if (changed || own) laws.push_back({h, c, changed ? slowed(model.law(h, c), 1 / factor) : model.law(h, c)});
    }
  }
  kernel->second = core::KernelModel::make(model.level(), model.law(-1, -1), std::move(laws), model.range());
  return result;
}

std::pair<int, int> grid_of(int ranks) {
  std::pair<int, int> best{1, 1};
  for (int P = 1; P * P <= ranks; ++P) {
    const int Q = std::min(ranks / P, 3 * P);
    // The same number of ranks on a more square grid is better, and P rises.
    if (Q >= P && P * Q >= best.first * best.second) best = {P, Q};
  }
  return best;
}

namespace {

using FindingList = std::vector<const HistoryFinding*>;

/// Open findings about the speed of CPUs, and the factor that they are of.
struct SpeedFindings {
  std::string factor;
  FindingList list;
};

SpeedFindings open_speeds(const HistoryCheck& check) {
  SpeedFindings found;
  for (const char* factor : {"dgemm_gflops", "frequency_ghz"}) {
    found.factor = factor;
    for (const HistoryFinding& one : check.findings)
      if (one.finding.open && one.factor == factor) found.list.push_back(&one);
    if (!found.list.empty()) break;
  }
  return found;
}

core::ClusterModel changed(core::ClusterModel cluster, const FindingList& findings, bool back = false) {
  for (const HistoryFinding* one : findings) {
    const double speed = 1 + one->finding.effect;
    cluster = with_cpu_speed(cluster, one->place.host, one->place.cpu, back ? 1 / speed : speed);
  }
  return cluster;
}

std::string cpu_text(const HistoryFinding& one) {
  return (one.place.cpu < 0 ? "all CPUs " : "CPU " + std::to_string(one.place.cpu) + " ") +
         core::signed_percent(one.finding.effect);
}

/// Adds a run with each seed. Returns its place among those asked for.
std::size_t ask(PredictionBatch& batch, const core::ClusterModel& cluster, const core::HplParameters& parameters,
                const CostOptions& options) {
  for (const std::uint64_t seed : options.seeds) {
    PredictionRequest request;
    request.cluster = cluster;
    request.parameters = parameters;
    request.seed = seed;
    request.mode = options.mode;
    request.programs = options.programs;
    batch.plans.push_back(resolve(std::move(request)));
  }
  return batch.plans.size() / options.seeds.size() - 1;
}

/// Gflop/s of each, by seed.
std::vector<std::vector<double>> predicted(PredictionBatch& batch, std::size_t seeds) {
  std::vector<std::vector<double>> gflops(batch.plans.size() / seeds, std::vector<double>(seeds));
  batch.ended = [&](std::size_t index, const core::Prediction& p) { gflops[index / seeds][index % seeds] = p.gflops; };
  predict_many(batch);
  return gflops;
}

/// Compares seed by seed. `share_error`: relative error of the findings' own effects.
Scenario scenario(const core::HplParameters& parameters, const std::vector<double>& gflops,
                  const std::vector<double>& normal, double share_error) {
  std::vector<double> effects;
  for (std::size_t i = 0; i < gflops.size(); ++i) effects.push_back(gflops[i] / normal[i] - 1);
  const double effect = core::mean(effects);
  const double of_seeds = effects.size() > 1 ? fit::mean_interval(fit::summarize(effects)).upper - effect : 0;
  return {parameters, gflops, effect, std::hypot(of_seeds, share_error * effect)};
}

/// Largest relative error of the effects of some findings.
double share_error(const FindingList& findings) {
  double most = 0;
  for (const HistoryFinding* one : findings)
    most = std::max(most, one->finding.effect_error / std::abs(one->finding.effect));
  return most;
}

struct HostFindings {
  std::string host;
  FindingList findings;
  double worst() const {
    double effect = 0;
    for (const HistoryFinding* one : findings) effect = std::max(effect, std::abs(one->finding.effect));
    return effect;
  }
};

/// The hosts with the largest effects.
std::vector<HostFindings> by_host(const FindingList& findings) {
  std::map<std::string, HostFindings> hosts;
  for (const HistoryFinding* one : findings) {
    if (one->place.host.empty()) continue;
    hosts[one->place.host].host = one->place.host;
    hosts[one->place.host].findings.push_back(one);
  }
  std::vector<HostFindings> result;
  for (auto& [name, host] : hosts) result.push_back(std::move(host));
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.worst() > b.worst(); });
  constexpr std::size_t most = 10;
  if (result.size() > most) result.resize(most);
  return result;
}

/// The same run on a cluster with a host less: with a grid that fits, if the old one does not.
core::HplParameters fitted(core::HplParameters parameters, const core::ClusterModel& cluster) {
  if (parameters.P * parameters.Q <= cluster.hosts.total_cores()) return parameters;
  std::tie(parameters.P, parameters.Q) = grid_of(cluster.hosts.total_cores());
  return parameters;
}

}  // namespace

bool has_cost(const HistoryCheck& check) {
  return !open_speeds(check).list.empty();
}

core::ClusterModel without_findings(const HistoryCheck& check, const core::ClusterModel& now) {
  return changed(now, open_speeds(check).list, true);
}

core::ClusterModel normal_cluster(const HistoryDatabase& database, const HistoryCheck& check,
                                  const std::string& cluster) {
  const std::string json = database.latest_cluster_json(cluster.empty() ? database.clusters().front() : cluster);
  if (json.empty())
    throw core::InputError(
        "the history has no models of the cluster\n  hint: give some with --normal; `history add` keeps "
        "those of archives");
  return without_findings(check, core::read_cluster(core::TextStream(json), database.path().string()));
}

Cost cost_of(const HistoryCheck& check, const core::ClusterModel& normal, const CostOptions& options) {
  if (options.seeds.empty()) throw core::DomainError("seeds", "none", "one at least");
  Cost cost;
  const SpeedFindings found = open_speeds(check);
  if (found.list.empty())
    throw core::InputError(
        "no open finding is about the speed of CPUs (dgemm_gflops, frequency_ghz): nothing to predict");
  cost.factor = found.factor;
  const FindingList& findings = found.list;
  const auto hosts = by_host(findings);
  const core::ClusterModel now = changed(normal, findings);
  PredictionBatch batch;
  batch.jobs = options.jobs;
  ask(batch, normal, options.parameters, options);
  ask(batch, now, options.parameters, options);
  std::vector<std::size_t> alone, without;  // of each host: places among those asked for
  for (const HostFindings& host : hosts) {
    const bool is_all = host.findings.size() == findings.size();
    alone.push_back(is_all ? 1 : ask(batch, changed(normal, host.findings), options.parameters, options));
    Cost::OfHost& one = cost.hosts.emplace_back();
    one.host = host.host;
    for (const HistoryFinding* finding : host.findings) one.what += (one.what.empty() ? "" : ", ") + cpu_text(*finding);
    without.push_back(0);
    try {
      const core::ClusterModel rest = remove_named_nodes(now, {host.host});
      without.back() = ask(batch, rest, fitted(options.parameters, rest), options);
    } catch (const core::DomainError& error) {  // the others lack memory, or the topology a host
      const std::string reason = error.what();
      one.not_without = reason.substr(0, reason.find('\n'));
    }
  }
  const auto gflops = predicted(batch, options.seeds.size());
  const auto scenario_of = [&](std::size_t i, double share_error) {
    return scenario(batch.plans[i * options.seeds.size()].parameters(), gflops[i], gflops.front(), share_error);
  };
  for (const auto& [kernel, model] : normal.kernels)
    if (kernel != "dgemm") cost.kept_kernels.push_back(kernel);
  cost.normal_gflops = gflops.front();
  cost.now = scenario_of(1, share_error(findings));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    Cost::OfHost& one = cost.hosts[i];
    one.alone = scenario_of(alone[i], share_error(hosts[i].findings));
    if (!one.not_without.empty()) continue;
    one.without = scenario_of(without[i], 0);
    const double least = std::max({0.005, cost.now.effect_error, one.without.effect_error});
    one.pays_to_leave_out = one.without.effect > cost.now.effect + least;
  }
  return cost;
}

}  // namespace hplcast::study
