#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {

/// A kind of SQLite files of hplcast, and how messages speak of it.
struct SqliteKind {
  const char* name;      ///< "history"
  const char* of_whom;   ///< "history of hplcast"
  const char* expected;  ///< a hint for files that are none
  int application_id;    ///< tells these files from others
  int version;           ///< of the schema
};

constexpr int sqlite_not_a_database = 26;

/// In our words where SQLite's say less. `code`: as in sqlite3.h.
inline std::string sqlite_reason(int code, const std::string& text) {
  // Our own statements are right: what they ask for is not there.
  const std::string missing = "no such ";
  if (text.rfind(missing, 0) == 0)
    return "it has no " + text.substr(missing.size()) + "; another program has changed the file";
  constexpr int corrupt = 11, cannot_open = 14;
  return code == corrupt                 ? "the file is damaged"
         : code == cannot_open           ? "the file cannot be opened or made (a name may have 240 letters)"
         : code == sqlite_not_a_database ? "the file is not a database"
                                         : text;
}

/// Runs `work` and turns SQLite's errors into ours; `hint` says what may help after an error, by its code in sqlite3.h.
template <typename Work, typename Hint>
auto guarded(const SqliteKind& kind, const std::filesystem::path& path, Hint hint, Work work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode();
    throw core::InputError(std::string(kind.name) + " " + path.string() + ": " + sqlite_reason(code, error.what()) +
                           "\n  hint: " + (code == sqlite_not_a_database ? kind.expected : hint(code)));
  }
}

/// @return the number of rows that changed.
template <typename... Values>
int execute(SQLite::Database& database, const char* sql, const Values&... values) {
  SQLite::Statement statement(database, sql);
  SQLite::bind(statement, values...);
  return statement.exec();
}

/// All rows of a query, each an aggregate of its columns.
template <typename Row, int columns, typename... Values>
std::vector<Row> rows_of(const SQLite::Database& database, const char* sql, const Values&... values) {
  std::vector<Row> rows;
  SQLite::Statement query(database, sql);
  if constexpr (sizeof...(values) > 0) SQLite::bind(query, values...);
  while (query.executeStep()) rows.push_back(query.getColumns<Row, columns>());
  return rows;
}

/// The first column of all rows.
template <typename... Values>
std::vector<std::string> texts_of(const SQLite::Database& database, const char* sql, const Values&... values) {
  struct Row {
    std::string text;
  };
  std::vector<std::string> texts;
  for (Row& row : rows_of<Row, 1>(database, sql, values...)) texts.push_back(std::move(row.text));
  return texts;
}

inline bool has_no_tables(const SQLite::Database& database) {
  return SQLite::Statement(database, "SELECT 1 FROM sqlite_master").executeStep() == 0;
}

inline bool is_of(SQLite::Database& database, const SqliteKind& kind) {
  return database.execAndGet("PRAGMA application_id").getInt() == kind.application_id;
}

inline void mark(SQLite::Database& database, const SqliteKind& kind) {
  database.exec("PRAGMA application_id = " + std::to_string(kind.application_id));
  database.exec("PRAGMA user_version = " + std::to_string(kind.version));
}

/// @throws core::ParseError for files of another kind or version.
inline void check_version(SQLite::Database& database, const SqliteKind& kind, const std::filesystem::path& path) {
  if (!is_of(database, kind))
    throw core::ParseError({path.string(), 0, ""}, std::string("not a ") + kind.of_whom, kind.expected);
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  if (version == kind.version) return;
  throw core::ParseError({path.string(), 0, ""},
                         std::string("a ") + kind.name + " of version " + std::to_string(version) +
                             "; this hplcast uses version " + std::to_string(kind.version),
                         "use the hplcast that made it, or another --database");
}

}  // namespace hplcast::study
