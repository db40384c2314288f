// HPL configurations and runs in files: CSV, or whatever a file turns out to be.
#include "hplcast/core/hpl_parameters.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

constexpr const char* form_hint = "is this an HPL.dat or a CSV?";

/// The column of a parameter, under its own name or the one that published results use.
std::size_t find_field_column(const CsvReader& csv, const std::string& field) {
  const std::size_t column = csv.find_column(field);
  if (column != CsvReader::npos) return column;
  if (field == "EQUIL") return csv.find_column("equilibration");
  if (field == "ALIGN") return csv.find_column("alignment");
  return CsvReader::npos;
}

/// Columns of parameters and of results of runs: ours, and those of published ones.
std::vector<std::string> known_columns() {
  std::vector<std::string> names;
  for (const HplField& field : hpl_fields()) names.emplace_back(field.name);
  for (const std::string& name : words_of(
           "equilibration alignment time_s gflops residual repetition start order oversubscribed comment energy_j "
           "mean_power_w control_shape control_before_s control_after_s control_cpu_s threads_per_rank blas kernels_s"))
    names.push_back(name);
  return names;
}

/// Nothing where the column or its text is missing.
std::optional<double> optional_positive(const CsvReader& csv, std::size_t column) {
  return csv.has(column) ? std::optional(csv.positive(column)) : std::nullopt;
}

/// The control of a run: the slowest rank's time before it and after it. Nothing if the row has none.
/// @throws ParseError if the file has some of the columns only.
std::optional<Control> read_control(const CsvReader& csv) {
  std::vector<std::size_t> columns;
  for (const char* name : {"control_shape", "control_before_s", "control_after_s", "control_cpu_s"}) {
    columns.push_back(csv.find_column(name));
    if ((columns.back() == CsvReader::npos) != (columns.front() == CsvReader::npos))
      throw ParseError({csv.name(), 1, name},
                       "a control needs the columns control_shape, control_before_s, control_after_s and "
                       "control_cpu_s; some are missing");
  }
  if (!csv.has(columns[0])) return std::nullopt;
  const double before_s = csv.positive(columns[1]), after_s = csv.positive(columns[2]);
  return Control{std::string(csv.text(columns[0])), (before_s + after_s) / 2, std::min(before_s, after_s),
                 std::max(before_s, after_s), csv.positive(columns[3])};
}

/// A verdict, or the number that HPL compares with its threshold of 16.
void read_residual(const CsvReader& csv, std::size_t column, HplRun& run) {
  const std::string text = folded(csv.text(column));
  if (text.empty() || text == "unchecked") return;
  run.residual_checked = true;
  if (text == "passed" || text == "failed") {
    run.residual_passed = text == "passed";
    return;
  }
  constexpr double threshold = 16;
  double value = 0;
  const bool is_number = parse_double(text, value);
  if (!is_number && text != "nan" && text != "inf" && text != "-nan" && text != "-inf")
    throw ParseError(csv.at(column), "found `" + text + "`; expected passed, failed, unchecked or a number");
  run.residual_passed = is_number && value >= 0 && value < threshold;
}

std::vector<HplParameters> read_configuration_csv(std::istream& in, const std::string& name,
                                                  const HplParameters& defaults) {
  CsvReader csv(in, name);
  refuse_unknown_hpl_columns(csv);
  csv.column("N");
  std::vector<HplParameters> configurations;
  while (csv.next()) configurations.push_back(read_hpl_fields(csv, defaults));
  return configurations;
}

bool is_column_name(const std::string& cell) {
  if (cell.empty()) return true;  // of a comma too many: the reader says so
  return std::isdigit(static_cast<unsigned char>(cell.front())) == 0 &&
         std::all_of(cell.begin(), cell.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

void refuse_unknown_hpl_columns(const CsvReader& csv) {
  // A file of results may be a list of configurations: then it carries whatever its programs wrote.
  const bool has_times = csv.find_column("time_s") != CsvReader::npos;
  has_times ? csv.refuse_misspelt(known_columns()) : csv.refuse_unknown(known_columns());
}

std::optional<long long> hpl_value(const std::string& field, std::string_view text) {
  const std::vector<std::string>& names = find_hpl_field(field)->names;
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const std::string& name) { return folded(name) == folded(text); });
  if (found != names.end()) return found - names.begin();
  double value = 0;
  constexpr double largest = 2147483647;  // HPL's own integers have 32 bits
  if (!parse_double(text, value) || value != std::floor(value) || std::abs(value) > largest) return std::nullopt;
  return static_cast<long long>(value);
}

std::string hpl_value_names(const std::string& field) {
  const HplField* known = find_hpl_field(field);
  std::vector<std::string> list = known == nullptr ? std::vector<std::string>() : known->names;
  for (std::size_t i = 0; i < list.size(); ++i) list[i].insert(0, std::to_string(i) + " ");
  return comma_separated(list);
}

std::string hpl_value_expected(const std::string& field) {
  const std::string names = hpl_value_names(field);
  return "an integer below 2^31" + (names.empty() ? "" : ", or a name (" + names + ")");
}

HplParameters read_hpl_fields(const CsvReader& csv, const HplParameters& defaults) {
  HplParameters parameters = defaults;
  for (const HplField& field : hpl_fields()) {
    const std::size_t column = find_field_column(csv, field.name);
    if (column == CsvReader::npos) continue;
    const auto value = hpl_value(field.name, csv.text(column));
    if (!value)
      throw ParseError(csv.at(column),
                       "found \"" + std::string(csv.text(column)) + "\"; expected " + hpl_value_expected(field.name));
    field.set(parameters, *value);
  }
  try {
    parameters.validate();
  } catch (const DomainError& error) {
    throw ParseError({csv.name(), csv.line(), ""}, error.what());
  }
  return parameters;
}

