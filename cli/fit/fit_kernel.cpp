#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/fit/fit_pictures.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/fit/hpl_kernels.hpp"
#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::cli {

namespace {

const core::DurationLaw& law_at(const fit::KernelFit& fit, const core::KernelShape& shape) {
  return fit.model.cluster_law().at(shape);
}

/// Horizontal axis for shapes: the split of pieces, else the first product that is not the constant.
core::Monomial main_product(const fit::KernelFit& fit) {
  if (fit.pieces.size() > 1) return fit.model.cluster_law().split();
  for (const core::Monomial& term : fit.pieces.front().mu.polynomial.terms())
    if (term != core::Monomial{}) return term;
  return {1, 1, 1};
}

PlotPanel expectation_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  PlotPanel panel{"Measured and expected durations: good if along the line", "expected [s]", "measured [s]",
                  PlotScale::log_both};
  PlotSeries& calls = panel.points("calls");
  for (const fit::SampledCall& call : table.sample()) {
    const core::KernelShape& shape = table.shapes()[call.shape].shape;
    calls.add(law_at(fit, shape).mean_s(shape), call.duration_s);
  }
  panel.add_diagonal("equal");
  return panel;
}

PlotPanel kernel_residual_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  const core::Monomial product = main_product(fit);
  PlotPanel panel{"Relative residuals of the shapes: good if around 0", to_string(product),
                  "mean duration / expected - 1", PlotScale::log_x};
  PlotSeries& shapes = panel.points("shapes");
  for (const fit::ShapeSummary& one : table.shapes())
    shapes.add(product(one.shape), one.mean_s / law_at(fit, one.shape).mean_s(one.shape) - 1);
  panel.add_level(0);
  for (std::size_t i = 1; i < fit.pieces.size(); ++i) panel.breaks.push_back(fit.pieces[i].from);
  return panel;
}

/// Durations in standard deviations from the expected one: their histogram, and the density that the model gives them
/// (the mean over some calls, since families that are not scaled copies of one law differ from shape to shape).
PlotPanel kernel_noise_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  constexpr double from = -4, to = 8;
  constexpr int bins = 96, curve_calls = 50;
  PlotPanel panel{"Scatter of calls: good if the histogram follows the model",
                  "(duration - expected) / standard deviation", "density"};
  std::vector<double> deviations;
  for (const fit::SampledCall& call : table.sample()) {
    const core::KernelShape& shape = table.shapes()[call.shape].shape;
    const core::DurationLaw& law = law_at(fit, shape);
    deviations.push_back((call.duration_s - law.mean_s(shape)) / law.sd_s(shape));
  }
  panel.add_histogram("calls", deviations, from, to, bins);
  panel.add_curve("model", from, to, bins + 1, [&](double deviation) {
    double sum = 0, drawn = 0;
    for (std::size_t i = 0; i < table.sample().size(); i += table.sample().size() / curve_calls + 1) {
      const core::KernelShape& shape = table.shapes()[table.sample()[i].shape].shape;
      const core::DurationLaw& law = law_at(fit, shape);
      const double sd_s = law.sd_s(shape);
      drawn += 1;
      if (sd_s > 0) sum += fit::duration_density(law, shape, law.mean_s(shape) + deviation * sd_s) * sd_s;
    }
    return sum / drawn;
  });
  return panel;
}

PlotPanel sigma_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  PlotPanel panel{"Standard deviation of repeated shapes: good if along the line", "sigma of the model [s]",
                  "measured [s]", PlotScale::log_both};
  PlotSeries& shapes = panel.points("shapes");
  for (const fit::ShapeSummary& one : table.shapes())
    if (one.count >= 3) shapes.add(law_at(fit, one.shape).sd_s(one.shape), std::sqrt(one.variance_s2()));
  panel.add_diagonal("equal");
  return panel;
}

/// Picture for judging a kernel model: measured over expected durations, relative residuals along the main
/// product with the breaks of pieces, the scatter of single calls against the noise of the model, and, where there is a
/// sigma, that of each shape against it. `fit` is ok.
std::string kernel_picture(const std::string& title, const fit::KernelTable& table, const fit::KernelFit& fit) {
  study::Picture picture{title + " (" + fit.model.level() + ")",
                         {expectation_panel(table, fit), kernel_residual_panel(table, fit)}};
  const bool noisy =
      std::any_of(fit.model.cluster_law().pieces().begin(), fit.model.cluster_law().pieces().end(),
                  [](const core::LawPiece& piece) { return piece.law.noise() != core::NoiseFamily::none; });
  if (noisy) picture.panels.insert(picture.panels.end(), {kernel_noise_panel(table, fit), sigma_panel(table, fit)});
  return picture_file(picture);
}

