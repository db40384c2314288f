#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::study {

/// One row of the results of real runs.
struct RealRunRow {
  core::HplRun run;
  int repetition = 1;
  std::string start;  ///< UTC, ISO 8601
  std::size_t order = 1;
  bool oversubscribed = false;
  std::string power_sensors;  ///< that run.energy_j is of, with blanks between; empty: it was not measured
};

/// What the runs of a file have besides times: each has columns of its own, and a file has one kind of rows.
struct ResultsKind {
  bool instrumented = false;  ///< runs of xhpl-instrumented
  bool power = false;         ///< energy and mean power
};

/// A CSV of real runs that grows row by row. Locked while it is open: two sessions would make the same runs.
class ResultsFile {
 public:
  /// Opens or makes the file, and reads the runs in it. Half a row at the end (a machine that went down) is cut off.
  /// @throws core::Error if it cannot be opened, or another process has it open; core::ParseError for other columns.
  ResultsFile(const std::filesystem::path& path, ResultsKind kind);
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  bool has(const core::HplParameters& parameters, int repetition) const;
  std::size_t last_order() const noexcept { return last_order_; }

  /// Adds a row in one write and waits until it is on the disk. @throws core::Error
  void append(const RealRunRow& row);

 private:
  void read();
  std::string header() const;
  void write_whole(const std::string& text);

  std::filesystem::path path_;
  ResultsKind kind_;
  int descriptor_ = -1;
  std::set<std::pair<core::HplParameters, int>> done_;
  std::size_t last_order_ = 0;
};

}  // namespace hplcast::study
