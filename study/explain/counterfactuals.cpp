#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "hplcast/core/files.hpp"
#include "hplcast/study/predict.hpp"
#include "study/explain/explain_parts.hpp"
#include "study/whatif/cluster_changes.hpp"

namespace hplcast::study {

namespace {

core::Monomial product_of(core::KernelId kernel) {
  const std::string_view sizes = core::kernel_sizes[static_cast<std::size_t>(kernel)];
  const auto has = [sizes](char size) { return sizes.find(size) == std::string_view::npos ? 0 : 1; };
  return {has('m'), has('n'), has('k')};
}

/// Where on the scale of `split` the product of a kernel's sizes is 4^c: c times the logarithm that is returned.
/// Nothing if `split` is not a power of that product.
std::optional<double> logarithm_of_class(core::KernelId kernel, const core::Monomial& split) {
  int power = 0;
  for (const char size : core::kernel_sizes[static_cast<std::size_t>(kernel)]) {
    const int exponent = size == 'm' ? split.m : size == 'n' ? split.n : split.k;
    if (exponent < 1 || (power > 0 && exponent != power)) return std::nullopt;
    power = exponent;
  }
  return power * std::log(4.0);
}

/// The law with every piece cut where the factor of the classes changes.
core::PiecewiseLaw with_level(const core::PiecewiseLaw& law, core::KernelId kernel, const KernelLevel& by) {
  const ClassFactors& factors = by.classes;
  const core::Monomial split = law.pieces().size() == 1 ? product_of(kernel) : law.split();
  const auto step = logarithm_of_class(kernel, split);
  if (!step) return slowed(law, by.overall);
  std::vector<double> starts = core::mapped(law.pieces(), &core::LawPiece::from);
  for (std::size_t i = 1; i < shape_classes; ++i)
    if (factors[i] != factors[i - 1]) starts.push_back(std::exp(*step * static_cast<double>(i)));
  std::sort(starts.begin(), starts.end());
  std::vector<core::LawPiece> pieces;
  for (const double from : starts) {
    if (!pieces.empty() && from <= pieces.back().from * (1 + 1e-12)) continue;
    const auto after = std::find_if(law.pieces().begin() + 1, law.pieces().end(),
                                    [from](const core::LawPiece& piece) { return piece.from > from; });
    // A little further on: at the border itself rounding would choose the class.
    const double inside = std::max(from, 1.0) * (1 + 1e-9);
    const auto found = std::clamp(static_cast<int>(std::floor(std::log(inside) / *step)), 0, int{shape_classes} - 1);
    pieces.push_back({from, slowed((after - 1)->law, factors[static_cast<std::size_t>(found)])});
  }
  if (pieces.size() == 1) return core::PiecewiseLaw(pieces.front().law);
  return core::PiecewiseLaw::make(split, std::move(pieces));
}

core::KernelModel with_level(const core::KernelModel& model, core::KernelId kernel, const KernelLevel& by) {
  std::vector<core::CpuLaw> overrides = model.overrides();
  for (core::CpuLaw& own : overrides) own.law = with_level(own.law, kernel, by);
  core::PiecewiseLaw law = with_level(model.cluster_law(), kernel, by);
  const std::string level = law.pieces().size() > 1 ? "M'" : model.level();
  return core::KernelModel::make(level, std::move(law), std::move(overrides), model.range());
}

/// As they are for cores that become CPUs; of kinds of hosts, for the one with most cores.
core::Rails rails_of_cores(const core::Rails& rails, const core::Hosts& hosts) {
  int largest = 0;
  for (int host = 1; host < hosts.count(); ++host)
    if (hosts.cores_of(host) > hosts.cores_of(largest)) largest = host;
  core::Rails result = rails;
  result.near.clear();
  result.far.clear();
  std::map<int, int> ranks;
  for (int core = 0; core < hosts.cores_of(largest); ++core) {
    const int cpu = hosts.cpu_of(largest, core), nth = ranks[cpu]++;
    std::vector<int>& near = result.near.emplace_back();  // its one rank takes the first
    for (std::size_t i = 0; i < rails.near[static_cast<std::size_t>(cpu)].size(); ++i)
      near.push_back(rails.card_of(cpu, nth + static_cast<int>(i)));
    for (core::RailReach one : rails.far) {
      if (one.cpu != cpu) continue;
      one.cpu = core;
      result.far.push_back(one);
    }
  }
  return result;
}

/// Every core a CPU of its own, with the laws that it had.
void make_cores_cpus(core::ClusterModel& cluster) {
  const core::Hosts old = cluster.hosts;
  core::Hosts::Values values = old.values();
  const auto split = [](auto& shape) {
    shape.cpus = shape.cores;
    shape.rank_to_cpu = {};
  };
  split(values);
  for (core::HostKind& kind : values.kinds) split(kind);
  cluster.hosts = core::Hosts::make(std::move(values));
  if (core::NetworkModel::Values network = cluster.network.values(); network.rails) {
    network.rails = rails_of_cores(*network.rails, old);
    cluster.network = core::NetworkModel::make(std::move(network));
  }
  for (auto& [name, model] : cluster.kernels) {
    std::vector<core::CpuLaw> overrides;
    for (const core::CpuLaw& own : model.overrides())
      for (int core = 0; core < old.cores_of(own.host); ++core)
        if (old.cpu_of(own.host, core) == own.cpu) overrides.push_back({own.host, core, own.law});
    model = core::KernelModel::make(model.level(), model.cluster_law(), std::move(overrides), model.range());
  }
}

void slow_ranks(core::ClusterModel& cluster, core::KernelId kernel, const std::map<int, double>& factors,
                const std::vector<RankPlace>& places) {
  const auto found = cluster.kernels.find(core::to_string(kernel));
  if (found == cluster.kernels.end()) return;
  core::KernelModel& model = found->second;
  std::vector<core::CpuLaw> overrides = model.overrides();
  for (const auto& [rank, factor] : factors) {
    const RankPlace& place = places[static_cast<std::size_t>(rank)];
    const core::PiecewiseLaw law = slowed(model.law(place.host, place.local), factor);
    const auto is_old = [&](const core::CpuLaw& own) { return own.host == place.host && own.cpu == place.local; };
    overrides.erase(std::remove_if(overrides.begin(), overrides.end(), is_old), overrides.end());
    overrides.push_back({place.host, place.local, law});
  }
  model = core::KernelModel::make(model.level(), model.cluster_law(), std::move(overrides), model.range());
}

core::KernelModel new_model(core::KernelId kernel, double s_per_product) {
  const auto mu = core::Polynomial::make({product_of(kernel)}, {s_per_product});
  return core::KernelModel::make("M1", core::PiecewiseLaw(core::DurationLaw::make(mu, {}, core::NoiseFamily::none)));
}

void tell(const ExplainRequest& request, double done, const std::string& what) {
  if (request.progress) request.progress(done, what);
}

constexpr std::size_t most_in_all_orders = 3;  // 2^m simulations: of more parts 2 m are fewer

using Order = std::vector<std::size_t>;
using Replaced = std::vector<bool>;  // a flag per part

/// Orders in which parts are replaced: of a few all (their mean is Shapley's value), else one and its reverse.
std::vector<Order> orders_of(std::size_t parts) {
  Order order(parts);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Order> orders = {order};
  if (parts > most_in_all_orders) {
    orders.emplace_back(order.rbegin(), order.rend());
  } else {
    while (std::next_permutation(order.begin(), order.end())) orders.push_back(order);
  }
  return orders;
}

/// The prediction with some parts as the run measured them. Each is simulated once, with the same random numbers.
class Counterfactuals {
 public:
  Counterfactuals(const ExplainRequest& request, const std::vector<RankPlace>& places, double baseline_s,
                  const std::vector<Replacement>& causes)
      : request_(request), places_(places), causes_(causes), again_(request_of(request)) {
    again_.observation.phases = true;
    known_s_[Replaced(causes.size(), false)] = baseline_s;
  }

