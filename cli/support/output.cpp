#include "cli/support/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::cli {

namespace fs = std::filesystem;

void write_result(const fs::path& path, const std::function<void(std::ostream&)>& content) {
  if (path.empty()) {
    content(std::cout);
  } else {
    require_writable(path);
    core::write_file(path, content);
  }
}

void require_writable(const fs::path& path) {
  if (path.empty() || core::is_standard_stream(path)) return;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw core::Error(core::ExitCode::bad_input, "cannot write " + path.string() + ": it is a folder");
  }
  const fs::path folder = fs::absolute(core::behind_links(path)).parent_path();
  if (!fs::exists(folder, error)) {
    throw core::Error(core::ExitCode::bad_input, "cannot write " + path.string() + ": there is no folder " +
                                                     folder.string() + "\n  hint: make it, or is it mistyped?");
  }
  if (!fs::is_directory(folder, error) || access(folder.c_str(), W_OK) != 0) {
    throw core::Error(core::ExitCode::bad_input, "cannot write " + path.string() + ": " + folder.string() +
                                                     " is not a folder that can be written");
  }
}

void require_named_file(const std::string& option, const fs::path& path) {
  if (core::is_standard_stream(path)) throw core::UsageError(option + " cannot be `-`; expected the name of a file");
}

void require_rereadable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (core::is_standard_stream(path) || is_fifo(status) || is_character_file(status) || is_socket(status))
    throw core::UsageError(path.string() + " is read more than once; expected a file, not a pipe");
}

void require_other_file(const fs::path& output, const std::vector<std::string>& inputs) {
  std::error_code error;
  if (output.empty() || core::is_standard_stream(output) || !fs::is_regular_file(output, error)) return;
  for (const std::string& input : inputs) {
    if (input.empty() || !fs::equivalent(output, input, error)) continue;
    throw core::Error(core::ExitCode::bad_input, "the output " + output.string() +
                                                     " is a file that is read: it would be overwritten\n  hint: choose "
                                                     "another name for the output");
  }
}

void accept_json(Command& command) {
  command.add_flag("--json", "accepted as in other commands: the result always is JSON");
}

void require_place_of(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  const fs::path parent = fs::absolute(folder).lexically_normal().parent_path();
  if (fs::exists(folder, error) || fs::is_directory(parent, error)) return;
  throw core::Error(core::ExitCode::bad_input, "cannot make " + folder.string() + ": there is no folder " +
                                                   parent.string() + "\n  hint: make it, or is it mistyped?");
}

void TextTable::write(std::ostream& out) const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << (i == 0 ? "" : "  ") << std::string(widths[i] - row[i].size(), ' ') << row[i];
    }
    out << '\n';
  }
}

}  // namespace hplcast::cli
