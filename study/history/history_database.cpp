#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <map>
#include <set>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/units.hpp"
#include "hplcast/fit/findings.hpp"
#include "hplcast/study/history.hpp"
#include "study/history/history_tables.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

using core::day_s;

void refuse_wrong_times(const CampaignRecord& campaign, std::int64_t now) {
  constexpr std::int64_t year_2000_s = 946684800;
  if (campaign.end_s < campaign.start_s) {
    throw core::Error(core::ExitCode::bad_input, "the campaign ended " +
                                                     std::to_string(campaign.start_s - campaign.end_s) +
                                                     " s before it began: the clock went back while it ran");
  }
  if (campaign.start_s < year_2000_s || campaign.end_s > now + day_s) {
    throw core::Error(core::ExitCode::bad_input, "the campaign is of " + date_text(campaign.start_s) + " to " +
                                                     date_text(campaign.end_s) +
                                                     "; expected a time in the past, since 2000: the clock was wrong");
  }
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
    execute(database_,
            "INSERT INTO campaigns(source, job, cluster, start_s, end_s, protocol) VALUES (?, ?, ?, ?, ?, ?)", source_,
            campaign.job, campaign.cluster, campaign.start_s, campaign.end_s, protocol);
    const std::int64_t id = database_.getLastInsertRowid();
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
      throw core::Error(core::ExitCode::bad_input,
                        "host " + host + " was measured by another campaign at that time (" +
                            query.getColumn(2).getString() + ", " + date_text(query.getColumn(1).getInt64()) +
                            ")\n  hint: two campaigns at once disturb each other; keep one of them");
    }
  }

  void add(const FactorObservation& one, std::int64_t campaign) {
    if (!std::isfinite(one.value)) throw core::DomainError(one.factor, one.value, "a finite number");
    if (one.time_s > now_ + day_s)
      throw core::Error(core::ExitCode::bad_input, to_string(one.place) + " was measured on " + date_text(one.time_s) +
                                                       ", in the future: the clock was wrong");
    const std::int64_t factor = id_of_factor(one.factor), place = id_of_place(one.place);
    SQLite::bind(at_that_time_, factor, place, one.time_s);
    const bool taken = at_that_time_.executeStep();
    at_that_time_.reset();
    if (taken) {
      throw core::Error(core::ExitCode::bad_input, to_string(one.place) + " has two values of " + one.factor + " at " +
                                                       std::to_string(one.time_s) + " s (" + date_text(one.time_s) +
                                                       "): two campaigns at one time");
    }
    SQLite::bind(observation_, factor, place, one.time_s, campaign, one.value);
    observation_.exec();
    observation_.reset();
  }

  std::int64_t id_of_factor(const std::string& name) {
    const auto [entry, is_new] = factors_.emplace(name, 0);
    if (is_new) {
      execute(database_, "INSERT INTO factors(name) VALUES (?)", name);
      entry->second = database_.getLastInsertRowid();
    }
    return entry->second;
  }

  std::int64_t id_of_place(const Place& place) {
    const auto [entry, is_new] = places_.emplace(place, 0);
    if (is_new) {
      execute(database_, "INSERT INTO places(cluster, host, cpu) VALUES (?, ?, ?)", place.cluster, place.host,
              place.cpu);
      entry->second = database_.getLastInsertRowid();
    }
    return entry->second;
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
  if (!is_of(database, history_kind)) return;
  if (database.execAndGet("PRAGMA user_version").getInt() != 1) return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  database.exec(schema_of_verdicts);
  mark(database, history_kind);
  transaction.commit();
}

/// Of a program that was killed before its first transaction, or something else that has no content.
[[noreturn]] void throw_empty(const fs::path& path) {
  throw core::Error(core::ExitCode::bad_input, path.string() +
                                                   " is empty: a history without anything\n  hint: `hplcast history "
                                                   "add` and `import` add campaigns");
}

}  // namespace

