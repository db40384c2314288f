#pragma once

#include <cstddef>
#include <iosfwd>

#include "hplcast/history/check.hpp"

namespace hplcast::cli {

struct ShownFindings {
  bool past = false;      ///< past ones, too
  bool only_new = false;  ///< only what no recorded check has told
};

/// A table for people: one row per event, then the hosts without results.
void write_findings(std::ostream& out, const history::HistoryCheck& check, const ShownFindings& shown);

/// Open events and missing hosts; `only_new`: that no recorded check has told.
std::size_t count_events(const history::HistoryCheck& check, bool only_new);

}  // namespace hplcast::cli