std::vector<HplRun> read_hpl_csv(std::istream& in, const std::string& name, const HplParameters& defaults) {
  CsvReader csv(in, name);
  refuse_unknown_hpl_columns(csv);
  if (const std::size_t model = csv.find_column("model_sha256"); model != CsvReader::npos)
    throw ParseError(csv.at(model), "predictions, as `hplcast sweep export` writes them; expected real runs",
                     "give the database of the sweep");
  for (const char* required : {"N", "NB", "P", "Q", "time_s"}) csv.column(required);
  const std::size_t time = csv.column("time_s");
  const std::size_t gflops = csv.find_column("gflops");
  const std::size_t residual = csv.find_column("residual");
  const std::size_t energy = csv.find_column("energy_j"), power = csv.find_column("mean_power_w");
  const std::size_t threads = csv.find_column("threads_per_rank"), blas = csv.find_column("blas");
  const std::size_t kernels = csv.find_column("kernels_s");
  std::vector<std::string> assumed;
  for (const HplField& field : hpl_fields())
    if (find_field_column(csv, field.name) == CsvReader::npos) assumed.push_back(field.name);
  std::vector<HplRun> runs;
  while (csv.next()) {
    HplRun run;
    run.assumed = assumed;
    run.parameters = read_hpl_fields(csv, defaults);
    run.time_s = csv.positive(time);
    const double flop = hpl_flop(static_cast<double>(run.parameters.N));
    run.gflops = csv.has(gflops) ? csv.positive(gflops) : flop / run.time_s / 1e9;
    if (residual != CsvReader::npos) read_residual(csv, residual, run);
    run.energy_j = optional_positive(csv, energy);
    run.mean_power_w = optional_positive(csv, power);
    if (!run.energy_j && run.mean_power_w) run.energy_j = *run.mean_power_w * run.time_s;
    if (run.energy_j && !run.mean_power_w) run.mean_power_w = *run.energy_j / run.time_s;
    if (threads != CsvReader::npos) run.threads_per_rank = csv.integer(threads, 1);
    if (blas != CsvReader::npos) run.blas = csv.text(blas);
    run.control = read_control(csv);
    run.kernels_s = optional_positive(csv, kernels);
    runs.push_back(run);
  }
  return runs;
}

void write_hpl_csv(std::ostream& out, const HplParameters& parameters) {
  for (const HplField& field : hpl_fields()) out << (&field == &hpl_fields().front() ? "" : ",") << field.name;
  for (const HplField& field : hpl_fields())
    out << (&field == &hpl_fields().front() ? '\n' : ',') << field.get(parameters);
  out << '\n';
}

bool is_configuration_csv(const std::string& text) {
  const std::string line = csv_header(text);
  std::vector<std::string> cells;
  for (std::string field : split(line, csv_separator(line))) {
    field.erase(std::remove(field.begin(), field.end(), '"'), field.end());
    cells.push_back(folded(field));
  }
  const auto has = [&](const std::string& name) { return std::find(cells.begin(), cells.end(), name) != cells.end(); };
  if (has("n") && has("time_s")) return true;  // runs may have any other columns: "max temp [C]"
  // HPL.dat begins with a line that says what it likes: a header has a name in every cell, one of them HPL's.
  return std::all_of(cells.begin(), cells.end(), is_column_name) &&
         std::any_of(hpl_fields().begin(), hpl_fields().end(),
                     [&](const HplField& field) { return has(folded(field.name)); });
}

std::vector<HplParameters> read_configurations(std::istream& in, const std::string& name, const HplParameters& defaults,
                                               std::vector<std::string>* warnings) {
  std::istringstream text(read_text(in, name, form_hint, most_bytes_of_plan));
  // The first line of an HPL.dat says what it likes, so a brace alone does not tell.
  if (begins_as_json(text.str()) && nlohmann::json::accept(text.str()))
    throw ParseError({name, 1, ""}, "JSON; expected an HPL.dat, or a CSV with a column N",
                     "clusters and predictions are other arguments");
  std::vector<HplParameters> configurations;
  if (is_configuration_csv(text.str())) {
    configurations = read_configuration_csv(text, name, defaults);
  } else if (has_hpl_results(text.str())) {
    for (const HplRun& run : read_hpl_output(text, name, defaults)) configurations.push_back(run.parameters);
    take_repeated(configurations);  // runs of HPL are often repeated
  } else {
    configurations = read_hpl_dat(text, name, warnings);
  }
  if (configurations.empty()) throw ParseError({name, 0, ""}, "no configuration in it; expected at least one");
  return configurations;
}

std::vector<HplParameters> take_repeated(std::vector<HplParameters>& configurations) {
  std::set<HplParameters> known;
  std::vector<HplParameters> once, repeated;
  for (const HplParameters& one : configurations) (known.insert(one).second ? once : repeated).push_back(one);
  configurations = std::move(once);
  return repeated;
}

std::vector<HplRun> read_real_runs(std::istream& in, const std::string& name, const HplParameters& defaults) {
  std::istringstream text(read_text(in, name, form_hint, most_bytes_of_output));
  auto runs =
      is_configuration_csv(text.str()) ? read_hpl_csv(text, name, defaults) : read_hpl_output(text, name, defaults);
  if (runs.empty()) {
    throw ParseError(
        {name, 0, ""},
        "no HPL run in it; expected HPL's output (lines like `WR11C2R4 ...`) or a CSV with columns N and time_s");
  }
  return runs;
}

}  // namespace hplcast::core
