#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "commands.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/fit/segmented_regression.hpp"
#include "output.hpp"
#include "program.hpp"

namespace hplcast::cli {

namespace {

using Json = nlohmann::ordered_json;

struct FitSegmentedOptions {
  std::string input;
  std::string objective = "log";
  std::vector<double> breakpoints;
  bool breakpoints_given = false;
  std::string x = "size_bytes";
  std::string y = "duration_s";
  std::vector<std::string> by;
  std::vector<std::string> where;
  bool average = false;
  fit::SegmentedOptions regression;
  std::string output;
};

/// column=value
struct Condition {
  std::string column, value;
};

std::vector<Condition> parse_conditions(const std::vector<std::string>& texts) {
  std::vector<Condition> conditions;
  for (const std::string& text : texts) {
    const std::size_t equal = text.find('=');
    if (equal == 0 || equal == std::string::npos)
      throw core::UsageError("--where is `" + text + "`; expected column=value");
    conditions.push_back({text.substr(0, equal), text.substr(equal + 1)});
  }
  return conditions;
}

/// The durations of the rows that count, by the values of the columns of --by.
struct Groups {
  std::map<std::vector<std::string>, fit::SamplesBySize> samples;
  long failed = 0;
};

/// Durations of several operations have nothing in common: taken together only by mistake.
class OneOperation {
 public:
  OneOperation(const core::CsvReader& csv, const FitSegmentedOptions& options) : csv_(csv) {
    for (const char* name : {"operation", "scope", "kernel"})
      if (csv.find_column(name) != core::CsvReader::npos &&
          std::find(options.by.begin(), options.by.end(), name) == options.by.end())
        columns_.push_back({csv.column(name), {}});
  }

  void check() {
    for (auto& [column, seen] : columns_) {
      const std::string_view text = csv_.text(column);
      if (seen.empty()) seen = text;
      if (seen == text) continue;
      const std::string name = csv_.header()[column];
      throw core::ParseError(csv_.at(column),
                             "found `" + std::string(text) + "` after `" + seen + "`; expected one value",
                             "choose with --where " + name + "=" + seen + ", or fit each with --by " + name);
    }
  }

