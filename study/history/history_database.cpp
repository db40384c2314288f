#include "hplcast/study/history.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <set>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "study/sqlite/sqlite_file.hpp"

namespace hplcast::study {

namespace {

using core::day_s;

void refuse_wrong_times(const CampaignRecord& campaign, std::int64_t now) {
  constexpr std::int64_t year_2000_s = 946684800;
  if (campaign.end_s < campaign.start_s)
    throw core::InputError("the campaign ended " + std::to_string(campaign.start_s - campaign.end_s) +
                           " s before it began: the clock went back while it ran");
  if (campaign.start_s < year_2000_s || campaign.end_s > now + day_s)
    throw core::InputError("the campaign is of " + date_text(campaign.start_s) + " to " + date_text(campaign.end_s) +
                           "; expected a time in the past, since 2000: the clock was wrong");
}

constexpr double most_of_any_value = 1e30;

/// Values that only another program can have written. @throws core::Error (bad_input)
void require_time(const fs::path& path, std::int64_t time_s) {
  constexpr std::int64_t year_10000_s = 253402300800;
  if (time_s <= -year_10000_s || time_s >= year_10000_s)
    throw core::InputError("history " + path.string() + ": a time of " + std::to_string(time_s) +
                           " s; expected a Unix time before the year 10000\n  hint: was it changed by hand?");
}

void require_run(const fs::path& path, const std::string& factor, const Place& place, const StoredRun& run) {
  require_time(path, run.time_s);
  if (!(std::abs(run.value) <= most_of_any_value))
    throw core::InputError("history " + path.string() + ": " + factor + " of " + to_string(place) + " is " +
                           core::printed("%.6g", run.value) +
                           "; expected a number of at most 1e30\n  hint: was it changed by hand?");
}

/// Writes the campaigns of one source, inside a transaction of the caller.
class CampaignWriter {
 public:
  CampaignWriter(SQLite::Database& database, std::int64_t source)
      : database_(database),
        source_(source),
        now_(std::time(nullptr)),
        observation_(database, "INSERT INTO observations VALUES (?, ?, ?, ?, ?)"),
        at_that_time_(database, "SELECT campaign FROM observations WHERE factor = ? AND place = ? AND time_s = ?") {
    SQLite::Statement places(database, "SELECT id, cluster, host, cpu FROM places");
    while (places.executeStep())
      places_[{places.getColumn(1).getString(), places.getColumn(2).getString(), places.getColumn(3).getInt()}] =
          places.getColumn(0).getInt64();
    SQLite::Statement factors(database, "SELECT id, name FROM factors");
    while (factors.executeStep()) factors_[factors.getColumn(1).getString()] = factors.getColumn(0).getInt64();
  }

  /// @throws core::Error (bad_input) for wrong clocks, or a host that another campaign measured at that time.
  void add(const CampaignRecord& campaign) {
    refuse_wrong_times(campaign, now_);
    if (campaign.end_s > campaign.start_s) refuse_overlap(campaign);
    const std::string protocol = core::sha256_hex(campaign.protocol);
    execute(database_, "INSERT OR IGNORE INTO protocols VALUES (?, ?)", protocol, campaign.protocol);
    const std::int64_t id =
        inserted("INSERT INTO campaigns(source, job, cluster, start_s, end_s, protocol) VALUES (?, ?, ?, ?, ?, ?)",
                 source_, campaign.job, campaign.cluster, campaign.start_s, campaign.end_s, protocol);
    if (!campaign.cluster_json.empty())
      execute(database_, "INSERT INTO models VALUES (?, ?)", id, campaign.cluster_json);
    std::set<std::string> answered;
    for (const FactorObservation& one : campaign.observations) {
      add(one, id);
      answered.insert(one.place.host);
    }
    for (const std::string& host : std::set<std::string>(campaign.hosts.begin(), campaign.hosts.end()))
      execute(database_, "INSERT INTO hosts VALUES (?, ?, ?)", id, host, answered.count(host) > 0 ? 1 : 0);
  }

