#include "hplcast/study/report.hpp"

#include <algorithm>
#include <cctype>
#include <istream>
#include <ostream>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "study/explain/explain_parts.hpp"
#include "study/plot/markup.hpp"
#include "study/report/report_sections.hpp"

namespace hplcast::study {

namespace {

/// Errors up to here are within the band of the first plot.
constexpr double band = 0.1;

/// Every different value of something over all predictions, as one text.
template <typename Get>
std::string values(const ReportData& data, Get get) {
  std::set<std::string> result;
  for (const core::Prediction& prediction : data.predictions) result.insert(get(prediction));
  return core::comma_separated(result);
}

std::string summary_html(const ReportData& data, const Comparison& comparison) {
  const ComparisonSummary& summary = comparison.summary;
  if (summary.n == 0)
    return "<p class=\"lead\">" + std::to_string(data.predictions.size()) +
           " predictions; none of these configurations has been run for real.</p>\n";
  const std::string verdict = validity_text(comparison);
  std::string html = verdict.empty() ? "" : "<p class=\"lead\"><b>" + core::xml_escaped(verdict) + "</b></p>\n";
  html += "<p class=\"lead\">The predictions of " + std::to_string(summary.n) +
          (summary.n == 1 ? " configuration is" : " configurations are") + " off by " +
          core::readable_percent(summary.median_abs_error) + " in the median, and by " +
          core::readable_percent(summary.max_abs_error) + " at worst" + (verdict.empty() ? "" : " (not valid)") +
          ".</p>\n<div class=\"tiles\">\n";
  const auto tile = [&](const std::string& value, const std::string& name) {
    html += "<div class=\"tile\"><b>" + core::xml_escaped(value) + "</b><span>" + name + "</span></div>\n";
  };
  tile(core::readable_percent(summary.median_abs_error), "median |error|");
  tile(core::readable_percent(summary.mean_abs_error), "mean |error|");
  tile(core::readable_percent(summary.max_abs_error), "worst |error|");
  tile(core::readable_change(summary.bias), "bias (mean error)");
  if (summary.rank_correlation) tile(with_decimals(*summary.rank_correlation, 2), "rank correlation");
  tile(std::to_string(summary.n), "configurations");
  return html + "</div>\n<p class=\"note\">error = (predicted - measured) / measured, of the medians.</p>\n";
}

/// Factors of most sweeps, beside N and the grid.
std::vector<std::string> swept_cells(const core::HplParameters& p) {
  return {std::to_string(p.NB), std::to_string(p.BCAST), std::to_string(p.DEPTH), std::to_string(p.SWAP)};
}

std::string comparison_table(const Comparison& comparison) {
  // Columns that one looks for first stand left: a phone shows only those without scrolling.
  std::vector<std::string> header = {
      "N",     "P x Q", "measured [Gflop/s]", "predicted [Gflop/s]", "error", "spread", "runs", "NB", "BCAST",
      "DEPTH", "SWAP"};
  const auto configurations = core::mapped(comparison.rows, [](const auto& row) { return row.parameters; });
  const auto others = core::varying_fields(configurations, {"N", "NB", "P", "Q", "BCAST", "DEPTH", "SWAP"});
  for (const core::HplField* field : others) header.emplace_back(field->name);
  HtmlTable table(header, "sortable stacked numbers");
  for (const auto& row : comparison.rows) {
    const core::HplParameters& p = row.parameters;
    std::vector<std::string> cells = {std::to_string(p.N),
                                      grid_name(grid_of(p)),
                                      readable(row.real_median),
                                      readable(row.predicted_median),
                                      core::readable_change(row.error),
                                      core::readable_percent(row.real_spread),
                                      std::to_string(row.real_gflops.size())};
    append(cells, swept_cells(p));
    for (const core::HplField* field : others) cells.push_back(std::to_string(field->get(p)));
    table.add(cells);
  }
  return section("All comparisons", "spread = (largest - smallest) / median of the measured runs.") + table.html();
}

/// Empty if no configuration has an energy on both sides.
std::string energy_table(const Comparison& comparison) {
  HtmlTable table({"N", "P x Q", "measured [W]", "predicted [W]", "error", "measured [kJ]", "predicted [kJ]",
                   "error of the energy", "measured [Gflop/s per W]", "predicted [Gflop/s per W]", "runs"},
                  "sortable stacked numbers");
  for (const auto& row : comparison.rows) {
    if (!row.energy) continue;
    const EnergyMedians &real = row.energy->real, &predicted = row.energy->predicted;
    table.add({std::to_string(row.parameters.N), grid_name(grid_of(row.parameters)), readable(real.mean_power_w),
               readable(predicted.mean_power_w), core::readable_change(row.energy->power_error),
               readable(real.energy_j / 1e3), readable(predicted.energy_j / 1e3),
               core::readable_change(row.energy->energy_error), readable(real.gflops_per_w),
               readable(predicted.gflops_per_w), std::to_string(real.runs)});
  }
  if (table.is_empty()) return "";
  return section("Energy", "Medians. Sensors of packages and memories see less than the supply.") + table.html();
}

/// Empty if the change of the machine is not known of any configuration.
std::string machine_table(const Comparison& comparison) {
  HtmlTable table({"N", "P x Q", "control at calibration [ms]", "control at runs [ms]", "kernels in runs", "error",
                   "machine changed", "model", "scatter", "corrected error"},
                  "sortable stacked numbers");
  for (const auto& row : comparison.rows) {
    if (!row.parts) continue;
    const ErrorParts& parts = *row.parts;
    table.add({std::to_string(row.parameters.N), grid_name(grid_of(row.parameters)),
               readable(1e3 * parts.calibration_s), readable(1e3 * parts.run_s),
               parts.kernels ? core::readable_change(*parts.kernels) : "-", core::readable_change(row.error),
               core::readable_change(parts.machine), core::readable_change(parts.model),
               core::readable_change(parts.scatter), core::readable_change(parts.corrected_error)});
  }
  if (table.is_empty()) return "";
  return section("Machine, model and scatter", "error = machine changed + model + scatter; median |corrected error|: " +
                                                   core::readable_percent(comparison.control->median_corrected_error) +
                                                   ".") +
         table.html();
}

std::string prediction_table(const ReportData& data) {
  const auto any = [&](auto has) { return std::any_of(data.predictions.begin(), data.predictions.end(), has); };
  const bool sampled = any([](const core::Prediction& one) { return one.sampling.has_value(); });
  const bool intervals = any([](const core::Prediction& one) { return one.interval.has_value(); });
  const bool energies = any([](const core::Prediction& one) { return one.energy.has_value(); });
  std::vector<std::string> header = {"N", "P x Q", "time [s]", "Gflop/s"};
  if (sampled) append(header, sampled_columns);
  if (intervals) header.emplace_back("predictive interval [Gflop/s]");
  if (energies) append(header, {"energy [kJ]", "power [W]", "Gflop/s per W"});
  append(header, {"simulated in [s]", "memory [MB]", "seed", "NB", "BCAST", "DEPTH", "SWAP"});
  HtmlTable table(header, "sortable stacked numbers");
  for (const core::Prediction& prediction : data.predictions) {
    const core::HplParameters& p = prediction.parameters;
    std::vector<std::string> row = {std::to_string(p.N), grid_name(grid_of(p)), readable(prediction.time_s),
                                    readable(prediction.gflops)};
    if (sampled) append(row, sampled_cells(prediction));
    if (intervals && !prediction.interval) row.emplace_back();
    if (prediction.interval)
      row.push_back(readable(prediction.interval->low_gflops) + " to " + readable(prediction.interval->high_gflops) +
                    " (" + core::shortest(prediction.interval->level_percent) + " %)");
    if (energies && !prediction.energy) row.insert(row.end(), 3, "");
    if (prediction.energy)
      append(row, {readable(prediction.energy->energy_j / 1e3), readable(prediction.energy->mean_power_w),
                   readable(prediction.energy->gflops_per_w)});
    const bool with_memory = prediction.wall_s >= prediction.least_s_with_memory;
    append(row, {readable(prediction.wall_s, 3), with_memory ? readable(prediction.peak_pss_bytes / 1e6, 3) : "-",
                 std::to_string(prediction.seed)});
    append(row, swept_cells(p));
    table.add(row);
  }
  return section("All predictions") + table.html();
}

/// All configurations if they are few, else of each grid that of the largest N.
std::vector<NamedPrediction> typical_predictions(const ReportData& data) {
  std::map<ProcessGrid, const core::Prediction*> largest;
  std::map<std::string, const core::Prediction*> all;
  for (const core::Prediction& prediction : data.predictions) {
    auto& entry = largest[grid_of(prediction.parameters)];
    if (entry == nullptr || entry->parameters.N < prediction.parameters.N) entry = &prediction;
    all.emplace(short_name(prediction.parameters), &prediction);
  }
  constexpr std::size_t few = 6;
  if (all.size() <= few) return {all.begin(), all.end()};
  std::vector<NamedPrediction> list;
  for (const auto& [grid, prediction] : largest) list.emplace_back(short_name(prediction->parameters), prediction);
  return list;
}

/// Calls whose sizes the models were not fitted on; empty if there are none.
std::string range_table(const ReportData& data) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> calls;  // outside, all
  for (const core::Prediction& prediction : data.predictions) {
    const auto add = [&](const std::string& before, const auto& counts) {
      for (const auto& [name, count] : counts) {
        calls[before + name].first += count.outside_range;
        calls[before + name].second += count.calls;
      }
    };
    add("", prediction.kernels);
    add("MPI ", prediction.messages);
  }
  HtmlTable table({"operation", "calls", "outside of the calibration"});
  for (const auto& [name, count] : calls) {
    if (count.first == 0) continue;
    table.add({name, with_decimals(static_cast<double>(count.second), 0),
               core::readable_percent(static_cast<double>(count.first) / static_cast<double>(count.second))});
  }
  if (table.is_empty()) return "";
  return section("Extrapolated calls", "Calls with sizes that were not measured: their durations are extrapolated.") +
         table.html();
}

/// A section with a list of them, if there are some.
std::string list_html(const std::string& title, const std::vector<std::string>& texts) {
  return texts.empty() ? "" : section(title) + list(core::mapped(texts, core::xml_escaped));
}

std::vector<std::string> names_of(const std::vector<core::HplParameters>& configurations) {
  return core::mapped(configurations, [](const core::HplParameters& one) { return core::to_string(one); });
}

std::string models_html(const ReportData& data) {
  std::set<std::string> models;
  for (const core::Prediction& prediction : data.predictions) models.insert(prediction.model_sha256);
  const std::string list = "<code>" + core::xml_escaped(core::comma_separated(models)) + "</code>";
  constexpr std::size_t few = 2;
  if (models.size() <= few) return "SHA-256 of cluster.json: " + list;
  return "<details><summary>SHA-256 of the " + std::to_string(models.size()) + " different cluster.json</summary>" +
         list + "</details>";
}

/// Doubts about the models, with the clusters that they are about.
std::vector<std::string> doubts_of(const ReportData& data) {
  std::map<std::string, std::set<std::string>> clusters;  // by doubt
  for (const core::Prediction& prediction : data.predictions)
    for (const std::string& doubt : prediction.model_doubts) clusters[doubt].insert(prediction.cluster);
  return core::mapped(clusters, [](const auto& one) { return core::comma_separated(one.second) + ": " + one.first; });
}

std::string provenance_html(const ReportData& data) {
  const auto escaped = [&](auto get) { return core::xml_escaped(values(data, get)); };
  std::vector<std::string> items = {
      "Cluster: " + escaped([](const auto& p) { return p.cluster; }), models_html(data),
      "Simulator: " + escaped([](const auto& p) { return p.simulator + ", mode " + p.mode; }),
      "Seeds: " + escaped([](const auto& p) { return std::to_string(p.seed); })};
  for (const std::string& source : data.sources)
    items.push_back("File: <code>" + core::xml_escaped(source) + "</code>");
  std::string html = section("What made this") + list(items);
  for (const std::string& plan : data.plans)
    html += "<details><summary>plan.yaml: run it with <code>hplcast sweep</code></summary><pre>" +
            core::xml_escaped(plan) + "</pre></details>\n";
  return html;
}

/// For a data: URL.
std::string percent_encoded(const std::string& text) {
  std::string result;
  for (const unsigned char c : text)
    result += std::isalnum(c) != 0 ? std::string(1, static_cast<char>(c)) : core::printed("%%%02X", c);
  return result;
}

/// The parts of a report, for the page and for its pictures.
struct Parts {
  explicit Parts(const ReportData& data)
      : comparison(compare(data.real, data.predictions)),
        sweep(data.sweep.empty() ? std::nullopt : std::optional(sweep_sections(data))),
        time(time_figure(shown(data), data.explanations)) {
    identity = predicted_over_measured(comparison.rows, band);
    if (data.sweep.empty() || !comparison.rows.empty()) over_size = rate_over_size(comparison.rows, data.predictions);
    constexpr std::size_t most = 4;
    windows = sampling_figures(shown(data), most);
    for (const ExplanationSummary& one : data.explanations)
      waterfalls.push_back(waterfall(one, "causes-" + std::to_string(waterfalls.size() + 1)));
    if (data.sweep.empty()) single = one_configuration(data);
  }

