#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "hplcast/study/history_check.hpp"

namespace hplcast::cli {

struct ShownFindings {
  bool past = false;      ///< past ones, too
  bool only_new = false;  ///< only what no recorded check has told
};

/// A table for people: one row per event, then the hosts without results.
void write_findings(std::ostream& out, const study::HistoryCheck& check, const ShownFindings& shown);

/// Open events and missing hosts; `only_new`: that no recorded check has told.
std::size_t count_events(const study::HistoryCheck& check, bool only_new);

/// docs/use/history.md has the fields.
nlohmann::ordered_json check_json(const study::HistoryCheck& check);

/// Options of `hplcast check` that predict what findings cost HPL.
struct CheckCostOptions {
  std::string configuration;  ///< HPL.dat or CSV; empty: no prediction
  std::string normal;         ///< cluster.json without the findings; empty: the models of the history
  study::CostOptions cost;
};

void add_cost_options(Command& command, CheckCostOptions& options);

/// Predicts. @throws core::Error (bad_input) for several configurations, a history without models.
study::Cost predicted_cost(const study::HistoryDatabase& database, const study::HistoryCheck& check,
                           const std::string& cluster, CheckCostOptions options);

void write_cost(std::ostream& out, const study::Cost& cost);
nlohmann::ordered_json cost_json(const study::Cost& cost);

}  // namespace hplcast::cli
