#include "quantities.hpp"

#include <cstdio>

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

}  // namespace hplcast::cli