  /// Predictions that are looked at closely.
  std::vector<NamedPrediction> shown(const ReportData& data) const {
    return sweep ? sweep->extremes : typical_predictions(data);
  }

  std::string title(const ReportData& data) const {
    if (sweep && !sweep->title.empty()) return sweep->title;
    const std::string cluster = "HPL on " + values(data, [](const auto& p) { return p.cluster; });
    if (single) return cluster + " (" + single->machine + "): " + single->rate + " Gflop/s predicted";
    return cluster + (comparison.rows.empty() ? ": predicted" : ": predicted and measured");
  }

  Comparison comparison;
  std::optional<SweepSections> sweep;
  Figure time;
  std::optional<Figure> identity;
  std::vector<Figure> over_size;
  std::vector<Figure> windows;     ///< of sampled predictions
  std::vector<Figure> waterfalls;  ///< of explanations
  std::optional<OneConfiguration> single;
};

}  // namespace

std::string explanations_html(const std::vector<ExplanationSummary>& explanations) {
  std::size_t number = 0;
  if (explanations.empty()) return "";
  std::string html = section("Why predictions and runs differ");
  for (const ExplanationSummary& one : explanations) {
    HtmlTable table({"cause", "seconds", "share of the predicted time"}, "sortable words");
    for (const ExplanationSummary::Cause& cause : one.causes)
      table.add({cause.text, readable(cause.seconds, 3), core::readable_change(cause.share)});
    table.add({"not explained", "", core::readable_change(one.rest_share)});
    html += "<h3>" + core::xml_escaped(short_name(one.parameters)) + "</h3>\n" +
            list(core::mapped(one.verdict, core::xml_escaped), "findings") +
            figures_html({waterfall(one, "causes-" + std::to_string(++number))}) +
            "<details><summary>All causes</summary>\n" + table.html() + "</details>\n";
    if (!one.picture.empty())
      html +=
          "<div class=\"wide long\"><img alt=\"what the ranks did, in the run and in the simulation\" "
          "src=\"data:image/svg+xml," +
          percent_encoded(one.picture) + "\"></div>\n";
  }
  return html;
}

