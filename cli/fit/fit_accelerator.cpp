#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/fit/hpl_kernels.hpp"

namespace hplcast::cli {

namespace {

struct FitAcceleratorOptions {
  std::vector<std::string> files;
  std::vector<std::string> same;  ///< NAME=MEASURED[:PLACES]
  std::string cluster, kind, name;
  int per_host = 0, compute_units = 0;
  double memory_bytes = 0;
  std::string output;
};

using Tables = std::map<std::string, fit::KernelTable>;

Tables read_accelerator_tables(const std::vector<std::string>& files) {
  fit::KernelCsvOptions csv;
  csv.by = {"kernel"};
  fit::GroupedTables grouped;
  for (const std::string& file : files) read_from(file, fit::add_kernel_csv, csv, grouped);
  Tables tables;
  for (auto& [key, table] : grouped)
    if (table.rows() > 0) tables.emplace(key.front(), std::move(table));
  if (tables.empty()) throw InputError("there are no measurements in " + files.front());
  return tables;
}

/// Columns that the files have of the accelerator itself. `of_all`: its name in the files before; empty: in none.
void take_device(const std::string& file, std::string& of_all, core::AcceleratorModel& model) {
  core::read_file(file, [&](std::istream& in, const std::string& name) {
    core::CsvReader rows(in, name);
    const std::size_t device = rows.find_column("accelerator"), memory = rows.find_column("memory_bytes"),
                      units = rows.find_column("compute_units");
    if (!rows.next()) return;
    if (rows.has(device)) {
      model.name = rows.text(device);
      if (!of_all.empty() && of_all != model.name)
        throw InputError(name + ": calls of accelerator `" + model.name + "`; expected those of `" + of_all +
                         "`, as in the files before it\n  hint: fit each sort of accelerators by itself (--kind)");
      of_all = model.name;
    }
    if (rows.has(memory)) model.memory_bytes = rows.positive(memory);
    if (rows.has(units)) model.compute_units = static_cast<int>(rows.positive(units));
  });
}

double median_s(const fit::KernelTable& table) {
  return core::upper_median(core::mapped(table.sample(), &fit::SampledCall::duration_s));
}

/// Takes a table away: what is left in the end are kernels. The name of one that is not there is added to `missing`.
std::optional<fit::KernelTable> taken(Tables& tables, const std::string& name, std::vector<std::string>& missing) {
  if (auto node = tables.extract(name); !node.empty()) return std::move(node.mapped());
  missing.push_back(name);
  return std::nullopt;
}

void take_overheads(Tables& tables, core::AcceleratorModel& model, std::vector<std::string>& missing) {
  const auto take = [&](const char* name, const std::function<void(double)>& set) {
    if (const auto table = taken(tables, name, missing)) set(median_s(*table));
  };
  take("launch", [&](double s) { model.launch_s = s; });
  take("record", [&](double s) { model.record_s = s; });
  take("flag", [&](double s) { model.flag_s = s; });
  // Which side of a wait takes how long cannot be told from outside.
  take("wait", [&](double s) { model.start_s = model.sync_s = s / 2; });
  // Kernels that were timed in a stream have the gap between two of them in their durations.
  take("gap", [&](double) { model.gap_s = 0; });
}

/// @throws core::Error (no_acceptable_fit)
core::CopyModel line_of(const std::string& name, const fit::KernelTable& table) {
  fit::KernelFitOptions options;
  constexpr core::Monomial bytes{0, 1, 0};
  options.terms = {bytes};
  options.weighting = fit::Weighting::relative;
  options.noise = fit::NoiseLevel::n0;
  options.non_negative = true;
  options.remove_insignificant = false;
  const fit::KernelFit fit = fit_kernel(table, options);
  const double s_per_byte = fit.ok() ? fit.pieces.front().mu.polynomial.coefficient(bytes) : 0;
  if (!(s_per_byte > 0))
    throw core::Error(core::ExitCode::no_acceptable_fit,
                      "no acceptable fit of " + name + ": " +
                          (fit.ok() ? "durations do not grow with the bytes (column n)" : fit.reason));
  return {fit.pieces.front().mu.polynomial.coefficient({}), 1 / s_per_byte, std::nullopt};
}

void take_copies(Tables& tables, core::AcceleratorModel& model, std::vector<std::string>& missing) {
  std::vector<std::string> as_pinned;
  const std::pair<const char*, core::CopyModel*> directions[] = {
      {"to_device", &model.to_device}, {"from_device", &model.from_device}, {"within_device", &model.within_device}};
  for (const auto& [name, copy] : directions) {
    if (const auto table = taken(tables, name, missing)) *copy = line_of(name, *table);
    const std::string pageable = std::string(name) + "_pageable";
    if (const auto table = taken(tables, pageable, as_pinned))
      copy->pageable_bytes_per_s = line_of(pageable, *table).bytes_per_s;
  }
}

/// Rows and columns that are moved. One after the other they come from caches that the columns fit into: pieces along
/// their number.
fit::KernelFit fit_moves(const std::string& name, const fit::KernelTable& table) {
  fit::KernelFitOptions whole;
  whole.level = "M1";
  whole.terms = {{1, 1, 0}};
  whole.non_negative = true;
  whole.remove_insignificant = false;
  whole.family.reset();
  fit::KernelFitOptions pieces = whole;
  pieces.level = "M'";
  pieces.split = {0, 1, 0};
  pieces.max_pieces = 3;
  const fit::KernelFit best = fit::fit_best_form(table, {whole, pieces});
  return best.ok() ? best : fit::fit_hpl_kernel(name, table);
}

/// Kernels of rocBLAS, and those of hplcast-measure-accelerator, whose first arguments are rows and columns.
void take_kernels(const Tables& tables, core::AcceleratorModel& model) {
  const std::set<std::string> moving = {"gather_rows", "scatter_rows", "order_rows", "copy_block"};
  std::string failed;
  for (const auto& [name, table] : tables) {
    const bool moves = moving.count(name) > 0;
    const fit::KernelFit fit = moves ? fit_moves(name, table) : fit::fit_hpl_kernel(name, table);
    std::cerr << fit::describe(name, fit);
    if (!fit.ok()) {
      failed += "\n  " + name + ": " + fit.reason;
      continue;
    }
    core::AcceleratorKernel& kernel = model.kernels[name];
    kernel.model = fit.model;
    kernel.handshake.reset();
    if (moves) kernel.m = 0, kernel.n = 1;
  }
  if (!failed.empty()) throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit of" + failed);
  // A variant that was not measured takes as long as one that was.
  for (const auto& [name, table] : tables) {
    const std::string base = name.substr(0, name.find('/'));
    if (base != name) model.kernels.emplace(base, model.kernels.at(name));
  }
}

/// `dlaswp01T=gather_rows:0,1`. Returns the name of the kernel.
std::string take_same(const std::string& text, core::AcceleratorModel& model) {
  const std::string what = "--same `" + text + "`";
  const auto [name, value] =
      name_and_value("--same", text, "NAME=MEASURED or NAME=MEASURED:M,N,K, as dlaswp01T=gather_rows:0,1");
  const std::size_t colon = value.find(':');
  const std::string measured = value.substr(0, colon);
  const auto found = model.kernels.find(measured);
  if (found == model.kernels.end()) {
    const auto names = core::mapped(model.kernels, [](const auto& known) { return known.first; });
    throw InputError(what + ": " + measured + " was not measured; there are " + core::comma_separated(names));
  }
  if (colon == std::string::npos && found->second.m)
    throw core::UsageError(what +
                           "; expected the places of its sizes, too, as dlaswp01T=gather_rows:0,1: without them "
                           "all of its calls are of one row and column");
  core::AcceleratorKernel kernel = found->second;
  kernel.m = kernel.n = kernel.k = std::nullopt;
  std::optional<int>* const sizes[] = {&kernel.m, &kernel.n, &kernel.k};
  std::size_t count = 0;
  for (const std::string& place : core::split(colon == std::string::npos ? "" : value.substr(colon + 1), ',')) {
    int number = 0;
    if (count == std::size(sizes) || !parse_whole(place, number) || number < 0)
      throw core::UsageError(what + "; expected places of up to three arguments, m, n, k, counted from 0");
    *sizes[count++] = number;
  }
  model.kernels[name] = kernel;
  return name;
}

core::AcceleratorModel fitted(const FitAcceleratorOptions& options,
                              const std::optional<core::AcceleratorModel>& before) {
  Tables tables = read_accelerator_tables(options.files);
  core::AcceleratorModel model = before.value_or(core::AcceleratorModel());
  std::string of_all;
  for (const std::string& file : options.files) take_device(file, of_all, model);
  if (!options.name.empty()) model.name = options.name;
  if (options.per_host > 0) model.per_host = options.per_host;
  if (options.compute_units > 0) model.compute_units = options.compute_units;
  if (options.memory_bytes > 0) model.memory_bytes = options.memory_bytes;
  std::vector<std::string> missing;
  take_overheads(tables, model, missing);
  take_copies(tables, model, missing);
  if (!before && !missing.empty())
    throw InputError("there are no rows of " + core::comma_separated(missing) +
                     "; expected those of hplcast-measure-accelerator, or --cluster with `accelerators`, which are "
                     "kept where the files have nothing");
  if (!(model.memory_bytes > 0))
    throw InputError("the memory of the accelerator is not known: a column memory_bytes, or --memory");
  take_kernels(tables, model);
  require_distinct("--same", core::mapped(options.same, [&](const auto& text) { return take_same(text, model); }));
  return model;
}

void run_fit_accelerator(const FitAcceleratorOptions& options) {
  require_distinct("files", options.files);
  for (const std::string& file : options.files) require_rereadable(file);
  core::ClusterModel cluster;
  if (!options.cluster.empty()) cluster = read_cluster_file(options.cluster);
  core::Hosts::Values hosts = cluster.hosts.values();
  const auto kind = std::find_if(hosts.kinds.begin(), hosts.kinds.end(),
                                 [&](const core::HostKind& one) { return one.name == options.kind; });
  if (!options.kind.empty() && kind == hosts.kinds.end())
    throw InputError("--kind `" + options.kind + "`: " + options.cluster + " has " + cluster.hosts.text());
  auto& own = options.kind.empty() ? cluster.accelerators : kind->accelerators;
  own = fitted(options, own && own->per_host > 0 ? own : cluster.accelerators);
  cluster.hosts = core::Hosts::make(std::move(hosts));
  if (!options.cluster.empty()) return write_cluster_file(options.output, cluster);
  const std::string whole = core::written([&](std::ostream& out) { core::write_cluster(out, cluster); });
  write_result(options.output, core::parse_json<Json>(whole).at("accelerators"));
}

}  // namespace

void setup_fit_accelerator(Command& fit) {
  Command& command =
      add_command(fit, "accelerator", "Fit `accelerators` of cluster.json to measured or published calls",
                  "hplcast fit accelerator examples/accelerators/calls.csv --per-host 8 --same "
                  "dlaswp01T=gather_rows:0,1 -o accelerators.json");
  auto& options = command.runs<FitAcceleratorOptions>(run_fit_accelerator);
  command.add_option("files", options.files,
                     "CSV of hplcast-measure-accelerator, or of published calls with the same columns", required,
                     reads("FILE.csv"));
  command.add_option("--cluster", options.cluster,
                     "the result is this cluster.json with them; what it has of accelerators already is kept where the "
                     "files have nothing",
                     reads("CLUSTER.json"));
  command.add_option("--kind", options.kind, "they are those of this kind of hosts of --cluster", needs("--cluster"));
  command.add_option("--same", options.same,
                     "a kernel of the program that takes as long as a measured one, and the places of its arguments m, "
                     "n, k: NAME=MEASURED:0,1",
                     one_each);
  command.add_option("--name", options.name, "of the accelerator (default: as in the files)");
  command.add_option("--per-host", options.per_host, "accelerators of a host (default: 1, or as before)",
                     between(1, 1024));
  command.add_option("--compute-units", options.compute_units, "of an accelerator (default: as in the files)",
                     between(1, 1000000));
  command.add_option("--memory", options.memory_bytes, "of an accelerator (default: as in the files)",
                     as_memory("--memory"));
  command.add_json_output(options.output, "`accelerators` as JSON");
}

}  // namespace hplcast::cli
