#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/compare.hpp"
#include "hplcast/study/sweep_database.hpp"

namespace hplcast::study {

namespace {

/// Warns of parameters that a file of real runs does not give.
void warn_of_assumptions(const std::string& file, const std::vector<core::HplRun>& runs, const Warn& warn) {
  std::map<std::string, std::size_t> assumed;  // the list to the number of runs
  for (const core::HplRun& run : runs) {
    std::string list;
    for (const core::HplField& field : core::hpl_fields()) {
      if (std::find(run.assumed.begin(), run.assumed.end(), field.name) == run.assumed.end()) continue;
      list += (list.empty() ? "" : " ") + std::string(field.name) + "=" + std::to_string(field.get(run.parameters));
    }
    if (!list.empty()) ++assumed[list];
  }
  for (const auto& [list, count] : assumed)
    warn(file + " does not say all parameters of " + std::to_string(count) + (count == 1 ? " run" : " runs") +
         "; assumed: " + list + "\n  (HPL's output says them in its header, a CSV in columns)");
}

/// Whether a file is HPL's output, whatever its name.
bool has_hpl_results(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 2 && line[0] == 'W' && (line[1] == 'R' || line[1] == 'C') && std::isdigit(line[2]) != 0)
      return true;
  return false;
}

/// @throws core::Error if predictions of several models would be taken for several seeds of one.
void refuse_several_models(const std::vector<core::Prediction>& predicted, const Warn& warn) {
  const std::vector<std::string> models = models_of(predicted);
  if (models.size() < 2) return;
  const std::string list = core::comma_separated(models);
  if (const auto mixed = mixed_models(predicted)) {
    throw core::InputError(core::to_string(*mixed) + " is predicted with several models: " + list +
                           "\n  hint: compare each of them on its own");
  }
  warn("the predictions are of several models: " + list);
}

/// @throws core::ParseError that says how programs other than HPL are compared, if it is a prediction of one.
std::vector<core::Prediction> read_hpl_predictions(std::istream& in, const std::string& name) {
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::istringstream again(text);
  try {
    return core::read_predictions(again, name);
  } catch (const core::Error&) {
    if (!is_program_run(text)) throw;
    throw core::ParseError({name, 0, ""}, "JSON of `hplcast run`; expected predictions of HPL",
                           "--time-from compares programs other than HPL");
  }
}

}  // namespace

std::vector<core::HplRun> runs_of_file(std::istream& in, const std::string& name, const Warn& warn) {
  std::istringstream text(core::read_text(in, name, "expected HPL's output, or a CSV with columns N and time_s"));
  const std::vector<core::HplRun> runs = core::read_real_runs(text, name);
  const auto unchecked =
      std::count_if(runs.begin(), runs.end(), [](const core::HplRun& run) { return !run.residual_checked; });
  if (unchecked > 0 && text.str().find("scaled residuals are less than") != std::string::npos)
    warn(name + ": HPL was to check its results, but of " + std::to_string(unchecked) + " of " +
         std::to_string(runs.size()) + " runs the residual is missing: was the output cut off?");
  warn_of_assumptions(name, runs, warn);
  return runs;
}

std::vector<core::HplRun> runs_of_files(const std::map<std::string, std::string>& files, const std::string& path,
                                        const Warn& warn) {
  std::vector<core::HplRun> all;
  for (const auto& [file, text] : files) {
    if (!has_hpl_results(text)) continue;
    std::istringstream in(text);
    const auto runs = runs_of_file(in, path + ":" + file, warn);
    all.insert(all.end(), runs.begin(), runs.end());
  }
  if (all.empty()) {
    const bool observed = files.count("program.out") != 0;
    throw core::ParseError(
        {path, 0, ""}, "no output of HPL in it (lines like `WR11C2R4 ...`)",
        observed ? "an archive of `hplcast observe`: --time-from compares programs other than HPL" : "");
  }
  return all;
}

std::vector<core::Prediction> read_compared_predictions(const std::vector<std::string>& paths, const Warn& warn) {
  std::vector<core::Prediction> predicted;
  for (const std::string& path : paths) {
    const auto predictions =
        is_sqlite_file(path) ? predictions_of_one_cluster(path) : core::read_from(path, read_hpl_predictions);
    predicted.insert(predicted.end(), predictions.begin(), predictions.end());
  }
  refuse_several_models(predicted, warn);
  return predicted;
}

}  // namespace hplcast::study
