#include "hplcast/study/compared_energy.hpp"

#include "hplcast/core/errors.hpp"
#include "hplcast/study/compare.hpp"

namespace hplcast::study {

namespace {

/// Values of the runs of one configuration.
struct Values {
  std::vector<double> energy_j, power_w, gflops_per_w;
};
using ValuesOfConfigurations = std::map<core::HplParameters, Values>;

void add(ValuesOfConfigurations& all, const core::HplParameters& parameters, double energy_j, double power_w,
         double gflops) {
  if (!(energy_j > 0) || !(power_w > 0))
    throw core::DomainError("energy of " + core::to_string(parameters), energy_j, "a number of J above 0");
  Values& values = all[core::without_unused(parameters)];
  values.energy_j.push_back(energy_j);
  values.power_w.push_back(power_w);
  values.gflops_per_w.push_back(gflops / power_w);
}

EnergyOfConfigurations medians_of(const ValuesOfConfigurations& all) {
  EnergyOfConfigurations medians;
  for (const auto& [parameters, values] : all)
    medians[parameters] = {values.energy_j.size(), median(values.energy_j), median(values.power_w),
                           median(values.gflops_per_w)};
  return medians;
}

}  // namespace

EnergyOfConfigurations measured_energy(const std::vector<core::HplRun>& runs) {
  ValuesOfConfigurations all;
  for (const core::HplRun& run : runs) {
    if (!run.energy_j || !run.mean_power_w || (run.residual_checked && !run.residual_passed)) continue;
    add(all, run.parameters, *run.energy_j, *run.mean_power_w, run.gflops);
  }
  return medians_of(all);
}

EnergyOfConfigurations predicted_energy(const std::vector<core::Prediction>& predictions) {
  ValuesOfConfigurations all;
  for (const core::Prediction& prediction : predictions)
    if (prediction.energy)
      add(all, prediction.parameters, prediction.energy->energy_j, prediction.energy->mean_power_w, prediction.gflops);
  return medians_of(all);
}

std::optional<ComparedEnergy> compare_energy(const core::HplParameters& parameters, const EnergyOfConfigurations& real,
                                             const EnergyOfConfigurations& predicted) {
  const auto measured = real.find(core::without_unused(parameters));
  const auto simulated = predicted.find(core::without_unused(parameters));
  if (measured == real.end() || simulated == predicted.end()) return std::nullopt;
  ComparedEnergy energy;
  energy.real = measured->second;
  energy.predicted = simulated->second;
  energy.energy_error = energy.predicted.energy_j / energy.real.energy_j - 1;
  energy.power_error = energy.predicted.mean_power_w / energy.real.mean_power_w - 1;
  return energy;
}

}  // namespace hplcast::study
