#include "generative_picture.hpp"

#include <algorithm>
#include <cmath>

namespace hplcast::cli {

namespace {

using Style = PlotSeries::Style;

constexpr double pi = 3.14159265358979323846;

/// The days of one CPU.
struct CpuDays {
  std::size_t kind = 0;
  std::vector<const std::vector<double>*> days;
  std::vector<double> mean;
};

std::vector<CpuDays> cpus_of(const std::vector<fit::DailyRegression>& rows, const fit::GenerativeFit& fit) {
  std::map<std::pair<std::string, std::string>, CpuDays> by_name;
  for (const fit::DailyRegression& row : rows) {
    CpuDays& cpu = by_name[{row.node, row.cpu}];
    for (std::size_t i = 0; i < fit.model.kinds().size(); ++i)
      if (fit.model.kinds()[i].name == fit.kind_of_node.at(row.node)) cpu.kind = i;
    cpu.days.push_back(&row.coefficients);
  }
  std::vector<CpuDays> cpus;
  for (auto& [name, cpu] : by_name) {
    cpu.mean.assign(fit.model.parameters().size(), 0);
    for (const std::vector<double>* day : cpu.days)
      for (std::size_t i = 0; i < cpu.mean.size(); ++i) cpu.mean[i] += (*day)[i] / static_cast<double>(cpu.days.size());
    cpus.push_back(std::move(cpu));
  }
  return cpus;
}

PlotPanel days_panel(const std::vector<CpuDays>& cpus, const core::GenerativeModel& model) {
  PlotPanel panel{"Every CPU (column) and day (point)", "CPU", to_string(model.parameters()[0]), false, false, {}, {}};
  const auto last = static_cast<double>(cpus.size());
  for (std::size_t kind = 0; kind < model.kinds().size(); ++kind) {
    const core::NodeKind& one = model.kinds()[kind];
    PlotSeries points{one.name, Style::points, {}};
    for (std::size_t i = 0; i < cpus.size(); ++i)
      if (cpus[i].kind == kind)
        for (const std::vector<double>* day : cpus[i].days)
          points.values.emplace_back(static_cast<double>(i + 1), day->front());
    panel.series.push_back(std::move(points));
    panel.series.push_back({"mean of " + one.name, Style::line, {{1, one.mean[0]}, {last, one.mean[0]}}});
  }
  return panel;
}

/// Holds 95 percent of a normal law in two dimensions: points mean + r (a cos t, b cos t + c sin t) with the Cholesky
/// factor (a 0; b c) of the covariance and r^2 = -2 log(0.05), the quantile of chi-squared with two degrees of freedom.
PlotSeries ellipse(const core::NodeKind& kind) {
  constexpr int steps = 120;
  PlotSeries line{"95 % of " + kind.name, Style::line, {}};
  const core::SquareMatrix& s = kind.between_cpus;
  const double a = std::sqrt(s[0][0]), b = a > 0 ? s[0][1] / a : 0, c = std::sqrt(std::max(0.0, s[1][1] - b * b));
  const double r = std::sqrt(-2 * std::log(0.05));
  for (int i = 0; i <= steps; ++i) {
    const double t = 2 * pi * i / steps;
    line.values.emplace_back(kind.mean[0] + r * a * std::cos(t),
                             kind.mean[1] + r * (b * std::cos(t) + c * std::sin(t)));
  }
  return line;
}

PlotPanel cpus_panel(const std::vector<CpuDays>& cpus, const core::GenerativeModel& model) {
  PlotPanel panel{"Means of CPUs: good if 95 % are in the ellipse",
                  to_string(model.parameters()[0]),
                  to_string(model.parameters()[1]),
                  false,
                  false,
                  {},
                  {}};
  for (std::size_t kind = 0; kind < model.kinds().size(); ++kind) {
    PlotSeries points{model.kinds()[kind].name, Style::points, {}};
    for (const CpuDays& cpu : cpus)
      if (cpu.kind == kind) points.values.emplace_back(cpu.mean[0], cpu.mean[1]);
    panel.series.push_back(std::move(points));
    panel.series.push_back(ellipse(model.kinds()[kind]));
  }
  return panel;
}

/// Histogram of values that should be standard normal, with that law.
PlotPanel normal_panel(const std::string& title, const std::string& x_name, const std::vector<double>& values) {
  constexpr double from = -4, to = 4;
  const int bins = std::clamp(static_cast<int>(2 * std::cbrt(values.size())), 8, 48);  // Rice's rule
  const double width = (to - from) / bins;
  std::vector<double> counts(static_cast<std::size_t>(bins), 0.0);
  for (const double z : values)
    if (z >= from && z < to) counts[static_cast<std::size_t>((z - from) / width)] += 1;
  PlotSeries histogram{"measured", Style::steps, {}}, density{"normal", Style::line, {}};
  for (int bin = 0; bin < bins; ++bin) {
    const double z = from + (bin + 0.5) * width;
    histogram.values.emplace_back(z,
                                  counts[static_cast<std::size_t>(bin)] / (static_cast<double>(values.size()) * width));
    density.values.emplace_back(z, std::exp(-z * z / 2) / std::sqrt(2 * pi));
  }
  return {title, x_name, "density", false, false, {std::move(histogram), std::move(density)}, {}};
}

}  // namespace

Picture generative_picture(const std::vector<fit::DailyRegression>& rows, const fit::GenerativeFit& fit) {
  const core::GenerativeModel& model = fit.model;
  const std::vector<CpuDays> cpus = cpus_of(rows, fit);
  Picture picture{"Variability of " + model.kernel(), {days_panel(cpus, model)}};
  if (model.parameters().size() > 1) picture.panels.push_back(cpus_panel(cpus, model));
  std::vector<double> between_cpus, between_days;
  for (const CpuDays& cpu : cpus) {
    const core::NodeKind& kind = model.kinds()[cpu.kind];
    const double cpu_sd = std::sqrt(kind.between_cpus[0][0]), day_sd = std::sqrt(kind.between_days[0][0]);
    if (cpu_sd > 0) between_cpus.push_back((cpu.mean[0] - kind.mean[0]) / cpu_sd);
    if (day_sd > 0 && cpu.days.size() > 1)
      for (const std::vector<double>* day : cpu.days) between_days.push_back((day->front() - cpu.mean[0]) / day_sd);
  }
  const std::string what = to_string(model.parameters()[0]);
  if (!between_cpus.empty())
    picture.panels.push_back(normal_panel("Between CPUs: good if the histogram follows the law",
                                          what + ": (CPU - kind) / standard deviation", between_cpus));
  if (!between_days.empty())
    picture.panels.push_back(normal_panel("Between days: good if the histogram follows the law",
                                          what + ": (day - CPU) / standard deviation", between_days));
  return picture;
}

}  // namespace hplcast::cli
