#include "hplcast/core/detour_trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <ostream>
#include <sstream>

#include "core/imported/detour_formats.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

const char* const detour_csv_header = "kind,host,core,start_s,duration_s,work,unit_s";

namespace {

constexpr std::array<const char*, 5> kind_names = {"epoch", "window", "gap", "fwq", "ftq"};

DetourRowKind kind_of(const CsvReader& csv, std::size_t column) {
  const auto name = std::find(kind_names.begin(), kind_names.end(), csv.text(column));
  if (name == kind_names.end())
    throw ParseError(csv.at(column),
                     "found `" + std::string(csv.text(column)) + "`; expected one of " + comma_separated(kind_names));
  return static_cast<DetourRowKind>(name - kind_names.begin());
}

/// Three hundred years: beyond that, sums of nanoseconds are lost, and nobody measures.
constexpr double longest_time_s = 1e10;

double time_of(const CsvReader& csv, std::size_t column) {
  const double time_s = csv.number(column);
  if (!(std::abs(time_s) <= longest_time_s))
    throw ParseError(csv.at(column), "found " + shortest(time_s) + "; expected a time of at most 1e10 s");
  return time_s;
}

/// A core that is being read.
struct Reading {
  CoreDetours detours;
  std::vector<WorkQuantum> fwq, ftq;
  double last_s = -std::numeric_limits<double>::infinity();  ///< of an event
};

void require_time_goes_on(const CsvReader& csv, std::size_t column, Reading& core) {
  const double start_s = time_of(csv, column);
  if (start_s < core.last_s)
    throw ParseError(csv.at(column), "time runs backwards: " + shortest(start_s) + " s after " + shortest(core.last_s) +
                                         " s on the same core; expected the order of time");
  core.last_s = start_s;
}

/// Windows of measurements that were cut off, or made by other means: from the first event to the last.
void complete_windows(CoreDetours& core, DetourTrace& trace, const std::string& name) {
  const double last_s = core.events.empty() ? 0 : core.events.back().start_s + core.events.back().duration_s;
  if (core.windows.empty() && core.events.size() < 2)
    throw ParseError({name, 0, ""},
                     "core " + std::to_string(core.core) + " has " + std::to_string(core.events.size()) +
                         " rows and no window: that tells nothing about how often",
                     "expected at least two rows, or one of kind `window`; measure longer");
  if (core.windows.empty()) {
    core.windows.push_back({core.events.front().start_s, last_s});
    trace.notes.push_back(name + ": core " + std::to_string(core.core) +
                          " has no window: taken from its first event to its last");
  }
  std::sort(core.windows.begin(), core.windows.end(),
            [](const DetourWindow& a, const DetourWindow& b) { return a.start_s < b.start_s; });
  constexpr double rounding_s = 1e-6;
  for (std::size_t i = 1; i < core.windows.size(); ++i)
    if (core.windows[i].start_s < core.windows[i - 1].end_s - rounding_s)
      throw ParseError({name, 0, ""}, "core " + std::to_string(core.core) + ": the window at " +
                                          shortest(core.windows[i].start_s) + " s begins in the one before");
  std::size_t window = 0;
  for (const DetourEvent& event : core.events) {
    while (window < core.windows.size() && core.windows[window].end_s < event.start_s - rounding_s) ++window;
    if (window == core.windows.size() || event.start_s < core.windows[window].start_s - rounding_s ||
        event.start_s + event.duration_s > core.windows[window].end_s + rounding_s)
      throw ParseError({name, 0, ""}, "core " + std::to_string(core.core) + ": the event at " +
                                          shortest(event.start_s) + " s of " + shortest(event.duration_s) +
                                          " s is not inside a window of the core; expected rows of kind `window` "
                                          "around all events");
  }
}

DetourTrace read_own(std::istream& in, const std::string& name, const DetourReading& reading) {
  CsvReader csv(in, name);
  const std::size_t kind = csv.column("kind"), host = csv.column("host"), number = csv.column("core"),
                    start = csv.column("start_s"), duration = csv.column("duration_s"), work = csv.find_column("work");
  csv.refuse_misspelt({"kind", "host", "core", "start_s", "duration_s", "work", "unit_s"});
  DetourTrace trace;
  trace.format = "hplcast";
  std::map<std::pair<std::string, long>, Reading> cores;
  while (csv.next()) {
    const DetourRowKind row = kind_of(csv, kind);
    if (row == DetourRowKind::epoch) {
      trace.epoch_unix_s = std::max(0.0, time_of(csv, start));
      continue;
    }
    const auto core_number = static_cast<long>(csv.integer(number));
    Reading& core = cores[{std::string(csv.text(host)), core_number}];
    core.detours.host = csv.text(host);
    core.detours.core = core_number;
    const double start_s = time_of(csv, start);
    csv.positive(duration);
    const double duration_s = time_of(csv, duration);
    if (row == DetourRowKind::window) {
      core.detours.windows.push_back({start_s, start_s + duration_s});
      continue;
    }
    require_time_goes_on(csv, start, core);
    if (row == DetourRowKind::gap) core.detours.events.push_back({start_s, duration_s});
    if (row == DetourRowKind::fwq) core.fwq.push_back({start_s, duration_s, 0});
    if (row == DetourRowKind::ftq && work == CsvReader::npos) csv.column("work");  // throws
    if (row == DetourRowKind::ftq) core.ftq.push_back({start_s, duration_s, csv.non_negative(work)});
  }
  if (cores.empty())
    throw ParseError({name, csv.line(), ""}, "found no measurement; expected rows of kind gap, fwq, ftq or window");
  for (auto& [key, core] : cores) {
    for (const auto* quanta : {&core.fwq, &core.ftq})
      if (core.detours.windows.empty() && quanta->size() > 1)
        core.detours.windows.push_back({quanta->front().start_s, quanta->back().start_s + quanta->back().duration_s});
    add_fwq_events(core.fwq, reading, core.detours);
    add_ftq_events(core.ftq, reading, core.detours);
    require_order(core.detours, name);
    complete_windows(core.detours, trace, name);
    trace.cores.push_back(std::move(core.detours));
  }
  return trace;
}

/// The first line that is neither empty nor a comment.
std::string first_words(const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    if (line.find_first_not_of(" \t\r") != std::string::npos && line.front() != '#') return line;
  return "";
}

}  // namespace

