#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/study/compare.hpp"
#include "hplcast/study/explain.hpp"
#include "study/compare/parameters_json.hpp"

namespace hplcast::study {

namespace {

ObservedRun run_of_folder(const fs::path& folder) {
  const fs::path file = folder / "phases.json";
  if (!fs::exists(file))
    throw core::InputError("there is no " + file.string() +
                           "; expected the folder of one run of `hplcast run-real --phases`, "
                           "such as observed.csv.d/0001-...\n  hint: a run that was cut off leaves none; repeat it");
  ObservedRun observed;
  observed.folder = folder;
  core::read_file(file, [&](std::istream& in, const std::string& name) {
    try {
      const auto json = core::parse_json<nlohmann::json>(core::read_json_text(in, name));
      observed.run.parameters = json.at("parameters").get<core::HplParameters>();
      observed.run.time_s = json.at("time_s").get<double>();
      observed.run.gflops = json.at("gflops").get<double>();
    } catch (const nlohmann::json::exception& error) {
      throw core::ParseError({name, 0, ""}, std::string("not the phases of a real run: ") + error.what(),
                             "such files are written by `hplcast run-real --phases`");
    }
    if (!(observed.run.time_s > 0)) throw core::ParseError({name, 0, "/time_s"}, "expected a number above 0");
    observed.run.parameters.validate();
  });
  return observed;
}

/// Folders of runs by the number that their names begin with: "0007-N5000-...". A session that was stopped may have
/// left another one of that number, without phases.json.
std::map<long long, fs::path> folders_by_order(const fs::path& outputs) {
  std::map<long long, fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(outputs, error)) {
    const std::string name = entry.path().filename().string();
    long long order = 0;
    if (std::sscanf(name.c_str(), "%lld-", &order) != 1) continue;
    if (folders.count(order) == 0 || fs::exists(entry.path() / "phases.json")) folders[order] = entry.path();
  }
  return folders;
}

std::vector<ObservedRun> runs_of_csv(const fs::path& file) {
  const fs::path outputs = file.string() + ".d";
  const std::map<long long, fs::path> folders = folders_by_order(outputs);
  std::vector<ObservedRun> runs;
  core::read_file(file, [&](std::istream& in, const std::string& name) {
    if (in.peek() == '{')
      throw core::ParseError({name, 1, ""}, "JSON; expected the CSV of `hplcast run-real --phases`",
                             "real runs are the first argument, predictions the second");
    core::CsvReader csv(in, name);
    if (csv.find_column("instrumented") == core::CsvReader::npos)
      throw core::ParseError({name, 1, ""}, "runs without observation; expected the CSV of `hplcast run-real --phases`",
                             "run-real --phases makes such runs, in a file of their own");
    while (csv.next()) {
      const long long order = csv.integer(csv.column("order"));
      const auto folder = folders.find(order);
      if (folder == folders.end())
        throw core::InputError(core::to_string(csv.at(csv.column("order"))) + ": run " + std::to_string(order) +
                               " has no folder in " + outputs.string() + "\n  hint: give the folder of a run itself");
      ObservedRun one = run_of_folder(folder->second);
      core::HplParameters parameters = core::read_hpl_fields(csv, {});
      if (!(parameters == one.run.parameters))
        throw core::InputError(core::to_string(csv.at(csv.column("order"))) + " is " + core::to_string(parameters) +
                               "; expected " + core::to_string(one.run.parameters) + ", the run in " +
                               folder->second.string());
      runs.push_back(std::move(one));
    }
  });
  if (runs.empty()) throw core::ParseError({file.string(), 0, ""}, "no runs in it");
  return runs;
}

}  // namespace

std::vector<ObservedRun> observed_runs(const fs::path& real) {
  std::error_code error;
  if (fs::is_directory(real, error)) return {run_of_folder(real)};
  return runs_of_csv(real);
}

core::Prediction prediction_of_runs(const std::string& path, std::vector<ObservedRun>& runs) {
  const std::vector<core::Prediction> all = core::read_from(path, core::read_predictions);
  std::vector<core::Prediction> fitting;
  std::vector<core::HplParameters> real, predicted;
  for (const ObservedRun& one : runs) real.push_back(core::without_unused(one.run.parameters));
  for (const core::Prediction& one : all) {
    predicted.push_back(core::without_unused(one.parameters));
    if (std::find(real.begin(), real.end(), predicted.back()) == real.end()) continue;
    if (!fitting.empty() && !(core::without_unused(fitting.front().parameters) == predicted.back()))
      throw core::InputError(path + " predicts several configurations that were run, such as " +
                             core::to_string(fitting.front().parameters) + " and " + core::to_string(one.parameters) +
                             "\n  hint: give the folder of one run, such as " + runs.front().folder.string());
    fitting.push_back(one);
  }
  if (fitting.empty())
    throw core::InputError(path + " has no prediction of the run " + core::to_string(runs.front().run.parameters) +
                           "; the nearest one differs: " + nearest_difference(real.front(), predicted) +
                           " as there\n  hint: predict with the same HPL.dat as `run-real`");
  if (const auto mixed = mixed_models(fitting))
    throw core::InputError(path + " has predictions of " + core::to_string(*mixed) +
                           " with several models\n  hint: explain one of them");
  std::sort(fitting.begin(), fitting.end(), [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
  core::Prediction prediction = fitting[(fitting.size() - 1) / 2];
  const core::HplParameters wanted = core::without_unused(prediction.parameters);
  const auto is_other = [&](const ObservedRun& one) { return !(core::without_unused(one.run.parameters) == wanted); };
  runs.erase(std::remove_if(runs.begin(), runs.end(), is_other), runs.end());
  return prediction;
}

}  // namespace hplcast::study
