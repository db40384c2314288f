// HPL configurations and runs as CSV, with the names that HPL and its users give to the values of its parameters.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::core {

namespace {

/// The names of the values 0, 1, 2 ... of a parameter.
struct ValueNames {
  std::vector<std::string> fields;
  std::vector<std::string> names;
};

const std::vector<ValueNames>& value_names() {
  static const std::vector<ValueNames> all = {{{"PMAP"}, {"row", "column"}},
                                              {{"PFACT", "RFACT"}, {"left", "crout", "right"}},
                                              {{"BCAST"}, {"1ring", "1ringM", "2ring", "2ringM", "long", "longM"}},
                                              {{"SWAP"}, {"bin-exch", "long", "mix"}},
                                              {{"L1", "U"}, {"transposed", "no-transposed"}},
                                              {{"EQUIL"}, {"no", "yes"}}};
  return all;
}

const ValueNames* names_of(const std::string& field) {
  for (const ValueNames& entry : value_names()) {
    if (std::find(entry.fields.begin(), entry.fields.end(), field) != entry.fields.end()) return &entry;
  }
  return nullptr;
}

/// The column of a parameter, under its own name or the one that published results use.
std::size_t find_field_column(const CsvReader& csv, const std::string& field) {
  const std::size_t column = csv.find_column(field);
  if (column != CsvReader::npos) return column;
  if (field == "EQUIL") return csv.find_column("equilibration");
  if (field == "ALIGN") return csv.find_column("alignment");
  return CsvReader::npos;
}

/// What results of runs have beside the parameters: ours, and those of published ones.
const std::vector<std::string>& result_columns() {
  static const std::vector<std::string> names = {"time_s", "gflops",         "residual", "repetition", "start",
                                                 "order",  "oversubscribed", "comment",  "energy_j",   "mean_power_w"};
  return names;
}

std::vector<std::string> known_columns() {
  std::vector<std::string> names;
  for (const HplField& field : hpl_fields()) names.emplace_back(field.name);
  names.insert(names.end(), {"equilibration", "alignment"});
  names.insert(names.end(), result_columns().begin(), result_columns().end());
  return names;
}

/// Nothing where the column or its text is missing.
std::optional<double> optional_positive(const CsvReader& csv, std::size_t column) {
  if (column == CsvReader::npos || csv.text(column).empty()) return std::nullopt;
  return csv.positive(column);
}

std::string field_names() {
  std::string names;
  for (const HplField& field : hpl_fields()) names += (names.empty() ? "" : ",") + std::string(field.name);
  return names;
}

std::string field_values(const HplParameters& parameters) {
  std::string values;
  for (const HplField& field : hpl_fields())
    values += (values.empty() ? "" : ",") + std::to_string(field.get(parameters));
  return values;
}

}  // namespace

void refuse_unknown_hpl_columns(const CsvReader& csv) {
  // A file of results may be a list of configurations: then it carries whatever its programs wrote.
  if (csv.find_column("time_s") == CsvReader::npos) {
    csv.refuse_unknown(known_columns());
  } else {
    csv.refuse_misspelt(known_columns());
  }
}

std::optional<long long> hpl_value(const std::string& field, std::string_view text) {
  if (const ValueNames* known = names_of(field)) {
    const auto found = std::find(known->names.begin(), known->names.end(), text);
    if (found != known->names.end()) return found - known->names.begin();
  }
  double value = 0;
  constexpr double largest = 2147483647;  // HPL's own integers have 32 bits
  if (!parse_double(text, value) || value != std::floor(value) || std::abs(value) > largest) return std::nullopt;
  return static_cast<long long>(value);
}

std::string hpl_value_names(const std::string& field) {
  std::string list;
  if (const ValueNames* known = names_of(field)) {
    for (std::size_t i = 0; i < known->names.size(); ++i) {
      list += (list.empty() ? "" : ", ") + std::to_string(i) + " " + known->names[i];
    }
  }
  return list;
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
  for (const char* required : {"N", "NB", "P", "Q", "time_s"}) csv.column(required);
  const std::size_t time = csv.column("time_s");
  const std::size_t gflops = csv.find_column("gflops");
  const std::size_t residual = csv.find_column("residual");
  const std::size_t energy = csv.find_column("energy_j"), power = csv.find_column("mean_power_w");
  std::vector<std::string> assumed;
  for (const HplField& field : hpl_fields()) {
    if (find_field_column(csv, field.name) == CsvReader::npos) assumed.push_back(field.name);
  }
  std::vector<HplRun> runs;
  while (csv.next()) {
    HplRun run;
    run.assumed = assumed;
    run.parameters = read_hpl_fields(csv, defaults);
    run.time_s = csv.positive(time);
    run.gflops = gflops == CsvReader::npos ? hpl_flop(static_cast<double>(run.parameters.N)) / run.time_s / 1e9
                                           : csv.positive(gflops);
    if (residual != CsvReader::npos) {
      run.residual_passed = csv.text(residual) == "passed";
      run.residual_checked = run.residual_passed || csv.text(residual) == "failed";
    }
    run.energy_j = optional_positive(csv, energy);
    run.mean_power_w = optional_positive(csv, power);
    if (!run.energy_j && run.mean_power_w) run.energy_j = *run.mean_power_w * run.time_s;
    if (run.energy_j && !run.mean_power_w) run.mean_power_w = *run.energy_j / run.time_s;
    runs.push_back(run);
  }
  return runs;
}

void write_hpl_csv(std::ostream& out, const HplParameters& parameters) {
  out << field_names() << '\n' << field_values(parameters) << '\n';
}

}  // namespace hplcast::core
