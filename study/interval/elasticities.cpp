#include <algorithm>

#include "hplcast/core/csv.hpp"
#include "hplcast/study/interval.hpp"
#include "hplcast/study/quick.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::study {

namespace {

// Steps that are large against what is left of the noise of two runs with the same random numbers: at 1024 ranks a
// pair scatters by 0.3 percent, so that elasticities are right within 0.03 and 0.007.
constexpr double dgemm_step = 1.1;
constexpr double message_step = 1.5;

core::ClusterModel with_slower_dgemm(const core::ClusterModel& cluster, double slower) {
  return transformed(cluster, {{"scale-dgemm", core::shortest(1 / slower)}});
}

/// All but the kernels: messages of both scopes, probes, links.
core::ClusterModel with_dearer_messages(const core::ClusterModel& cluster, double dearer) {
  return transformed(cluster, {{"scale-all", core::shortest(1 / dearer)}, {"scale-kernels", core::shortest(dearer)}});
}

/// `dgemm` and `messages` as they are; other kernels by the sum of 1. Ranks wait for the scatter of dgemm no longer
/// than dgemm matters more than it takes.
Elasticities complete(double dgemm, double messages, const KernelShares& shares) {
  dgemm = std::clamp(dgemm, 0.0, 1.0);
  messages = std::clamp(messages, 0.0, 1 - dgemm);
  return {dgemm, std::max(0.0, dgemm - shares.dgemm), 1 - dgemm - messages, messages};
}

/// As a term of the prediction's interval has it.
std::optional<double> known_elasticity(const core::Prediction& prediction, core::ErrorGroup group) {
  if (prediction.interval)
    for (const core::ErrorTerm& term : prediction.interval->terms)
      if (term.name == to_string(group)) return term.elasticity;
  return std::nullopt;
}

}  // namespace

KernelShares kernel_shares(const core::Prediction& prediction) {
  const double all_s = prediction.time_s * prediction.parameters.P * prediction.parameters.Q;
  KernelShares shares;
  for (const auto& [name, count] : prediction.kernels)
    (name == "dgemm" ? shares.dgemm : shares.other_kernels) += count.time_s / all_s;
  return shares;
}

double dgemm_elasticity(const core::Prediction& prediction) {
  return known_elasticity(prediction, core::ErrorGroup::dgemm).value_or(kernel_shares(prediction).dgemm);
}

double kernels_elasticity(const core::Prediction& prediction) {
  return dgemm_elasticity(prediction) + known_elasticity(prediction, core::ErrorGroup::other_kernels)
                                            .value_or(kernel_shares(prediction).other_kernels);
}

Elasticities closed_form_elasticities(const core::ClusterModel& cluster, const core::Prediction& prediction) {
  const auto time_s = [&](const core::ClusterModel& one) {
    return closed_form_s(one, prediction.parameters, ranks_for_ratios);
  };
  const KernelShares shares = kernel_shares(prediction);
  const double plain_s = time_s(cluster);  // 0 of a cluster on which nothing takes time
  const double dearer = plain_s > 0 ? time_s(with_dearer_messages(cluster, message_step)) / plain_s : 1;
  const double rest = std::max(0.0, 1 - shares.dgemm - shares.other_kernels);
  const double messages = std::min((dearer - 1) / (message_step - 1), rest);
  // Ranks wait for updates and for panels of other ranks: half for each (docs/models/interval.md).
  const double dgemm = shares.dgemm > 0 ? shares.dgemm + (rest - messages) / 2 : 0;
  return complete(dgemm, messages, shares);
}

Elasticities closed_form_elasticities(const core::ClusterModel& cluster, const core::HplParameters& parameters,
                                      double dgemm) {
  const double plain_s = closed_form_s(cluster, parameters, ranks_for_ratios);
  const auto elasticity = [&](const core::ClusterModel& changed, double step) {
    return (closed_form_s(changed, parameters, ranks_for_ratios) / plain_s - 1) / (step - 1);
  };
  KernelShares shares;
  shares.dgemm = dgemm;
  return complete(elasticity(with_slower_dgemm(cluster, dgemm_step), dgemm_step),
                  elasticity(with_dearer_messages(cluster, message_step), message_step), shares);
}

Elasticities simulated_elasticities(const RunPlan& plan, const core::Prediction& prediction) {
  PredictionRequest request = plan.request();
  request.mode = plan.mode();
  request.target_error = 0;
  request.windows.target = 0;  // the same windows each time
  request.keep.clear();
  request.observation = {};
  const bool has_others = plan.windows().target > 0 || plan.request().target_error > 0 ||
                          (!plan.is_sampled() && is_observed(plan.request().observation));
  const double plain_s = has_others ? predict(request).time_s : prediction.time_s;
  const auto elasticity = [&](core::ClusterModel cluster, double step) {
    request.cluster = std::move(cluster);
    return (predict(request).time_s / plain_s - 1) / (step - 1);
  };
  const double dgemm = elasticity(with_slower_dgemm(plan.cluster(), dgemm_step), dgemm_step);
  const double messages = elasticity(with_dearer_messages(plan.cluster(), message_step), message_step);
  return complete(dgemm, messages, kernel_shares(prediction));
}

}  // namespace hplcast::study
