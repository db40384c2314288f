#include "sensitivity_table.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/detector_sensitivity.hpp"
#include "output.hpp"

namespace hplcast::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Runs of one kind of series.
struct Detector {
  core::CollectiveRun kind;
  std::vector<double> clean;
  std::map<double, std::vector<double>> noisy;
  std::map<double, double> duty_sums;
  double shortest_periods = INFINITY;  ///< of the source in a run
};

std::vector<Detector> detectors_of(const std::vector<core::CollectiveRun>& runs) {
  std::map<std::tuple<std::string, double, long, long, long>, Detector> found;
  // A source of level 0 does not run: such runs are clean ones.
  for (const core::CollectiveRun& run : runs) {
    if (run.warm_up) continue;
    Detector& detector = found[{run.operation, run.size_bytes, run.count, run.ranks, run.hosts}];
    detector.kind = run;
    if (run.level == 0) {
      detector.clean.push_back(run.duration_s);
      continue;
    }
    detector.noisy[run.level].push_back(run.duration_s);
    detector.duty_sums[run.level] += run.duty;
    if (run.period_s > 0)
      detector.shortest_periods = std::min(detector.shortest_periods, run.duration_s / run.period_s);
  }
  std::vector<Detector> detectors;
  for (auto& [key, detector] : found) detectors.push_back(std::move(detector));
  return detectors;
}

fit::Sensitivity sensitivity_of(const Detector& detector) {
  if (detector.clean.size() < 2 || detector.noisy.empty())
    throw core::Error(core::ExitCode::bad_input, "found " + std::to_string(detector.clean.size()) + " clean runs and " +
                                                     std::to_string(detector.noisy.size()) +
                                                     " levels; expected at least 2 clean runs and a level above 0");
  std::vector<fit::NoisyRuns> noisy;
  for (const auto& [level, durations] : detector.noisy) {
    if (durations.size() < 2)
      throw core::Error(core::ExitCode::bad_input, "level " + percent(level) + " has one run; expected at least 2");
    noisy.push_back({level, fit::summarize(durations)});
  }
  return fit::detector_sensitivity(fit::summarize(detector.clean), std::move(noisy));
}

std::string title_of(const core::CollectiveRun& kind) {
  std::string text = std::to_string(kind.count) + " x " + (kind.operation.empty() ? "series" : kind.operation);
  if (kind.size_bytes > 0) text += " of " + significant(kind.size_bytes, 6) + " B";
  return text + ", " + std::to_string(kind.ranks) + " ranks on " + std::to_string(kind.hosts) +
         (kind.hosts == 1 ? " host" : " hosts");
}

std::vector<std::string> warnings_of(const Detector& detector, const fit::Sensitivity& result) {
  std::vector<std::string> warnings;
  for (const auto& [level, sum] : detector.duty_sums) {
    const double duty = sum / static_cast<double>(detector.noisy.at(level).size());
    if (std::abs(duty / level - 1) > 0.1)
      warnings.push_back("the source took " + significant(100 * duty, 3) + " % at the level of " +
                         significant(100 * level, 3) + " %");
  }
  if (detector.shortest_periods < 5)
    warnings.push_back("a run has " + significant(detector.shortest_periods, 2) +
                       " periods of the source only: chance decides how many detours hit it; make them longer");
  const std::size_t half = detector.clean.size() / 2;
  if (half >= 3) {
    const std::vector<double> first(detector.clean.begin(), detector.clean.begin() + static_cast<std::ptrdiff_t>(half));
    const std::vector<double> second(detector.clean.begin() + static_cast<std::ptrdiff_t>(half), detector.clean.end());
    const fit::SampleSummary a = fit::summarize(first), b = fit::summarize(second);
    if (a.sd + b.sd > 0 && fit::welch_t_test(a, b).p_value < 1e-3)
      warnings.push_back("clean runs changed meanwhile, by " + signed_percent(b.mean / a.mean - 1) +
                         ": frequency, temperature, or another program");
  }
  if (result.clean.sd > 0.02 * result.clean.mean)
    warnings.push_back("clean runs scatter by " + percent(result.clean.sd / result.clean.mean) +
                       ": shared cores? Such a detector sees little");
  return warnings;
}

std::string verdict_of(const fit::LevelResult& level) {
  std::string text = fit::to_string(level.detection);
  if (level.runs_needed > 0) text += ": " + std::to_string(level.runs_needed) + " runs of each would decide";
  return text;
}

void print_one(std::ostream& out, const Detector& detector) {
  const fit::Sensitivity result = sensitivity_of(detector);
  out << title_of(detector.kind) << '\n';
  TextTable table({"level", "runs", "mean [s]", "sd [s]", "99 % interval [s]", "increase", "gap [s]", "p", "verdict"});
  const auto interval = [](const fit::Bounds& b) { return significant(b.lower, 6) + " to " + significant(b.upper, 6); };
  const fit::SampleSummary& clean = result.clean;
  table.add({"clean", std::to_string(clean.count), significant(clean.mean, 6), significant(clean.sd, 3),
             interval(result.clean_interval), "", "", "", ""});
  for (const fit::LevelResult& level : result.levels)
    table.add({significant(100 * level.level, 3) + " %", std::to_string(level.runs.count),
               significant(level.runs.mean, 6), significant(level.runs.sd, 3),
               interval(fit::mean_interval(level.runs, result.confidence)), signed_percent(level.increase),
               significant(level.gap, 3), significant(level.p_value, 2), verdict_of(level)});
  table.write(out);
  if (result.limit) {
    out << "limit: " << significant(100 * *result.limit, 3) << " %, the lowest level that is seen, as all above it\n";
  } else {
    out << "limit: none, the highest level was not seen\n";
  }
  for (const std::string& warning : warnings_of(detector, result)) out << "warning: " << warning << '\n';
}

Json json_of(const Detector& detector) {
  const fit::Sensitivity result = sensitivity_of(detector);
  Json json = {{"operation", detector.kind.operation}, {"size_bytes", detector.kind.size_bytes},
               {"count", detector.kind.count},         {"ranks", detector.kind.ranks},
               {"hosts", detector.kind.hosts},         {"confidence", result.confidence},
               {"clean_mean_s", result.clean.mean},    {"clean_sd_s", result.clean.sd},
               {"clean_runs", result.clean.count},     {"levels", Json::array()}};
  for (const fit::LevelResult& level : result.levels)
    json["levels"].push_back({{"level", level.level},
                              {"mean_s", level.runs.mean},
                              {"sd_s", level.runs.sd},
                              {"runs", level.runs.count},
                              {"increase", level.increase},
                              {"gap_s", level.gap},
                              {"p_value", level.p_value},
                              {"detection", fit::to_string(level.detection)},
                              {"runs_needed", level.runs_needed}});
  json["limit"] = result.limit ? Json(*result.limit) : Json(nullptr);
  json["warnings"] = warnings_of(detector, result);
  return json;
}

}  // namespace

void print_sensitivity(std::ostream& out, const std::vector<core::CollectiveRun>& runs) {
  const auto detectors = detectors_of(runs);
  if (detectors.empty()) throw core::Error(core::ExitCode::bad_input, "there are no runs but those of the warm-up");
  for (const Detector& detector : detectors) print_one(out, detector);
}

void write_sensitivity_json(std::ostream& out, const std::vector<core::CollectiveRun>& runs) {
  Json json = {{"detectors", Json::array()}};
  for (const Detector& detector : detectors_of(runs)) json["detectors"].push_back(json_of(detector));
  out << json.dump(2) << '\n';
}

}  // namespace hplcast::cli
