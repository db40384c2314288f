#include <iostream>
#include <memory>

#include "checks.hpp"
#include "commands.hpp"
#include "generative_picture.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/fit/generative.hpp"
#include "output.hpp"
#include "program.hpp"

namespace hplcast::cli {

namespace {

struct FitGenerativeOptions {
  std::vector<std::string> files;
  std::vector<std::string> parameters = {"mnk", "intercept", "mnk_residual"};
  std::vector<std::string> kinds;
  std::vector<std::string> left_out;
  std::string noise = "half-normal";
  std::string days = "mean";
  fit::GenerativeFitOptions fit;
  std::string plot;
  std::string output;
};

/// "slow=[13-16]" to kind and nodes.
void add_kind(const std::string& text, std::map<std::string, std::string>& kind_of_node) {
  const std::size_t equal = text.find('=');
  if (equal == 0 || equal == std::string::npos)
    throw core::UsageError("--kind is `" + text + "`; expected NAME=NODES such as slow=[13-16]");
  for (const std::string& node : core::expand_hosts(text.substr(equal + 1))) kind_of_node[node] = text.substr(0, equal);
}

std::pair<std::string, std::string> parse_cpu(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    throw core::UsageError("--leave-out is `" + text + "`; expected NODE:CPU such as 15:1");
  return {text.substr(0, colon), text.substr(colon + 1)};
}

void report(const fit::GenerativeFit& fit) {
  for (const core::NodeKind& kind : fit.model.kinds()) {
    std::cerr << kind.name << ": " << kind.cpus << " CPUs, " << kind.rows << " regressions, " << percent(kind.share)
              << " of the nodes\n";
    for (std::size_t i = 0; i < kind.mean.size(); ++i)
      std::cerr << "  " << to_string(fit.model.parameters()[i]) << ": mean " << significant(kind.mean[i])
                << ", between CPUs +-" << percent(std::sqrt(kind.between_cpus[i][i]) / std::abs(kind.mean[i]))
                << ", between days +-" << percent(std::sqrt(kind.between_days[i][i]) / std::abs(kind.mean[i]))
                << " (one standard deviation)\n";
  }
  for (const std::string& note : fit.notes) std::cerr << "  note: " << note << '\n';
}

/// All regressions but those of the CPUs left out. @throws UsageError for a CPU to leave out that is not there.
std::vector<fit::DailyRegression> read_rows(const FitGenerativeOptions& options) {
  std::vector<fit::DailyRegression> rows;
  for (const std::string& file : options.files)
    core::read_file(file, [&](std::istream& in, const std::string& name) {
      for (auto& row : fit::read_daily_regressions(in, name, options.fit.parameters)) rows.push_back(std::move(row));
    });
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
  require_writable(options.output);
  for (const std::string& path : {options.output, options.plot}) require_other_file(path, options.files);
  if (!options.plot.empty()) require_picture(options.plot);
  require_distinct("--parameters", options.parameters);
  of_options([&] {
    for (const std::string& text : options.parameters)
      options.fit.parameters.push_back(core::parse_law_parameter(text));
    for (const std::string& text : options.kinds) add_kind(text, options.fit.kind_of_node);
  });
  options.fit.noise = core::noise_family_from_name(options.noise);
  options.fit.days = options.days == "mean" ? fit::DaysCovariance::mean_of_cpus : fit::DaysCovariance::pooled;
  const std::vector<fit::DailyRegression> rows = read_rows(options);
  require_nodes_of_kinds(rows, options);
  const fit::GenerativeFit fit = fit::fit_generative(rows, options.fit);
  if (!fit.ok) throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit: " + fit.reason);
  report(fit);
  if (!options.plot.empty()) write_picture(options.plot, generative_picture(rows, fit));
  write_result(options.output, [&](std::ostream& out) { core::write_generative(out, fit.model); });
}

}  // namespace

void setup_fit_generative(CLI::App& fit) {
  auto options = std::make_shared<FitGenerativeOptions>();
  CLI::App& command = add_command(fit, "generative", "Fit the differences between CPUs and days, to generate clusters",
                                  "hplcast fit generative examples/generative/daily.csv -o generative.json");
  command.add_option("files", options->files, "CSV of one regression per CPU and day: node, cpu and the parameters")
      ->required()
      ->type_name("FILE.csv");
  command.add_option("--kernel", options->fit.kernel, "the kernel that the regressions are of (dgemm)");
  command
      .add_option("--parameters", options->parameters,
                  "columns: coefficients of mu, and of sigma with _residual (mnk,intercept,mnk_residual)")
      ->delimiter(',');
  command.add_option("--noise", options->noise, "half-normal, normal, log-normal or none")
      ->check(CLI::IsMember({"half-normal", "normal", "log-normal", "none"}))
      ->capture_default_str();
  CLI::Option* kinds =
      command.add_option("--kind", options->kinds, "nodes of another kind: slow=[13-16]; may be given again")
          ->allow_extra_args(false);
  command
      .add_flag("--find-kinds", options->fit.find_kinds,
                "find the kinds of nodes: a mixture of the means of the first parameter")
      ->excludes(kinds);
  command.add_option("--leave-out", options->left_out, "CPUs to leave out: 15:1,3:0")->delimiter(',');
  command.add_option("--days", options->days, "covariance between days: mean (of those of the CPUs) or pooled")
      ->check(CLI::IsMember({"mean", "pooled"}))
      ->capture_default_str();
  command.add_option("--plot", options->plot, "picture of the fit (gnuplot), .png or .svg")->type_name("FILE.png");
  accept_json(command);
  command.add_option("-o,--output", options->output, "generative model as JSON (default: the standard output)")
      ->type_name("FILE");
  command.callback([options] { run_fit_generative(*options); });
}

}  // namespace hplcast::cli