struct FitKernelOptions {
  std::vector<std::string> files;
  fit::KernelCsvOptions csv;
  fit::KernelFitOptions fit;
  std::vector<std::string> terms;
  std::vector<std::string> sigma_terms;
  std::string split;
  std::string family = "half-normal";
  std::string hosts;
  bool published = false;
  std::string plot;
  std::string output;
  bool formula_given = false;  ///< an option says which formula to fit: else the forms of HPL's kernels are tried
};

/// Models by kernel, or by the columns asked for and kernel.
struct Fitted {
  std::vector<std::string> group;
  std::string kernel;
  fit::KernelFit fit;
};

const Names<fit::Weighting> weightings = {
    {"totals", fit::Weighting::totals}, {"ordinary", fit::Weighting::ordinary}, {"relative", fit::Weighting::relative}};

fit::KernelFitOptions library_options(const FitKernelOptions& options) {
  fit::KernelFitOptions result = options.fit;
  if (options.published) {
    result = fit::published_options(options.fit.intercept == fit::Intercept::free ? fit::Intercept::none
                                                                                  : options.fit.intercept);
  } else {
    result.family.reset();
    if (options.family != "auto") result.family = core::from_name<core::NoiseFamily>(options.family);
  }
  result.terms = core::mapped(options.terms, core::parse_monomial);
  result.sigma_terms = core::mapped(options.sigma_terms, core::parse_monomial);
  if (!options.split.empty()) result.split = core::parse_monomial(options.split);
  return result;
}

fit::GroupedTables read_tables(const FitKernelOptions& options) {
  fit::KernelCsvOptions csv = options.csv;
  csv.by.push_back("kernel");
  fit::GroupedTables tables;
  for (const std::string& file : options.files) read_from(file, fit::add_kernel_csv, csv, tables);
  if (tables.empty() && !csv.only_designed)
    throw InputError(options.csv.only_kernel.empty()
                         ? "there are no measurements in " + options.files.front()
                         : "there are no measurements of " + options.csv.only_kernel + " in " + options.files.front());
  return tables;
}

fit::KernelFit fit_one(const std::string& kernel, const fit::KernelTable& table, const FitKernelOptions& options) {
  return options.formula_given ? fit::fit_kernel(table, library_options(options)) : fit::fit_hpl_kernel(kernel, table);
}

std::string group_text(const FitKernelOptions& options, const Fitted& one) {
  std::string text = one.kernel;
  for (std::size_t i = 0; i < options.csv.by.size(); ++i) text += " " + options.csv.by[i] + "=" + one.group[i];
  return text;
}

/// Report and picture of a fit; `several`: it is one of several, and kernel and group are in the name of its picture.
void present(const Fitted& one, const fit::KernelTable& table, const FitKernelOptions& options, bool several) {
  std::cerr << fit::describe(group_text(options, one), one.fit);
  if (options.plot.empty() || !one.fit.ok()) return;
  std::vector<std::string> parts = {one.kernel};
  parts.insert(parts.end(), one.group.begin(), one.group.end());
  write_picture(several ? picture_name(options.plot, parts).string() : options.plot,
                kernel_picture(group_text(options, one), table, one.fit));
}

std::vector<Fitted> fit_all(const fit::GroupedTables& tables, const FitKernelOptions& options) {
  std::vector<Fitted> all;
  for (const auto& [key, table] : tables) {
    Fitted one{{key.begin(), key.end() - 1}, key.back(), fit_one(key.back(), table, options)};
    present(one, table, options, tables.size() > 1);
    all.push_back(std::move(one));
  }
  return all;
}

/// @throws Error (no_acceptable_fit) that names the fits that failed, if there are any.
void require_all(const std::vector<Fitted>& all, const FitKernelOptions& options) {
  std::string failed;
  for (const Fitted& one : all)
    if (!one.fit.ok()) failed += "\n  " + group_text(options, one) + ": " + one.fit.reason;
  if (!failed.empty()) throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit of" + failed);
}

