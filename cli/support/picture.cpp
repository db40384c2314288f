#include "cli/support/picture.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <ostream>

#include "cli/support/output.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace {

constexpr int panel_width = 640, panel_height = 460;

/// A gnuplot string: names of columns and files may hold quotes.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\n') continue;
    result += c;
    if (c == '\'') result += c;
  }
  return result + "'";
}

std::string style_of(PlotSeries::Style style, std::size_t index) {
  const std::string colour = " linecolor " + std::to_string(index + 1);
  switch (style) {
    case PlotSeries::Style::points:
      return "points pointtype 7 pointsize 0.35" + colour;
    case PlotSeries::Style::line:
      return "lines linewidth 2" + colour;
    case PlotSeries::Style::steps:
      return "histeps linewidth 1.5" + colour;
  }
  return "points";
}

bool is_drawable(const PlotPanel& panel, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (!panel.log_x || x > 0) && (!panel.log_y || y > 0);
}

/// Series without a point that can be drawn are left out: gnuplot stops at them.
std::vector<PlotSeries> drawable_series(const PlotPanel& panel) {
  std::vector<PlotSeries> result;
  for (const PlotSeries& one : panel.series) {
    PlotSeries kept{one.title, one.style, {}};
    for (const auto& [x, y] : one.values)
      if (is_drawable(panel, x, y)) kept.values.emplace_back(x, y);
    if (!kept.values.empty()) result.push_back(std::move(kept));
  }
  return result;
}

/// Distance of the marks on the x axis, few enough that their labels do not overlap: about six.
double mark_distance(const PlotPanel& panel, const std::vector<PlotSeries>& series) {
  double least = series.front().values.front().first, most = least;
  for (const PlotSeries& one : series)
    for (const auto& [x, y] : one.values) {
      least = std::min(least, x);
      most = std::max(most, x);
    }
  if (panel.log_x) return most / least > 1e6 ? 100 : 10;  // a factor
  if (!(most > least)) return 1;
  const double rough = (most - least) / 6, decade = std::pow(10, std::floor(std::log10(rough)));
  return decade * (rough / decade > 5 ? 10 : rough / decade > 2 ? 5 : 2);
}

void write_panel(std::ostream& out, const PlotPanel& panel) {
  const std::vector<PlotSeries> series = drawable_series(panel);
  if (series.empty()) {
    out << "set multiplot next\n";
    return;
  }
  out << "unset logscale\nunset arrow\nset autoscale\n";
  if (panel.log_x) out << "set logscale x\n";
  if (panel.log_y) out << "set logscale y\n";
  out << "set xtics " << core::shortest(mark_distance(panel, series)) << '\n';
  out << "set title " << quoted(panel.title) << "\nset xlabel " << quoted(panel.x_name) << "\nset ylabel "
      << quoted(panel.y_name) << "\n";
  for (double where : panel.breaks)
    if (is_drawable(panel, where, 1))
      out << "set arrow from first " << core::shortest(where) << ", graph 0 to first " << core::shortest(where)
          << ", graph 1 nohead dashtype 2\n";
  for (std::size_t i = 0; i < series.size(); ++i) {
    out << "$data" << i << " << END\n";
    for (const auto& [x, y] : series[i].values) out << core::shortest(x) << ' ' << core::shortest(y) << '\n';
    out << "END\n";
  }
  for (std::size_t i = 0; i < series.size(); ++i)
    out << (i == 0 ? "plot " : ", ") << "$data" << i << " using 1:2 with " << style_of(series[i].style, i)
        << (series[i].title.empty() ? " notitle" : " title " + quoted(series[i].title));
  out << '\n';
}

void write_script(std::ostream& out, const Picture& picture, const std::string& terminal, const std::string& output) {
  const int rows = static_cast<int>((picture.panels.size() + 1) / 2);
  const int columns = picture.panels.size() > 1 ? 2 : 1;
  out << "set terminal " << terminal << " noenhanced size " << columns * panel_width << ',' << rows * panel_height + 40
      << "\nset output " << quoted(output) << "\nset grid\nset key top left\nset format x '%g'\nset format y '%g'\n"
      << "set multiplot layout " << rows << ',' << columns << " title " << quoted(picture.title) << '\n';
  for (const PlotPanel& panel : picture.panels) write_panel(out, panel);
  out << "unset multiplot\nunset output\n";
}

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

void write_picture(const std::filesystem::path& path, const Picture& picture) {
  require_picture(path);
  if (core::find_program("gnuplot").empty())
    throw core::ExternalError("gnuplot", -1, "it is not installed; apt-get install gnuplot-nox");
  const core::TemporaryFolder folder("hplcast-plot");
  const std::filesystem::path script = folder.path() / "plot.gp", drawn = folder.path() / "drawn";
  {
    std::ofstream out(script);
    write_script(out, picture, path.extension() == ".png" ? "pngcairo" : "svg background 'white'", drawn.string());
  }
  core::Command command;
  command.program = "gnuplot";
  command.arguments = {script.string()};
  command.timeout_s = 120;
  command.purpose = "drawing " + path.string();
  core::run_checked(command);
  core::read_file(drawn, [&](std::istream& in, const std::string&) {
    core::write_file(path, [&](std::ostream& out) { out << in.rdbuf(); });
  });
}

}  // namespace hplcast::cli
