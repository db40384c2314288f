#include "hplcast/study/configurations.hpp"

#include <algorithm>
#include <istream>
#include <sstream>

#include "hplcast/core/csv.hpp"

namespace hplcast::study {

namespace {

std::string whole(std::istream& in) {
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

std::vector<core::HplParameters> read_configuration_csv(std::istream& in, const std::string& name,
                                                        const core::HplParameters& defaults) {
  core::CsvReader csv(in, name);
  csv.column("N");
  std::vector<core::HplParameters> configurations;
  while (csv.next()) {
    configurations.push_back(core::read_hpl_fields(csv, defaults));
  }
  return configurations;
}

}  // namespace

bool is_configuration_csv(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && (line.empty() || line[0] == '#' || line == "\r")) {
  }
  std::istringstream fields(line);
  for (std::string field; std::getline(fields, field, ',');) {
    field.erase(std::remove_if(field.begin(), field.end(), [](char c) { return c == '"' || c == ' ' || c == '\r'; }),
                field.end());
    if (field == "N") return true;
  }
  return false;
}

std::vector<core::HplParameters> read_configurations(std::istream& in, const std::string& name,
                                                     const core::HplParameters& defaults,
                                                     std::vector<std::string>* warnings) {
  std::istringstream text(whole(in));
  auto configurations = is_configuration_csv(text.str()) ? read_configuration_csv(text, name, defaults)
                                                         : core::read_hpl_dat(text, name, warnings);
  if (configurations.empty()) throw core::ParseError({name, 0, ""}, "no configuration in it; expected at least one");
  return configurations;
}

std::vector<core::HplRun> read_real_runs(std::istream& in, const std::string& name,
                                         const core::HplParameters& defaults) {
  std::istringstream text(whole(in));
  auto runs = is_configuration_csv(text.str()) ? core::read_hpl_csv(text, name, defaults)
                                               : core::read_hpl_output(text, name, defaults);
  if (runs.empty()) {
    throw core::ParseError(
        {name, 0, ""},
        "no HPL run in it; expected HPL's output (lines like `WR11C2R4 ...`) or a CSV with columns N and time_s");
  }
  return runs;
}

}  // namespace hplcast::study
