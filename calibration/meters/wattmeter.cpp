#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "hplcast/calibration/power_meter.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

/// Adds a row; rows of one moment are one. @throws ParseError for a time before the last one.
void add(std::vector<core::PowerSample>& rows, std::size_t& at_this_moment, const core::CsvReader& csv,
         std::size_t time_column, double time_s, double power_w) {
  if (!rows.empty() && time_s < rows.back().time_s)
    throw core::ParseError(csv.at(time_column),
                           core::printed("found a time %.3f s before that of the row above; expected times in order",
                                         rows.back().time_s - time_s),
                           "the meter's clock was set back, or two files were joined: give the part that was measured");
  if (!rows.empty() && time_s == rows.back().time_s) {
    ++at_this_moment;
    rows.back().power_w += (power_w - rows.back().power_w) / static_cast<double>(at_this_moment);
    return;
  }
  at_this_moment = 1;
  core::PowerSample sample;
  sample.sensor = "wattmeter";
  sample.domain = core::PowerDomain::host;
  sample.time_s = time_s;
  sample.power_w = power_w;
  rows.push_back(sample);
}

void look_for_gaps(const std::string& host, const std::vector<core::PowerSample>& rows, WattmeterDoubts& doubts) {
  std::vector<double> steps_s;
  for (std::size_t i = 1; i < rows.size(); ++i) steps_s.push_back(rows[i].time_s - rows[i - 1].time_s);
  const double period_s = core::upper_median(steps_s);
  doubts.period_s = std::max(doubts.period_s, period_s);
  const auto gaps = std::count_if(steps_s.begin(), steps_s.end(), [&](double step_s) { return step_s > 3 * period_s; });
  if (gaps == 0) return;
  doubts.notes.push_back("the wattmeter" + (host.empty() ? "" : " of " + host) + " has " +
                         core::printed("%td gaps, the longest of %.3g s, in rows that are %.3g s apart otherwise", gaps,
                                       *std::max_element(steps_s.begin(), steps_s.end()), period_s));
}

struct Moments {
  double n = 0, sum = 0, square = 0;
  Moments& operator+=(const Moments& other) {
    n += other.n;
    sum += other.sum;
    square += other.square;
    return *this;
  }
  double scatter() const { return n > 0 ? std::max(0.0, square - sum * sum / n) : 0; }
};

/// Times of a host's rows, with the moments of the power before each row, and of all.
struct Sums {
  std::vector<double> times;
  std::vector<Moments> before{Moments()};
};

/// Equal for pieces whose power should be the same.
std::string kind_of(const PieceRun& run) {
  return run.host + " " + run.piece.state + " " + std::to_string(run.piece.active_cores) + " " +
         core::printed("%.2f", run.piece.frequency_hz / 1e9);
}

class Correlation {
 public:
  Correlation(const SamplesOfHosts& meter, const std::vector<PieceRun>& pieces) : pieces_(pieces) {
    for (const auto& [host, rows] : meter) {
      Sums& sums = sums_[host];
      double mean = 0;
      for (const core::PowerSample& row : rows) mean += row.power_w;
      mean /= static_cast<double>(rows.size());
      for (const core::PowerSample& row : rows) {
        const double difference = row.power_w - mean;  // sums of differences lose no digits
        const Moments& last = sums.before.back();
        sums.times.push_back(row.time_s);
        sums.before.push_back({last.n + 1, last.sum + row.power_w - mean, last.square + difference * difference});
      }
    }
  }

  /// Share of the variance that kinds of pieces explain if the meter is ahead by this much, times the share of the
  /// pieces that then have rows: a few pieces are easily explained.
  double explained(double offset_s) const {
    std::map<std::string, Moments> kinds;
    Moments all;
    std::size_t covered = 0;
    for (const PieceRun& run : pieces_) {
      const Moments moments = within(run, offset_s);
      covered += moments.n > 0 ? 1 : 0;
      kinds[kind_of(run)] += moments;
      all += moments;
    }
    if (!(all.scatter() > 0)) return 0;
    double within_kinds = 0;
    for (const auto& [kind, moments] : kinds) within_kinds += moments.scatter();
    const double share = static_cast<double>(covered) / static_cast<double>(pieces_.size());
    return share * (1 - within_kinds / all.scatter());
  }

