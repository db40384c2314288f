#include <cmath>
#include <nlohmann/json.hpp>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::study {

namespace {

/// Variance of the mean of ln(wall time of the slowest rank): of the controls, or of the calls of a single one.
double own_variance(const std::vector<core::ControlRows>& controls) {
  std::vector<double> logs;
  double within = 0;
  for (const core::ControlRows& rows : controls) {
    const core::ControlRow* slowest = &rows.front();
    for (const core::ControlRow& row : rows)
      if (row.wall_s > slowest->wall_s) slowest = &row;
    logs.push_back(std::log(slowest->wall_s));
    within += std::pow(slowest->sd_s / slowest->wall_s, 2) / static_cast<double>(slowest->calls);
  }
  return controls.size() == 1 ? within : std::pow(fit::summarize(logs).sd, 2) / static_cast<double>(logs.size());
}

}  // namespace

ControlNow at_control(core::ClusterModel& cluster, const std::vector<core::ControlRows>& controls) {
  const std::optional<core::Control> calibration = core::control_of(cluster);
  if (!calibration)
    throw core::InputError(
        cluster.name + " has no control measurement (provenance.control)" +
        "\n  hint: `calibrate` makes them unless its campaign says `control: off`; then `fit cluster`");
  ControlNow result{*calibration, core::summarized(controls)};
  core::require(result.now.shape == calibration->shape, "shape of the control", result.now.shape,
                calibration->shape + ", as in " + cluster.name, "controls of different shapes cannot be compared");
  const double ratio = result.now.wall_s / calibration->wall_s, change = std::pow(std::log(ratio), 2);
  result.coefficient = change > 0 ? std::max(0.0, 1 - own_variance(controls) / change) : 0;
  result.slower = std::pow(ratio, result.coefficient);
  cluster = transformed(std::move(cluster), {{"scale-kernels", core::shortest(1 / result.slower)}});
  auto provenance = core::parse_json<Json>(cluster.provenance);
  Json& control = provenance["control"];
  control["wall_s"] = result.now.wall_s;
  control["low"] = calibration->low_s * ratio;
  control["high"] = calibration->high_s * ratio;
  control["cpu_s"] = result.now.cpu_s;
  control["message_s"] = result.now.round_trip_s;
  provenance["control_now"] = {{"calibration_wall_s", calibration->wall_s},
                               {"controls", controls.size()},
                               {"coefficient", result.coefficient},
                               {"slower", result.slower}};
  cluster.provenance = core::json_text(provenance);
  return result;
}

}  // namespace hplcast::study