HistoryDatabase::HistoryDatabase(const fs::path& path, Access access, int patience_ms)
    : path_(path), state_(std::make_unique<State>()) {
  if (access == Access::read && !fs::is_regular_file(path))
    throw core::Error(core::ExitCode::bad_input,
                      "there is no history " + path.string() + "\n  hint: `hplcast history add` and `import` make one");
  if (fs::is_directory(path))
    throw core::Error(core::ExitCode::bad_input, path.string() + " is a folder; expected the file of a history");
  guarded(path, [&] {
    // Also to read: after a writer that was killed SQLite takes its transaction back. What cannot be written is read.
    const int flags = SQLite::OPEN_READWRITE | (access == Access::read ? 0 : SQLite::OPEN_CREATE);
    SQLite::Database& database = state_->database.emplace(path.string(), flags, patience_ms);
    const bool empty = has_no_tables(database);
    if (empty && access == Access::read && database.execAndGet("PRAGMA page_count").getInt() == 0) throw_empty(path);
    if (empty && access == Access::write) make_schema(database);
    bring_up_to_date(database);
    check_version(database, history_kind, path);
  });
}

HistoryDatabase::~HistoryDatabase() = default;

bool HistoryDatabase::has_source(const std::string& sha256) const {
  return guarded(path_, [&] {
    SQLite::Statement query(*state_->database, "SELECT 1 FROM sources WHERE sha256 = ?");
    SQLite::bind(query, sha256);
    return query.executeStep();
  });
}

bool HistoryDatabase::add_source(const Source& source, const std::function<void(const Add&)>& fill) {
  return guarded(path_, [&] {
    SQLite::Database& database = *state_->database;
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    if (has_source(source.sha256)) return false;
    execute(database, "INSERT INTO sources(sha256, name) VALUES (?, ?)", source.sha256, source.name);
    CampaignWriter writer(database, database.getLastInsertRowid());
    fill([&](const CampaignRecord& campaign) { writer.add(campaign); });
    transaction.commit();
    return true;
  });
}

bool HistoryDatabase::add_change(const Change& change) {
  return add_changes({change}) == 1;
}

bool HistoryDatabase::add_outlier(const LoggedOutlier& outlier) {
  return add_outliers({outlier}) == 1;
}

std::size_t HistoryDatabase::add_changes(const std::vector<Change>& changes) {
  return guarded(path_, [&] {
    SQLite::Transaction transaction(*state_->database, SQLite::TransactionBehavior::IMMEDIATE);
    std::size_t added = 0;
    for (const Change& one : changes)
      added +=
          static_cast<std::size_t>(execute(*state_->database, "INSERT OR IGNORE INTO changes VALUES (?, ?, ?, ?, ?)",
                                           one.time_s, one.cluster, one.hosts, one.type, one.description));
    transaction.commit();
    return added;
  });
}

std::size_t HistoryDatabase::add_outliers(const std::vector<LoggedOutlier>& outliers) {
  return guarded(path_, [&] {
    SQLite::Transaction transaction(*state_->database, SQLite::TransactionBehavior::IMMEDIATE);
    std::size_t added = 0;
    for (const LoggedOutlier& one : outliers)
      added +=
          static_cast<std::size_t>(execute(*state_->database, "INSERT OR IGNORE INTO outliers VALUES (?, ?, ?, ?, ?)",
                                           one.time_s, one.cluster, one.hosts, one.job, one.description));
    transaction.commit();
    return added;
  });
}

void HistoryDatabase::add_verdicts(const std::vector<Verdict>& verdicts) {
  guarded(path_, [&] {
    SQLite::Transaction transaction(*state_->database, SQLite::TransactionBehavior::IMMEDIATE);
    for (const Verdict& one : verdicts)
      execute(*state_->database, "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", one.told_s,
              one.place.cluster, one.place.host, one.place.cpu, one.factor, one.since_s, one.last_s, one.effect,
              one.effect_error, one.probability);
    transaction.commit();
  });
}

HistoryCounts HistoryDatabase::counts() const {
  return guarded(path_, [&] {
    const auto count = [&](const char* table) {
      const std::string sql = std::string("SELECT count(*) FROM ") + table;
      return static_cast<std::size_t>(state_->database->execAndGet(sql).getInt64());
    };
    return HistoryCounts{count("campaigns"), count("observations"), count("places"), count("changes"),
                         count("outliers")};
  });
}

}  // namespace hplcast::study
