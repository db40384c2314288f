#include <nlohmann/json.hpp>

#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/power_fit.hpp"
#include "hplcast/fit/run_power.hpp"

namespace hplcast::fit {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const FittedWatts& watts) {
  return HPLCAST_JSON(watts, coefficients, standard_errors);
}

Json to_json(const HostPowerFit& fit) {
  Json json = {{"pieces", fit.rows}};
  json.update(HPLCAST_JSON(fit, terms, r2, rms_w, max_residual_w));
  json["left_out"] = fit.outliers.size();
  json["idle_w"] = fit.idle_w;
  json["idle_standard_error_w"] = fit.idle_error_w;
  json["awake"] = to_json(fit.awake);
  json["states"] = Json::object();
  if (!fit.host.empty()) json["host"] = fit.host;
  for (const auto& [state, watts] : fit.states) json["states"][state] = to_json(watts);
  for (const AllCoresCurve& curve : fit.all_cores) {
    Json one = to_json(curve.watts);
    one.update(HPLCAST_JSON(curve, state, r2, rms_w, max_residual_w));
    json["all_cores"].push_back(std::move(one));
  }
  return json;
}

Json to_json(const Estimate& estimate) {
  return {{"value", estimate.value}, {"standard_error", estimate.error}};
}

Json flags_json(const std::vector<core::QualityFlag>& flags) {
  Json json = Json::array();
  for (const core::QualityFlag& flag : flags) json.push_back(HPLCAST_JSON(flag, subject, flag, detail));
  return json;
}

void set_power_and_report(const core::PowerModel& model, const std::string& report, core::ClusterModel& cluster) {
  cluster.power = model;
  Json provenance = core::parse_json<Json>(cluster.provenance);
  provenance["power"] = core::parse_json<Json>(report);
  cluster.provenance = core::json_text(provenance);
}

}  // namespace

std::string power_report_json(const PowerFit& fit, const PowerRows& rows) {
  Json report = to_json(fit.all);
  report["sensors"] = rows.sensors;
  for (const HostPowerFit& host : fit.hosts) report["hosts"].push_back(to_json(host));
  report["flags"] = flags_json(fit.flags);
  return core::json_text(report);
}

void set_power(const PowerFit& fit, const PowerRows& rows, core::ClusterModel& cluster) {
  set_power_and_report(fit.model, power_report_json(fit, rows), cluster);
}

std::string run_power_report_json(const RunPowerFit& fit) {
  Json report = {{"configurations", fit.runs.size()},
                 {"mean_abs_error", fit.mean_abs_error()},
                 {"scatter", fit.scatter},
                 {"idle_w", to_json(fit.idle_w)},
                 {"awake_w", to_json(fit.awake_w)},
                 {"core_w", to_json(fit.core_w)},
                 {"waiting_w", to_json(fit.waiting_w)},
                 {"setup_factor", to_json(fit.setup_factor)},
                 {"start_j_per_host", Json::object()},
                 {"rows", Json::array()},
                 {"left_out", Json::array()}};
  for (const auto& [campaign, joules] : fit.start_j) report["start_j_per_host"][campaign] = to_json(joules);
  for (const auto& [key, rows] : {std::pair{"rows", &fit.runs}, std::pair{"left_out", &fit.outliers}})
    for (const FittedRun& one : *rows)
      report[key].push_back({{"row", core::to_string(one.run.row)},
                             {"configuration", one.run.configuration},
                             {"energy_j", one.run.energy_j},
                             {"fitted_j", one.predicted_j},
                             {"wraps", one.run.wraps}});
  report["flags"] = flags_json(fit.flags);
  return core::json_text(report);
}

void set_power(const RunPowerFit& fit, core::ClusterModel& cluster) {
  set_power_and_report(fit.model, run_power_report_json(fit), cluster);
}

std::vector<core::PowerSample> power_samples(const core::CampaignArchive& archive) {
  std::vector<core::PowerSample> samples;
  for (const auto& [name, text] : archive.files) {
    if (!core::begins_with(name, "measurements/") || !core::ends_with(name, "-power.csv")) continue;
    core::append(samples, core::read_power_csv(core::TextStream(text), name));
  }
  return samples;
}

}  // namespace hplcast::fit