Json model_json(const core::KernelModel& model) {
  return core::parse_json<Json>(core::kernel_model_json(model));
}

/// {"dgemm": model, ...}: what stands in cluster.json under `kernels`.
Json models_json(const std::map<std::string, core::KernelModel>& models) {
  Json json = Json::object();
  for (const auto& [kernel, model] : models) json[kernel] = model_json(model);
  return json;
}

/// [{"node": "5", "cpu": "0", "kernel": "dgemm", "model": {...}}, ...]
Json groups_json(const std::vector<Fitted>& all, const FitKernelOptions& options) {
  Json json = Json::array();
  for (const Fitted& one : all) {
    Json entry = Json::object();
    for (std::size_t i = 0; i < options.csv.by.size(); ++i) entry[options.csv.by[i]] = one.group[i];
    entry["kernel"] = one.kernel;
    entry["model"] = model_json(one.fit.model);
    json.push_back(std::move(entry));
  }
  return json;
}

/// The place of a CPU among the hosts of the cluster: {host, cpu} as in the overrides of a model.
std::pair<int, int> place_of(const std::vector<std::string>& group, const std::vector<std::string>& hosts) {
  const auto host = std::find(hosts.begin(), hosts.end(), group[0]);
  if (host == hosts.end()) throw core::DomainError("host", group[0], "one of the hosts of --per-cpu");
  int cpu = 0;
  if (!parse_whole(group[1], cpu) || cpu < 0) throw core::DomainError("cpu", group[1], "a number from 0");
  return {static_cast<int>(host - hosts.begin()), cpu};
}

/// Adds to each kernel a law for every CPU on which enough calls of a design were made.
void add_cpu_laws(std::map<std::string, core::KernelModel>& models, FitKernelOptions options) {
  options.csv.by = {"host", "cpu"};
  options.csv.only_designed = true;
  const std::vector<std::string> hosts = core::expand_hosts(options.hosts);
  std::map<std::string, fit::TablesByCpu> kernels;
  for (auto& [key, table] : read_tables(options)) {
    fit::TablesByCpu& tables = kernels[key.back()];
    if (!tables.emplace(place_of(key, hosts), table).second)
      throw core::DomainError("cpu", key[1], "each CPU written in one way");
  }
  for (const auto& entry : kernels) {
    const std::string& kernel = entry.first;
    std::vector<std::string> notes;
    core::KernelModel& model = models.at(kernel);
    model = fit::with_cpu_laws(
        model, entry.second,
        [&](const fit::CpuPlace& place, const fit::KernelTable& table) {
          const std::vector<std::string> group = {hosts[static_cast<std::size_t>(place.first)],
                                                  std::to_string(place.second)};
          Fitted one{group, kernel, fit_one(kernel, table, options)};
          present(one, table, options, true);
          return one.fit;
        },
        notes);
    for (const std::string& note : notes) std::cerr << kernel << ": " << note << '\n';
  }
}

void run_fit_kernel(FitKernelOptions options) {
  require_distinct("files", options.files);
  require_distinct("--by", options.csv.by);
  if (options.formula_given) of_options([&] { fit::validate(library_options(options)); });
  if (options.fit.level != "M'" && !(options.split.empty() && options.fit.breakpoints.empty()))
    throw core::UsageError("--split and --breakpoints without --level \"M'\", which has pieces");
  if (!options.hosts.empty()) {
    of_options([&] { core::Hosts::make({options.hosts, 1, 1, {}}); });
    for (const std::string& file : options.files) require_rereadable(file);
  }
  const std::vector<Fitted> all = fit_all(read_tables(options), options);
  require_all(all, options);
  for (const Fitted& one : all) {
    core::ClusterModel alone;
    alone.kernels.emplace(one.kernel, one.fit.model);
    warn_of_implausible(alone, "/kernels");
  }
  if (!options.csv.by.empty()) return write_result(options.output, groups_json(all, options));
  std::map<std::string, core::KernelModel> models;
  for (const Fitted& one : all) models.emplace(one.kernel, one.fit.model);
  if (!options.hosts.empty()) add_cpu_laws(models, options);
  write_result(options.output, models_json(models));
}

