#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "hplcast/fit/findings.hpp"
#include "hplcast/fit/run_series.hpp"
#include "hplcast/study/history_check.hpp"

namespace hplcast::study {

/// Whether an entry of a log is about a place; an empty host: about all hosts of its cluster.
bool is_about(const std::string& clusters, const std::string& hosts, const Place& place);

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

/// State of a run on a page; the names are classes of the style sheet.
enum class CellKind { untested, inside, below, above, outlier };
using core::to_string;
HPLCAST_ENUM_NAMES(CellKind, "a kind", "untested", "inside", "below", "above", "outlier");

struct ShownFactor;

/// The runs of one CPU as they are shown.
struct ShownSeries {
  const ShownFactor* factor = nullptr;
  Place place;
  const fit::CpuHistory* history = nullptr;
  std::vector<fit::RunScore> own;  ///< against its own runs
  std::vector<CellKind> kinds;     ///< against its own runs and the others
  std::vector<int> shades;         ///< of runs that are inside: likelihood 0.1 and more: 0; 0.01: 1; 0.001: 2; less: 3
};

/// A factor with the verdict of each run.
struct ShownFactor {
  LoadedFactor loaded;
  std::vector<ShownSeries> series;
  std::string unit;
};

/// Its series point into the factor.
void show(LoadedFactor loaded, const CheckOptions& options, ShownFactor& factor);

}  // namespace hplcast::study