 private:
  Moments within(const PieceRun& run, double offset_s) const {
    auto found = sums_.find(run.host);
    if (found == sums_.end()) found = sums_.find("");
    if (found == sums_.end()) return {};
    const Sums& sums = found->second;
    const auto before = [&](double time_s) {
      const auto next = std::upper_bound(sums.times.begin(), sums.times.end(), time_s);
      return sums.before[static_cast<std::size_t>(next - sums.times.begin())];
    };
    const Moments first = before(run.begin_s + offset_s), end = before(run.end_s + offset_s);
    return {end.n - first.n, end.sum - first.sum, end.square - first.square};
  }

  const std::vector<PieceRun>& pieces_;
  std::map<std::string, Sums> sums_;
};

double period_of(const SamplesOfHosts& meter) {
  double longest_s = 0;
  for (const auto& [host, rows] : meter)
    longest_s = std::max(longest_s, (rows.back().time_s - rows.front().time_s) / static_cast<double>(rows.size() - 1));
  return longest_s;
}

double shortest_piece(const std::vector<PieceRun>& pieces) {
  double least_s = pieces.front().end_s - pieces.front().begin_s;
  for (const PieceRun& run : pieces) least_s = std::min(least_s, run.end_s - run.begin_s);
  return least_s;
}

/// Offsets that fit as well as the best: their middle is the estimate, half of their width the error.
void refine(const Correlation& correlation, double step_s, ClockOffset& best) {
  constexpr int parts = 20;
  const double fine_s = step_s / parts;
  double top = best.explained, centre = best.offset_s;
  for (int i = -2 * parts; i <= 2 * parts; ++i) {
    const double value = correlation.explained(best.offset_s + i * fine_s);
    if (value <= top) continue;
    top = value;
    centre = best.offset_s + i * fine_s;
  }
  const auto reach = [&](double direction) {
    int steps = 0;
    while (steps < 4 * parts && correlation.explained(centre + direction * (steps + 1) * fine_s) >= top - 1e-9) ++steps;
    return steps * fine_s;
  };
  const double up_s = reach(1), down_s = reach(-1);
  best = {centre + (up_s - down_s) / 2, (up_s + down_s) / 2 + fine_s, top, best.second_best};
}

}  // namespace

double parse_iso_time(const std::string& text) {
  std::tm parts{};
  char separator = 0;
  int length = 0;
  double seconds = 0;
  const int found = std::sscanf(text.c_str(), "%4d-%2d-%2d%c%2d:%2d:%lf%n", &parts.tm_year, &parts.tm_mon,
                                &parts.tm_mday, &separator, &parts.tm_hour, &parts.tm_min, &seconds, &length);
  if (found < 7 || (separator != 'T' && separator != 't' && separator != ' ') || !(seconds >= 0) || seconds >= 61 ||
      parts.tm_mon < 1 || parts.tm_mon > 12 || parts.tm_mday < 1 || parts.tm_mday > 31 || parts.tm_hour > 24 ||
      parts.tm_min > 59)
    throw core::DomainError("time", text.substr(0, 60), "a date and time such as 2026-11-22T16:03:05.5Z");
  std::string zone = text.substr(static_cast<std::size_t>(length));
  std::replace(zone.begin(), zone.end(), 'z', 'Z');
  const char* const end = strptime(zone.c_str(), "%z", &parts);
  const long east_s = parts.tm_gmtoff;
  core::require(end != nullptr && *end == '\0' && std::abs(east_s) < 15 * 3600, "time", text.substr(0, 60),
                "a zone at its end",
                "a time without zone may be off by hours; expected such as 2026-11-22T16:03:05Z or ...+01:00");
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return static_cast<double>(timegm(&parts)) + seconds - static_cast<double>(east_s);
}

