#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "cli/support/command.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::cli {

/// Writes a result to `path`, or to the standard output if it is empty. A file is there whole or not at all.
void write_result(const std::filesystem::path& path, const std::function<void(std::ostream&)>& content);

/// Fails now rather than after hours of work. @throws core::Error (bad_input) if `path` is a folder, or the folder that
/// it would be in is missing (none is invented: it may be mistyped) or cannot be written. An empty path is fine.
void require_writable(const std::filesystem::path& path);

/// --json of a command whose result always is JSON: scripts may give it everywhere.
void accept_json(Command& command);

/// The same for a folder that a command makes: the one that it would be in must be there.
void require_place_of(const std::filesystem::path& folder);

/// A table for people: columns as wide as they must be, aligned right, two spaces apart.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  /// A row of as many texts as the header has.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void write(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

using core::duration_text;
using core::percent;
using core::signed_percent;
using core::significant;

}  // namespace hplcast::cli
