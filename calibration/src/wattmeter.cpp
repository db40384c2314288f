#include "hplcast/calibration/wattmeter.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/core/upper_median.hpp"

namespace hplcast::calibration {

namespace {

constexpr const char* zone_hint =
    "a time without zone may be off by hours; expected such as 2026-11-22T16:03:05Z or "
    "...+01:00";

/// Seconds east of UTC from "Z", "+01:00", "+0100", "-05". False if it is none.
bool parse_zone(const std::string& text, double& east_s) {
  if (text == "Z" || text == "z") {
    east_s = 0;
    return true;
  }
  int hours = 0, minutes = 0, length = 0;
  char sign = 0;
  const bool with_colon = std::sscanf(text.c_str(), "%c%2d:%2d%n", &sign, &hours, &minutes, &length) == 3;
  if (!with_colon) {
    minutes = length = 0;
    const int found = std::sscanf(text.c_str(), "%c%2d%n%2d%n", &sign, &hours, &length, &minutes, &length);
    if (found < 2) return false;
  }
  if ((sign != '+' && sign != '-') || static_cast<std::size_t>(length) != text.size() || hours > 14 || minutes > 59 ||
      hours < 0 || minutes < 0)
    return false;
  east_s = (sign == '-' ? -1 : 1) * (3600.0 * hours + 60.0 * minutes);
  return true;
}

double time_of(const core::CsvReader& csv, std::size_t seconds, std::size_t iso) {
  if (seconds != core::CsvReader::npos) return csv.number(seconds);
  try {
    return parse_iso_time(std::string(csv.text(iso)));
  } catch (const core::DomainError& error) {
    throw core::ParseError(csv.at(iso), error.what());
  }
}

/// Adds a row; rows of one moment are one. @throws ParseError for a time before the last one.
void add(std::vector<core::PowerSample>& rows, std::size_t& at_this_moment, const core::CsvReader& csv,
         std::size_t time_column, double time_s, double power_w) {
  if (!rows.empty() && time_s < rows.back().time_s) {
    throw core::ParseError(csv.at(time_column),
                           core::printed("found a time %.3f s before that of the row above; expected times in order",
                                         rows.back().time_s - time_s),
                           "the meter's clock was set back, or two files were joined: give the part that was measured");
  }
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

double median_step(const std::vector<core::PowerSample>& rows) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < rows.size(); ++i) steps.push_back(rows[i].time_s - rows[i - 1].time_s);
  return core::upper_median(std::move(steps));
}

void look_for_gaps(const std::string& host, const std::vector<core::PowerSample>& rows, WattmeterDoubts& doubts) {
  const double period_s = median_step(rows);
  doubts.period_s = std::max(doubts.period_s, period_s);
  std::size_t gaps = 0;
  double longest_s = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double step_s = rows[i].time_s - rows[i - 1].time_s;
    if (step_s <= 3 * period_s) continue;
    ++gaps;
    longest_s = std::max(longest_s, step_s);
  }
  if (gaps == 0) return;
  doubts.gaps += gaps;
  doubts.longest_gap_s = std::max(doubts.longest_gap_s, longest_s);
  doubts.notes.push_back("the wattmeter" + (host.empty() ? "" : " of " + host) + " has " +
                         core::printed("%zu gaps, the longest of %.3g s, in rows that are %.3g s apart otherwise", gaps,
                                       longest_s, period_s));
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
  zone.erase(0, zone.find_first_not_of(' ') == std::string::npos ? 0 : zone.find_first_not_of(' '));
  double east_s = 0;
  if (!parse_zone(zone, east_s)) throw core::DomainError("time", text.substr(0, 60), "a zone at its end", zone_hint);
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return static_cast<double>(timegm(&parts)) + seconds - east_s;
}

std::map<std::string, std::vector<core::PowerSample>> read_wattmeter(std::istream& in, const std::string& name,
                                                                     WattmeterDoubts& doubts) {
  core::CsvReader csv(in, name);
  csv.refuse_misspelt({"time_s", "time", "power_w", "host"});
  const std::size_t host = csv.find_column("host"), power = csv.column("power_w"), seconds = csv.find_column("time_s"),
                    iso = csv.find_column("time");
  if (seconds == core::CsvReader::npos && iso == core::CsvReader::npos)
    throw core::ParseError({name, 1, ""}, "no column time_s (Unix time) or time (ISO 8601 with zone)");
  const std::size_t time_column = seconds != core::CsvReader::npos ? seconds : iso;
  std::map<std::string, std::vector<core::PowerSample>> rows;
  std::map<std::string, std::size_t> at_this_moment;
  while (csv.next()) {
    const std::string who = host == core::CsvReader::npos ? "" : std::string(csv.text(host));
    const double time_s = time_of(csv, seconds, iso);
    add(rows[who], at_this_moment[who], csv, time_column, time_s, csv.positive(power));
  }
  if (rows.empty()) throw core::ParseError({name, 0, ""}, "no rows in it");
  for (const auto& [who, of_host] : rows) {
    if (of_host.size() < 2) throw core::ParseError({name, 0, ""}, "a single row" + (who.empty() ? "" : " of " + who));
    look_for_gaps(who, of_host, doubts);
  }
  return rows;
}

}  // namespace hplcast::calibration
