#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "hplcast/fit/network_fit.hpp"

namespace hplcast::fit::detail {

/// Rows that other programs have measured (`hplcast import`): means over many calls.
struct ImportedRows {
  std::map<std::string, long> rows;                   ///< by source
  std::array<double, 2> stream_bytes_per_s = {0, 0};  ///< by scope: the largest rate of one pair with many messages
};

ImportedRows imported_rows(const MpiRows& rows);

/// Doubts about a model from such rows, with a note in the models; none without them.
void flag_imported(const ImportedRows& imported, std::array<std::optional<core::ScopeModel>, 2>& models,
                   NetworkFit& fit);

}  // namespace hplcast::fit::detail
