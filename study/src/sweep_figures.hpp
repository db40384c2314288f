#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "figure.hpp"
#include "sweep_view.hpp"

namespace hplcast::study {

/// What figures show of predictions.
struct Response {
  const char* name;  ///< with its unit
  const char* file;  ///< begin of names of files
  double (*of)(const core::Prediction& prediction);
};
inline constexpr Response rate = {"Gflop/s", "factor-", [](const core::Prediction& p) { return p.gflops; }};
/// Of predictions that have energy.
inline constexpr Response rate_per_watt = {"Gflop/s per W", "per-watt-",
                                           [](const core::Prediction& p) { return p.energy->gflops_per_w; }};

/// The response over each factor: a figure per factor, and one for each N where N is another. Where the other factors
/// have too many combinations to be told apart, those of `partners`, by name, are: a factor whose effect depends on
/// that one.
std::vector<Figure> factor_figures(const std::vector<SweepResult>& results, const std::vector<ViewFactor>& factors,
                                   const std::map<std::string, std::string>& partners, const Response& response = rate);

/// Gflop/s over the process grid: a heat map over P and Q, or, where few of the pairs are there, the rate over the
/// shape of the grid; none if the grid was not varied, or only one side of it.
std::vector<Figure> grid_figures(const std::vector<SweepResult>& results, const std::vector<ViewFactor>& factors);

/// Median rate of each grid.
std::vector<std::pair<std::pair<int, int>, double>> grid_rates(const std::vector<SweepResult>& results);

}  // namespace hplcast::study
