#pragma once

#include <filesystem>
#include <map>

namespace hplcast::study {

/// What the tasks of Slurm jobs write into their logs, shown as `--verbose` shows the output of programs
/// (core::show_output()), while they run.
class TaskLogs {
 public:
  /// `folder`: that of the logs, task-NUMBER.log. What is in them now is old.
  explicit TaskLogs(std::filesystem::path folder);

  /// Shows the whole lines that have come since the last call. Does nothing without --verbose.
  void show();

 private:
  std::filesystem::path folder_;
  std::map<std::filesystem::path, std::uintmax_t> shown_bytes_;
};

}  // namespace hplcast::study
