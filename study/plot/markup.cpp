#include "study/plot/markup.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hplcast::study {

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
  if (!std::isfinite(value)) return "not known";
  const int magnitude = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
  return with_decimals(value, digits - 1 - magnitude);
}

std::string coordinate(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

}  // namespace hplcast::study