 private:
  const core::CsvReader& csv_;
  std::vector<std::pair<std::size_t, std::string>> columns_;
};

Groups read_groups(std::istream& in, const std::string& name, const FitSegmentedOptions& options) {
  core::CsvReader csv(in, name);
  const std::size_t x = csv.column(options.x), y = csv.column(options.y), error = csv.find_column("error");
  std::vector<std::size_t> by;
  for (const std::string& column : options.by) by.push_back(csv.column(column));
  std::vector<std::pair<std::size_t, std::string>> conditions;
  for (const Condition& c : parse_conditions(options.where)) conditions.emplace_back(csv.column(c.column), c.value);
  OneOperation one(csv, options);
  Groups groups;
  while (csv.next()) {
    bool counts = true;
    for (const auto& [column, value] : conditions) counts = counts && csv.text(column) == value;
    if (!counts) continue;
    if (error != core::CsvReader::npos && !csv.text(error).empty()) {
      ++groups.failed;
      continue;
    }
    one.check();
    std::vector<std::string> key;
    for (std::size_t column : by) key.emplace_back(csv.text(column));
    groups.samples[key].add(csv.non_negative(x), csv.positive(y));
  }
  return groups;
}

Json to_json(const fit::SegmentedFit& fit) {
  Json json = {{"status", fit::to_string(fit.status)}};
  if (!fit.reason.empty()) json["reason"] = fit.reason;
  json["objective"] = fit::to_string(fit.objective);
  json["bic"] = fit.bic;
  json["rss"] = fit.rss;
  json["breakpoints"] = fit.breakpoints();
  Json& segments = json["segments"] = Json::array();
  for (const fit::FittedSegment& s : fit.segments) {
    segments.push_back({{"min", s.min},
                        {"slope", s.slope},
                        {"intercept", s.intercept},
                        {"n", s.n},
                        {"sizes", s.sizes},
                        {"rss", s.rss}});
  }
  if (!fit.notes.empty()) json["notes"] = fit.notes;
  return json;
}

void summarise(const fit::SegmentedFit& fit, const std::string& title) {
  std::cerr << title << fit.segments.size() << " segment(s), objective " << fit::to_string(fit.objective) << ", BIC "
            << significant(fit.bic, 6) << '\n';
  for (const fit::FittedSegment& s : fit.segments)
    std::cerr << "  from " << significant(s.min, 6) << ": " << significant(s.intercept) << " + " << significant(s.slope)
              << " x  (" << s.n << " rows, " << s.sizes << " sizes)\n";
  if (!fit.reason.empty()) std::cerr << "  " << fit.reason << '\n';
}

/// Fits one group. @throws core::Error (no_acceptable_fit) with the reason if nothing can be fitted.
fit::SegmentedFit fit_group(const fit::SamplesBySize& samples, const FitSegmentedOptions& options,
                            const std::string& title) {
  auto cells = samples.cells();
  if (options.average) cells = fit::averaged(std::move(cells));
  fit::SegmentedFit fit = fit::fit_segmented(cells, options.regression);
  if (fit.segments.empty()) throw core::Error(core::ExitCode::no_acceptable_fit, title + fit.reason);
  summarise(fit, title);
  return fit;
}

void run_fit_segmented(FitSegmentedOptions options) {
  require_writable(options.output);
  options.regression.objective = fit::objective_from_name(options.objective);
  if (options.breakpoints_given) options.regression.breakpoints = options.breakpoints;
  Groups groups;
  const auto read = [&](std::istream& in, const std::string& name) { groups = read_groups(in, name, options); };
  if (options.input == "-") {
    read(std::cin, "standard input");
  } else {
    core::read_file(options.input, read);
  }
  if (groups.samples.empty()) {
    throw core::Error(core::ExitCode::no_acceptable_fit,
                      options.input + ": no rows to fit" +
                          (groups.failed > 0 ? " (" + std::to_string(groups.failed) + " failed calls)" : ""));
  }
  Json result;
  for (const auto& [key, samples] : groups.samples) {
    std::string title;
    Json group = Json::object();
    for (std::size_t i = 0; i < key.size(); ++i) {
      title += options.by[i] + " " + key[i] + (i + 1 < key.size() ? ", " : ": ");
      group[options.by[i]] = key[i];
    }
    Json fitted = to_json(fit_group(samples, options, title));
    if (options.by.empty()) {
      result = std::move(fitted);
    } else {
      group.update(fitted);
      result["groups"].push_back(std::move(group));
    }
  }
  write_result(options.output, [&](std::ostream& out) { out << result.dump(2) << '\n'; });
}

}  // namespace

void setup_fit_segmented(CLI::App& app) {
  auto options = std::make_shared<FitSegmentedOptions>();
  CLI::App& command = add_command(app, "segmented", "Segmented linear regression of durations over sizes",
                                  "hplcast fit segmented examples/fit-library/mpi.csv --where operation=pingpong --where scope=remote");
  command.add_option("input", options->input, "CSV with a header; - is the standard input")
      ->required()
      ->type_name("FILE");
  command.add_option("--objective", options->objective, "ols, weighted (residuals^2 / x) or log (relative errors)")
      ->capture_default_str();
  CLI::Option* breakpoints =
      command.add_option("--breakpoints", options->breakpoints, "starts of the segments after the first: no search")
          ->delimiter(',')
          ->allow_extra_args(false);
  command.add_option("--x", options->x, "column of the sizes")->capture_default_str();
  command.add_option("--y", options->y, "column of the durations")->capture_default_str();
  command.add_option("--where", options->where, "only rows with this value: operation=send (repeatable)")
      ->type_name("COLUMN=VALUE")
      ->allow_extra_args(false);
  command.add_option("--by", options->by, "one fit for each combination of values of these columns")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_flag("--average", options->average, "one row a size: its mean duration");
  command.add_flag("--continuous", options->regression.continuous, "segments join at the breakpoints");
  command.add_flag("--non-negative", options->regression.non_negative,
                   "slopes and intercepts >= 0 (always so for log)");
  command.add_option("--min-sizes", options->regression.min_sizes, "fewest distinct sizes in a segment")
      ->capture_default_str();
  command.add_option("--max-segments", options->regression.max_segments, "where the search stops")
      ->capture_default_str();
  command
      .add_option("--significance", options->regression.significance,
                  "level at which a breakpoint must differ from none; 1: the least BIC alone decides")
      ->capture_default_str();
  command.add_flag("--json", "accepted for symmetry: the result always is JSON");
  command.add_option("-o,--output", options->output, "file of the result (default: the standard output)")
      ->type_name("FILE");
  command.callback([options, breakpoints] {
    options->breakpoints_given = breakpoints->count() > 0;
    run_fit_segmented(*options);
  });
}

}  // namespace hplcast::cli