 private:
  /// A host cannot be measured twice at once.
  void refuse_overlap(const CampaignRecord& campaign) {
    SQLite::Statement query(
        database_,
        "SELECT h.host, c.start_s, s.name, s.id, c.job FROM campaigns c JOIN hosts h ON h.campaign = c.id "
        "JOIN sources s ON s.id = c.source WHERE c.cluster = ? AND c.start_s < ? AND c.end_s > ? "
        "AND c.end_s > c.start_s");
    SQLite::bind(query, campaign.cluster, campaign.end_s, campaign.start_s);
    while (query.executeStep()) {
      const std::string host = query.getColumn(0).getString();
      if (std::find(campaign.hosts.begin(), campaign.hosts.end(), host) == campaign.hosts.end()) continue;
      throw core::InputError("host " + host + " was measured by another campaign at that time (" +
                             query.getColumn(2).getString() + ", " + date_text(query.getColumn(1).getInt64()) +
                             ")\n  hint: two campaigns at once disturb each other; keep one of them");
    }
  }

  void add(const FactorObservation& one, std::int64_t campaign) {
    core::require(std::abs(one.value) <= most_of_any_value, one.factor, one.value, "a number of at most 1e30");
    if (one.time_s > now_ + day_s)
      throw core::InputError(to_string(one.place) + " was measured on " + date_text(one.time_s) +
                             ", in the future: the clock was wrong");
    const std::int64_t factor = id_of_factor(one.factor), place = id_of_place(one.place);
    SQLite::bind(at_that_time_, factor, place, one.time_s);
    const bool taken = at_that_time_.executeStep();
    at_that_time_.reset();
    if (taken)
      throw core::InputError(to_string(one.place) + " has two values of " + one.factor + " at " +
                             std::to_string(one.time_s) + " s (" + date_text(one.time_s) +
                             "): two campaigns at one time");
    SQLite::bind(observation_, factor, place, one.time_s, campaign, one.value);
    observation_.exec();
    observation_.reset();
  }

  std::int64_t id_of_factor(const std::string& name) {
    const auto [entry, is_new] = factors_.emplace(name, 0);
    if (is_new) entry->second = inserted("INSERT INTO factors(name) VALUES (?)", name);
    return entry->second;
  }

  std::int64_t id_of_place(const Place& place) {
    const auto [entry, is_new] = places_.emplace(place, 0);
    if (is_new)
      entry->second =
          inserted("INSERT INTO places(cluster, host, cpu) VALUES (?, ?, ?)", place.cluster, place.host, place.cpu);
    return entry->second;
  }

  /// Its id.
  template <typename... Values>
  std::int64_t inserted(const char* sql, const Values&... values) {
    execute(database_, sql, values...);
    return database_.getLastInsertRowid();
  }

