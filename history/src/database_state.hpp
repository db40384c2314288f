#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <filesystem>
#include <optional>
#include <string>

#include "hplcast/core/errors.hpp"
#include "hplcast/history/history_database.hpp"

namespace hplcast::history {

struct HistoryDatabase::State {
  std::optional<SQLite::Database> database;
};

constexpr int sqlite_busy = 5, sqlite_locked = 6;  // SQLITE_BUSY, SQLITE_LOCKED of sqlite3.h

/// Runs `work` and turns SQLite's errors into ours.
template <typename Work>
auto guarded(const std::filesystem::path& path, Work work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    const bool busy = error.getErrorCode() == sqlite_busy || error.getErrorCode() == sqlite_locked;
    throw core::Error(core::ExitCode::bad_input,
                      "history " + path.string() + ": " + error.what() +
                          (busy ? "\n  hint: another program writes it: wait until it has ended"
                                : "\n  hint: what was told as added is in it, or in a copy of it"));
  }
}

template <typename... Values>
int execute(SQLite::Database& database, const char* sql, const Values&... values) {
  SQLite::Statement statement(database, sql);
  SQLite::bind(statement, values...);
  return statement.exec();
}

}  // namespace hplcast::history