double CoreDetours::watched_s() const {
  double sum = 0;
  for (const DetourWindow& window : windows) sum += window.end_s - window.start_s;
  return sum;
}

double CoreDetours::lost_s() const {
  double sum = 0;
  for (const DetourEvent& event : events) sum += event.duration_s;
  return sum;
}

void write_row(std::ostream& out, const DetourRow& row) {
  char text[160];
  if (row.kind == DetourRowKind::epoch) {
    std::snprintf(text, sizeof text, ",,,%.0f,,,\n", row.start_s);
    out << "epoch" << text;
    return;
  }
  std::snprintf(text, sizeof text, ",%ld,%.9f,%.9f,%.0f,%.10f\n", row.core, row.start_s, row.duration_s, row.work,
                row.unit_s);
  out << kind_names[static_cast<std::size_t>(row.kind)] << ',' << csv_field(row.host) << text;
}

DetourTrace read_detour_trace(std::istream& in, const std::string& name, const DetourReading& reading) {
  const std::string text = read_text(in, name, "expected a file of hplcast-measure-detours, Netgauge, FTQ or rtla");
  DetourLines file{{}, name};
  std::istringstream lines(text);
  for (std::string line; file.lines.size() < 200 && std::getline(lines, line);) file.lines.push_back(line);
  const std::string first = first_words(file.lines);
  if (first.empty()) throw ParseError({name, 0, ""}, "found no line of data; expected measured detours");
  if (first.find("start_s") != std::string::npos || first.find("kind") != std::string::npos) {
    std::istringstream own(text);
    return read_own(own, name, reading);
  }
  for (std::string line; std::getline(lines, line);) file.lines.push_back(line);
  return looks_like_osnoise(file) ? read_osnoise(file) : read_two_columns(file, reading);
}

namespace {

void shift(CoreDetours& core, double by_s) {
  for (DetourWindow& window : core.windows) window.start_s += by_s, window.end_s += by_s;
  for (DetourEvent& event : core.events) event.start_s += by_s;
}

void join_core(CoreDetours& into, CoreDetours&& from) {
  into.windows.insert(into.windows.end(), from.windows.begin(), from.windows.end());
  into.events.insert(into.events.end(), from.events.begin(), from.events.end());
  const auto earlier = [](const auto& a, const auto& b) { return a.start_s < b.start_s; };
  std::sort(into.windows.begin(), into.windows.end(), earlier);
  std::sort(into.events.begin(), into.events.end(), earlier);
  for (std::size_t i = 1; i < into.windows.size(); ++i)
    if (into.windows[i].start_s < into.windows[i - 1].end_s)
      throw ParseError(
          {into.host, 0, ""},
          "core " + std::to_string(into.core) + " was watched twice at the same time; is a file given twice?",
          "files of other programs are named after their host or core");
}

}  // namespace

DetourTrace join_traces(std::vector<DetourTrace> traces) {
  DetourTrace joined;
  std::map<std::pair<std::string, long>, std::size_t> places;
  for (const DetourTrace& trace : traces)
    if (trace.epoch_unix_s > 0 && (joined.epoch_unix_s == 0 || trace.epoch_unix_s < joined.epoch_unix_s))
      joined.epoch_unix_s = trace.epoch_unix_s;
  for (DetourTrace& trace : traces) {
    if (!joined.format.empty() && joined.format != trace.format) joined.format = "several";
    if (joined.format.empty()) joined.format = trace.format;
    for (CoreDetours& core : trace.cores) {
      if (trace.epoch_unix_s > 0) shift(core, trace.epoch_unix_s - joined.epoch_unix_s);
      const auto [place, is_new] = places.try_emplace({core.host, core.core}, joined.cores.size());
      if (is_new) {
        joined.cores.push_back(std::move(core));
      } else {
        join_core(joined.cores[place->second], std::move(core));
      }
    }
    joined.summaries.insert(joined.summaries.end(), trace.summaries.begin(), trace.summaries.end());
    joined.notes.insert(joined.notes.end(), trace.notes.begin(), trace.notes.end());
  }
  if (!joined.cores.empty() && !joined.summaries.empty())
    throw ParseError({"", 0, ""}, "found files of events and files of sums (rtla); expected either");
  return joined;
}

}  // namespace hplcast::core
