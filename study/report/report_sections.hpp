#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/study/compare.hpp"
#include "hplcast/study/report.hpp"
#include "hplcast/study/sweep_database.hpp"
#include "study/plot/figure.hpp"

namespace hplcast::study {

/// P and Q.
using ProcessGrid = std::pair<int, int>;
inline ProcessGrid grid_of(const core::HplParameters& parameters) {
  return {parameters.P, parameters.Q};
}
/// "2x1".
std::string grid_name(const ProcessGrid& grid, const std::string& between = "x");

/// "N=5000 NB=128 2x1 BCAST=1 DEPTH=1 SWAP=1": what tells configurations apart.
std::string short_name(const core::HplParameters& parameters);

/// Predicted over measured Gflop/s, one mark a configuration, with the line where both are equal and a band of `band`
/// (ratio) around it. None for less than two rows.
std::optional<Figure> predicted_over_measured(const std::vector<ComparedConfiguration>& rows, double band);

/// Gflop/s over N, one plot per process grid: measured medians with their range, and predictions. None for grids with a
/// single N.
std::vector<Figure> rate_over_size(const std::vector<ComparedConfiguration>& rows,
                                   const std::vector<core::Prediction>& predictions);

/// The headers of what sampled_cells() gives.
inline const std::vector<std::string> sampled_columns = {"95 % error", "panels simulated"};

/// The 95 % error, relative to the time, and the share of the panels that was simulated; nothing and "all" where all
/// were.
std::vector<std::string> sampled_cells(const core::Prediction& prediction);

/// How sampled predictions are to be read; empty if none is.
std::string sampling_note(const std::vector<core::Prediction>& predictions);

using NamedPrediction = std::pair<std::string, const core::Prediction*>;

/// Gflop/s over the remaining order of the matrix: the windows, and the curve between them with its band. One for each
/// sampled prediction of `predictions`, at most `most`.
std::vector<Figure> sampling_figures(const std::vector<NamedPrediction>& predictions, std::size_t most);

/// A bar for each of the first predictions of what its ranks do, and below that of the real run, where an explanation
/// has it.
Figure time_figure(const std::vector<NamedPrediction>& predictions,
                   const std::vector<ExplanationSummary>& explanations);
/// The section with that figure, and the shares as a table.
std::string time_html(const std::vector<NamedPrediction>& predictions, const Figure& figure);

/// Where all predictions are of one configuration: it is the heading.
struct OneConfiguration {
  std::string rate;              ///< "58.73 +- 1.2" Gflop/s
  std::string machine;           ///< "32 hosts, 1024 ranks"
  std::string html;              ///< machine, rate, interval, time, energy
  std::optional<Figure> doubts;  ///< what its interval is made of
};
std::optional<OneConfiguration> one_configuration(const ReportData& data);

/// The section of a report: verdict, shares, picture. Empty without explanations. Pictures stand in it as images, so
/// whatever they may hold cannot do anything.
std::string explanations_html(const std::vector<ExplanationSummary>& explanations);

/// A factor as reports show it.
struct ViewFactor {
  std::string name;                 ///< "NB", or "kernel-model, noise" for a plan's list
  std::string with;                 ///< names of factors that always change together with it: "Q"; mostly empty
  std::vector<std::string> levels;  ///< with HPL's names, in their natural order
  std::vector<double> numbers;      ///< of the levels; empty if they are names
  std::vector<std::size_t> of;      ///< for each result the index of its level

  bool is_order() const { return name == "N"; }
  std::string full_name() const { return with.empty() ? name : name + " (with " + with + ")"; }
};

/// The factors that take two levels or more, in the order of the plan. Such as always change together are one, and so
/// are those of `listed`, the factors of a plan's list.
std::vector<ViewFactor> view_factors(const std::vector<SweepResult>& results, const std::vector<std::string>& listed);

/// The factor N, if it is one.
const ViewFactor* order_factor(const std::vector<ViewFactor>& factors);

/// Files, such as clusters, which the database has by their absolute paths, by their names.
ReportData with_file_names(ReportData data);

/// Names of the plan's factors that take two levels or more.
std::vector<std::string> varied_names(const std::vector<SweepResult>& results);

/// The level of one of them, with HPL's name where there is one: BCAST 0 is "1ring"; empty if this result does not have
/// it.
std::string level_of(const SweepResult& result, const std::string& factor);

/// "NB=128 BCAST=1ring", of these factors.
std::string described(const SweepResult& result, const std::vector<std::string>& names);

/// A quantity of predictions that figures show.
struct Response {
  const char* name;  ///< with its unit
  const char* file;  ///< begin of names of files
  double (*of)(const core::Prediction& prediction);
};
inline constexpr Response gflops_response = {"Gflop/s", "factor-", [](const core::Prediction& p) { return p.gflops; }};
/// Only for predictions that have energy.
inline constexpr Response per_watt_response = {"Gflop/s per W", "per-watt-",
                                               [](const core::Prediction& p) { return p.energy->gflops_per_w; }};

/// The response over each factor: a figure per factor, at the largest N where N is another. Where the other factors
/// have too many combinations to be told apart, those of `partners`, by name, are: a factor whose effect depends on
/// that one.
std::vector<Figure> factor_figures(const std::vector<SweepResult>& results, const std::vector<ViewFactor>& factors,
                                   const std::map<std::string, std::string>& partners,
                                   const Response& response = gflops_response);

/// Gflop/s over the process grid: a heat map over P and Q, or, where few of the pairs are there, the rate over the
/// shape of the grid; none if the grid was not varied, or only one side of it.
std::vector<Figure> grid_figures(const std::vector<SweepResult>& results, const std::vector<ViewFactor>& factors);

/// Median rate of each grid.
std::map<ProcessGrid, double> grid_rates(const std::vector<SweepResult>& results);

/// The part of a report that is about a sweep.
struct SweepSections {
  std::string title;    ///< the plan's name; may be empty
  std::string summary;  ///< the answer, in HTML: question, fastest and slowest, what matters, what is missing
  std::string body;     ///< HTML: figures, influence, all results
  std::vector<Figure> figures;
  std::vector<NamedPrediction> extremes;  ///< the fastest and the slowest of each N: the largest N first
};

/// `data`: with results of a sweep in it.
SweepSections sweep_sections(const ReportData& data);

}  // namespace hplcast::study
