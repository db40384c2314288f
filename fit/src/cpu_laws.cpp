#include "hplcast/fit/cpu_laws.hpp"

#include <algorithm>

namespace hplcast::fit {

namespace {

/// Twice over those that the ten coefficients of M2 (mu and sigma) need.
constexpr std::size_t enough_shapes = 20;

}  // namespace

core::KernelModel with_cpu_laws(const core::KernelModel& model, const TablesByCpu& tables, const CpuFit& fit,
                                std::vector<std::string>& notes) {
  const auto was_measured = [](const TablesByCpu::value_type& entry) { return entry.second.rows() > 0; };
  if (std::count_if(tables.begin(), tables.end(), was_measured) < 2) return model;
  std::vector<core::CpuLaw> laws;
  for (const auto& [place, table] : tables) {
    if (table.rows() == 0) continue;  // whatever was measured there does not count
    const std::string where = "CPU " + std::to_string(place.second) + " of host " + std::to_string(place.first);
    if (table.shapes().size() < enough_shapes) {
      notes.push_back(where + " has the law of all: " + std::to_string(table.shapes().size()) +
                      " shapes were measured on it, at least " + std::to_string(enough_shapes) + " are needed");
      continue;
    }
    const KernelFit one = fit(place, table);
    if (one.ok()) {
      laws.push_back({place.first, place.second, one.model.cluster_law()});
    } else {
      notes.push_back(where + " has the law of all: " + one.reason);
    }
  }
  return core::KernelModel::make(model.level(), model.cluster_law(), std::move(laws), model.range(), model.quality());
}

}  // namespace hplcast::fit
