#include "quantities.hpp"

#include <cstdio>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/units.hpp"

namespace hplcast::cli {

namespace {

/// CLI11 hands texts from one step to the next: the number goes on with all its digits.
CLI::Validator validator(double (*parse_quantity)(const std::string&), const std::string& kind) {
  return CLI::Validator(
      [parse_quantity](std::string& text) {
        try {
          char digits[40];
          std::snprintf(digits, sizeof digits, "%.17g", parse_quantity(text));
          text = digits;
          return std::string();
        } catch (const core::UsageError& error) {
          return std::string(error.what());
        }
      },
      kind);
}

double parse_share(const std::string& text) {
  const bool is_percent = !text.empty() && text.back() == '%';
  double value = 0;
  const bool is_number = core::parse_double(is_percent ? text.substr(0, text.size() - 1) : text, value);
  const double share = is_percent ? value / 100 : value;
  if (!is_number || share < 0 || share > 1)
    throw core::UsageError("found `" + text + "`; expected a share such as 1% or 0.01");
  return share;
}

}  // namespace

CLI::Validator as_bytes() {
  return validator(core::parse_bytes, "SIZE");
}
CLI::Validator as_bytes_per_s() {
  return validator(core::parse_bytes_per_s, "BANDWIDTH");
}
CLI::Validator as_flop_per_s() {
  return validator(core::parse_flop_per_s, "RATE");
}
CLI::Validator as_seconds() {
  return validator(core::parse_seconds, "DURATION");
}
CLI::Validator as_share() {
  return validator(parse_share, "SHARE");
}

}  // namespace hplcast::cli
