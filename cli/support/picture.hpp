#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hplcast/study/plot.hpp"

namespace hplcast::cli {

/// The file of one of several pictures: "fit.png" and {"dgemm", "node/1"} give "fit-dgemm-node_1.png".
std::filesystem::path picture_name(const std::filesystem::path& path, const std::vector<std::string>& parts);

/// Before work whose result it shows. @throws core::UsageError unless the name ends in .png or .svg; as
/// require_writable().
void require_picture(const std::filesystem::path& path);

/// Whether pictures can be drawn as PNG here.
bool can_draw_png();

/// Draws an SVG file as PNG, which is there whole or not at all.
/// @throws core::ExternalError if rsvg-convert is not installed or fails.
void draw_png(const std::filesystem::path& svg, const std::filesystem::path& png);

/// A .png or .svg file, which is there whole or not at all. @throws as require_picture() and draw_png()
void write_picture(const std::filesystem::path& path, const study::Picture& picture);

}  // namespace hplcast::cli
