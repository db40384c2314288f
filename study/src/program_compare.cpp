#include "hplcast/study/program_compare.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/study/compare.hpp"

namespace hplcast::study {

using Json = nlohmann::ordered_json;

namespace {

struct Match {
  std::size_t line = 0;
  std::vector<std::string> groups;
};

std::regex compiled(const std::string& option, const std::string& pattern) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error& error) {
    throw core::UsageError(option + " '" + pattern + "': expected a regular expression: " + error.what());
  }
}

/// Line by line: a match over all of a long output would take a deep stack.
Match only_match(const ProgramOutput& output, const std::string& option, const std::string& pattern) {
  const std::regex regex = compiled(option, pattern);
  std::vector<Match> found;
  std::istringstream lines(output.text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    for (std::sregex_iterator it(line.begin(), line.end(), regex), end; it != end; ++it) {
      Match match{number, {}};
      for (std::size_t i = 1; i < it->size(); ++i) match.groups.push_back((*it)[i].str());
      found.push_back(std::move(match));
    }
  }
  const std::string asked = option + " '" + pattern + "'";
  if (found.empty()) throw core::ParseError({output.source, 0, ""}, asked + ": found no match; expected one in a line");
  if (found.size() > 1)
    throw core::ParseError({output.source, found[1].line, ""},
                           asked + ": found " + std::to_string(found.size()) + " matches, the first in line " +
                               std::to_string(found.front().line) +
                               "; expected one\n  hint: more words around the group tell them apart");
  return found.front();
}

using Times = std::map<std::string, std::vector<double>>;

Times times_of(const std::vector<ProgramOutput>& outputs, const OutputPatterns& patterns) {
  Times times;
  for (const ProgramOutput& output : outputs)
    times[configuration_in(output, patterns)].push_back(time_in(output, patterns));
  return times;
}

std::vector<std::string> missing_in(const Times& times, const Times& others) {
  std::vector<std::string> missing;
  for (const auto& [configuration, seconds] : times)
    if (others.count(configuration) == 0) missing.push_back(configuration);
  return missing;
}

ComparedProgram compared(const std::string& configuration, const std::vector<double>& real,
                         const std::vector<double>& predicted) {
  ComparedProgram row{configuration, real, predicted, median(real), 0, median(predicted), 0};
  const auto [least, most] = std::minmax_element(real.begin(), real.end());
  row.real_spread = (*most - *least) / row.real_median_s;
  row.error = (row.predicted_median_s - row.real_median_s) / row.real_median_s;
  return row;
}

}  // namespace

double time_in(const ProgramOutput& output, const OutputPatterns& patterns) {
  if (patterns.time_from.empty()) {
    if (output.time_s) return *output.time_s;
    throw core::ParseError({output.source, 0, ""},
                           "says nothing of the time of the whole run; expected an archive of `hplcast observe`",
                           "--time-from takes a time that the program prints");
  }
  const std::string option = "--time-from";
  if (compiled(option, patterns.time_from).mark_count() != 1)
    throw core::UsageError(option + " '" + patterns.time_from +
                           "': expected one group, the seconds, as in 'time ([0-9.e+-]+) s'");
  const Match match = only_match(output, option, patterns.time_from);
  const std::string& text = match.groups.front();
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0) || !std::isfinite(seconds))
    throw core::ParseError({output.source, match.line, ""}, option + " '" + patterns.time_from + "': found '" + text +
                                                                "'; expected a number of seconds above 0");
  return seconds;
}

std::string configuration_in(const ProgramOutput& output, const OutputPatterns& patterns) {
  if (patterns.match_from.empty()) return "";
  const std::string option = "--match-from";
  if (compiled(option, patterns.match_from).mark_count() == 0)
    throw core::UsageError(option + " '" + patterns.match_from +
                           "': expected groups, what tells configurations apart, as in 'N=([0-9]+)'");
  std::string text;
  for (const std::string& group : only_match(output, option, patterns.match_from).groups)
    text += (text.empty() ? "" : " ") + group;
  return text;
}

ProgramComparison compare_programs(const std::vector<ProgramOutput>& real, const std::vector<ProgramOutput>& predicted,
                                   const OutputPatterns& patterns) {
  const Times real_s = times_of(real, patterns), predicted_s = times_of(predicted, patterns);
  ProgramComparison comparison;
  comparison.unmatched_real = missing_in(real_s, predicted_s);
  comparison.unmatched_predicted = missing_in(predicted_s, real_s);
  std::vector<double> errors;
  for (const auto& [configuration, seconds] : real_s) {
    const auto found = predicted_s.find(configuration);
    if (found == predicted_s.end()) continue;
    comparison.rows.push_back(compared(configuration, seconds, found->second));
    const double error = comparison.rows.back().error;
    errors.push_back(std::abs(error));
    comparison.bias += error;
  }
  if (comparison.rows.empty())
    throw core::Error(core::ExitCode::bad_input, "no configuration is both run and predicted: real " +
                                                     comparison.unmatched_real.front() + ", predicted " +
                                                     comparison.unmatched_predicted.front());
  comparison.bias /= static_cast<double>(errors.size());
  comparison.median_abs_error = median(errors);
  comparison.max_abs_error = *std::max_element(errors.begin(), errors.end());
  return comparison;
}

ProgramOutput read_program_output(std::istream& in, const std::string& name) {
  try {
    const Json json = Json::parse(core::read_json_text(in, name));
    return {name, json.at("output").get<std::string>(), json.at("time_s").get<double>()};
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, std::string("expected JSON of `hplcast run -o`: ") + error.what());
  }
}

void write_program_comparison(std::ostream& out, const ProgramComparison& comparison) {
  Json rows = Json::array();
  for (const ComparedProgram& row : comparison.rows)
    rows.push_back({{"configuration", row.configuration},
                    {"real_s", row.real_median_s},
                    {"real_spread", row.real_spread},
                    {"real_runs", row.real_s.size()},
                    {"predicted_s", row.predicted_median_s},
                    {"predicted_runs", row.predicted_s.size()},
                    {"error", row.error}});
  const Json json = {{"rows", rows},
                     {"median_abs_error", comparison.median_abs_error},
                     {"max_abs_error", comparison.max_abs_error},
                     {"bias", comparison.bias},
                     {"n", comparison.rows.size()},
                     {"unmatched_real", comparison.unmatched_real},
                     {"unmatched_predicted", comparison.unmatched_predicted}};
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace hplcast::study
