#include "hplcast/core/detour_trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

const char* const detour_csv_header = "kind,host,core,start_s,duration_s,work,unit_s";

namespace {

// --- events from quanta, and what must hold of them ---

/// Work that was done in [start_s, start_s + duration_s).
struct WorkQuantum {
  double start_s = 0;
  double duration_s = 0;
  double work = 0;
};

void add_ftq_events(const std::vector<WorkQuantum>& quanta, const DetourReading& reading, CoreDetours& core) {
  // Work per second of an undisturbed quantum: the quickest one may have been a bit longer than it says.
  auto rates = mapped(quanta, [](const WorkQuantum& quantum) { return quantum.work / quantum.duration_s; });
  if (rates.empty()) return;
  const auto place = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() * 99 / 100);
  std::nth_element(rates.begin(), place, rates.end());
  const double best = *place;
  if (!(best > 0)) return;
  const double unit_s = 1 / best;  // half a unit is rounding
  for (const WorkQuantum& quantum : quanta) {
    core.resolution_s = std::max(core.resolution_s, quantum.work / best);
    const double lost_s = quantum.duration_s - quantum.work / best;
    if (lost_s > reading.threshold_s + 1.5 * unit_s)
      core.events.push_back({quantum.start_s, std::min(lost_s, quantum.duration_s)});
  }
}

void add_fwq_events(const std::vector<WorkQuantum>& quanta, const DetourReading& reading, CoreDetours& core) {
  double least_s = INFINITY;
  for (const WorkQuantum& quantum : quanta) least_s = std::min(least_s, quantum.duration_s);
  if (!quanta.empty()) core.resolution_s = std::max(core.resolution_s, least_s);
  for (const WorkQuantum& quantum : quanta)
    if (quantum.duration_s - least_s > reading.threshold_s)
      core.events.push_back({quantum.start_s, quantum.duration_s - least_s});
}

/// @throws ParseError unless the events are in the order of their times, which do not overlap.
void require_order(const CoreDetours& core, const std::string& name) {
  const std::string where = "core " + std::to_string(core.core) + " of " + core.host;
  constexpr double rounding_s = 2e-9;  // times are written to a nanosecond
  for (std::size_t i = 1; i < core.events.size(); ++i) {
    const DetourEvent& before = core.events[i - 1];
    if (core.events[i].start_s < before.start_s + before.duration_s - rounding_s)
      throw ParseError({name, 0, "duration_s"}, where + ": the detour at " + shortest(before.start_s) + " s lasts " +
                                                    shortest(before.duration_s) +
                                                    " s, beyond the beginning of the next");
  }
}

// --- our own CSV ---

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
  double loop_s = 0;                                         ///< a pass of the loop that saw gaps
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
                    start = csv.column("start_s"), duration = csv.column("duration_s"), work = csv.find_column("work"),
                    unit = csv.find_column("unit_s");
  csv.refuse_misspelt({"kind", "host", "core", "start_s", "duration_s", "work", "unit_s"});
  DetourTrace trace;
  trace.format = "hplcast";
  std::map<std::pair<std::string, long>, Reading> cores;
  while (csv.next()) {
    const auto row = csv.made(kind, from_name<DetourRowKind>);
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
      if (unit != CsvReader::npos && !csv.text(unit).empty())
        core.loop_s = std::max(core.loop_s, csv.non_negative(unit));
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
    if (core.fwq.empty() && core.ftq.empty()) core.detours.resolution_s = core.loop_s;
    add_fwq_events(core.fwq, reading, core.detours);
    add_ftq_events(core.ftq, reading, core.detours);
    require_order(core.detours, name);
    complete_windows(core.detours, trace, name);
    trace.cores.push_back(std::move(core.detours));
  }
  return trace;
}

// --- files of other programs ---

struct DetourLines {
  std::vector<std::string> lines;
  std::string name;
};

double number_of(const std::string& word, const Location& location) {
  double value = 0;
  constexpr double most = 1e19;  // ns: as in our own files, 1e10 s
  if (!parse_double(word, value) || value < 0 || value > most)
    throw ParseError(location, "found `" + word + "`; expected a number of 0 to 1e19");
  return value;
}

/// "node7" of "selfish-node7.dat": files of other programs do not say where they are from.
std::string stem(const std::string& name) {
  return std::filesystem::path(name).stem();
}