/// The choices of --family; the other families follow from --noise.
std::vector<std::string> family_choices() {
  std::vector<std::string> names;
  for (const core::NoiseFamily family : core::noise_families)
    if (family != core::NoiseFamily::none && family != core::NoiseFamily::mixture) names.push_back(to_string(family));
  names.push_back("auto");
  return names;
}

std::vector<Option*> add_formula_options(Command& command, FitKernelOptions& options) {
  std::vector<Option*> formula = {
      command.add_option("--level", options.fit.level, "M0 constant, M1 one product, M2 a polynomial, M' piecewise",
                         among({"M0", "M1", "M2", "M'"})),
      add_choice(command, "--weights", options.fit.weighting, weightings,
                 "totals (keeps the total time), ordinary or relative"),
      add_choice(command, "--average", options.fit.averaging, "calls: all count; shapes: equal shapes are averaged"),
      command.add_flag("--non-negative", options.fit.non_negative, "no negative coefficients in mu (M': see docs)"),
      command.add_option("--min-t", options.fit.min_abs_t, "terms with a smaller |t| are left out (1)", at_least_zero),
      command.add_flag("!--keep-all-terms", options.fit.remove_insignificant, "leave no term out"),
      add_choice(command, "--noise", options.fit.noise, "N0 none, N1 constant, N2 polynomial, mixture"),
      command.add_option("--family", options.family, "how calls scatter; auto: the family that fits best",
                         among(family_choices()))};
  Option* published = command.add_flag("--published", options.published,
                                       "T. Cornebize's dgemm regression (M2, averaged shapes, ordinary weights)");
  for (const Option* decided : formula) published->with(excludes(decided));
  core::append(
      formula,
      {published,
       command.add_option("--terms", options.terms, "products without the constant: mnk,mn,mk,nk (that of M2)",
                          by_commas),
       add_choice(command, "--intercept", options.fit.intercept, "free, none or published"),
       command.add_option("--sigma-terms", options.sigma_terms, "terms of sigma (those of mu): mnk,1", by_commas),
       command.add_option("--split", options.split, "M': the product along which pieces follow each other (mnk)"),
       command.add_option("--breakpoints", options.fit.breakpoints,
                          "M': starts of the pieces after the first (searched)", by_commas),
       command.add_option("--max-pieces", options.fit.max_pieces, "M': most pieces of the search (4)",
                          between(1, 16))});
  return formula;
}

}  // namespace

void setup_fit_kernel(Command& fit) {
  auto options = std::make_shared<FitKernelOptions>();
  Command& command = add_command(
      fit, "kernel", "Fit the durations of kernels to their sizes",
      "hplcast fit kernel examples/fit-library/dgemm.csv --kernel dgemm --level M2 --noise N2 -o kernels.json");
  command.add_option("files", options->files,
                     "CSV with columns kernel, m, n, k, duration_s (docs/formats/measurements-csv.md)", required,
                     reads("FILE.csv"));
  command.add_option("--kernel", options->csv.only_kernel,
                     "only this kernel (default: all in the file, each with the formula that suits it)");
  command.add_option("--default-kernel", options->csv.default_kernel, "kernel of files without that column (dgemm)");
  Option* by = command.add_option("--by", options->csv.by, "one fit for each value of these columns: node,cpu");
  by->with(by_commas);
  Option* per_cpu = command.add_option(
      "--per-cpu", options->hosts, "one model with a law for each CPU (columns host, cpu) of these hosts: node-[1-32]");
  per_cpu->with(of_type("HOSTS"), excludes(by));
  command.add_flag("--all-contents", options->csv.all_contents,
                   "keep calls whose matrices hold other than random numbers, as those of HPL do");
  command.add_option("--skip-first", options->csv.skip_first, "set aside the first calls of each group as warm-up (0)",
                     at_least_zero);
  const std::vector<Option*> formula = add_formula_options(command, *options);
  command.add_option("--plot", options->plot,
                     "picture of the fit, .png or .svg; of several fits: FILE-KERNEL-GROUP.png", draws("FILE.png"));
  command.add_json_output(options->output, "kernel models as JSON");
  command.callback([options, formula] {
    for (const Option* option : formula) options->formula_given = options->formula_given || !option->empty();
    run_fit_kernel(*options);
  });
}

}  // namespace hplcast::cli
