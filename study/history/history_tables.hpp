#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "hplcast/study/history.hpp"
#include "study/sqlite/sqlite_file.hpp"

namespace hplcast::study {

struct HistoryDatabase::State {
  std::optional<SQLite::Database> database;
};

/// What may help after an error. `code`: as in sqlite3.h.
inline const char* hint_for(int code) {
  constexpr int busy = 5, locked = 6, read_only = 8, cannot_open = 14, not_a_database = 26;
  switch (code) {
    case busy:
    case locked:
      return "another program writes it: wait until it has ended";
    case read_only:
    case cannot_open:
      return "this needs the right to write the file and its folder: to read, too, after a program was killed";
    case not_a_database:
      return "expected a file of `hplcast history`";
    default:
      return "what was told as added is in it, or in a copy of it";
  }
}

/// The number reads "hplh".
constexpr SqliteKind history_kind = {"history", "history of hplcast", "expected a file of `hplcast history`",
                                     0x68706c68, HistoryDatabase::schema_version};

template <typename Work>
auto guarded(const std::filesystem::path& path, Work work) {
  return guarded(history_kind, path, hint_for, work);
}

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

/// Writes the campaigns of one source, inside a transaction of the caller.
class CampaignWriter {
 public:
  CampaignWriter(SQLite::Database& database, std::int64_t source);
  /// @throws core::Error (bad_input) for wrong clocks, or a host that another campaign measured at that time.
  void add(const CampaignRecord& campaign);

 private:
  void refuse_overlap(const CampaignRecord& campaign);
  void add(const FactorObservation& one, std::int64_t campaign);
  std::int64_t id_of_factor(const std::string& name);
  std::int64_t id_of_place(const Place& place);

  SQLite::Database& database_;
  std::int64_t source_;
  std::int64_t now_;  ///< Unix time
  SQLite::Statement observation_, at_that_time_;
  std::map<Place, std::int64_t> places_;
  std::map<std::string, std::int64_t> factors_;
};

}  // namespace hplcast::study
