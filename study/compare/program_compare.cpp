#include "hplcast/study/compare.hpp"

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
using Outputs = std::map<std::string, std::vector<const ProgramOutput*>>;  // by configuration

Outputs by_configuration(const std::vector<ProgramOutput>& outputs, const OutputPatterns& patterns) {
  Outputs sorted;
  for (const ProgramOutput& output : outputs) sorted[configuration_in(output, patterns)].push_back(&output);
  return sorted;
}

Times times_of(const Outputs& outputs, const OutputPatterns& patterns) {
  Times times;
  for (const auto& [configuration, ones] : outputs)
    for (const ProgramOutput* one : ones) times[configuration].push_back(time_in(*one, patterns));
  return times;
}

std::string named(const std::string& configuration) {
  return configuration.empty() ? "the one configuration" : "configuration " + configuration;
}

[[noreturn]] void refuse_pair(const std::string& configuration, const std::string& one, const std::string& other) {
  throw core::Error(core::ExitCode::bad_input,
                    named(configuration) + " has runs that cannot be compared: " + one + ", " + other +
                        "\n  hint: compare each on its own, or tell configurations apart by --match-from");
}

std::string ranks_of(const ProgramOutput& output) {
  return output.source + " is on " + std::to_string(output.ranks) + (output.ranks == 1 ? " rank" : " ranks");
}

/// One side of a configuration: a median of several programs, or of several numbers of ranks, means nothing.
void require_one_program(const std::string& configuration, const std::vector<const ProgramOutput*>& outputs) {
  const ProgramOutput* first = nullptr;
  for (const ProgramOutput* one : outputs) {
    if (one->program.empty()) continue;
    if (first == nullptr) first = one;
    if (one->program != first->program)
      refuse_pair(configuration, first->source + " is of " + first->program, one->source + " is of " + one->program);
    if (one->ranks != first->ranks) refuse_pair(configuration, ranks_of(*first), ranks_of(*one));
  }
}

/// Programs of both sides have other names (solver, solver-smpi), and may have other arguments (files).
void compare_sides(const std::string& configuration, const std::vector<const ProgramOutput*>& outputs,
                   std::vector<std::string>& warnings) {
  const ProgramOutput* first = nullptr;
  bool told = false;
  for (const ProgramOutput* one : outputs) {
    if (one->program.empty()) continue;
    if (first == nullptr) first = one;
    if (one->ranks != first->ranks) refuse_pair(configuration, ranks_of(*first), ranks_of(*one));
    if (told || one->arguments == first->arguments) continue;
    told = true;
    warnings.push_back(named(configuration) + " has runs with different arguments: " + first->source + " `" +
                       first->arguments + "`, " + one->source + " `" + one->arguments +
                       "`; --match-from tells configurations apart");
  }
}

std::vector<std::string> missing_in(const Times& times, const Times& others) {
  std::vector<std::string> missing;
  for (const auto& [configuration, seconds] : times)
    if (others.count(configuration) == 0) missing.push_back(configuration);
  return missing;
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
  const Outputs real_outputs = by_configuration(real, patterns);
  const Outputs predicted_outputs = by_configuration(predicted, patterns);
  const Times real_s = times_of(real_outputs, patterns), predicted_s = times_of(predicted_outputs, patterns);
  ProgramComparison comparison;
  comparison.unmatched_real = missing_in(real_s, predicted_s);
  comparison.unmatched_predicted = missing_in(predicted_s, real_s);
  std::vector<ComparedMedians> medians;
  for (const auto& [configuration, seconds] : real_s) {
    const auto found = predicted_s.find(configuration);
    if (found == predicted_s.end()) continue;
    std::vector<const ProgramOutput*> both = real_outputs.at(configuration);
    const std::vector<const ProgramOutput*>& others = predicted_outputs.at(configuration);
    require_one_program(configuration, both);
    require_one_program(configuration, others);
    both.insert(both.end(), others.begin(), others.end());
    compare_sides(configuration, both, comparison.warnings);
    const ComparedMedians& row = medians.emplace_back(compare_medians(seconds, found->second));
    comparison.rows.push_back(
        {configuration, seconds, found->second, row.real, row.real_spread, row.predicted, row.error});
  }
  if (comparison.rows.empty())
    throw core::Error(core::ExitCode::bad_input, "no configuration is both run and predicted: real " +
                                                     comparison.unmatched_real.front() + ", predicted " +
                                                     comparison.unmatched_predicted.front());
  comparison.summary = summarize(medians);
  return comparison;
}

ProgramOutput read_program_output(std::istream& in, const std::string& name) {
  try {
    const Json json = core::parse_json<Json>(core::read_json_text(in, name));
    ProgramOutput output{name, json.at("output").get<std::string>(), json.at("time_s").get<double>()};
    const std::string command = json.value("command", std::string());
    const std::size_t blank = std::min(command.find(' '), command.size());
    output.program = command.substr(0, blank);
    output.arguments = command.substr(std::min(blank + 1, command.size()));
    output.ranks = json.value("ranks", 0);
    return output;
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, std::string("expected JSON of `hplcast run -o`: ") + error.what());
  }
}

bool is_program_run(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || text[begin] != '{') return false;
  try {
    std::istringstream in(text);
    const Json json = core::parse_json<Json>(core::read_json_text(in, ""));
    return json.contains("schema_version") && json.contains("output") && json.contains("time_s");
  } catch (const std::exception&) {
    return false;  // a program may print anything
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
                     {"median_abs_error", comparison.summary.median_abs_error},
                     {"max_abs_error", comparison.summary.max_abs_error},
                     {"bias", comparison.summary.bias},
                     {"n", comparison.rows.size()},
                     {"unmatched_real", comparison.unmatched_real},
                     {"unmatched_predicted", comparison.unmatched_predicted},
                     {"warnings", comparison.warnings}};
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace hplcast::study
