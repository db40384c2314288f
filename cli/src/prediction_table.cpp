#include "prediction_table.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <ostream>
#include <string>

#include "hplcast/core/varying_fields.hpp"
#include "hplcast/study/dgemm_peak.hpp"
#include "output.hpp"
#include "talk.hpp"

namespace hplcast::cli {

namespace {

/// A column of the table.
struct Column {
  std::string name;
  std::function<std::string(const core::Prediction&)> text;
};

/// The parameters that a table always has; of a single prediction also those that people change most.
bool always_shown(const std::string& field, bool single) {
  for (const char* shown : {"N", "NB", "P", "Q"}) {
    if (field == shown) return true;
  }
  return single && (field == "BCAST" || field == "DEPTH" || field == "SWAP");
}

std::vector<Column> parameter_columns(const std::vector<core::Prediction>& predictions) {
  std::vector<core::HplParameters> configurations;
  for (const core::Prediction& prediction : predictions) configurations.push_back(prediction.parameters);
  const std::vector<const core::HplField*> varying = core::varying_fields(configurations, {});
  std::vector<Column> columns;
  for (const core::HplField& field : core::hpl_fields()) {
    const std::string name = field.name;
    const bool varies = std::find(varying.begin(), varying.end(), &field) != varying.end();
    if (name == "Q" || !(varies || always_shown(name, predictions.size() == 1))) continue;
    if (name == "P") {
      columns.push_back(
          {"PxQ", [](const auto& p) { return std::to_string(p.parameters.P) + "x" + std::to_string(p.parameters.Q); }});
    } else {
      columns.push_back({name, [&field](const auto& p) { return std::to_string(field.get(p.parameters)); }});
    }
  }
  return columns;
}

std::vector<Column> result_columns(const std::vector<core::Prediction>& predictions,
                                   const core::ClusterModel& cluster) {
  const auto share = [&cluster](const core::Prediction& p) {
    const double peak = study::dgemm_peak_gflops(cluster, p.parameters.P * p.parameters.Q);
    return peak > 0 ? percent(p.gflops / peak) : std::string();
  };
  std::vector<Column> columns = {{"seed", [](const auto& p) { return std::to_string(p.seed); }},
                                 {"mode", [](const auto& p) { return p.mode; }},
                                 {"time [s]", [](const auto& p) { return significant(p.time_s); }},
                                 {"Gflop/s", [](const auto& p) { return significant(p.gflops); }}};
  const bool sampled =
      std::any_of(predictions.begin(), predictions.end(), [](const auto& p) { return p.sampling.has_value(); });
  if (sampled)
    columns.push_back({"95 % error", [](const auto& p) {
                         return p.sampling ? percent(p.error_95_s / p.time_s) : std::string("all panels");
                       }});
  if (std::any_of(predictions.begin(), predictions.end(), [](const auto& p) { return p.detours_s > 0; }))
    columns.push_back({"detours [s]", [](const auto& p) { return significant(p.detours_s); }});
  if (std::any_of(predictions.begin(), predictions.end(), [](const auto& p) { return p.energy.has_value(); })) {
    const auto of = [](double core::Energy::*member, double unit) {
      return
          [=](const core::Prediction& p) { return p.energy ? significant(*p.energy.*member / unit) : std::string(); };
    };
    columns.push_back({"energy [kJ]", of(&core::Energy::energy_j, 1e3)});
    columns.push_back({"power [W]", of(&core::Energy::mean_power_w, 1)});
    columns.push_back({"Gflop/s per W", of(&core::Energy::gflops_per_w, 1)});
  }
  if (cluster.kernels.count("dgemm") > 0) columns.push_back({"of dgemm's peak", share});
  columns.push_back({"took [s]", [](const auto& p) { return significant(p.wall_s, 3); }});
  columns.push_back({"memory [MB]", [](const auto& p) { return significant(p.peak_pss_bytes / 1e6, 3); }});
  return columns;
}

/// The parameters that have one value, which no column shows.
std::string common_parameters(const std::vector<core::Prediction>& predictions, const std::vector<Column>& columns) {
  std::string text;
  for (const core::HplField& field : core::hpl_fields()) {
    const std::string name = field.name;
    const bool shown = name == "P" || name == "Q" ||
                       std::any_of(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
    if (!shown)
      text += (text.empty() ? "" : " ") + name + "=" + std::to_string(field.get(predictions.front().parameters));
  }
  return text;
}

void write_best(std::ostream& out, const std::vector<core::Prediction>& predictions) {
  std::map<core::HplParameters, std::pair<double, int>> rates;  // sum and number over the seeds
  for (const core::Prediction& p : predictions) {
    rates[p.parameters].first += p.gflops;
    ++rates[p.parameters].second;
  }
  const auto mean = [](const auto& rate) { return rate.second.first / rate.second.second; };
  const auto best =
      std::max_element(rates.begin(), rates.end(), [&](const auto& a, const auto& b) { return mean(a) < mean(b); });
  if (rates.size() < 2) return;
  out << "Best: " << core::to_string(best->first) << ": " << significant(mean(*best)) << " Gflop/s";
  if (best->second.second > 1) out << " (mean of " << best->second.second << " seeds)";
  out << '\n';
}

}  // namespace

void write_prediction_table(std::ostream& out, const std::vector<core::Prediction>& predictions,
                            const core::ClusterModel& cluster) {
  std::vector<Column> columns = parameter_columns(predictions);
  const std::string common = common_parameters(predictions, columns);
  for (Column& column : result_columns(predictions, cluster)) columns.push_back(std::move(column));
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  std::vector<core::Prediction> sorted = predictions;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.gflops > b.gflops; });
  TextTable table(names);
  for (const core::Prediction& prediction : sorted) {
    std::vector<std::string> row;
    for (const Column& column : columns) row.push_back(column.text(prediction));
    table.add(std::move(row));
  }
  table.write(out);
  if (predictions.size() < 2 || is_quiet()) return;
  if (!common.empty()) out << "All: " << common << '\n';
  write_best(out, predictions);
}

void write_phases(std::ostream& out, const std::string& of, const std::vector<core::PhaseSummary>& phases) {
  out << "\nTime per phase in s, mean over the ranks (least and most: of any rank), " << of << '\n';
  double all_s = 0, detours_s = 0;
  for (const core::PhaseSummary& phase : phases) {
    all_s += phase.elapsed_s;
    detours_s += phase.detours_s;
  }
  std::vector<std::string> names = {"phase", "time", "least", "most", "kernels", "messages", "waiting", "share"};
  if (detours_s > 0) names.insert(names.end() - 1, "detours");
  TextTable table(names);
  for (const core::PhaseSummary& phase : phases) {
    std::vector<std::string> row = {phase.name,
                                    significant(phase.elapsed_s),
                                    significant(phase.least_s),
                                    significant(phase.most_s),
                                    significant(phase.kernels_s),
                                    significant(phase.messages_s),
                                    significant(phase.waiting_s),
                                    percent(phase.elapsed_s / std::max(all_s, std::numeric_limits<double>::min()))};
    constexpr double rounding = 1e-12;  // of a difference of two moments
    if (detours_s > 0) row.insert(row.end() - 1, significant(phase.detours_s > rounding * all_s ? phase.detours_s : 0));
    table.add(std::move(row));
  }
  table.write(out);
}

void write_phases(std::ostream& out, const std::vector<core::Prediction>& predictions) {
  for (const core::Prediction& prediction : predictions)
    write_phases(out, core::to_string(prediction.parameters) + " seed=" + std::to_string(prediction.seed),
                 prediction.phases);
}

}  // namespace hplcast::cli
