#include <algorithm>
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/fit/fit_pictures.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/fit/distributions.hpp"
#include "hplcast/fit/generative.hpp"
#include "hplcast/study/history_models.hpp"
#include "hplcast/study/sweep_database.hpp"

namespace hplcast::cli {

namespace {

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
  PlotPanel panel{"Every CPU (column) and day (point)", "CPU", to_string(model.parameters()[0]) + " [s]"};
  const auto last = static_cast<double>(cpus.size());
  for (std::size_t kind = 0; kind < model.kinds().size(); ++kind) {
    const core::NodeKind& one = model.kinds()[kind];
    PlotSeries& points = panel.points(one.name);
    for (std::size_t i = 0; i < cpus.size(); ++i)
      if (cpus[i].kind == kind)
        for (const std::vector<double>* day : cpus[i].days) points.add(static_cast<double>(i + 1), day->front());
    panel.line("mean of " + one.name).values = {{1, one.mean[0]}, {last, one.mean[0]}};
  }
  return panel;
}

/// Holds 95 percent of a normal law in two dimensions: points mean + r (a cos t, b cos t + c sin t) with the Cholesky
/// factor (a 0; b c) of the covariance and r^2 = -2 log(0.05), the quantile of chi-squared with two degrees of freedom.
void add_ellipse(const core::NodeKind& kind, PlotSeries& line) {
  constexpr int steps = 120;
  const core::SquareMatrix& s = kind.between_cpus;
  const double a = std::sqrt(s[0][0]), b = a > 0 ? s[0][1] / a : 0, c = std::sqrt(std::max(0.0, s[1][1] - b * b));
  const double r = std::sqrt(-2 * std::log(0.05));
  for (int i = 0; i <= steps; ++i) {
    const double t = 2 * M_PI * i / steps;
    line.add(kind.mean[0] + r * a * std::cos(t), kind.mean[1] + r * (b * std::cos(t) + c * std::sin(t)));
  }
}

PlotPanel cpus_panel(const std::vector<CpuDays>& cpus, const core::GenerativeModel& model) {
  PlotPanel panel{"Means of CPUs: good if 95 % are in the ellipse", to_string(model.parameters()[0]) + " [s]",
                  to_string(model.parameters()[1]) + " [s]"};
  for (std::size_t kind = 0; kind < model.kinds().size(); ++kind) {
    const core::NodeKind& one = model.kinds()[kind];
    PlotSeries& points = panel.points(one.name);
    for (const CpuDays& cpu : cpus)
      if (cpu.kind == kind) points.add(cpu.mean[0], cpu.mean[1]);
    add_ellipse(one, panel.line("95 % of " + one.name));
  }
  return panel;
}

/// Histogram of values that should be standard normal, with that law.
PlotPanel normal_panel(const std::string& title, const std::string& x_name, const std::vector<double>& values) {
  constexpr double from = -4, to = 4;
  const int bins = std::clamp(static_cast<int>(2 * std::cbrt(values.size())), 8, 48);  // Rice's rule
  PlotPanel panel{title, x_name, "density"};
  panel.add_histogram("measured", values, from, to, bins);
  panel.add_curve("normal", from, to, 161, [](double z) { return std::exp(-z * z / 2) / std::sqrt(2 * M_PI); });
  return panel;
}

/// Picture for judging a generative model: the first coefficient of every CPU and day with the mean of its kind;
/// means of CPUs with the ellipse that holds 95 percent of the CPUs to be drawn; how CPUs and days scatter against the
/// normal law that is drawn from. `fit` is ok and was made of `rows`.
std::string generative_picture(const std::vector<fit::DailyRegression>& rows, const fit::GenerativeFit& fit) {
  const core::GenerativeModel& model = fit.model;
  const std::vector<CpuDays> cpus = cpus_of(rows, fit);
  study::Picture picture{"Variability of " + model.kernel(), {days_panel(cpus, model)}};
  if (model.parameters().size() > 1) picture.panels.push_back(cpus_panel(cpus, model));
  std::vector<double> between_cpus, between_days;
  for (const CpuDays& cpu : cpus) {
    const core::NodeKind& kind = model.kinds()[cpu.kind];
    const double cpu_sd = std::sqrt(kind.between_cpus[0][0]), day_sd = std::sqrt(kind.between_days[0][0]);
    if (cpu_sd > 0) between_cpus.push_back((cpu.mean[0] - kind.mean[0]) / cpu_sd);
    if (day_sd > 0 && cpu.days.size() > 1)
      for (const std::vector<double>* day : cpu.days) between_days.push_back((day->front() - cpu.mean[0]) / day_sd);
  }
  const auto add = [&](const std::string& of, const std::string& distance, const std::vector<double>& values) {
    if (!values.empty())
      picture.panels.push_back(
          normal_panel("Between " + of + ": good if the histogram follows the law",
                       to_string(model.parameters()[0]) + ": (" + distance + ") / standard deviation", values));
  };
  add("CPUs", "CPU - kind", between_cpus);
  add("days", "day - CPU", between_days);
  return picture_file(picture);
}

struct FitGenerativeOptions {
  std::vector<std::string> files;
  std::vector<std::string> parameters = {"mnk", "intercept", "mnk_residual"};
  std::vector<std::string> kinds;
  std::vector<std::string> left_out;
  std::string cluster;
  fit::GenerativeFitOptions fit;
  std::string plot;
  std::string output;
};

/// "slow=[13-16]" to kind and nodes.
void add_kind(const std::string& text, std::map<std::string, std::string>& kind_of_node) {
  const auto [name, nodes] = name_and_value("--kind", text, "NAME=NODES such as slow=[13-16]");
  for (const std::string& node : core::expand_hosts(nodes))
    if (const auto& known = kind_of_node.emplace(node, name).first->second; known != name)
      throw core::UsageError("--kind: node " + node + " is of the kinds " + known + " and " + name +
                             "; expected each node once");
}

std::pair<std::string, std::string> parse_cpu(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    throw core::UsageError("--leave-out is `" + text + "`; expected NODE:CPU such as 15:1");
  return {text.substr(0, colon), text.substr(colon + 1)};
}

/// "0.8 % (0.6 to 1.2 %)": a standard deviation relative to a mean, with its 90 % interval if values are normal.
std::string sd_text(double variance, double freedom, double mean) {
  if (mean == 0) return significant(std::sqrt(variance)) + " s";
  const double sd = std::sqrt(variance) / std::abs(mean);
  if (!(freedom >= 1)) return percent(sd);
  const auto at = [&](double probability) {
    return sd * std::sqrt(freedom / fit::chi_squared_quantile(freedom, probability));
  };
  return percent(sd) + " (" + percent(at(0.95)) + " to " + percent(at(0.05)) + ")";
}

/// Degrees of freedom of the variance between days (Satterthwaite): its common part is known by as many values as there
/// are days, the rest by those of every CPU.
double freedom_of_days(const core::NodeKind& kind, std::size_t parameter) {
  const auto rows = static_cast<double>(kind.rows), cpus = static_cast<double>(kind.cpus), days = rows / cpus;
  if (kind.common_days.empty()) return rows - cpus;
  const double all = kind.between_days[parameter][parameter], common = kind.common_days[parameter][parameter];
  const double own = std::max(0.0, all - common);
  return all * all / (common * common / (days - 1) + own * own / ((cpus - 1) * (days - 1)));
}

void report(const fit::GenerativeFit& fit) {
  for (const core::NodeKind& kind : fit.model.kinds()) {
    std::cerr << kind.name << ": " << kind.cpus << " CPUs, " << kind.rows << " regressions, " << percent(kind.share)
              << " of the nodes\n";
    for (std::size_t i = 0; i < kind.mean.size(); ++i)
      std::cerr << "  " << to_string(fit.model.parameters()[i]) << ": mean " << significant(kind.mean[i])
                << ", between CPUs +-"
                << sd_text(kind.between_cpus[i][i], static_cast<double>(kind.cpus - 1), kind.mean[i])
                << ", between days +-" << sd_text(kind.between_days[i][i], freedom_of_days(kind, i), kind.mean[i])
                << (kind.common_days.empty() || !(kind.between_days[i][i] > 0)
                        ? ""
                        : "; " + percent(kind.common_days[i][i] / kind.between_days[i][i]) +
                              " of that variance is common to all CPUs")
                << '\n';
  }
  std::cerr << "(standard deviations, in brackets their 90 % intervals)\n";
  for (const std::string& note : fit.notes) std::cerr << "  note: " << note << '\n';
}

/// All regressions but those of the CPUs left out. @throws UsageError for a CPU to leave out that is not there.
std::vector<fit::DailyRegression> read_rows(const FitGenerativeOptions& options) {
  std::vector<fit::DailyRegression> rows;
  for (const std::string& file : options.files) {
    if (study::is_sqlite_file(file)) {
      const study::HistoryDatabase history(file, study::HistoryDatabase::Access::read);
      const auto clusters = history.clusters();
      if (options.cluster.empty() ? clusters.size() > 1
                                  : std::find(clusters.begin(), clusters.end(), options.cluster) == clusters.end())
        throw core::UsageError("--cluster has to be one of " + study::names_text(clusters));
      const std::string cluster = options.cluster.empty() && !clusters.empty() ? clusters.front() : options.cluster;
      const auto more = study::daily_regressions(history, {cluster, {}, {}}, options.fit.parameters);
      if (more.empty())
        throw InputError(file +
                         " has no coefficients of dgemm by CPU\n  hint: `history add` of archives has them; imported "
                         "runs need a column mnk");
      core::append(rows, more);
    } else {
      core::append(rows, read_from(file, fit::read_daily_regressions, options.fit.parameters));
    }
  }
  for (const std::string& text : options.left_out) {
    const auto [node, cpu] = parse_cpu(text);
    const auto last = std::remove_if(rows.begin(), rows.end(), [&, n = node, c = cpu](const fit::DailyRegression& row) {
      return row.node == n && row.cpu == c;
    });
    if (last == rows.end()) throw core::UsageError("--leave-out names " + text + ", of which there are no regressions");
    rows.erase(last, rows.end());
  }
  return rows;
}

/// A kind without a node in the data is a mistake in its names. @throws UsageError
void require_nodes_of_kinds(const std::vector<fit::DailyRegression>& rows, const FitGenerativeOptions& options) {
  for (const std::string& text : options.kinds) {
    std::map<std::string, std::string> kind_of_node;
    add_kind(text, kind_of_node);
    if (std::none_of(rows.begin(), rows.end(), [&](const auto& row) { return kind_of_node.count(row.node) > 0; }))
      throw core::UsageError("--kind is `" + text + "`; there are no regressions of such nodes");
  }
}

void run_fit_generative(FitGenerativeOptions options) {
  require_distinct("files", options.files);
  require_distinct("--parameters", options.parameters);
  of_options([&] {
    for (const std::string& text : options.parameters)
      options.fit.parameters.push_back(core::parse_law_parameter(text));
    for (const std::string& text : options.kinds) add_kind(text, options.fit.kind_of_node);
  });
  const std::vector<fit::DailyRegression> rows = read_rows(options);
  require_nodes_of_kinds(rows, options);
  const fit::GenerativeFit fit = fit::fit_generative(rows, options.fit);
  if (!fit.ok) throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit: " + fit.reason);
  report(fit);
  warn_of_implausible(fit::sample_cluster({}, fit.model, {1, 0, 0, 0, {}}), "/kernels");  // the means
  if (!options.plot.empty()) write_picture(options.plot, generative_picture(rows, fit));
  write_result(options.output, [&](std::ostream& out) { core::write_generative(out, fit.model); });
}

}  // namespace

