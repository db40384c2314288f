#include "quantities.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "hplcast/core/errors.hpp"

namespace hplcast::cli {

namespace {

struct Unit {
  std::string name;
  double factor;
};

constexpr double kibi = 1024.0;

const std::vector<Unit>& byte_units() {
  static const std::vector<Unit> units = {{"", 1},
                                          {"B", 1},
                                          {"kB", 1e3},
                                          {"KB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12},
                                          {"KiB", kibi},
                                          {"MiB", kibi * kibi},
                                          {"GiB", kibi * kibi * kibi},
                                          {"kiB", kibi},
                                          {"TiB", kibi * kibi * kibi * kibi}};
  return units;
}

const std::vector<Unit>& rate_units() {
  static const std::vector<Unit> units = [] {
    std::vector<Unit> rates = {{"bps", 0.125}, {"kbps", 125.0}, {"Mbps", 125e3}, {"Gbps", 125e6}, {"Tbps", 125e9}};
    for (const Unit& unit : byte_units()) {
      rates.push_back({unit.name.empty() ? "" : unit.name + "ps", unit.factor});
      if (!unit.name.empty()) rates.push_back({unit.name + "/s", unit.factor});
    }
    return rates;
  }();
  return units;
}

const std::vector<Unit>& time_units() {
  static const std::vector<Unit> units = {{"", 1},  {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3},
                                          {"s", 1}, {"min", 60},  {"h", 3600},  {"d", 86400}};
  return units;
}

double parse(const std::string& text, const std::vector<Unit>& units, const std::string& expected) {
  char* rest = nullptr;
  const double number = std::strtod(text.c_str(), &rest);
  while (*rest == ' ') ++rest;
  const std::string unit = rest;
  if (rest != text.c_str() && std::isfinite(number) && number >= 0) {
    for (const Unit& known : units) {
      if (known.name == unit) return number * known.factor;
    }
  }
  throw core::UsageError("`" + text + "` is not " + expected);
}

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

double parse_bytes(const std::string& text) {
  return parse(text, byte_units(), "a size; expected a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB (64KiB)");
}

double parse_bytes_per_s(const std::string& text) {
  return parse(text, rate_units(),
               "a bandwidth; expected a number with MBps, GBps, GiBps (bytes) or Gbps (bits) (12.5GBps)");
}

double parse_seconds(const std::string& text) {
  return parse(text, time_units(), "a duration; expected a number with ns, us, ms, s, min, h or d (30min)");
}

CLI::Validator as_bytes() {
  return validator(parse_bytes, "SIZE");
}
CLI::Validator as_bytes_per_s() {
  return validator(parse_bytes_per_s, "BANDWIDTH");
}
CLI::Validator as_seconds() {
  return validator(parse_seconds, "DURATION");
}

}  // namespace hplcast::cli