  SQLite::Database& database_;
  std::int64_t source_;
  std::int64_t now_;  ///< Unix time
  SQLite::Statement observation_, at_that_time_;
  std::map<Place, std::int64_t> places_;
  std::map<std::string, std::int64_t> factors_;
};

// No times of adding and no random ids: the same sources in the same order make the same rows.
constexpr const char* schema = R"sql(
CREATE TABLE sources(id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE protocols(sha256 TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE campaigns(id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES sources(id), job TEXT NOT NULL,
  cluster TEXT NOT NULL, start_s INTEGER NOT NULL, end_s INTEGER NOT NULL, protocol TEXT NOT NULL);
CREATE TABLE hosts(campaign INTEGER NOT NULL REFERENCES campaigns(id), host TEXT NOT NULL, answered INTEGER NOT NULL,
  PRIMARY KEY(campaign, host)) WITHOUT ROWID;
CREATE TABLE models(campaign INTEGER PRIMARY KEY REFERENCES campaigns(id), json TEXT NOT NULL);
CREATE TABLE places(id INTEGER PRIMARY KEY, cluster TEXT NOT NULL, host TEXT NOT NULL, cpu INTEGER NOT NULL,
  UNIQUE(cluster, host, cpu));
CREATE TABLE factors(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE observations(factor INTEGER NOT NULL, place INTEGER NOT NULL, time_s INTEGER NOT NULL,
  campaign INTEGER NOT NULL REFERENCES campaigns(id), value REAL NOT NULL,
  PRIMARY KEY(factor, place, time_s)) WITHOUT ROWID;
CREATE TABLE changes(time_s INTEGER NOT NULL, cluster TEXT NOT NULL, hosts TEXT NOT NULL, type TEXT NOT NULL,
  description TEXT NOT NULL, PRIMARY KEY(time_s, cluster, hosts, type, description)) WITHOUT ROWID;
CREATE TABLE outliers(time_s INTEGER NOT NULL, cluster TEXT NOT NULL, hosts TEXT NOT NULL, job TEXT NOT NULL,
  description TEXT NOT NULL, PRIMARY KEY(time_s, cluster, hosts, job, description)) WITHOUT ROWID;
)sql";

/// New in version 2.
constexpr const char* schema_of_verdicts = R"sql(
CREATE TABLE IF NOT EXISTS verdicts(told_s INTEGER NOT NULL, cluster TEXT NOT NULL, host TEXT NOT NULL,
  cpu INTEGER NOT NULL, factor TEXT NOT NULL, since_s INTEGER NOT NULL, last_s INTEGER NOT NULL, effect REAL NOT NULL,
  effect_error REAL NOT NULL, probability REAL NOT NULL,
  PRIMARY KEY(told_s, cluster, host, cpu, factor, since_s)) WITHOUT ROWID;
)sql";

/// The number reads "hplh".
constexpr SqliteKind history_kind = {"history", "history of hplcast", "expected a file of `hplcast history`",
                                     0x68706c68, HistoryDatabase::schema_version};

/// Hint after an error. `code`: as in sqlite3.h.
const char* hint_for(int code) {
  constexpr int busy = 5, locked = 6, read_only = 8, cannot_open = 14;
  switch (code) {
    case busy:
    case locked:
      return "another program writes it: wait until it has ended";
    case read_only:
    case cannot_open:
      return "this needs the right to write the file and its folder: to read, too, after a program was killed";
    default:
      return "what was told as added is in it, or in a copy of it";
  }
}

void make_schema(SQLite::Database& database) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  if (!has_no_tables(database)) return;  // another was faster
  database.exec(schema);
  database.exec(schema_of_verdicts);
  mark(database, history_kind);
  transaction.commit();
}

/// A history of version 1 becomes one of version 2, which has verdicts.
void bring_up_to_date(SQLite::Database& database) {
  if (!is_of(database, history_kind) || database.execAndGet("PRAGMA user_version").getInt() != 1) return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  database.exec(schema_of_verdicts);
  mark(database, history_kind);
  transaction.commit();
}

}  // namespace

struct HistoryDatabase::State {
  fs::path path;
  std::optional<SQLite::Database> database;

