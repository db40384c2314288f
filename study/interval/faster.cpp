#include <algorithm>
#include <cmath>
#include <set>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/fit/distributions.hpp"
#include "hplcast/study/interval.hpp"

namespace hplcast::study {

namespace {

/// How far the error of one configuration is off that of all on the same machine: the sd of 14 configurations of dahu
/// around their bias.
constexpr double default_configuration = 0.01;

core::ErrorTerm term_of(const core::Prediction& prediction, const std::string& name) {
  const auto& terms = prediction.interval->terms;
  const auto found = std::find_if(terms.begin(), terms.end(), [&](const auto& term) { return term.name == name; });
  return found == terms.end() ? core::ErrorTerm() : *found;
}

/// The mean over the seeds, and its own error.
struct Mean {
  double log_rate = 0, variance = 0, freedom = 0;
};

Mean mean_of(const std::vector<core::Prediction>& seeds) {
  std::vector<double> logs;
  const auto count = static_cast<double>(seeds.size());
  Mean mean;
  for (const core::Prediction& one : seeds) {
    logs.push_back(std::log(one.gflops));
    mean.log_rate += logs.back() / count;
  }
  constexpr std::size_t enough = 3;
  if (logs.size() < enough) {
    const core::ErrorTerm one = term_of(seeds.front(), "simulation");
    mean.variance = one.sd * one.sd / count;
    mean.freedom = one.nu;
  } else {
    mean.variance = std::pow(fit::summarize(logs).sd, 2) / count;
    mean.freedom = count - 1;
  }
  return mean;
}

}  // namespace

double probability_faster(const std::vector<core::Prediction>& a, const std::vector<core::Prediction>& b) {
  for (const auto* seeds : {&a, &b})
    if (seeds->empty() || !seeds->front().interval)
      throw core::DomainError("interval of a prediction", "none", "one of each configuration that is compared");
  double variance = 0, uncertain = 0;
  const auto add = [&](double part, double freedom) {
    variance += part;
    if (freedom > 0) uncertain += part * part / freedom;
  };
  const Mean mean_a = mean_of(a), mean_b = mean_of(b);
  add(mean_a.variance, mean_a.freedom);
  add(mean_b.variance, mean_b.freedom);
  const bool same_machine = a.front().cluster == b.front().cluster;
  std::set<std::string> names;
  for (const auto* seeds : {&a, &b})
    for (const core::ErrorTerm& term : seeds->front().interval->terms) names.insert(term.name);
  for (const std::string& name : names) {
    if (name == "run" || name == "simulation") continue;  // many runs; and the means above
    const core::ErrorTerm one = term_of(a.front(), name), other = term_of(b.front(), name);
    const double freedom = std::min(one.nu, other.nu);
    const bool of_configurations = name == "model" && same_machine;  // a ledger has their sd around their bias
    const double part = of_configurations && freedom == 0    ? 2 * default_configuration * default_configuration
                        : same_machine && !of_configurations ? std::pow(one.sd - other.sd, 2)
                                                             : one.sd * one.sd + other.sd * other.sd;
    add(part, freedom);
  }
  const double by = mean_a.log_rate - mean_b.log_rate - (a.front().interval->bias - b.front().interval->bias);
  if (variance == 0) return by > 0 ? 1 : by < 0 ? 0 : 0.5;
  const double sds = by / std::sqrt(variance);
  if (uncertain == 0) return core::normal_cdf(sds);
  return fit::students_t_tail(variance * variance / uncertain, -sds);
}

}  // namespace hplcast::study
