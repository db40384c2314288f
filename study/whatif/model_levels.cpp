#include <cmath>

#include "hplcast/core/errors.hpp"
#include "study/whatif/cluster_changes.hpp"

namespace hplcast::study {

namespace {

constexpr std::pair<const char*, bool ModelLevels::*> switches[] = {{"noise", &ModelLevels::noise},
                                                                    {"network-noise", &ModelLevels::network_noise},
                                                                    {"detours", &ModelLevels::detours},
                                                                    {"growing-probes", &ModelLevels::growing_probes},
                                                                    {"per-cpu", &ModelLevels::per_cpu}};

constexpr core::ShapeRange usual_shapes{{128, 128, 64}, {8192, 8192, 512}};

/// `count` numbers from `first` to `last`, evenly spaced in logarithm.
std::vector<double> logarithmic(double first, double last) {
  constexpr int count = 5;
  if (first == last) return {first};
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(first * std::pow(last / first, i / double{count - 1}));
  return values;
}

std::vector<core::KernelShape> grid(const core::ShapeRange& range) {
  std::vector<core::KernelShape> shapes;
  for (const double m : logarithmic(range.min.m, range.max.m))
    for (const double n : logarithmic(range.min.n, range.max.n))
      for (const double k : logarithmic(range.min.k, range.max.k)) shapes.push_back({m, n, k});
  return shapes;
}

core::Monomial highest(const core::Polynomial& polynomial) {
  const auto degree = [](const core::Monomial& term) { return term.m + term.n + term.k; };
  core::Monomial result;
  for (const core::Monomial& term : polynomial.terms())
    if (degree(term) > degree(result)) result = term;
  return result;
}

core::PiecewiseLaw one_product(const core::PiecewiseLaw& law, const std::vector<core::KernelShape>& shapes) {
  const core::DurationLaw& last = law.pieces().back().law;  // the one of the largest shapes
  if (last.mu().empty()) return law;
  const core::Monomial product = highest(last.mu());
  double durations = 0;
  double products = 0;
  for (const core::KernelShape& shape : shapes) {
    durations += law.at(shape).mean_s(shape);
    products += product(shape);
  }
  const auto mu = core::Polynomial::make({product}, {durations / products});
  return core::PiecewiseLaw(core::DurationLaw::make(mu, last.sigma(), last.noise(), last.modes()));
}

core::KernelModel to_m1(const core::KernelModel& model) {
  if (model.level() == "M0" || model.level() == "M1") return model;
  const auto shapes = grid(model.range().value_or(usual_shapes));
  std::vector<core::CpuLaw> overrides = model.overrides();
  for (core::CpuLaw& own : overrides) own.law = one_product(own.law, shapes);
  return core::KernelModel::make("M1", one_product(model.cluster_law(), shapes), std::move(overrides), model.range());
}

void to_level(ClusterModel& cluster, const std::string& level) {
  if (level == "M1") {
    for (auto& [name, model] : cluster.kernels) model = to_m1(model);
    return;
  }
  if (level != "M2") throw core::DomainError("kernel model", level, "M1 or M2");
  const std::string dgemm = kernel_of(cluster, "dgemm").level();  // not a reference: GCC 14 fears the temporary
  if (dgemm == "M0" || dgemm == "M1")
    throw core::DomainError("level of dgemm", dgemm, "M2: a model with one product says nothing of the others",
                            "fit dgemm as M2, or assemble the cluster with a polynomial model");
}

}  // namespace

ClusterModel at_levels(ClusterModel cluster, const ModelLevels& levels) {
  if (levels.kernel_model) to_level(cluster, *levels.kernel_model);
  for (auto& [name, model] : cluster.kernels) {
    if (!levels.per_cpu && !model.overrides().empty()) model = with_mean_laws(cluster.hosts, model);
    if (!levels.noise) set_temporal_cv(model, 0);
  }
  if (!levels.growing_probes && cluster.network.values().growing_probes)
    cluster = with_network(std::move(cluster), [](auto& network) { network.growing_probes = false; });
  if (!levels.detours) cluster.detours.clear();
  return levels.network_noise ? cluster : scale_network_noise(std::move(cluster), 0);
}

std::map<std::string, std::string> described(const ModelLevels& levels) {
  std::map<std::string, std::string> result;
  for (const auto& [name, is_on] : switches)
    if (!(levels.*is_on)) result[name] = "off";
  if (levels.kernel_model) result["kernel-model"] = *levels.kernel_model;
  return result;
}

ModelLevels levels_of(const std::map<std::string, std::string>& described) {
  ModelLevels levels;
  for (const auto& [name, is_on] : switches) levels.*is_on = described.count(name) == 0;
  if (const auto model = described.find("kernel-model"); model != described.end()) levels.kernel_model = model->second;
  return levels;
}

}  // namespace hplcast::study