SamplesOfHosts read_wattmeter(std::istream& in, const std::string& name, WattmeterDoubts& doubts) {
  core::CsvReader csv(in, name);
  csv.refuse_misspelt({"time_s", "time", "power_w", "host"});
  const std::size_t host = csv.find_column("host"), power = csv.column("power_w"), seconds = csv.find_column("time_s"),
                    iso = csv.find_column("time");
  if (seconds == core::CsvReader::npos && iso == core::CsvReader::npos)
    throw core::ParseError({name, 1, ""}, "no column time_s (Unix time) or time (ISO 8601 with zone)");
  const std::size_t time_column = seconds != core::CsvReader::npos ? seconds : iso;
  SamplesOfHosts rows;
  std::map<std::string, std::size_t> at_this_moment;
  while (csv.next()) {
    const std::string who = host == core::CsvReader::npos ? "" : std::string(csv.text(host));
    const double time_s = seconds != core::CsvReader::npos ? csv.number(seconds) : csv.made(iso, parse_iso_time);
    add(rows[who], at_this_moment[who], csv, time_column, time_s, csv.positive(power));
  }
  if (rows.empty()) throw core::ParseError({name, 0, ""}, "no rows in it");
  for (const auto& [who, of_host] : rows) {
    if (of_host.size() < 2) throw core::ParseError({name, 0, ""}, "a single row" + (who.empty() ? "" : " of " + who));
    look_for_gaps(who, of_host, doubts);
  }
  return rows;
}

ClockOffset estimate_offset(const SamplesOfHosts& meter, const std::vector<PieceRun>& pieces, double most_s) {
  const Correlation correlation(meter, pieces);
  const double step_s = std::min(period_of(meter), shortest_piece(pieces)) / 4;
  const auto steps = static_cast<long>(std::ceil(most_s / step_s));
  ClockOffset best;
  std::vector<std::pair<double, double>> values;  // offset, explained
  for (long i = -steps; i <= steps; ++i) {
    const double offset_s = static_cast<double>(i) * step_s;
    values.emplace_back(offset_s, correlation.explained(offset_s));
    if (values.back().second > best.explained) best = {offset_s, 0, values.back().second, 0};
  }
  const double elsewhere_s = shortest_piece(pieces);
  for (const auto& [offset_s, value] : values)
    if (std::abs(offset_s - best.offset_s) > elsewhere_s) best.second_best = std::max(best.second_best, value);
  constexpr double least_explained = 0.7, too_alike = 0.02;
  if (best.explained < least_explained)
    throw core::InputError("the wattmeter does not follow the pieces: at most " +
                           core::printed("%.2g %% of its variance is theirs, whatever its clock is within %.4g s",
                                         100 * best.explained, most_s) +
                           "\n  hint: is it the meter of these hosts and of this time? A clock that is farther off "
                           "needs a larger --most-offset; pieces all alike tell nothing");
  if (std::abs(best.offset_s) > most_s - step_s)
    throw core::InputError(
        "the wattmeter's clock is off by " +
        core::printed("%.4g s and more: %.4g s was the most that was looked at", std::abs(best.offset_s), most_s) +
        "\n  hint: a larger --most-offset");
  if (best.explained - best.second_best < too_alike)
    throw core::InputError("the offset of the wattmeter's clock is not clear: " +
                           core::printed("one explains %.3g %% of its variance, and another one elsewhere %.3g %%",
                                         100 * best.explained, 100 * best.second_best) +
                           "\n  hint: more pieces and repetitions, or a smaller --most-offset");
  refine(correlation, step_s, best);
  return best;
}

std::vector<core::PowerSample> place_wattmeter(const SamplesOfHosts& meter, const std::vector<PieceRun>& pieces,
                                               const SetAside& aside, const ClockOffset& clock, double period_s) {
  std::map<std::string, std::vector<PieceRun>> by_host;
  for (const PieceRun& run : pieces) by_host[run.host].push_back(run);
  const SetAside longer{aside.begin_s + period_s + clock.error_s, aside.end_s + clock.error_s};
  std::vector<core::PowerSample> all;
  for (const auto& [host, rows] : meter) {
    const std::string who = host.empty() && by_host.size() == 1 ? by_host.begin()->first : host;
    const auto found = by_host.find(who);
    if (found == by_host.end()) {
      const std::string names = core::joined(by_host, ", ", [](const auto& one) { return one.first; });
      throw core::InputError("the wattmeter has rows of " + (host.empty() ? "a host without name" : host) +
                             "; expected " + names + ", the hosts that were measured" +
                             (host.empty() ? "\n  hint: a column `host`" : ""));
    }
    std::vector<core::PowerSample> shifted = rows;
    for (core::PowerSample& row : shifted) row.time_s -= clock.offset_s;
    core::append(all, place_samples(std::move(shifted), found->second, longer));
  }
  if (all.empty()) throw core::InputError("the wattmeter has no row from the time of the measurement");
  return all;
}

}  // namespace hplcast::calibration
