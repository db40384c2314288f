#include "hplcast/study/objective.hpp"

#include "hplcast/core/errors.hpp"

namespace hplcast::study {

namespace {

struct Description {
  Objective objective;
  const char* name;
  const char* unit;
  bool less_is_better;
};

constexpr Description descriptions[] = {{Objective::gflops, "gflops", "Gflop/s", false},
                                        {Objective::gflops_per_watt, "gflops-per-watt", "Gflop/s per W", false},
                                        {Objective::energy, "energy", "J", true},
                                        {Objective::edp, "edp", "J s", true}};

const Description& description_of(Objective objective) {
  return descriptions[static_cast<std::size_t>(objective)];
}

}  // namespace

const std::vector<std::string>& objective_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Description& one : descriptions) all.emplace_back(one.name);
    return all;
  }();
  return names;
}

std::optional<Objective> objective_from_name(const std::string& name) {
  for (const Description& one : descriptions)
    if (name == one.name) return one.objective;
  return std::nullopt;
}

const char* to_string(Objective objective) {
  return description_of(objective).name;
}

const char* unit_of(Objective objective) {
  return description_of(objective).unit;
}

bool needs_energy(Objective objective) {
  return objective != Objective::gflops;
}

double merit(Objective objective, const core::Prediction& prediction) {
  if (objective == Objective::gflops) return prediction.gflops;
  if (!prediction.energy)
    throw core::DomainError("objective", to_string(objective), "a prediction with energy: a cluster with power");
  const core::Energy& energy = *prediction.energy;
  switch (objective) {
    case Objective::energy:
      return 1 / energy.energy_j;
    case Objective::edp:
      return 1 / (energy.energy_j * prediction.time_s);
    default:
      return energy.gflops_per_w;
  }
}

double in_unit(Objective objective, double merit) {
  return description_of(objective).less_is_better ? 1 / merit : merit;
}

}  // namespace hplcast::study
