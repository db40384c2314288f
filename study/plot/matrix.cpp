#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/core/text.hpp"
#include "hplcast/study/plot.hpp"
#include "study/plot/figure.hpp"

namespace hplcast::study {

std::string matrix_file(const std::string& title, const std::vector<std::string>& names,
                        const std::vector<std::vector<double>>& values, const std::string& unit,
                        const std::string& note) {
  const auto n = static_cast<double>(names.size());
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < names.size(); ++j)
      if (i != j && std::isfinite(values[i][j])) {
        least = std::min(least, values[i][j]);
        most = std::max(most, values[i][j]);
      }
  PlotAxis x{"to", 0, n, {}, false, false}, y{"from", 0, n, {}, false, false};
  const std::size_t every = names.size() / 32 + 1;
  for (std::size_t i = 0; i < names.size(); i += every) {
    x.ticks.push_back({static_cast<double>(i) + 0.5, std::to_string(i + 1)});
    y.ticks.push_back({n - static_cast<double>(i) - 0.5, names[i]});
  }
  Figure figure("matrix", title, x, y, {640, 640, 62, 14, 28, 50});
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (i == j || !std::isfinite(values[i][j])) continue;
      const double shade = most > least ? 0.08 + 0.92 * (values[i][j] - least) / (most - least) : 0.5;
      const double left = static_cast<double>(j), top = n - static_cast<double>(i);
      figure.bar({left, top - 1}, {left + 1, top}, "s1",
                 names[i] + " to " + names[j] + ": " + core::readable(values[i][j]) + " " + unit, shade);
    }
  figure.caption = "From " + core::readable(least) + " " + unit + " (light) to " + core::readable(most) + " " + unit +
                   " (dark). Columns are numbered in the order of the rows. " + note;
  return figure_file({figure});
}

}  // namespace hplcast::study
