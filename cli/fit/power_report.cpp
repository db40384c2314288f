#include "cli/fit/power_report.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/support/output.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string polynomial_text(const fit::FittedWatts& watts) {
  static const char* const powers[] = {"", " f", " f^2"};
  std::string text;
  for (std::size_t i = 0; i < watts.coefficients.size(); ++i)
    text += (i == 0 ? "" : " + ") + significant(watts.coefficients[i]) + " (+- " +
            significant(watts.standard_errors[i], 2) + ")" + powers[i];
  return text.empty() ? "0" : text;
}

void print_fit(std::ostream& out, const fit::HostPowerFit& fit) {
  out << (fit.host.empty() ? "all hosts" : fit.host) << ": " << fit.rows << " pieces, R2 " << significant(fit.r2, 6)
      << ", rms " << significant(fit.rms_w, 3) << " W, largest residual " << significant(fit.max_residual_w, 3)
      << " W\n";
  TextTable table({"part", "watts (f in GHz)"});
  table.add({"idle", significant(fit.idle_w) + " (+- " + significant(fit.idle_error_w, 2) + ")"});
  table.add({"awake", polynomial_text(fit.awake)});
  for (const auto& [state, watts] : fit.states) table.add({"a core in " + state, polynomial_text(watts)});
  for (const fit::AllCoresCurve& curve : fit.all_cores)
    table.add({"all cores in " + curve.state, polynomial_text(curve.watts)});
  table.write(out);
}

Json to_json(const fit::FittedWatts& watts) {
  return {{"coefficients", watts.coefficients}, {"standard_errors", watts.standard_errors}};
}

Json to_json(const fit::HostPowerFit& fit) {
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
  for (const fit::AllCoresCurve& curve : fit.all_cores) {
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

void print_power_fit(std::ostream& out, const fit::PowerFit& fit, const fit::PowerRows& rows) {
  out << "power of a host: " << core::comma_separated(rows.sensors) << '\n';
  print_fit(out, fit.all);
  for (const fit::HostPowerFit& host : fit.hosts) print_fit(out, host);
}

std::string power_report_json(const fit::PowerFit& fit, const fit::PowerRows& rows) {
  Json report = to_json(fit.all);
  report["sensors"] = rows.sensors;
  for (const fit::HostPowerFit& host : fit.hosts) report["hosts"].push_back(to_json(host));
  report["flags"] = Json::array();
  for (const core::QualityFlag& flag : fit.flags)
    report["flags"].push_back({{"subject", flag.subject}, {"flag", flag.flag}, {"detail", flag.detail}});
  return core::json_text(report);
}

}  // namespace hplcast::cli
