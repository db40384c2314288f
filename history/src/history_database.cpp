#include "hplcast/history/history_database.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include "campaign_writer.hpp"
#include "database_state.hpp"
#include "history_schema.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::history {

namespace fs = std::filesystem;

namespace {

void check_version(SQLite::Database& database, const fs::path& path) {
  const int application = database.execAndGet("PRAGMA application_id").getInt();
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  if (application != application_id)
    throw core::ParseError({path.string(), 0, ""}, "not a history of hplcast", "expected a file of `hplcast history`");
  if (version != HistoryDatabase::schema_version) {
    throw core::ParseError({path.string(), 0, ""},
                           "a history of version " + std::to_string(version) + "; this hplcast uses version " +
                               std::to_string(HistoryDatabase::schema_version),
                           "use the hplcast that made it, or another --database");
  }
}

void set_version(SQLite::Database& database) {
  database.exec("PRAGMA user_version = " + std::to_string(HistoryDatabase::schema_version));
}

void make_schema(SQLite::Database& database) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  if (database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() > 0) return;  // another was faster
  database.exec(schema);
  database.exec(schema_of_verdicts);
  database.exec("PRAGMA application_id = " + std::to_string(application_id));
  set_version(database);
  transaction.commit();
}

/// A history of version 1 becomes one of version 2, which has verdicts.
void bring_up_to_date(SQLite::Database& database) {
  if (database.execAndGet("PRAGMA application_id").getInt() != application_id) return;
  if (database.execAndGet("PRAGMA user_version").getInt() != 1) return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  database.exec(schema_of_verdicts);
  set_version(database);
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
    const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
    if (empty && access == Access::read && database.execAndGet("PRAGMA page_count").getInt() == 0) throw_empty(path);
    if (empty && access == Access::write) make_schema(database);
    bring_up_to_date(database);
    check_version(database, path);
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

}  // namespace hplcast::history
