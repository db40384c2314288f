#include "hplcast/fit/kernel_csv.hpp"

#include <algorithm>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::fit {

void add_kernel_csv(std::istream& in, const std::string& name, const KernelCsvOptions& options, GroupedTables& tables) {
  for (std::size_t i = 0; i < options.by.size(); ++i)
    if (std::find(options.by.begin(), options.by.begin() + static_cast<std::ptrdiff_t>(i), options.by[i]) !=
        options.by.begin() + static_cast<std::ptrdiff_t>(i))
      throw core::DomainError("by", options.by[i], "each column once");
  // Kernel and host come from the row, which knows the names that they can have; the rest from the file as it stands.
  std::vector<std::string> columns;
  for (const std::string& column : options.by)
    if (column != "kernel" && column != "host") columns.push_back(column);
  const bool all_contents =
      options.all_contents || std::find(options.by.begin(), options.by.end(), "content") != options.by.end();
  std::vector<std::string> group(options.by.size());
  core::read_kernel_csv(
      in, name, options.default_kernel, columns,
      [&](const core::KernelMeasurement& row, const std::vector<std::string>& texts) {
        if (!options.only_kernel.empty() && row.kernel != options.only_kernel) return;
        if (options.only_designed && !is_designed(row)) return;
        std::size_t next = 0;
        for (std::size_t i = 0; i < options.by.size(); ++i)
          group[i] = options.by[i] == "kernel" ? row.kernel : options.by[i] == "host" ? row.host : texts[next++];
        auto place = tables.find(group);
        if (place == tables.end()) place = tables.emplace(group, KernelTable(options.sample_size)).first;
        KernelTable& table = place->second;
        const auto warm_up = table.rows_set_aside().find("warm-up");
        const bool is_warm = options.skip_first <= (warm_up == table.rows_set_aside().end() ? 0 : warm_up->second);
        if (is_warm || !reason_to_set_aside(row, all_contents).empty()) {
          add_row(row, table, all_contents);
        } else {
          table.set_aside("warm-up");
        }
      });
}

}  // namespace hplcast::fit
