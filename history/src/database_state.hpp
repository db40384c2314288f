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

/// Runs `work` and turns SQLite's errors into ours.
template <typename Work>
auto guarded(const std::filesystem::path& path, Work work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    throw core::Error(core::ExitCode::bad_input,
                      "history " + path.string() + ": " + error.what() + "\n  hint: " + hint_for(error.getErrorCode()));
  }
}

template <typename... Values>
int execute(SQLite::Database& database, const char* sql, const Values&... values) {
  SQLite::Statement statement(database, sql);
  SQLite::bind(statement, values...);
  return statement.exec();
}

}  // namespace hplcast::history
