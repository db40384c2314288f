#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

// The table of settings of a host, for those that read and those that change them.
namespace hplcast::calibration {

/// A text for a file of the kernel.
struct FileText {
  std::filesystem::path file;
  std::string text;
};

/// One setting of a host.
struct Setting {
  std::string name;  ///< in campaign files
  std::string meaning;
  std::function<std::string(const std::filesystem::path& root)> read;  ///< empty: the system does not tell
  /// The writes that give it a value, in order. Nothing: nobody can set it. @throws core::DomainError for a value that
  /// it cannot have.
  std::function<std::vector<FileText>(const std::filesystem::path& root, const std::string& value)> writes;
};

const std::vector<Setting>& setting_table();

/// The value of a file of the kernel as it is written there: "madvise" of "always [madvise] never", else its first
/// line.
std::string chosen_word(const std::filesystem::path& file);

}  // namespace hplcast::calibration