void setup_fit_generative(Command& fit) {
  Command& command = add_command(fit, "generative", "Fit the differences between CPUs and days, to generate clusters",
                                 "hplcast fit generative examples/generative/daily.csv -o generative.json");
  auto& options = command.runs<FitGenerativeOptions>(run_fit_generative);
  command.add_option("files", options.files,
                     "CSV of one regression per CPU and day: node, cpu, day and the parameters; or the database of a "
                     "history of one cluster",
                     required, reads("FILE.csv|FILE.db"));
  command.add_option("--cluster", options.cluster, "of a history of several clusters");
  command.add_option("--kernel", options.fit.kernel, "the kernel that the regressions are of (dgemm)");
  command.add_option("--parameters", options.parameters,
                     "columns: coefficients of mu, and of sigma with _residual (mnk,intercept,mnk_residual)",
                     by_commas);
  add_choice<core::NoiseFamily>(command, "--noise", options.fit.noise,
                                {{"half-normal", core::NoiseFamily::half_normal},
                                 {"normal", core::NoiseFamily::normal},
                                 {"log-normal", core::NoiseFamily::log_normal},
                                 {"none", core::NoiseFamily::none}},
                                "half-normal, normal, log-normal or none");
  Option* kinds =
      command.add_option("--kind", options.kinds, "nodes of another kind: slow=[13-16]; may be given again", one_each);
  command.add_flag("--find-kinds", options.fit.find_kinds,
                   "find the kinds of nodes: a mixture of the means of the first parameter", excludes(kinds));
  command.add_option("--leave-out", options.left_out, "CPUs to leave out: 15:1,3:0", by_commas);
  add_choice(command, "--days", options.fit.days, "covariance between days: mean (of those of the CPUs) or pooled");
  command.add_option("--plot", options.plot, "picture of the fit, .png or .svg", draws("FILE.png"));
  command.add_json_output(options.output, "generative model as JSON");
}

}  // namespace hplcast::cli