StudyFile add_study_file(std::istream& in, const std::string& name, ReportData& data) {
  const std::string text =
      core::read_text(in, name, "expected predictions, real runs or an explanation", core::most_bytes_of_output);
  const auto is_one = [&](StudyFile kind) {
    data.sources.push_back(name);
    return kind;
  };
  if (core::begins_as_json(text)) {
    if (is_explanation(text)) {
      data.explanations.push_back(read_explanation(core::TextStream(text), name));
      return is_one(StudyFile::explanation);
    }
    // cluster.json has no HPL parameters, compare.json no model: both are JSON of a study, too.
    if (text.find("\"model_sha256\"") == std::string::npos || text.find("\"parameters\"") == std::string::npos)
      return StudyFile::other;
    core::append(data.predictions, core::read_predictions(core::TextStream(text), name));
    return is_one(StudyFile::predictions);
  }
  const auto has = [&text](const char* column) { return text.find(column) != std::string::npos; };
  const bool is_csv = core::is_configuration_csv(text);
  // With a model they are predictions: the CSV of `hplcast sweep export`.
  if (is_csv ? !has("time_s") || has("model_sha256") : !core::has_hpl_results(text)) return StudyFile::other;
  const auto runs = (is_csv ? core::read_hpl_csv : core::read_hpl_output)(core::TextStream(text), name, {});
  if (runs.empty()) return StudyFile::other;  // `run-real` has just begun
  core::append(data.real, runs);
  return is_one(StudyFile::real_runs);
}