  double time_s(const Replaced& replaced) {
    const auto known = known_s_.find(replaced);
    if (known != known_s_.end()) return known->second;
    MeasuredParts parts;
    std::string text;
    for (std::size_t part = 0; part < causes_.size(); ++part) {
      if (!replaced[part]) continue;
      merge(parts, causes_[part].parts);
      text += (text.empty() ? "" : "; ") + causes_[part].cause.text;
    }
    again_.cluster = with_measured(request_.cluster, parts, places_);
    const auto count = static_cast<double>(counterfactuals_of(causes_.size()));
    const double done = static_cast<double>(known_s_.size()) / (1 + count);
    const core::Prediction changed = predict(again_, {[&] { tell(request_, done, "counterfactual: " + text); }});
    if (std::count(replaced.begin(), replaced.end(), false) == 0)
      for (const core::PhaseSummary& phase : changed.phases) waiting_s_ += phase.waiting_s;
    return known_s_[replaced] = changed.time_s;
  }

  /// Mean over the ranks, with all parts replaced.
  double waiting_s() const { return waiting_s_; }

 private:
  const ExplainRequest& request_;
  const std::vector<RankPlace>& places_;
  const std::vector<Replacement>& causes_;
  PredictionRequest again_;
  std::map<Replaced, double> known_s_;
  double waiting_s_ = 0;
};

}  // namespace

core::ClusterModel with_measured(core::ClusterModel cluster, const MeasuredParts& parts,
                                 const std::vector<RankPlace>& places) {
  for (const auto& [kernel, s_per_product] : parts.without_model)
    cluster.kernels[core::to_string(kernel)] = new_model(kernel, s_per_product);
  for (const auto& [kernel, factors] : parts.levels) {
    const auto found = cluster.kernels.find(core::to_string(kernel));
    if (found != cluster.kernels.end()) found->second = with_level(found->second, kernel, factors);
  }
  if (!parts.ranks.empty()) make_cores_cpus(cluster);
  for (const auto& [kernel, factors] : parts.ranks) slow_ranks(cluster, kernel, factors, places);
  if (parts.network.empty()) return cluster;
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    for (const auto& [scope, by] : parts.network) {
      const bool remote = scope == core::Scope::remote;
      if (remote && !network.remote) continue;
      scale_scope(remote ? *network.remote : network.local, {1 / by.latency, 1 / by.bandwidth, 1 / by.calls});
    }
  });
}