/// The number after a text in comment lines.
std::optional<double> comment_number(const DetourLines& file, const std::string& key) {
  for (const std::string& line : file.lines) {
    const std::size_t at = line.find(key);
    if (line.empty() || line.front() != '#' || at == std::string::npos) continue;
    const std::size_t digit = line.find_first_of("0123456789", at + key.size());
    double value = 0;
    if (digit != std::string::npos && std::sscanf(line.c_str() + digit, "%lf", &value) == 1) return value;
  }
  return std::nullopt;
}

bool is_selfish(const DetourLines& file) {
  return std::any_of(file.lines.begin(), file.lines.end(), [](const std::string& line) {
    return !line.empty() && line.front() == '#' &&
           (line.find("etgauge") != std::string::npos || line.find("cycle length") != std::string::npos ||
            line.find("overhead due to noise") != std::string::npos);
  });
}

struct Pair {
  double first = 0, second = 0;
  std::size_t line = 0;
};

std::vector<Pair> pairs_of(const DetourLines& file) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    const auto words = words_of(line);
    if (words.empty() || words.front().front() == '#' || words.front().front() == '%') continue;
    const Location location{file.name, i + 1, ""};
    if (words.size() != 2)
      throw ParseError(location, "found " + std::to_string(words.size()) + " fields; expected two numbers",
                       "files of hplcast-measure-detours, Netgauge's selfish, FTQ and `rtla osnoise top` are read");
    pairs.push_back({number_of(words[0], location), number_of(words[1], location), i + 1});
    if (pairs.size() > 1 && pairs.back().first < pairs[pairs.size() - 2].first)
      throw ParseError(location, "time runs backwards: " + words[0] + " ns after " +
                                     shortest(pairs[pairs.size() - 2].first) + "; expected the order of time");
  }
  if (pairs.size() < 2)
    throw ParseError({file.name, pairs.empty() ? 0 : pairs.front().line, ""},
                     "found " + std::to_string(pairs.size()) +
                         " lines of data; expected at least two: one tells nothing about how often",
                     "measure longer");
  return pairs;
}

DetourTrace read_selfish(const DetourLines& file, const std::vector<Pair>& pairs) {
  DetourTrace trace;
  trace.format = "selfish";
  CoreDetours core{stem(file.name), 0, {}, {}};
  for (const Pair& pair : pairs)
    if (pair.second * 1e-9 > 0) core.events.push_back({pair.first * 1e-9, pair.second * 1e-9});
  const double first_s = pairs.front().first * 1e-9;
  const double last_s = pairs.back().first * 1e-9 + pairs.back().second * 1e-9;
  // Only a period that holds all events is one; Netgauge counts it from the first reading of its clock.
  const double period_s = comment_number(file, "easurement period").value_or(0);
  double end_s = last_s;
  if (period_s > 0 && period_s <= longest_time_s && first_s < period_s && last_s <= period_s * 1.001)
    end_s = std::max(end_s, period_s);
  core.windows.push_back({end_s > last_s ? 0 : first_s, end_s});
  if (core.watched_s() < 1) trace.notes.push_back(file.name + ": watched for less than a second");
  trace.cores.push_back(std::move(core));
  return trace;
}

DetourTrace read_ftq(const DetourLines& file, const std::vector<Pair>& pairs, const DetourReading& reading) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < pairs.size(); ++i) steps.push_back(pairs[i].first - pairs[i - 1].first);
  const double quantum_s = upper_median(steps) * 1e-9;
  if (!(quantum_s > 0)) throw ParseError({file.name, pairs[0].line, ""}, "found equal times; expected quanta of time");
  // A quantum lasts until the next one begins: later than planned behind a detour, which the ones after it make up for.
  std::vector<WorkQuantum> quanta;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i] > 0) quanta.push_back({pairs[i].first * 1e-9, steps[i] * 1e-9, pairs[i].second});
  quanta.push_back({pairs.back().first * 1e-9, quantum_s, pairs.back().second});
  DetourTrace trace;
  trace.format = "ftq";
  CoreDetours core{stem(file.name), 0, {{quanta.front().start_s, quanta.back().start_s + quantum_s}}, {}};
  add_ftq_events(quanta, reading, core);
  // Threads are cores of one host, which begin together: "# thread 1, core -1" in node_1.dat.
  if (const auto thread = comment_number(file, "# thread ")) {
    core.core = static_cast<long>(std::min(*thread, 1e9));
    const std::string suffix = '_' + std::to_string(core.core);
    if (ends_with(core.host, suffix)) core.host.resize(core.host.size() - suffix.size());
  }
  trace.cores.push_back(std::move(core));
  return trace;
}

