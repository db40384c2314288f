#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/fit/fit_pictures.hpp"
#include "cli/support/options.hpp"
#include "hplcast/core/csv.hpp"

namespace hplcast::cli {

namespace {

struct FitSegmentedOptions {
  std::string input;
  std::vector<double> breakpoints;
  std::string x = "size_bytes";
  std::string y = "duration_s";
  std::vector<std::string> by;
  std::vector<std::string> where;
  bool average = false;
  fit::SegmentNoiseKind noise = fit::SegmentNoiseKind::none;
  fit::SegmentedOptions regression;
  std::string plot;
  std::string output;
};

std::vector<std::pair<std::string, std::string>> parse_conditions(const std::vector<std::string>& texts) {
  return core::mapped(texts, [](const auto& text) { return name_and_value("--where", text, "column=value"); });
}

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

using Key = std::vector<std::string>;

/// Hands on every row that counts, with the values of the columns of --by. Returns how many had failed.
long for_rows(std::istream& in, const std::string& name, const FitSegmentedOptions& options,
              const std::function<void(const Key& key, double x, double y)>& each) {
  core::CsvReader csv(in, name);
  const std::size_t x = csv.column(options.x), y = csv.column(options.y), error = csv.find_column("error");
  const auto by = core::mapped(options.by, [&](const std::string& column) { return csv.column(column); });
  std::vector<std::pair<std::size_t, std::string>> conditions;
  for (const auto& [column, value] : parse_conditions(options.where))
    conditions.emplace_back(csv.column(column), value);
  OneOperation one(csv, options);
  long failed = 0;
  while (csv.next()) {
    bool counts = true;
    for (const auto& [column, value] : conditions) counts = counts && csv.text(column) == value;
    if (!counts) continue;
    if (error != core::CsvReader::npos && !csv.text(error).empty()) {
      ++failed;
      continue;
    }
    one.check();
    Key key;
    for (std::size_t column : by) key.emplace_back(csv.text(column));
    constexpr double most = 1e30, least = 1e-30;  // squares, and their sums and quotients, stay numbers
    for (const std::size_t column : {x, y}) {
      const double value = std::abs(csv.number(column));
      if (value > most || (value != 0 && value < least))
        throw core::ParseError(csv.at(column),
                               "found " + core::shortest(value) + "; expected a number between 1e-30 and 1e30");
    }
    each(key, csv.non_negative(x), csv.positive(y));
  }
  return failed;
}

long for_rows(const FitSegmentedOptions& options, const std::function<void(const Key& key, double x, double y)>& each) {
  return read_from(options.input,
                   [&](std::istream& in, const std::string& name) { return for_rows(in, name, options, each); });
}

/// One fit, of the rows that have these values in the columns of --by.
struct Group {
  fit::SamplesBySize samples;
  fit::SegmentedFit fit;
  std::vector<fit::SegmentNoise> noise;
};
using Groups = std::map<Key, Group>;

Json to_json(const fit::SegmentNoise& noise) {
  Json json = HPLCAST_JSON(noise, mean, sd);
  for (const core::MixtureMode& mode : noise.modes)
    json["mixture"].push_back(HPLCAST_JSON(mode, probability, mean, sd));
  return json;
}

Json to_json(const Group& group) {
  const fit::SegmentedFit& fit = group.fit;
  Json json = {{"status", fit::to_string(fit.status)}};
  if (!fit.reason.empty()) json["reason"] = fit.reason;
  json["objective"] = fit::to_string(fit.objective);
  json.update(HPLCAST_JSON(fit, bic, rss));
  json["breakpoints"] = fit.breakpoints();
  Json& segments = json["segments"] = Json::array();
  for (std::size_t i = 0; i < fit.segments.size(); ++i) {
    const fit::FittedSegment& s = fit.segments[i];
    Json segment = HPLCAST_JSON(s, min, slope, intercept, n, sizes, rss);
    if (!group.noise.empty()) segment["noise"] = to_json(group.noise[i]);
    segments.push_back(std::move(segment));
  }
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

std::string title_of(const Key& key, const FitSegmentedOptions& options) {
  std::string title;
  for (std::size_t i = 0; i < key.size(); ++i)
    title += options.by[i] + " " + key[i] + (i + 1 < key.size() ? ", " : ": ");
  return title;
}

/// @throws core::Error (no_acceptable_fit) with the reason if there is nothing to fit.
Groups fit_groups(const FitSegmentedOptions& options) {
  Groups groups;
  const long failed = for_rows(options, [&](const Key& key, double x, double y) { groups[key].samples.add(x, y); });
  if (groups.empty())
    throw core::Error(
        core::ExitCode::no_acceptable_fit,
        options.input + ": no rows to fit" + (failed > 0 ? " (" + std::to_string(failed) + " failed calls)" : ""));
  for (auto& [key, group] : groups) {
    auto cells = group.samples.cells();
    if (options.average) cells = fit::averaged(std::move(cells));
    group.fit = fit::fit_segmented(cells, options.regression);
    const std::string title = title_of(key, options);
    if (group.fit.segments.empty()) throw core::Error(core::ExitCode::no_acceptable_fit, title + group.fit.reason);
    summarise(group.fit, title);
  }
  return groups;
}

/// A second pass over the rows.
void fit_noise(const FitSegmentedOptions& options, Groups& groups) {
  std::map<Key, fit::SegmentNoiseCollector> collectors;
  for (const auto& [key, group] : groups) collectors.emplace(key, group.fit.segments);
  for_rows(options, [&](const Key& key, double x, double y) { collectors.at(key).add(x, y); });
  for (auto& [key, group] : groups) group.noise = collectors.at(key).noise(options.noise);
}

void draw(const Groups& groups, const FitSegmentedOptions& options) {
  for (const auto& [key, group] : groups) {
    const std::string title = key.empty() ? options.y : title_of(key, options) + options.y;
    write_picture(
        key.empty() ? std::filesystem::path(options.plot) : picture_name(options.plot, key),
        segments_picture({title, options.x, options.y, group.samples.cells(), group.fit.segments, group.noise}));
  }
}

Json to_json(const Groups& groups, const FitSegmentedOptions& options) {
  if (options.by.empty()) return to_json(groups.begin()->second);
  Json result;
  for (const auto& [key, group] : groups) {
    Json one = Json::object();
    for (std::size_t i = 0; i < key.size(); ++i) one[options.by[i]] = key[i];
    one.update(to_json(group));
    result["groups"].push_back(std::move(one));
  }
  return result;
}

void run_fit_segmented(FitSegmentedOptions options) {
  require_distinct("--by", options.by);
  parse_conditions(options.where);
  if (!options.breakpoints.empty()) options.regression.breakpoints = options.breakpoints;
  of_options([&] { fit::validate(options.regression); });
  if (options.noise != fit::SegmentNoiseKind::none) {
    if (options.input == "-")
      throw core::UsageError("--noise reads the rows twice; expected a file, not the standard input");
    require_rereadable(options.input);
  }
  Groups groups = fit_groups(options);
  if (options.noise != fit::SegmentNoiseKind::none) fit_noise(options, groups);
  if (!options.plot.empty()) draw(groups, options);
  write_result(options.output, to_json(groups, options));
}

}  // namespace

void setup_fit_segmented(Command& app) {
  Command& command =
      add_command(app, "segmented", "Segmented linear regression of durations over sizes",
                  "hplcast fit segmented examples/fit-library/mpi.csv --where operation=pingpong --where scope=remote");
  auto& options = command.runs<FitSegmentedOptions>(run_fit_segmented);
  command.add_option("input", options.input, "CSV with a header; - is the standard input", required, reads("FILE"));
  add_choice(command, "--objective", options.regression.objective,
             "ols, weighted (residuals^2 / x) or log (relative errors)");
  command.add_option("--breakpoints", options.breakpoints, "starts of the segments after the first: no search",
                     by_commas, one_each);
  command.add_option("--x", options.x, "column of the sizes", with_default);
  command.add_option("--y", options.y, "column of the durations", with_default);
  command.add_option("--where", options.where, "only rows with this value: operation=send (repeatable)",
                     of_type("COLUMN=VALUE"), one_each);
  command.add_option("--by", options.by, "one fit for each combination of values of these columns", by_commas,
                     one_each);
  command.add_flag("--average", options.average, "one row per size: its mean duration");
  add_choice(command, "--noise", options.noise, "of each segment: none, n1 (a standard deviation) or mixture");
  command.add_flag("--continuous", options.regression.continuous, "segments join at the breakpoints");
  command.add_flag("--non-negative", options.regression.non_negative, "slopes and intercepts >= 0 (always so for log)");
  command.add_option("--min-sizes", options.regression.min_sizes, "fewest distinct sizes in a segment", with_default);
  command.add_option("--max-segments", options.regression.max_segments, "where the search stops", with_default);
  command.add_option("--significance", options.regression.significance,
                     "level at which a breakpoint must differ from none; 1: the least BIC alone decides", with_default);
  command.add_option("--plot", options.plot, "picture, .png or .svg; with --by: FILE-VALUE-VALUE.png", draws("FILE"));
  command.add_json_output(options.output, "file of the result");
}

}  // namespace hplcast::cli
