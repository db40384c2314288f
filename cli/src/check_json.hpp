#pragma once

#include <nlohmann/json.hpp>

#include "hplcast/history/check.hpp"

namespace hplcast::cli {

/// docs/use/history.md has the fields.
nlohmann::ordered_json check_json(const history::HistoryCheck& check);

}  // namespace hplcast::cli
