#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/support/command.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

void write_result(const fs::path& path, const std::function<void(std::ostream&)>& content,
                  const std::function<void()>& print_what_is_lost) {
  try {
    require_writable(path);
    core::write_file(path.empty() ? "-" : path, content);
  } catch (const core::Error&) {
    if (print_what_is_lost) print_what_is_lost();
    throw;
  }
}

void write_rows(const fs::path& path, const std::string& csv) {
  const auto write = [&](std::ostream& out) { out << csv << std::flush; };
  write_result(path, write, [&] { write(std::cout); });
}

void write_result(const fs::path& path, const nlohmann::ordered_json& json) {
  write_result(path, [&](std::ostream& out) { out << core::json_text(json, 2) << '\n'; });
}

void require_writable(const fs::path& path) {
  // A device, a pipe, or what is open, needs no folder that can be written.
  if (path.empty() || is_stream(path) || core::open_descriptor(path) >= 0) return;
  std::error_code error;
  const std::string cannot = "cannot write " + path.string() + ": ";
  if (fs::is_directory(path, error)) throw InputError(cannot + "it is a folder");
  const fs::path folder = fs::absolute(core::behind_links(path)).parent_path();
  if (!fs::exists(folder, error))
    throw InputError(cannot + "there is no folder " + folder.string() + "\n  hint: make it, or is it mistyped?");
  if (!fs::is_directory(folder, error) || access(folder.c_str(), W_OK) != 0)
    throw InputError(cannot + folder.string() + " is not a folder that can be written");
}

void require_picture(const fs::path& path) {
  if (path.extension() != ".png" && path.extension() != ".svg")
    throw core::UsageError("a picture would be written to " + path.string() +
                           "; expected a name that ends in .png or .svg");
  require_writable(path);
}

bool is_stream(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return core::is_standard_stream(path) || is_fifo(status) || is_character_file(status) || is_socket(status);
}

void require_rereadable(const fs::path& path) {
  if (is_stream(path)) throw core::UsageError(path.string() + " is read more than once; expected a file, not a pipe");
}

void require_other_file(const fs::path& output, const std::vector<std::string>& inputs) {
  std::error_code error;
  if (output.empty() || core::is_standard_stream(output) || !fs::is_regular_file(output, error)) return;
  for (const std::string& input : inputs) {
    if (input.empty() || core::is_standard_stream(input) || !fs::equivalent(output, input, error)) continue;
    throw InputError("the output " + output.string() +
                     " is a file that is read: it would be overwritten\n  hint: choose another name for the output");
  }
}

void require_own_files(const std::vector<std::string>& outputs) {
  std::vector<fs::path> places;
  std::error_code ignored;
  for (const std::string& output : outputs) {
    if (output.empty() || fs::is_character_file(output, ignored)) continue;
    const bool is_file = core::open_descriptor(output) != STDOUT_FILENO;
    places.push_back(is_file ? fs::weakly_canonical(core::behind_links(fs::absolute(output)), ignored) : fs::path("-"));
    if (std::count(places.begin(), places.end(), places.back()) > 1)
      throw core::UsageError(output + " is given for two outputs; expected a file for each" +
                             (is_file ? "" : " (a table, or the result of --json, is one, too)"));
  }
}

void require_place_of(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  const fs::path parent = fs::absolute(folder).lexically_normal().parent_path();
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    throw InputError(folder.string() + " is a file; expected a folder");
  if (fs::exists(folder, error) || fs::is_directory(parent, error)) return;
  throw InputError("cannot make " + folder.string() + ": there is no folder " + parent.string() +
                   "\n  hint: make it, or is it mistyped?");
}

void TextTable::write(std::ostream& out) const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      const bool left = words_ && i + 1 == row.size();
      out << (i == 0 ? "" : "  ") << (left ? row[i] + blanks : blanks + row[i]);
    }
    out << '\n';
  }
}

namespace {

constexpr const char* drawer = "rsvg-convert";

/// @throws core::ExternalError if rsvg-convert is not installed or fails.
void draw_png(const fs::path& svg, const fs::path& png) {
  if (!can_draw_png()) throw core::ExternalError(drawer, -1, "it is not installed; apt-get install librsvg2-bin");
  core::replace_file(png, [&](const fs::path& drawn) {
    constexpr const char* pixels_per_unit = "2";
    core::Command command{drawer, {"--zoom", pixels_per_unit, "-o", drawn.string(), svg.string()}};
    command.timeout_s = 120;
    command.purpose = "drawing " + svg.string() + " as PNG";
    core::run_checked(command);
  });
}

}  // namespace

fs::path picture_name(const fs::path& path, const std::vector<std::string>& parts) {
  std::string name = path.stem().string();
  for (const std::string& part : parts) name += "-" + part;
  std::replace(name.begin(), name.end(), '/', '_');
  return path.parent_path() / (name + path.extension().string());
}

bool can_draw_png() {
  return !core::find_program(drawer).empty();
}

void write_picture(const fs::path& path, const std::string& svg) {
  require_picture(path);
  const auto write_svg = [&](const fs::path& file) { core::write_file(file, [&](std::ostream& out) { out << svg; }); };
  if (path.extension() == ".svg") return write_svg(path);
  const core::TemporaryFolder folder("hplcast-plot");
  write_svg(folder.path() / "plot.svg");
  draw_png(folder.path() / "plot.svg", path);
}

}  // namespace hplcast::cli
