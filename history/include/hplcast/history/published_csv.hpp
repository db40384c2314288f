#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/history/records.hpp"

namespace hplcast::history {

/// What import_runs() found.
struct ImportedRuns {
  std::size_t rows = 0;
  std::size_t campaigns = 0;         ///< jobs
  std::vector<std::string> factors;  ///< that the file has
  std::vector<std::string> unused;   ///< columns that are none
};

/// Reads a file of one row per CPU and job, as T. Cornebize published them: columns node (a number, to which the name
/// of the cluster is put in front, or a name) or host, cpu, start_time (Unix), jobid or job, cluster unless `cluster`
/// names it, and the columns of factors (known_factors(): their names or published ones), which may be empty. Hands
/// over one campaign per job. @throws core::ParseError for missing columns, values that are no numbers, an empty file.
ImportedRuns import_runs(std::istream& in, const std::string& name, const std::string& cluster,
                         const std::function<void(const CampaignRecord&)>& add);

/// Reads a log of changes: date, cluster, node or hosts (a/b/c or all), type, description.
std::vector<Change> read_changes(std::istream& in, const std::string& name);

/// Reads a log of outliers: date, cluster, node or hosts, jobid or job, description.
std::vector<LoggedOutlier> read_outliers(std::istream& in, const std::string& name);

}  // namespace hplcast::history
