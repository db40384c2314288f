#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "hplcast/history/cost.hpp"

namespace hplcast::cli {

/// Options of `hplcast check` that predict what findings cost HPL.
struct CheckCostOptions {
  std::string configuration;  ///< HPL.dat or CSV; empty: no prediction
  std::string normal;         ///< cluster.json without the findings; empty: the models of the history
  history::CostOptions cost;
};

void add_cost_options(CLI::App& command, CheckCostOptions& options);

/// Predicts. @throws core::Error (bad_input) for several configurations, a history without models.
history::Cost predicted_cost(const history::HistoryDatabase& database, const history::HistoryCheck& check,
                             const std::string& cluster, CheckCostOptions options);

void write_cost(std::ostream& out, const history::Cost& cost);
nlohmann::ordered_json cost_json(const history::Cost& cost);

}  // namespace hplcast::cli
