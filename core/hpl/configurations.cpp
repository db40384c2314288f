#include "hplcast/core/hpl_parameters.hpp"

#include <algorithm>
#include <cctype>
#include <istream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

std::string whole(std::istream& in, const std::string& name) {
  return read_text(in, name, "is this an HPL.dat or a CSV?");
}

std::vector<HplParameters> read_configuration_csv(std::istream& in, const std::string& name,
                                                  const HplParameters& defaults) {
  CsvReader csv(in, name);
  refuse_unknown_hpl_columns(csv);
  csv.column("N");
  std::vector<HplParameters> configurations;
  while (csv.next()) {
    configurations.push_back(read_hpl_fields(csv, defaults));
  }
  return configurations;
}

bool is_column_name(const std::string& cell) {
  if (cell.empty()) return true;  // of a comma too many: the reader says so
  return std::isdigit(static_cast<unsigned char>(cell.front())) == 0 &&
         std::all_of(cell.begin(), cell.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

bool is_configuration_csv(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && (line.empty() || line[0] == '#' || line == "\r")) {
  }
  if (line.compare(0, 3, "\xEF\xBB\xBF") == 0) line.erase(0, 3);
  std::vector<std::string> cells;
  std::istringstream fields(line);
  for (std::string field; std::getline(fields, field, csv_separator(line));) {
    field.erase(std::remove(field.begin(), field.end(), '"'), field.end());
    cells.push_back(folded(field));
  }
  // HPL.dat begins with a line that says what it likes: a header has a name in every cell, one of them HPL's.
  if (!std::all_of(cells.begin(), cells.end(), is_column_name)) return false;
  const auto is_parameter = [](const std::string& cell) {
    const auto& known = hpl_fields();
    return std::any_of(known.begin(), known.end(), [&](const auto& field) { return folded(field.name) == cell; });
  };
  return std::any_of(cells.begin(), cells.end(), is_parameter);
}

std::vector<HplParameters> read_configurations(std::istream& in, const std::string& name, const HplParameters& defaults,
                                               std::vector<std::string>* warnings) {
  std::istringstream text(whole(in, name));
  // The first line of an HPL.dat says what it likes, so a brace alone does not tell.
  const std::size_t begin = text.str().find_first_not_of(" \t\r\n");
  if (begin != std::string::npos && text.str()[begin] == '{' && nlohmann::json::accept(text.str()))
    throw ParseError({name, 1, ""}, "JSON; expected an HPL.dat, or a CSV with a column N",
                     "clusters and predictions are other arguments");
  auto configurations = is_configuration_csv(text.str()) ? read_configuration_csv(text, name, defaults)
                                                         : read_hpl_dat(text, name, warnings);
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
  std::istringstream text(whole(in, name));
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
