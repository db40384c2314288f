#pragma once

#include <vector>

#include "hplcast/history/check.hpp"

namespace hplcast::history {

/// Fills in which recorded check told findings and missing hosts first. Verdicts of later checks than this do not
/// count.
void add_told(const std::vector<Verdict>& verdicts, HistoryCheck& check);

}  // namespace hplcast::history
