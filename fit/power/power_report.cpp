#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/power_fit.hpp"

namespace hplcast::fit {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const FittedWatts& watts) {
  return {{"coefficients", watts.coefficients}, {"standard_errors", watts.standard_errors}};
}

Json to_json(const HostPowerFit& fit) {
  Json json = {{"pieces", fit.rows},
               {"terms", fit.terms},
               {"r2", fit.r2},
               {"rms_w", fit.rms_w},
               {"max_residual_w", fit.max_residual_w},
               {"left_out", fit.outliers.size()},
               {"idle_w", fit.idle_w},
               {"idle_standard_error_w", fit.idle_error_w},
               {"awake", to_json(fit.awake)},
               {"states", Json::object()}};
  if (!fit.host.empty()) json["host"] = fit.host;
  for (const auto& [state, watts] : fit.states) json["states"][state] = to_json(watts);
  for (const AllCoresCurve& curve : fit.all_cores) {
    Json one = to_json(curve.watts);
    one["state"] = curve.state;
    one["r2"] = curve.r2;
    one["rms_w"] = curve.rms_w;
    one["max_residual_w"] = curve.max_residual_w;
    json["all_cores"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string power_report_json(const PowerFit& fit, const PowerRows& rows) {
  Json report = to_json(fit.all);
  report["sensors"] = rows.sensors;
  for (const HostPowerFit& host : fit.hosts) report["hosts"].push_back(to_json(host));
  report["flags"] = Json::array();
  for (const core::QualityFlag& flag : fit.flags)
    report["flags"].push_back({{"subject", flag.subject}, {"flag", flag.flag}, {"detail", flag.detail}});
  return core::json_text(report);
}

void set_power(const PowerFit& fit, const PowerRows& rows, core::ClusterModel& cluster) {
  cluster.power = fit.model;
  Json provenance = core::parse_json<Json>(cluster.provenance);
  provenance["power"] = core::parse_json<Json>(power_report_json(fit, rows));
  cluster.provenance = core::json_text(provenance);
}

std::vector<core::PowerSample> power_samples(const core::CampaignArchive& archive) {
  std::vector<core::PowerSample> samples;
  for (const auto& [name, text] : archive.files) {
    if (!core::begins_with(name, "measurements/") || !core::ends_with(name, "-power.csv")) continue;
    std::istringstream in(text);
    const auto some = core::read_power_csv(in, name);
    samples.insert(samples.end(), some.begin(), some.end());
  }
  return samples;
}

}  // namespace hplcast::fit
