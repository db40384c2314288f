#include <algorithm>
#include <ostream>

#include "cli/support/command.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace fs = std::filesystem;

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
