#include "hplcast/study/compare.hpp"

#include <algorithm>
#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::study {

namespace {

struct Match {
  std::size_t line = 0;
  std::vector<std::string> groups;
};

/// The regular expression of an option.
struct Pattern {
  std::string asked;  ///< option and text, for messages
  std::regex regex;

  Pattern(const std::string& option, const std::string& text) : asked(option + " '" + text + "'") {
    try {
      regex = text;
    } catch (const std::regex_error& error) {
      throw core::UsageError(asked + ": expected a regular expression: " + error.what());
    }
  }
};

/// Line by line, and long ones in pieces that overlap: a match over all of a long output would take a deep stack.
Match only_match(const ProgramOutput& output, const Pattern& pattern) {
  std::vector<Match> found;
  std::size_t number = 0;
  for (const std::string& line : core::split(output.text, '\n')) {
    ++number;
    for (const std::string& part : core::split(line, '\r')) {  // a bar of progress goes back to the begin of its line
      constexpr std::ptrdiff_t longest = 4096;
      auto seen = part.cbegin();
      for (auto begin = part.cbegin();; begin += longest / 2) {
        const bool is_last = part.cend() - begin <= longest;
        const auto end = is_last ? part.cend() : begin + longest;
        auto flags = is_last ? std::regex_constants::match_default : std::regex_constants::match_not_eol;
        if (begin != part.cbegin()) flags |= std::regex_constants::match_prev_avail;
        for (std::sregex_iterator it(begin, end, pattern.regex, flags), none; it != none; ++it) {
          if ((*it)[0].second <= seen || ((*it)[0].second == end && !is_last)) continue;  // seen, or whole in the next
          seen = (*it)[0].second;
          found.push_back({number, {std::next(it->begin()), it->end()}});
        }
        if (is_last) break;
      }
    }
  }
  if (found.empty())
    throw core::ParseError({output.source, 0, ""}, pattern.asked + ": found no match; expected one in a line");
  if (found.size() > 1)
    throw core::ParseError({output.source, found[1].line, ""},
                           pattern.asked + ": found " + std::to_string(found.size()) + " matches, the first in line " +
                               std::to_string(found.front().line) +
                               "; expected one\n  hint: more words around the group tell them apart");
  return found.front();
}

/// The groups of the one match, with blanks between them.
std::string configuration_in(const ProgramOutput& output, const OutputPatterns& patterns) {
  if (patterns.match_from.empty()) return "";
  const Pattern pattern("--match-from", patterns.match_from);
  if (pattern.regex.mark_count() == 0)
    throw core::UsageError(pattern.asked + ": expected groups, what tells configurations apart, as in 'N=([0-9]+)'");
  return core::joined(only_match(output, pattern).groups, " ");
}

/// One side of a configuration.
struct ProgramRuns {
  std::vector<double> times_s;
  std::vector<const ProgramOutput*> known;  ///< those that say what ran
};
using ConfigurationRuns = std::map<std::string, ProgramRuns>;

ConfigurationRuns by_configuration(const std::vector<ProgramOutput>& outputs, const OutputPatterns& patterns) {
  ConfigurationRuns all;
  for (const ProgramOutput& output : outputs) {
    ProgramRuns& runs = all[configuration_in(output, patterns)];
    runs.times_s.push_back(time_in(output, patterns));
    if (!output.program.empty()) runs.known.push_back(&output);
  }
  return all;
}

std::string named(const std::string& configuration) {
  return configuration.empty() ? "the one configuration" : "configuration " + configuration;
}

[[noreturn]] void refuse_pair(const std::string& configuration, const std::string& one, const std::string& other) {
  throw core::InputError(named(configuration) + " has runs that cannot be compared: " + one + ", " + other +
                         "\n  hint: compare each on its own, or tell configurations apart by --match-from");
}

std::string ranks_of(const ProgramOutput& output) {
  return output.source + " is on " + core::counted(output.ranks, "rank");
}

void require_equal_ranks(const std::string& configuration, const std::vector<const ProgramOutput*>& outputs) {
  for (const ProgramOutput* one : outputs)
    if (one->ranks != outputs.front()->ranks) refuse_pair(configuration, ranks_of(*outputs.front()), ranks_of(*one));
}

/// One side of a configuration: a median of several programs, or of several numbers of ranks, means nothing.
void require_one_program(const std::string& configuration, const std::vector<const ProgramOutput*>& outputs) {
  for (const ProgramOutput* one : outputs)
    if (const ProgramOutput& first = *outputs.front(); one->program != first.program)
      refuse_pair(configuration, first.source + " is of " + first.program, one->source + " is of " + one->program);
  require_equal_ranks(configuration, outputs);
}

/// Programs of both sides have other names (solver, solver-smpi), and may have other arguments (files).
void compare_sides(const std::string& configuration, const std::vector<const ProgramOutput*>& outputs,
                   std::vector<std::string>& warnings) {
  require_equal_ranks(configuration, outputs);
  const auto other = std::find_if(outputs.begin(), outputs.end(), [&](const ProgramOutput* one) {
    return one->arguments != outputs.front()->arguments;
  });
  if (other == outputs.end()) return;
  const ProgramOutput &first = *outputs.front(), &second = **other;
  warnings.push_back(named(configuration) + " has runs with different arguments: " + first.source + " `" +
                     first.arguments + "`, " + second.source + " `" + second.arguments +
                     "`; --match-from tells configurations apart");
}

std::vector<std::string> missing_in(const ConfigurationRuns& all, const ConfigurationRuns& others) {
  std::vector<std::string> missing;
  for (const auto& [configuration, runs] : all)
    if (others.count(configuration) == 0) missing.push_back(configuration);
  return missing;
}

}  // namespace

