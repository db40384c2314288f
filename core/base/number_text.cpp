#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

/// Of the first digit: 2 of 123, -2 of 0.01.
int magnitude_of(double value) {
  return value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
}

}  // namespace

std::string significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return printed("%g", value);
  const int magnitude = magnitude_of(value);
  if (magnitude < -5 || magnitude > 9) return printed("%.3e", value);
  return printed("%.*f", std::max(0, digits - 1 - magnitude), value);
}

std::string with_decimals(double value, int decimals) {
  char buffer[400];  // the longest double has 309 digits before its point
  std::snprintf(buffer, sizeof buffer, "%.*f", std::clamp(decimals, 0, 12), value);
  std::string text = buffer;
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::size_t first_digit = text[0] == '-' ? 1 : 0;
  for (std::size_t i = point; i > first_digit + 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string readable(double value, int digits) {
  return std::isfinite(value) ? with_decimals(value, digits - 1 - magnitude_of(value)) : "not known";
}

std::string percent(double ratio) {
  return printed("%.1f %%", 100 * ratio);
}

std::string signed_percent(double ratio) {
  return printed("%+.1f %%", 100 * ratio);
}

std::string short_percent(double ratio) {
  return shortest(std::round(ratio * 1000) / 10) + " %";
}

std::string readable_percent(double ratio, int decimals) {
  return with_decimals(100 * ratio, decimals) + " %";
}

std::string readable_change(double ratio) {
  return (ratio > 0 ? "+" : "") + readable_percent(ratio);
}

std::string duration_text(double seconds) {
  const long long total = std::llround(std::max(0.0, seconds));
  if (total < 60) return printed("%llds", total);
  if (total < 3600) return printed("%lldm%02llds", total / 60, total % 60);
  return printed("%lldh%02lldm", total / 3600, total % 3600 / 60);
}

std::string time_text(double seconds) {
  for (const auto& [factor, unit] : {std::pair(1e6, "us"), {1e3, "ms"}})
    if (seconds * factor < 1000) return printed("%.3g %s", seconds * factor, unit);
  return printed("%.3g s", seconds);
}

std::string rate_text(double bytes_per_s) {
  const bool giga = bytes_per_s >= 1e9;
  return printed("%.3g %s", bytes_per_s / (giga ? 1e9 : 1e6), giga ? "GB/s" : "MB/s");
}

}  // namespace hplcast::core
