#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "hplcast/fit/findings.hpp"
#include "hplcast/study/history_check.hpp"

namespace hplcast::study {

/// Whether an entry of a log is about a place; an empty host: about all hosts of its cluster.
bool is_about(const std::string& clusters, const std::string& hosts, const Place& place);

/// Whether a logged outlier, which is about its place, is this run: of its job or, without one, of its day.
bool is_of_run(const LoggedOutlier& outlier, std::int64_t time_s, const std::string& job);

/// A factor of a cluster, with what the logs say of its runs.
struct LoadedFactor {
  std::string cluster, factor;
  std::vector<Place> places;  ///< of the CPUs of `history`
  fit::FactorHistory history;
};

/// Loads factors with the logs of a history.
class FactorLoader {
 public:
  FactorLoader(const HistoryDatabase& database, const CheckOptions& options);
  /// The clusters and factors that are asked for. @throws core::Error for those that are not there.
  std::vector<std::string> clusters() const;
  std::vector<std::string> factors() const;
  LoadedFactor load(const std::string& cluster, const std::string& factor) const;
  /// The change that is nearest to a time, of a place (an empty host: of the cluster), within 30 days.
  std::optional<Change> nearest_change(const Place& place, std::int64_t time_s) const;

 private:
  fit::CpuHistory history_of(const StoredSeries& series) const;

  const HistoryDatabase& database_;
  const CheckOptions& options_;
  std::vector<Change> changes_;
  std::vector<LoggedOutlier> outliers_;
  std::unordered_map<std::int64_t, StoredCampaign> campaigns_;  ///< by id
};

}  // namespace hplcast::study
