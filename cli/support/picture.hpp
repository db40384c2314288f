#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hplcast::cli {

/// Points of one kind in a panel.
struct PlotSeries {
  enum class Style { points, line, steps };
  std::string title;  ///< in the legend; empty: not there
  Style style = Style::points;
  std::vector<std::pair<double, double>>
      values;  ///< pairs that are not finite are left out; on log axes those not above 0
};

/// One diagram of a picture. Axis names say the unit.
struct PlotPanel {
  std::string title;
  std::string x_name;
  std::string y_name;
  bool log_x = false;
  bool log_y = false;
  std::vector<PlotSeries> series;
  std::vector<double> breaks;  ///< vertical lines
};

/// Diagrams in two columns under a title.
struct Picture {
  std::string title;
  std::vector<PlotPanel> panels;
};

/// The file of one of several pictures: "fit.png" and {"dgemm", "node/1"} give "fit-dgemm-node_1.png".
std::filesystem::path picture_name(const std::filesystem::path& path, const std::vector<std::string>& parts);

/// Before work whose result it shows. @throws core::UsageError unless the name ends in .png or .svg; as
/// require_writable().
void require_picture(const std::filesystem::path& path);

/// Draws with gnuplot to a .png or .svg file, which is there whole or not at all.
/// @throws core::UsageError for other names, core::ExternalError if gnuplot is not installed or fails.
void write_picture(const std::filesystem::path& path, const Picture& picture);

}  // namespace hplcast::cli
