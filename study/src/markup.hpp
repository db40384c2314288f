#pragma once

#include <string>

namespace hplcast::study {

/// A number with that many decimals and commas between thousands: "12,345.6".
std::string with_decimals(double value, int decimals);

/// A number for people: `digits` significant digits, thousands separated by commas, no exponent: "1,234", "0.0123".
std::string readable(double value, int digits = 4);

/// A coordinate in SVG: two decimals are below what a screen shows.
std::string coordinate(double value);

}  // namespace hplcast::study