double time_in(const ProgramOutput& output, const OutputPatterns& patterns) {
  if (patterns.time_from.empty()) {
    if (output.time_s && *output.time_s > 0) return *output.time_s;
    throw core::ParseError({output.source, 0, ""},
                           "says nothing of the time of the whole run; expected an archive of `hplcast observe`",
                           "--time-from takes a time that the program prints");
  }
  const Pattern pattern("--time-from", patterns.time_from);
  if (pattern.regex.mark_count() != 1)
    throw core::UsageError(pattern.asked + ": expected one group, the seconds, as in 'time ([0-9.e+-]+) s'");
  const Match match = only_match(output, pattern);
  const std::string& text = match.groups.front();
  double seconds = 0;
  if (!core::parse_double(text, seconds) || !(seconds > 0))
    throw core::ParseError({output.source, match.line, ""},
                           pattern.asked + ": found '" + text + "'; expected a number of seconds above 0");
  return seconds;
}

ProgramComparison compare_programs(const std::vector<ProgramOutput>& real, const std::vector<ProgramOutput>& predicted,
                                   const OutputPatterns& patterns) {
  const ConfigurationRuns real_runs = by_configuration(real, patterns);
  const ConfigurationRuns predicted_runs = by_configuration(predicted, patterns);
  ProgramComparison comparison;
  comparison.unmatched_real = missing_in(real_runs, predicted_runs);
  comparison.unmatched_predicted = missing_in(predicted_runs, real_runs);
  for (const auto& [configuration, runs] : real_runs) {
    const auto found = predicted_runs.find(configuration);
    if (found == predicted_runs.end()) continue;
    const ProgramRuns& others = found->second;
    require_one_program(configuration, runs.known);
    require_one_program(configuration, others.known);
    std::vector<const ProgramOutput*> both = runs.known;
    both.insert(both.end(), others.known.begin(), others.known.end());
    compare_sides(configuration, both, comparison.warnings);
    comparison.rows.push_back(
        {compare_medians(runs.times_s, others.times_s), configuration, runs.times_s, others.times_s});
  }
  if (comparison.rows.empty())
    throw core::InputError("no configuration is both run and predicted: real " + comparison.unmatched_real.front() +
                           ", predicted " + comparison.unmatched_predicted.front());
  comparison.summary = summarize({comparison.rows.begin(), comparison.rows.end()});
  comparison.disturbances = disturbances_of(real, comparison.rows);
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
  if (!core::begins_as_json(text)) return false;
  try {
    const Json json = core::parse_json<Json>(core::read_json_text(core::TextStream(text), ""));
    return json.contains("schema_version") && json.contains("output") && json.contains("time_s");
  } catch (const std::exception&) {
    return false;  // a program may print anything
  }
}

void write_program_comparison(std::ostream& out, const ProgramComparison& comparison) {
  Json rows = Json::array();
  for (const ComparedProgram& row : comparison.rows)
    rows.push_back({{"configuration", row.configuration},
                    {"real_s", row.real_median},
                    {"real_spread", row.real_spread},
                    {"real_runs", row.real_s.size()},
                    {"predicted_s", row.predicted_median},
                    {"predicted_runs", row.predicted_s.size()},
                    {"error", row.error}});
  const Json json = {{"valid", comparison.disturbances.empty()},
                     {"disturbances", comparison.disturbances},
                     {"rows", rows},
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
