#include "power_picture.hpp"

#include <map>

namespace hplcast::cli {

namespace {

using Style = PlotSeries::Style;

double fitted_w(const fit::HostPowerFit& fit, std::size_t row) {
  return fit.used_rows[row].power_w - fit.residuals_w[row];
}

PlotPanel states_panel(const fit::HostPowerFit& fit) {
  PlotPanel panel{"Power of a host", "active cores", "power [W]", false, false, {}, {}};
  std::map<std::string, PlotSeries> states;
  for (const fit::PowerRow& row : fit.used_rows) {
    PlotSeries& series = states[row.state];
    series.title = row.state;
    series.values.emplace_back(row.active_cores, row.power_w);
  }
  for (auto& [state, series] : states) panel.series.push_back(std::move(series));
  return panel;
}

PlotPanel residuals_panel(const fit::HostPowerFit& fit) {
  PlotPanel panel{"Measured over fitted power", "fitted [W]", "measured [W]", false, false, {}, {}};
  PlotSeries points{"pieces", Style::points, {}}, line{"equal", Style::line, {}};
  for (std::size_t i = 0; i < fit.used_rows.size(); ++i) {
    points.values.emplace_back(fitted_w(fit, i), fit.used_rows[i].power_w);
    line.values.emplace_back(fitted_w(fit, i), fitted_w(fit, i));
  }
  panel.series = {std::move(points), std::move(line)};
  return panel;
}

PlotPanel frequency_panel(const fit::HostPowerFit& fit) {
  PlotPanel panel{"Power over the frequency, all cores active", "frequency [GHz]", "power [W]", false, false, {}, {}};
  std::map<std::string, PlotSeries> states;
  for (const fit::PowerRow& row : fit.used_rows) {
    if (row.active_cores != row.cores || !(row.frequency_hz > 0)) continue;
    PlotSeries& series = states[row.state];
    series.title = row.state;
    series.values.emplace_back(row.frequency_hz / 1e9, row.power_w);
  }
  for (auto& [state, series] : states) panel.series.push_back(std::move(series));
  return panel;
}

}  // namespace

Picture power_picture(const fit::PowerFit& fit) {
  Picture picture{"Power", {states_panel(fit.all), residuals_panel(fit.all)}};
  if (fit.model.values().frequency) picture.panels.push_back(frequency_panel(fit.all));
  return picture;
}

}  // namespace hplcast::cli