  template <typename Work>
  auto guarded(Work work) {
    return study::guarded(history_kind, path, hint_for, work);
  }
  /// `work` in a transaction.
  template <typename Work>
  auto change(Work work) {
    return guarded([&] {
      SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
      const auto result = work();
      transaction.commit();
      return result;
    });
  }
  /// Adds entries of five fields to a log.
  template <typename Entry>
  std::size_t add(const char* sql, const std::vector<Entry>& entries) {
    return change([&] {
      int added = 0;
      for (const auto& [time_s, cluster, hosts, kind, description] : entries)
        added += execute(*database, sql, time_s, cluster, hosts, kind, description);
      return static_cast<std::size_t>(added);
    });
  }
  template <typename Row, int columns, typename... Values>
  std::vector<Row> rows(const char* sql, const Values&... values) {
    return guarded([&] { return rows_of<Row, columns>(*database, sql, values...); });
  }
  template <typename... Values>
  std::vector<std::string> texts(const char* sql, const Values&... values) {
    return guarded([&] { return texts_of(*database, sql, values...); });
  }
  /// The first of them; empty if there is none.
  template <typename... Values>
  std::string text(const char* sql, const Values&... values) {
    const auto found = texts(sql, values...);
    return found.empty() ? "" : found.front();
  }
};

HistoryDatabase::HistoryDatabase(const fs::path& path, Access access, int patience_ms)
    : path_(path), state_(std::make_unique<State>(State{path, std::nullopt})) {
  if (access == Access::read && !fs::is_regular_file(path))
    throw core::InputError("there is no history " + path.string() +
                           "\n  hint: `hplcast history add` and `import` make one");
  if (fs::is_directory(path)) throw core::InputError(path.string() + " is a folder; expected the file of a history");
  state_->guarded([&] {
    // Also to read: after a writer that was killed SQLite takes its transaction back. What cannot be written is read.
    const int flags = SQLite::OPEN_READWRITE | (access == Access::read ? 0 : SQLite::OPEN_CREATE);
    SQLite::Database& database = state_->database.emplace(path.string(), flags, patience_ms);
    const bool empty = has_no_tables(database);
    // Left by a program that was killed before its first transaction, or another file that has no content.
    if (empty && access == Access::read && database.execAndGet("PRAGMA page_count").getInt() == 0)
      throw core::InputError(path.string() +
                             " is empty: a history without anything\n  hint: `hplcast history "
                             "add` and `import` add campaigns");
    if (empty && access == Access::write) make_schema(database);
    bring_up_to_date(database);
    check_version(database, history_kind, path);
  });
}

HistoryDatabase::~HistoryDatabase() = default;

bool HistoryDatabase::has_source(const std::string& sha256) const {
  return !state_->texts("SELECT name FROM sources WHERE sha256 = ?", sha256).empty();
}

bool HistoryDatabase::add_source(const Source& source, const std::function<void(const Add&)>& fill) {
  return state_->change([&] {
    if (has_source(source.sha256)) return false;
    SQLite::Database& database = *state_->database;
    execute(database, "INSERT INTO sources(sha256, name) VALUES (?, ?)", source.sha256, source.name);
    CampaignWriter writer(database, database.getLastInsertRowid());
    fill([&](const CampaignRecord& campaign) { writer.add(campaign); });
    return true;
  });
}

std::size_t HistoryDatabase::add_changes(const std::vector<Change>& changes) {
  return state_->add("INSERT OR IGNORE INTO changes VALUES (?, ?, ?, ?, ?)", changes);
}

std::size_t HistoryDatabase::add_outliers(const std::vector<LoggedOutlier>& outliers) {
  return state_->add("INSERT OR IGNORE INTO outliers VALUES (?, ?, ?, ?, ?)", outliers);
}

void HistoryDatabase::add_verdicts(const std::vector<Verdict>& verdicts) {
  state_->change([&] {
    for (const Verdict& one : verdicts)
      execute(*state_->database, "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", one.told_s,
              one.place.cluster, one.place.host, one.place.cpu, one.factor, one.since_s, one.last_s, one.effect,
              one.effect_error, one.probability);
    return verdicts.size();
  });
}

HistoryCounts HistoryDatabase::counts() const {
  return state_->guarded([&] {
    const auto count = [&](const char* table) {
      const std::string sql = std::string("SELECT count(*) FROM ") + table;
      return static_cast<std::size_t>(state_->database->execAndGet(sql).getInt64());
    };
    return HistoryCounts{count("campaigns"), count("observations"), count("places"), count("changes"),
                         count("outliers")};
  });
}

std::vector<std::string> HistoryDatabase::factors() const {
  return state_->texts("SELECT name FROM factors ORDER BY name");
}

std::vector<std::string> HistoryDatabase::clusters() const {
  return state_->texts("SELECT DISTINCT cluster FROM campaigns ORDER BY cluster");
}

std::vector<Place> HistoryDatabase::places() const {
  return state_->rows<Place, 3>("SELECT cluster, host, cpu FROM places ORDER BY cluster, host, cpu");
}

std::vector<Change> HistoryDatabase::changes() const {
  auto all =
      state_->rows<Change, 5>("SELECT time_s, cluster, hosts, type, description FROM changes ORDER BY 1, 2, 3, 4, 5");
  for (const Change& one : all) require_time(path_, one.time_s);
  return all;
}

std::vector<LoggedOutlier> HistoryDatabase::outliers() const {
  auto all = state_->rows<LoggedOutlier, 5>(
      "SELECT time_s, cluster, hosts, job, description FROM outliers ORDER BY 1, 2, 3, 4, 5");
  for (const LoggedOutlier& one : all) require_time(path_, one.time_s);
  return all;
}

std::vector<Verdict> HistoryDatabase::verdicts() const {
  auto all = state_->rows<Verdict, 10>(
      "SELECT told_s, cluster, host, cpu, factor, since_s, last_s, effect, effect_error, probability FROM verdicts "
      "ORDER BY 1, 2, 3, 4, 5, 6");
  for (const Verdict& one : all)
    for (const std::int64_t time_s : {one.told_s, one.since_s, one.last_s}) require_time(path_, time_s);
  return all;
}

std::vector<StoredCampaign> HistoryDatabase::campaigns() const {
  auto all = state_->rows<StoredCampaign, 7>(
      "SELECT c.id, c.job, c.cluster, s.name, c.start_s, c.end_s, c.protocol FROM campaigns c JOIN sources s ON "
      "s.id = c.source ORDER BY c.start_s, c.id");
  for (const StoredCampaign& one : all)
    for (const std::int64_t time_s : {one.start_s, one.end_s}) require_time(path_, time_s);
  return all;
}

std::string HistoryDatabase::protocol(const std::string& sha256) const {
  const std::string found = state_->text("SELECT json FROM protocols WHERE sha256 = ?", sha256);
  if (found.empty()) throw core::InputError(path_.string() + " has no protocol " + sha256);
  return found;
}

std::map<std::string, HistoryDatabase::HostTimes> HistoryDatabase::host_times(const std::string& cluster) const {
  struct Row {
    std::string host;
    std::int64_t asked_s, answered_s;
  };
  std::map<std::string, HostTimes> result;
  for (const Row& row : state_->rows<Row, 3>(
           "SELECT h.host, max(c.start_s), max(CASE WHEN h.answered THEN c.start_s ELSE 0 END) FROM hosts h JOIN "
           "campaigns c ON c.id = h.campaign WHERE c.cluster = ? GROUP BY h.host",
           cluster))
    result[row.host] = {row.asked_s, row.answered_s};
  return result;
}

std::vector<std::string> HistoryDatabase::hosts(std::int64_t campaign) const {
  return state_->texts("SELECT host FROM hosts WHERE campaign = ? ORDER BY host", campaign);
}

std::vector<StoredSeries> HistoryDatabase::series(const std::string& cluster, const std::string& factor,
                                                  std::optional<std::int64_t> until_s) const {
  struct PlaceRow {
    std::int64_t id;
    std::string host;
    int cpu;
  };
  std::vector<StoredSeries> result;
  for (const PlaceRow& place : state_->rows<PlaceRow, 3>(
           "SELECT id, host, cpu FROM places WHERE cluster = ? ORDER BY length(host), host, cpu", cluster)) {
    StoredSeries one{{cluster, place.host, place.cpu},
                     state_->rows<StoredRun, 3>(
                         "SELECT o.time_s, o.value, o.campaign FROM observations o WHERE o.factor = (SELECT id FROM "
                         "factors WHERE name = ?) AND o.place = ? AND o.time_s <= ? ORDER BY o.time_s",
                         factor, place.id, until_s.value_or(std::numeric_limits<std::int64_t>::max()))};
    for (const StoredRun& run : one.runs) require_run(path_, factor, one.place, run);
    if (!one.runs.empty()) result.push_back(std::move(one));
  }
  return result;
}

std::string HistoryDatabase::first_cluster_json(const std::string& cluster, const std::string& protocol_sha256) const {
  return state_->text(
      "SELECT m.json FROM models m JOIN campaigns c ON c.id = m.campaign WHERE c.cluster = ? AND c.protocol = ? "
      "ORDER BY c.id LIMIT 1",
      cluster, protocol_sha256);
}

std::string HistoryDatabase::latest_cluster_json(const std::string& cluster) const {
  return state_->text(
      "SELECT m.json FROM models m JOIN campaigns c ON c.id = m.campaign WHERE c.cluster = ? ORDER BY c.start_s DESC, "
      "c.id DESC LIMIT 1",
      cluster);
}

}  // namespace hplcast::study