/// Output of `rtla osnoise top`.
bool looks_like_osnoise(const DetourLines& file) {
  return std::any_of(file.lines.begin(), file.lines.end(), [](const std::string& line) {
    const auto words = words_of(line);
    return words.size() > 4 && words[0] == "CPU" && words[1] == "Period" && words[2] == "Runtime" &&
           words[3] == "Noise";
  });
}

DetourTrace read_osnoise(const DetourLines& file) {
  DetourTrace trace;
  trace.format = "osnoise";
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const auto words = words_of(file.lines[i]);
    if (words.size() < 2 || words[1].front() != '#') continue;
    const Location location{file.name, i + 1, ""};
    // CPU, #periods, runtime, noise, % available, max noise, max single, counts of their causes; times in us.
    if (words.size() < 8)
      throw ParseError(location, "found " + std::to_string(words.size()) + " columns; expected at least 8");
    DetourSummary sum;
    sum.host = stem(file.name);
    sum.core = static_cast<long>(std::min(1e9, number_of(words[0], location)));
    sum.watched_s = number_of(words[2], location) * 1e-6;
    sum.lost_s = number_of(words[3], location) * 1e-6;
    sum.longest_s = number_of(words[6], location) * 1e-6;
    for (std::size_t column = 7; column < words.size(); ++column) sum.events += number_of(words[column], location);
    if (!(sum.watched_s > 0) || sum.lost_s >= sum.watched_s)
      throw ParseError(location, "found a noise of " + words[3] + " us in a runtime of " + words[2] +
                                     " us; expected less noise than runtime");
    trace.summaries.push_back(sum);
  }
  if (trace.summaries.empty()) throw ParseError({file.name, 0, ""}, "found a header only; expected a line per CPU");
  trace.notes.push_back(file.name + ": has sums, not events: periods cannot be found in it");
  return trace;
}

/// Lines of two numbers: Netgauge's selfish, or FTQ.
DetourTrace read_two_columns(const DetourLines& file, const DetourReading& reading) {
  const std::vector<Pair> pairs = pairs_of(file);
  DetourTrace trace = is_selfish(file) ? read_selfish(file, pairs) : read_ftq(file, pairs, reading);
  for (const CoreDetours& core : trace.cores) require_order(core, file.name);
  return trace;
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
  if (row.kind == DetourRowKind::epoch) {
    out << printed("epoch,,,%.0f,,,\n", row.start_s);
    return;
  }
  out << to_string(row.kind) << ',' << csv_field(row.host)
      << printed(",%ld,%.9f,%.9f,%.0f,%.10f\n", row.core, row.start_s, row.duration_s, row.work, row.unit_s);
}

DetourTrace read_detour_trace(std::istream& in, const std::string& name, const DetourReading& reading) {
  const std::string text = read_text(in, name, "expected a file of hplcast-measure-detours, Netgauge, FTQ or rtla");
  DetourLines file{{}, name};
  std::istringstream lines(text);
  for (std::string line; file.lines.size() < 200 && std::getline(lines, line);) file.lines.push_back(line);
  const std::string first = csv_header(text);
  if (first.empty()) throw ParseError({name, 0, ""}, "found no line of data; expected measured detours");
  if (first.find("start_s") != std::string::npos || first.find("kind") != std::string::npos)
    return read_own(TextStream(text), name, reading);
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
  into.resolution_s = std::max(into.resolution_s, from.resolution_s);
  const auto earlier = [](const auto& a, const auto& b) { return a.start_s < b.start_s; };
  std::sort(into.windows.begin(), into.windows.end(), earlier);
  std::sort(into.events.begin(), into.events.end(), earlier);
  constexpr double rounding_s = 1e-6;
  for (std::size_t i = 1; i < into.windows.size(); ++i)
    if (into.windows[i].start_s < into.windows[i - 1].end_s - rounding_s)
      throw ParseError(
          {into.host, 0, ""},
          "core " + std::to_string(into.core) + " was watched twice at the same time; is a file given twice?",
          "files of other programs are named after their host or core");
}

}  // namespace

DetourTrace join_traces(std::vector<DetourTrace> traces) {
  DetourTrace joined;
  std::map<std::pair<std::string, long>, std::size_t> places;
  for (const DetourTrace& trace : traces) {
    joined.common_clock = joined.common_clock && (trace.cores.empty() || trace.epoch_unix_s > 0 || traces.size() == 1);
    if (trace.epoch_unix_s > 0 && (joined.epoch_unix_s == 0 || trace.epoch_unix_s < joined.epoch_unix_s))
      joined.epoch_unix_s = trace.epoch_unix_s;
  }
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
