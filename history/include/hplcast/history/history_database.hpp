#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/history/records.hpp"

namespace hplcast::history {

/// One run of one place as the checks need it.
struct StoredRun {
  std::int64_t time_s = 0;
  double value = 0;
  std::int64_t campaign = 0;
};

/// The runs of a factor at a place, in the order of time.
struct StoredSeries {
  Place place;
  std::vector<StoredRun> runs;
};

/// A campaign without its observations.
struct StoredCampaign {
  std::int64_t id = 0;
  std::string job, cluster, source;  ///< source: name of the file that it came from
  std::int64_t start_s = 0, end_s = 0;
  std::string protocol;  ///< SHA-256 of it
};

struct HistoryCounts {
  std::size_t campaigns = 0, observations = 0, places = 0, changes = 0, outliers = 0;
};

/// The history of clusters in one SQLite file (docs/formats/history-database.md has its tables). Every method that
/// changes it is one transaction: after any stop the file holds whole sources. What is in it depends on the sources and
/// their order, not on when or how often they were added. All methods throw core::Error (bad_input) with what SQLite
/// says: full disk, not a database, locked by another program.
class HistoryDatabase {
 public:
  static constexpr int schema_version = 2;

  enum class Access { read, write };
  /// Access::write makes the file if it is missing. `patience_ms`: for another program that writes it. @throws
  /// core::Error also for a database of another program or version, a missing file to read.
  HistoryDatabase(const std::filesystem::path& path, Access access, int patience_ms = 10000);
  ~HistoryDatabase();
  HistoryDatabase(const HistoryDatabase&) = delete;
  HistoryDatabase& operator=(const HistoryDatabase&) = delete;

  /// A file that campaigns come from.
  struct Source {
    std::string sha256, name;
  };
  /// Adds all that `fill` hands over, as one transaction; nothing if the source is there already (then false).
  /// @throws core::Error for campaigns that cannot be: two of one host at one time, clocks that are wrong.
  using Add = std::function<void(const CampaignRecord&)>;
  bool add_source(const Source& source, const std::function<void(const Add&)>& fill);
  bool has_source(const std::string& sha256) const;

  /// False if the very same is there already.
  bool add_change(const Change& change);
  bool add_outlier(const LoggedOutlier& outlier);
  /// All of them or, after an error, none; how many were new.
  std::size_t add_changes(const std::vector<Change>& changes);
  std::size_t add_outliers(const std::vector<LoggedOutlier>& outliers);

  /// All of them or, after an error, none. Those of an earlier check at the same time are written over.
  void add_verdicts(const std::vector<Verdict>& verdicts);

  HistoryCounts counts() const;
  std::vector<std::string> factors() const;
  std::vector<std::string> clusters() const;
  std::vector<Place> places() const;
  std::vector<Change> changes() const;
  std::vector<LoggedOutlier> outliers() const;
  std::vector<Verdict> verdicts() const;  ///< earlier ones first
  std::vector<StoredCampaign> campaigns() const;
  /// The protocol as JSON. @throws core::Error if there is none of this name.
  std::string protocol(const std::string& sha256) const;
  /// Hosts that took part in campaigns of a cluster: the last time (Unix) that each was to measure, and that it gave a
  /// result (0: never).
  struct HostTimes {
    std::int64_t asked_s = 0, answered_s = 0;
    std::size_t campaigns = 0;  ///< with a result
  };
  std::map<std::string, HostTimes> host_times(const std::string& cluster) const;
  /// Hosts that were to be measured by a campaign.
  std::vector<std::string> hosts(std::int64_t campaign) const;
  /// All series of a factor in a cluster up to a time, hosts with shorter names first: node2 before node10.
  std::vector<StoredSeries> series(const std::string& cluster, const std::string& factor,
                                   std::optional<std::int64_t> until_s = std::nullopt) const;
  /// The models of the latest campaign that has some; empty: none.
  std::string latest_cluster_json(const std::string& cluster) const;

  /// The models of the campaign that was added first of those measured in a way (SHA-256 of it); empty: none.
  std::string first_cluster_json(const std::string& cluster, const std::string& protocol_sha256) const;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  struct State;
  std::filesystem::path path_;
  std::unique_ptr<State> state_;
};

}  // namespace hplcast::history
