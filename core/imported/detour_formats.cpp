#include "core/imported/detour_formats.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

double number_of(const std::string& word, const Location& location) {
  double value = 0;
  constexpr double most = 1e19;  // ns: as in our own files, 1e10 s
  if (!parse_double(word, value) || value < 0 || value > most)
    throw ParseError(location, "found `" + word + "`; expected a number of 0 to 1e19");
  return value;
}

/// "node7" of "selfish-node7.dat": files of other programs do not say where they are from.
std::string stem(const std::string& name) {
  const std::size_t slash = name.find_last_of('/');
  const std::string file = slash == std::string::npos ? name : name.substr(slash + 1);
  return file.substr(0, file.find_last_of('.'));
}

/// The number after a text in comment lines, or 0.
double comment_number(const DetourLines& file, const std::string& key) {
  for (const std::string& line : file.lines) {
    const std::size_t at = line.find(key);
    if (line.empty() || line.front() != '#' || at == std::string::npos) continue;
    const std::size_t digit = line.find_first_of("0123456789", at + key.size());
    double value = 0;
    if (digit != std::string::npos && std::sscanf(line.c_str() + digit, "%lf", &value) == 1) return value;
  }
  return 0;
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
  for (const Pair& pair : pairs) core.events.push_back({pair.first * 1e-9, pair.second * 1e-9});
  const double last_s = core.events.back().start_s + core.events.back().duration_s;
  const double first_s = core.events.front().start_s;
  // Only a period that holds all events is one; Netgauge counts it from the first reading of its clock.
  const double period_s = comment_number(file, "easurement period");
  double end_s = last_s;
  if (period_s > 0 && first_s < period_s && last_s <= period_s * 1.001) end_s = std::max(end_s, period_s);
  core.windows.push_back({end_s > last_s ? 0 : first_s, end_s});
  if (core.watched_s() < 1) trace.notes.push_back(file.name + ": watched for less than a second");
  trace.cores.push_back(std::move(core));
  return trace;
}

DetourTrace read_ftq(const DetourLines& file, const std::vector<Pair>& pairs, const DetourReading& reading) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < pairs.size(); ++i) steps.push_back(pairs[i].first - pairs[i - 1].first);
  const double quantum_s = upper_median(std::move(steps)) * 1e-9;
  if (!(quantum_s > 0)) throw ParseError({file.name, pairs[0].line, ""}, "found equal times; expected quanta of time");
  std::vector<WorkQuantum> quanta;
  for (const Pair& pair : pairs) quanta.push_back({pair.first * 1e-9, quantum_s, pair.second});
  DetourTrace trace;
  trace.format = "ftq";
  CoreDetours core{stem(file.name), 0, {{quanta.front().start_s, quanta.back().start_s + quantum_s}}, {}};
  add_ftq_events(quanta, reading, core);
  trace.cores.push_back(std::move(core));
  return trace;
}

}  // namespace

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

DetourTrace read_two_columns(const DetourLines& file, const DetourReading& reading) {
  const std::vector<Pair> pairs = pairs_of(file);
  DetourTrace trace = is_selfish(file) ? read_selfish(file, pairs) : read_ftq(file, pairs, reading);
  for (const CoreDetours& core : trace.cores) require_order(core, file.name);
  return trace;
}

void add_ftq_events(const std::vector<WorkQuantum>& quanta, const DetourReading& reading, CoreDetours& core) {
  // Work per second of an undisturbed quantum: the quickest one may have been a bit longer than it says.
  std::vector<double> rates;
  for (const WorkQuantum& quantum : quanta) rates.push_back(quantum.work / quantum.duration_s);
  if (rates.empty()) return;
  const auto place = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() * 99 / 100);
  std::nth_element(rates.begin(), place, rates.end());
  const double best = *place;
  if (!(best > 0)) return;
  const double unit_s = 1 / best;  // half a unit is rounding
  for (const WorkQuantum& quantum : quanta) {
    const double lost_s = quantum.duration_s - quantum.work / best;
    if (lost_s > reading.threshold_s + 1.5 * unit_s)
      core.events.push_back({quantum.start_s, std::min(lost_s, quantum.duration_s)});
  }
}

void add_fwq_events(const std::vector<WorkQuantum>& quanta, const DetourReading& reading, CoreDetours& core) {
  double least_s = INFINITY;
  for (const WorkQuantum& quantum : quanta) least_s = std::min(least_s, quantum.duration_s);
  for (const WorkQuantum& quantum : quanta)
    if (quantum.duration_s - least_s > reading.threshold_s)
      core.events.push_back({quantum.start_s, quantum.duration_s - least_s});
}

void require_order(const CoreDetours& core, const std::string& name) {
  const std::string where = "core " + std::to_string(core.core) + " of " + core.host;
  constexpr double rounding_s = 2e-9;  // times are written to a nanosecond
  for (std::size_t i = 1; i < core.events.size(); ++i) {
    const DetourEvent& before = core.events[i - 1];
    if (core.events[i].start_s < before.start_s)
      throw ParseError({name, 0, "start_s"}, where + ": time runs backwards, from " + shortest(before.start_s) +
                                                 " s to " + shortest(core.events[i].start_s) +
                                                 " s; expected the order of time");
    if (core.events[i].start_s < before.start_s + before.duration_s - rounding_s)
      throw ParseError({name, 0, "duration_s"}, where + ": the detour at " + shortest(before.start_s) + " s lasts " +
                                                    shortest(before.duration_s) +
                                                    " s, beyond the beginning of the next");
  }
}

}  // namespace hplcast::core
