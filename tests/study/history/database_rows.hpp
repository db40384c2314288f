#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <string>

namespace hplcast::study {

/// All rows of all tables of a history as one text, row for row.
inline std::string all_rows(const std::filesystem::path& path) {
  SQLite::Database database(path.string());
  std::string text;
  for (const char* table : {"sources", "protocols", "campaigns", "hosts", "models", "places", "factors", "observations",
                            "changes", "outliers", "verdicts"}) {
    SQLite::Statement query(database, std::string("SELECT * FROM ") + table);
    while (query.executeStep()) {
      text += table;
      for (int i = 0; i < query.getColumnCount(); ++i) text += "|" + query.getColumn(i).getString();
      text += "\n";
    }
  }
  return text;
}

}  // namespace hplcast::study
