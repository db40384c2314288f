#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "hplcast/core/files.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast::study::testing {

/// Sweeps by the built hplcast in a folder whose name has a space and quotes; skips without the simulator.
class SweepFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(HPLCAST_BINARY_DIR "/bin/xhpl-smpi"))
      GTEST_SKIP() << "skipped: no xhpl-smpi was built";
    folder_ = base_.path() / "it's \"here\"";
    std::filesystem::create_directories(folder_);
  }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  /// A plan of the example cluster with these lines.
  std::filesystem::path plan(const std::string& lines) const {
    return write("plan.yaml", "cluster: '" HPLCAST_SOURCE_DIR "/examples/dahu-like.json'\n" + lines);
  }

  core::CommandResult hplcast(std::vector<std::string> arguments) const {
    return test::run_hplcast_words(std::move(arguments), folder_.string());
  }

  /// Every row of the tables that depend on the plans alone, as text.
  std::map<std::string, std::vector<std::string>> rows(const std::string& database) const {
    SQLite::Database db((folder_ / database).string());
    std::map<std::string, std::vector<std::string>> result;
    for (const std::string table : {"clusters", "plans", "points", "skipped", "runs", "failures"}) {
      SQLite::Statement query(db, "SELECT * FROM " + table);
      while (query.executeStep()) {
        std::string row;
        for (int i = 0; i < query.getColumnCount(); ++i) {
          // A double as its bits: equal means equal to the last.
          const SQLite::Column column = query.getColumn(i);
          char text[40];
          std::snprintf(text, sizeof text, "%a", column.getDouble());
          row += (column.isFloat() ? std::string(text) : column.getString()) + "|";
        }
        result[table].push_back(row);
      }
    }
    return result;
  }

  std::filesystem::path folder_;

 private:
  core::TemporaryFolder base_{"hplcast-sweep"};
};

}  // namespace hplcast::study::testing
