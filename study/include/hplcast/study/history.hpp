#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "hplcast/core/campaign.hpp"

/// Parts of a history (docs/use/history.md).
namespace hplcast::study {

/// Where something was measured. An empty cluster is the only one there is.
struct Place {
  std::string cluster;
  std::string host;
  int cpu = -1;  ///< -1: the whole host

  auto parts() const { return std::tie(cluster, host, cpu); }
  friend bool operator<(const Place& a, const Place& b) { return a.parts() < b.parts(); }
  friend bool operator==(const Place& a, const Place& b) { return a.parts() == b.parts(); }
};

/// "dahu-26 CPU 0"; "dahu-26" for a whole host.
std::string to_string(const Place& place);

/// A property that campaigns observe, such as dgemm_gflops.
struct FactorInfo {
  const char* name;
  const char* published;  ///< column of the published files; empty: none
  const char* unit;
  const char* description;
  bool checked;  ///< by `hplcast check` unless other factors are asked for; above 0
};
const std::vector<FactorInfo>& known_factors();
/// Also of segments of the network, which are not in that list. Null for a name that is not known.
const FactorInfo* find_factor(const std::string& name);

/// One number of one campaign.
struct FactorObservation {
  Place place;
  std::string factor;
  std::int64_t time_s = 0;  ///< Unix time at which the measurement began
  double value = 0;
};

/// A campaign: all that one archive, or one job of a published file, has measured.
struct CampaignRecord {
  std::string job;  ///< of the batch system; empty: none
  std::string cluster;
  std::int64_t start_s = 0;
  std::int64_t end_s = 0;
  std::vector<std::string> hosts;  ///< that took part, also those without any result
  std::string protocol = "{}";     ///< JSON: how it was measured, with what; another one begins a new reference
  std::string cluster_json;        ///< the models fitted to it; empty: none
  std::vector<FactorObservation> observations;
};

/// Something was changed on purpose, or repaired: the hosts begin a new reference.
struct Change {
  std::int64_t time_s = 0;
  std::string cluster = "all";  ///< names with "/" between them, or all
  std::string hosts = "all";    ///< the same
  std::string type;             ///< free: protocol, BIOS, repair ...
  std::string description;
};

/// Runs that are known to be bad, and never part of a reference.
struct LoggedOutlier {
  std::int64_t time_s = 0;
  std::string cluster = "all";
  std::string hosts = "all";
  std::string job;  ///< of the batch system; empty: all of that day
  std::string description;
};

/// A finding, or a host without results, that a check has recorded.
struct Verdict {
  static constexpr const char* missing = "missing";  ///< as `factor`: a host without results
  std::int64_t told_s = 0;                           ///< start of the newest campaign that the check knew
  Place place;                                       ///< an empty host: all of the cluster
  std::string factor;
  std::int64_t since_s = 0, last_s = 0;  ///< first and last run of it; of a missing host the last with a result
  double effect = 0, effect_error = 0, probability = 0;
};

/// The names of a list such as "dahu-13/dahu-14", whatever they are: empty ones, and "all", too.
std::vector<std::string> names_in(const std::string& list);
/// Whether a list, or "all", names something.
bool list_names(const std::string& list, const std::string& name);

/// For messages: "a, b"; '' for a cluster without a name.
std::string names_text(const std::vector<std::string>& names);

/// Unix time of "2020-04-02", "2020-04-02 13:05" or "2020-04-02 13:05:30" (UTC; also with a T). @throws
/// core::DomainError for anything else.
std::int64_t parse_date(const std::string& text);
/// The same of the end of a time: a day alone ends with its last second.
std::int64_t parse_end(const std::string& text);
/// "2020-04-02".
std::string date_text(std::int64_t time_s);

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

  /// All of them or, after an error, none; how many were new.
  std::size_t add_changes(const std::vector<Change>& changes);
  std::size_t add_outliers(const std::vector<LoggedOutlier>& outliers);
  /// False if the very same is there already.
  bool add_change(const Change& change) { return add_changes({change}) == 1; }
  bool add_outlier(const LoggedOutlier& outlier) { return add_outliers({outlier}) == 1; }

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

/// The record of an archive of `hplcast calibrate`: speed of dgemm per CPU, coefficients of its model where a
/// CPU has one of its own, sensors while dgemm ran, cost of messages, and the models. Times are those of the start of
/// the campaign. `notes` gets what the archive lacks.
/// @throws core::Error (bad_input) for an archive without its times, or without any call of dgemm.
CampaignRecord campaign_record(const core::CampaignArchive& archive, const std::string& cluster,
                               std::vector<std::string>& notes);

/// Adds the costs of messages segment by segment of the network model: the time of a message where a segment begins,
/// and the bandwidth (size / time) of one where it ends. Segments are those of `reference_json`, models of an earlier
/// campaign (empty: its own): every fit finds others, and only what is the same can be compared. Nothing for a campaign
/// without models.
void add_network_segments(CampaignRecord& record, const std::string& reference_json);

/// In words, how two protocols differ: "BLAS: OpenBLAS 0.3.21 -> OpenBLAS 0.3.26". Empty: they do not.
std::vector<std::string> protocol_differences(const std::string& before, const std::string& after);

/// Counts and columns of import_runs().
struct ImportedRuns {
  std::size_t rows = 0;
  std::size_t campaigns = 0;         ///< jobs
  std::vector<std::string> factors;  ///< that the file has
  std::vector<std::string> unused;   ///< columns that are none
};

/// Reads a file of one row per CPU and job, as T. Cornebize published them: columns node (a number, to which the name
/// of the cluster is put in front, or a name) or host, cpu, start_time (Unix), jobid or job, cluster unless `cluster`
/// names it, and the columns of factors (known_factors(): their names or published ones), which may be empty. Hands
/// over one campaign per job. @throws core::ParseError for missing columns, values that cannot be, an empty file.
ImportedRuns import_runs(std::istream& in, const std::string& name, const std::string& cluster,
                         const std::function<void(const CampaignRecord&)>& add);

/// Reads a log of changes: date, cluster, node or hosts (a/b/c or all), type, description.
std::vector<Change> read_changes(std::istream& in, const std::string& name);

/// Reads a log of outliers: date, cluster, node or hosts, jobid or job, description.
std::vector<LoggedOutlier> read_outliers(std::istream& in, const std::string& name);

}  // namespace hplcast::study
