#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace hplcast::study {

/// What a program printed, in a real run or a simulated one.
struct ProgramOutput {
  std::string source;  ///< file, for messages
  std::string text;
  std::optional<double> time_s;  ///< of the whole run, where it is known
  /// What ran, where it is known (archives of `observe`, JSON of `run`): name of the program, its arguments with blanks
  /// between them, ranks; else empty and 0.
  std::string program = {}, arguments = {};
  int ranks = 0;
};

/// Where times and configurations stand in outputs (docs/use/any-program.md). Patterns are regular expressions
/// (ECMAScript), which match inside of a line.
struct OutputPatterns {
  std::string time_from;   ///< with one group, the seconds; empty: ProgramOutput::time_s
  std::string match_from;  ///< outputs with the same groups are of one configuration; empty: all are
};

/// The number of the one match. @throws core::ParseError if there is none, there are several, or it is no number above
/// 0; core::UsageError for a pattern that is none, or has not one group.
double time_in(const ProgramOutput& output, const OutputPatterns& patterns);
/// The groups of the one match, with blanks between them. @throws likewise; for a pattern without groups.
std::string configuration_in(const ProgramOutput& output, const OutputPatterns& patterns);

/// One configuration that was run and predicted.
struct ComparedProgram {
  std::string configuration;
  std::vector<double> real_s, predicted_s;
  double real_median_s = 0;
  double real_spread = 0;  ///< (largest - smallest) / median of the real runs
  double predicted_median_s = 0;
  double error = 0;  ///< (predicted - real) / real, of the medians
};

struct ProgramComparison {
  std::vector<ComparedProgram> rows;  ///< by configuration
  double median_abs_error = 0, max_abs_error = 0, bias = 0;
  std::vector<std::string> unmatched_real, unmatched_predicted;  ///< configurations
  std::vector<std::string> warnings;                             ///< of arguments that differ in one configuration
};

/// @throws as time_in(), configuration_in(); core::Error if no configuration is both run and predicted, or if one has
/// runs of several programs or on several numbers of ranks.
ProgramComparison compare_programs(const std::vector<ProgramOutput>& real, const std::vector<ProgramOutput>& predicted,
                                   const OutputPatterns& patterns);

/// What write_program_run() wrote. @throws core::ParseError
ProgramOutput read_program_output(std::istream& in, const std::string& name);

/// Whether a text is what write_program_run() wrote: a prediction, not the output of a real run.
bool is_program_run(const std::string& text);

/// As JSON, `hplcast compare --time-from ... --json`.
void write_program_comparison(std::ostream& out, const ProgramComparison& comparison);

}  // namespace hplcast::study