void add_sweep(const SweepDatabase& database, ReportData& data) {
  std::set<std::string> seen;
  for (SweepResult& result : database.results()) {
    const core::Prediction& p = result.prediction;
    if (seen.insert(p.model_sha256 + run_name(p)).second) data.predictions.push_back(p);
    data.sweep.push_back(std::move(result));
  }
  const SweepCounts counts = database.counts();
  data.counts.runs += counts.runs;
  data.counts.done += counts.done;
  data.counts.failed += counts.failed;
  data.counts.skipped += counts.skipped;
  core::append(data.plans, database.plans());
  data.sources.push_back(database.path().string());
}

void write_report(std::ostream& out, const ReportData& as_read) {
  if (as_read.predictions.empty()) throw core::DomainError("predictions", 0, "at least one in a report");
  const ReportData data = with_file_names(as_read);
  const Parts parts(data);
  const Comparison& comparison = parts.comparison;
  std::string html;
  const std::string time = time_html(parts.shown(data), parts.time);
  if (parts.single) html += parts.single->html;
  if (comparison.summary.n > 0 || (!parts.single && !parts.sweep)) html += summary_html(data, comparison);
  if (parts.single) html += time;
  if (parts.single && parts.single->doubts)
    html += section("How far to trust it") + figures_html({*parts.single->doubts});
  if (parts.sweep) html += parts.sweep->summary + parts.sweep->body;
  if (parts.identity) html += section("Predicted over measured") + figures_html({*parts.identity});
  if (!parts.over_size.empty()) html += section("Gflop/s over the order of the matrix") + figures_html(parts.over_size);
  const std::string sampled = sampling_note(data.predictions);
  if (!sampled.empty()) html += section("Sampled predictions") + sampled + figures_html(parts.windows);
  if (!comparison.rows.empty())
    html += comparison_table(comparison) + machine_table(comparison) + energy_table(comparison);
  html += explanations_html(data.explanations) + (parts.single ? "" : time) + range_table(data);
  if (!parts.sweep) html += prediction_table(data);
  html += list_html("Measured, but not predicted", names_of(comparison.unmatched_real));
  if (!comparison.rows.empty())
    html += list_html("Predicted, but not measured", names_of(comparison.unmatched_predicted));
  if (comparison.failed_residuals > 0)
    html += "<p class=\"note\">" + std::to_string(comparison.failed_residuals) +
            " measured runs were left out: HPL says that their results are wrong.</p>\n";
  html += list_html("Doubts about the model", doubts_of(data)) + provenance_html(data);
  out << html_page(parts.title(data), html, Script::sorts_tables);
}

std::vector<ReportPicture> report_pictures(const ReportData& as_read) {
  const ReportData data = with_file_names(as_read);
  const Parts parts(data);
  std::vector<Figure> figures;
  if (parts.sweep) figures = parts.sweep->figures;
  if (parts.identity) figures.push_back(*parts.identity);
  for (const auto* more : {&parts.over_size, &parts.windows, &parts.waterfalls})
    figures.insert(figures.end(), more->begin(), more->end());
  figures.push_back(parts.time);
  if (parts.single && parts.single->doubts) figures.push_back(*parts.single->doubts);
  return core::mapped(figures, [](const Figure& one) { return ReportPicture{one.id(), figure_file({one})}; });
}

}  // namespace hplcast::study
