#pragma once

#include <filesystem>
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

}  // namespace hplcast::study
