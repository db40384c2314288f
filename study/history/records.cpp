#include "hplcast/study/history.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <ctime>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::study {

std::string to_string(const Place& place) {
  return place.cpu < 0 ? place.host : place.host + " CPU " + std::to_string(place.cpu);
}

const std::vector<FactorInfo>& known_factors() {
  static const std::vector<FactorInfo> factors = {
      {"dgemm_gflops", "mean_gflops", "Gflop/s", "mean speed of dgemm per core: 2 sum(mnk) / sum(duration)", true},
      {"frequency_ghz", "mean_frequency", "GHz", "mean frequency of the cores while dgemm runs", true},
      {"temperature_celsius", "mean_temperature", "degrees C", "mean temperature while dgemm runs", true},
      {"power_cpu_w", "mean_power_cpu", "W", "mean power of the CPU package", true},
      {"power_dram_w", "mean_power_dram", "W", "mean power of the memory", true},
      {"latency_us", "", "us", "of a message of 8 bytes: half a round trip", true},
      {"bandwidth_64kib_gbps", "", "GB/s", "of a message of 64 KiB: size / time", true},
      {"bandwidth_1mib_gbps", "", "GB/s", "of a message of 1 MiB: size / time", true},
      {"dgemm_intercept", "intercept", "s", "constant of dgemm's model", false},
      {"dgemm_mnk", "mnk", "s", "coefficient of mnk in dgemm's model", false},
      {"dgemm_mn", "mn", "s", "coefficient of mn", false},
      {"dgemm_mk", "mk", "s", "coefficient of mk", false},
      {"dgemm_nk", "nk", "s", "coefficient of nk", false},
      {"dgemm_intercept_sd", "intercept_residual", "s", "the same of the standard deviation", false},
      {"dgemm_mnk_sd", "mnk_residual", "s", "the same of the standard deviation", false},
      {"dgemm_mn_sd", "mn_residual", "s", "the same of the standard deviation", false},
      {"dgemm_mk_sd", "mk_residual", "s", "the same of the standard deviation", false},
      {"dgemm_nk_sd", "nk_residual", "s", "the same of the standard deviation", false}};
  return factors;
}

const FactorInfo* find_factor(const std::string& name) {
  for (const FactorInfo& factor : known_factors())
    if (name == factor.name) return &factor;
  // Factors of segments, whose begin is in the name.
  static const FactorInfo segment_latency = {"latency_from_SIZE_us", "", "us",
                                             "of a message where a segment begins: half a round trip", true};
  static const FactorInfo segment_bandwidth = {"bandwidth_from_SIZE_gbps", "", "GB/s",
                                               "of a message where a segment ends: size / time", true};
  if (core::begins_with(name, "latency_from_")) return &segment_latency;
  if (core::begins_with(name, "bandwidth_from_")) return &segment_bandwidth;
  return nullptr;
}

std::vector<std::string> names_in(const std::string& list) {
  return core::split(list + "/", '/');  // with an empty name at the end, if there is one
}

bool list_names(const std::string& list, const std::string& name) {
  if (list == "all") return true;
  const auto names = names_in(list);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string names_text(const std::vector<std::string>& names) {
  return core::joined(names, ", ", [](const std::string& name) { return name.empty() ? "''" : name; });
}

std::int64_t parse_date(const std::string& text) {
  std::tm parts{};
  int used = 0;
  char separator = ' ';
  const int found =
      std::sscanf(text.c_str(), "%4d-%2d-%2d%n%c%2d:%2d%n:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &used,
                  &separator, &parts.tm_hour, &parts.tm_min, &used, &parts.tm_sec, &used);
  const bool whole = (found == 3 || found == 6 || found == 7) && static_cast<std::size_t>(used) == text.size() &&
                     parts.tm_year >= 1970 && text.front() > '0';  // no sign, no blank, not 21-02-25
  const auto is_below = [](int value, int limit) { return value >= 0 && value < limit; };
  const bool of_a_day = is_below(parts.tm_hour, 24) && is_below(parts.tm_min, 60) && is_below(parts.tm_sec, 60);
  if (!whole || (separator != ' ' && separator != 'T') || !of_a_day)
    throw core::DomainError("date", "`" + text + "`", "YYYY-MM-DD, or with HH:MM or HH:MM:SS (UTC)");
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  // timegm() takes the 31st of February for a day of March.
  std::tm real = parts;
  const std::int64_t time_s = ::timegm(&real);
  if (real.tm_year != parts.tm_year || real.tm_mon != parts.tm_mon || real.tm_mday != parts.tm_mday)
    throw core::DomainError("date", "`" + text + "`", "a day of the calendar");
  return time_s;
}

std::int64_t parse_end(const std::string& text) {
  const std::int64_t time_s = parse_date(text);
  return text.find(':') == std::string::npos ? time_s + core::day_s - 1 : time_s;
}

std::string date_text(std::int64_t time_s) {
  const std::time_t time = time_s;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

}  // namespace hplcast::study
