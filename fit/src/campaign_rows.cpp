#include "campaign_rows.hpp"

#include <algorithm>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::fit::detail {

namespace {

bool is_mpi(const std::string& name, const std::string& text) {
  std::istringstream in(text);
  const core::CsvReader csv(in, name);
  return csv.find_column("operation") != core::CsvReader::npos;
}

void add_kernels(const std::string& name, const std::string& text, CampaignRows& rows) {
  std::istringstream in(text);
  core::read_kernel_csv(in, name, "dgemm", [&](const core::KernelMeasurement& row) {
    add_row(row, rows.kernels[row.kernel]);
    if (is_designed(row) && reason_to_set_aside(row).empty()) rows.designed.push_back(row);
  });
}

}  // namespace

CampaignRows read_rows(const Campaign& campaign) {
  CampaignRows rows;
  for (const auto& [name, text] : campaign.measurements) {
    if (core::ends_with(name, ".json")) {
      rows.thresholds_name = name;
      rows.thresholds = text;
    } else if (is_mpi(name, text)) {
      std::istringstream in(text);
      core::read_mpi_csv(in, name, "", [&](const core::MpiMeasurement& row) { rows.messages.push_back(row); });
    } else {
      add_kernels(name, text, rows);
    }
  }
  return rows;
}

std::size_t index_of(const std::vector<MeasuredHost>& hosts, const std::string& name) {
  const auto same = [&](const MeasuredHost& host) { return host.name == name; };
  return static_cast<std::size_t>(std::find_if(hosts.begin(), hosts.end(), same) - hosts.begin());
}

}  // namespace hplcast::fit::detail
