#include "compare_programs.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/observe_program.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "output.hpp"

namespace hplcast::cli {

namespace {

/// Of an archive of `hplcast observe`: the rank that took longest, from its start to its end.
std::optional<double> longest_wall_s(const std::map<std::string, std::string>& files, const std::string& path) {
  std::optional<double> longest_s;
  for (const auto& [file, text] : files) {
    if (!core::ends_with(file, ".times.csv")) continue;
    std::istringstream in(text);
    core::CsvReader reader(in, path + ":" + file);
    const std::size_t what = reader.column("what"), time = reader.column("time_s");
    while (reader.next())
      if (reader.text(what) == "wall") longest_s = std::max(longest_s.value_or(0), reader.positive(time));
  }
  return longest_s;
}

study::ProgramOutput real_output(const std::string& path) {
  if (!calibration::has_archive_name(path)) {
    study::ProgramOutput printed{path, core::read_text(path), std::nullopt};
    if (study::is_program_run(printed.text))
      throw core::ParseError({path, 0, ""},
                             "JSON of `hplcast run`, a prediction; expected what the program printed in a real run, or "
                             "an archive of `hplcast observe`",
                             "predictions come after --predicted");
    return printed;
  }
  const auto files = calibration::read_archive(path);
  const auto run = calibration::read_observed_run(files, path);
  const auto output = files.find("program.out");  // there is none if it printed nothing
  if (output == files.end() && !run)
    throw core::ParseError({path, 0, ""}, "no program.out in it; expected an archive of `hplcast observe`");
  const std::string text = output == files.end() ? "" : output->second;
  study::ProgramOutput observed{path, text, longest_wall_s(files, path)};
  if (run) {
    observed.program = std::filesystem::path(run->program).filename().string();
    for (const std::string& one : run->arguments) observed.arguments += (observed.arguments.empty() ? "" : " ") + one;
    observed.ranks = run->ranks;
  }
  return observed;
}

void write_table(std::ostream& out, const study::ProgramComparison& comparison) {
  TextTable table({"configuration", "runs", "real [s]", "spread", "predicted [s]", "error of the time"});
  for (const study::ComparedProgram& row : comparison.rows)
    table.add({row.configuration.empty() ? "all" : row.configuration, std::to_string(row.real_s.size()),
               significant(row.real_median_s), percent(row.real_spread), significant(row.predicted_median_s),
               signed_percent(row.error)});
  table.write(out);
  out << "\n|error|: median " << percent(comparison.median_abs_error) << ", worst " << percent(comparison.max_abs_error)
      << "; bias " << signed_percent(comparison.bias) << "; " << comparison.rows.size()
      << (comparison.rows.size() == 1 ? " configuration\n" : " configurations\n");
}

/// The same file again would count as another run.
void warn_of_repeated(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  for (std::size_t i = 1; i < paths.size(); ++i)
    if (paths[i] == paths[i - 1])
      std::cerr << "hplcast compare: warning: " << paths[i] << " is given twice, and counts twice\n";
}

void tell(const char* what, const std::vector<std::string>& configurations) {
  for (const std::string& one : configurations)
    std::cerr << "hplcast compare: warning: " << what << ": " << one << '\n';
}

}  // namespace

void compare_program_runs(const ProgramCompareOptions& options) {
  study::OutputPatterns patterns{options.time_from == "run" ? "" : options.time_from, options.match_from};
  std::vector<study::ProgramOutput> real, predicted;
  warn_of_repeated(options.real);
  warn_of_repeated(options.predicted);
  for (const std::string& path : options.real) real.push_back(real_output(path));
  for (const std::string& path : options.predicted)
    core::read_file(path, [&](std::istream& in, const std::string& name) {
      predicted.push_back(study::read_program_output(in, name));
    });
  const study::ProgramComparison comparison = study::compare_programs(real, predicted, patterns);
  for (const std::string& warning : comparison.warnings) std::cerr << "hplcast compare: warning: " << warning << '\n';
  tell("run but not predicted", comparison.unmatched_real);
  tell("predicted but not run", comparison.unmatched_predicted);
  if (options.json || !options.output.empty())
    write_result(options.output, [&](std::ostream& out) { study::write_program_comparison(out, comparison); });
  if (!options.json) write_table(std::cout, comparison);
  if (options.max_error < 0 || comparison.max_abs_error <= options.max_error) return;
  std::cout.flush();
  throw core::Error(core::ExitCode::limit_exceeded, "the worst error is " + percent(comparison.max_abs_error) +
                                                        ", more than --max-error " + percent(options.max_error));
}

}  // namespace hplcast::cli