PredictionRequest request_of(const ExplainRequest& request) {
  PredictionRequest again;
  again.cluster = request.cluster;
  again.parameters = request.prediction.parameters;
  again.seed = request.prediction.seed;
  again.mode = request.prediction.mode == "fast" ? SimulationMode::fast : SimulationMode::exact;
  if (!request.prediction.sampling) again.windows.kind = WindowRule::Kind::off;
  again.windows.target = 0;  // what is compared has the same windows
  again.programs = request.programs;
  again.timeout_s = request.timeout_s;
  return again;
}

Baseline simulate_baseline(const ExplainRequest& request, bool events) {
  const core::TemporaryFolder folder("hplcast-explain");
  PredictionRequest again = request_of(request);
  const bool whole = !request.prediction.sampling;
  if (events) {
    again.mode = SimulationMode::exact;
    again.windows.kind = WindowRule::Kind::off;
    again.observation.trace = folder.path() / "trace.json";
  }
  if (whole || events) again.observation.phases_csv = folder.path() / "phases.csv";
  Baseline baseline;
  again.observation.phases = true;
  core::Prediction prediction = predict(again, {[&] { tell(request, 0, "the prediction again"); }});
  baseline.time_s = prediction.time_s;
  baseline.summaries = std::move(prediction.phases);
  if (whole || events) baseline.phases = read_phases_csv(again.observation.phases_csv);
  if (events) baseline.ranks = simulated_ranks(again.observation.trace, again.parameters.P * again.parameters.Q);
  return baseline;
}

std::size_t counterfactuals_of(std::size_t causes) {
  if (causes == 0) return 0;
  return (causes > most_in_all_orders ? 2 * causes : std::size_t{1} << causes) - 1;
}

double simulate_causes(const ExplainRequest& request, const std::vector<RankPlace>& places, double baseline_s,
                       std::vector<Replacement>& causes) {
  if (causes.empty()) return 0;
  Counterfactuals simulated(request, places, baseline_s, causes);
  const std::vector<Order> orders = orders_of(causes.size());
  std::vector<std::vector<double>> steps_s(causes.size());
  for (const Order& order : orders) {
    Replaced replaced(causes.size(), false);
    for (const std::size_t part : order) {
      const double before_s = simulated.time_s(replaced);
      replaced[part] = true;
      steps_s[part].push_back(simulated.time_s(replaced) - before_s);
    }
  }
  for (std::size_t part = 0; part < causes.size(); ++part) {
    Cause& cause = causes[part].cause;
    const std::vector<double>& all_s = steps_s[part];
    cause.simulated_s = std::accumulate(all_s.begin(), all_s.end(), 0.0) / static_cast<double>(orders.size());
    const auto [least, most] = std::minmax_element(all_s.begin(), all_s.end());
    cause.least_s = *least;
    cause.most_s = *most;
  }
  return simulated.waiting_s();
}

}  // namespace hplcast::study
