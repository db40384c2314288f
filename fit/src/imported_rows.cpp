#include "imported_rows.hpp"

#include <algorithm>

namespace hplcast::fit::detail {

ImportedRows imported_rows(const MpiRows& rows) {
  ImportedRows imported;
  rows([&](const core::MpiMeasurement& row) {
    if (row.source.empty() || !row.error.empty()) return;
    ++imported.rows[row.source];
    if (row.operation != "stream") return;
    double& rate = imported.stream_bytes_per_s[static_cast<std::size_t>(core::scope_from_name(row.scope))];
    rate = std::max(rate, row.size_bytes / row.duration_s);
  });
  return imported;
}

void flag_imported(const ImportedRows& imported, std::array<std::optional<core::ScopeModel>, 2>& models,
                   NetworkFit& fit) {
  for (const auto& [source, rows] : imported.rows) {
    fit.flags.push_back(
        {source, "imported",
         std::to_string(rows) +
             " rows are means over many calls, without scatter, and without the load of HPL beside them; unless "
             "send and recv were measured all of the time counts as time in the network, and the sizes "
             "from which sends wait must be given (--async-small, --detached)"});
    for (std::optional<core::ScopeModel>& model : models)
      if (model) model->notes.push_back("imported: " + source + ", means over many calls");
  }
}

}  // namespace hplcast::fit::detail
