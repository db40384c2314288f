#include "cli/support/picture.hpp"

#include <algorithm>
#include <ostream>

#include "cli/support/output.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace {

constexpr const char* drawer = "rsvg-convert";

}  // namespace

std::filesystem::path picture_name(const std::filesystem::path& path, const std::vector<std::string>& parts) {
  std::string name = path.stem().string();
  for (const std::string& part : parts) name += "-" + part;
  std::replace(name.begin(), name.end(), '/', '_');
  return path.parent_path() / (name + path.extension().string());
}

void require_picture(const std::filesystem::path& path) {
  if (path.extension() != ".png" && path.extension() != ".svg")
    throw core::UsageError("a picture would be written to " + path.string() +
                           "; expected a name that ends in .png or .svg");
  require_writable(path);
}

bool can_draw_png() {
  return !core::find_program(drawer).empty();
}

void draw_png(const std::filesystem::path& svg, const std::filesystem::path& png) {
  if (!can_draw_png()) throw core::ExternalError(drawer, -1, "it is not installed; apt-get install librsvg2-bin");
  core::replace_file(png, [&](const std::filesystem::path& drawn) {
    core::Command command;
    command.program = drawer;
    constexpr const char* pixels_per_unit = "2";
    command.arguments = {"--zoom", pixels_per_unit, "-o", drawn.string(), svg.string()};
    command.timeout_s = 120;
    command.purpose = "drawing " + svg.string() + " as PNG";
    core::run_checked(command);
  });
}

void write_picture(const std::filesystem::path& path, const study::Picture& picture) {
  require_picture(path);
  const auto write_svg = [&](const std::filesystem::path& file) {
    core::write_file(file, [&](std::ostream& out) { out << study::picture_file(picture); });
  };
  if (path.extension() == ".svg") return write_svg(path);
  const core::TemporaryFolder folder("hplcast-plot");
  write_svg(folder.path() / "plot.svg");
  draw_png(folder.path() / "plot.svg", path);
}

}  // namespace hplcast::cli
