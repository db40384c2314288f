#include "hplcast/core/units.hpp"

#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

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
    std::vector<Unit> rates;
    for (const auto& [prefix, factor] :
         {std::pair("", 1.0), {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}) {
      for (const char* bits : {"bps", "b/s", "bit/s"}) rates.push_back({prefix + std::string(bits), factor / 8});
    }
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

const std::vector<Unit>& frequency_units() {
  static const std::vector<Unit> units = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
  return units;
}

const std::vector<Unit>& power_units() {
  static const std::vector<Unit> units = {{"", 1}, {"mW", 1e-3}, {"W", 1}, {"kW", 1e3}, {"MW", 1e6}};
  return units;
}

const std::vector<Unit>& flop_rate_units() {
  static const std::vector<Unit> units = [] {
    std::vector<Unit> rates = {{"", 1}};
    for (const auto& [prefix, factor] : {std::pair("", 1.0), {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}}) {
      for (const char* flop : {"flop/s", "Flop/s", "flops", "FLOPS", "FLOP/s"})
        rates.push_back({prefix + std::string(flop), factor});
    }
    return rates;
  }();
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
  throw UsageError("`" + text + "` is not " + expected);
}

}  // namespace

double parse_bytes(const std::string& text) {
  return parse(text, byte_units(), "a size; expected a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB (64KiB)");
}

double parse_bytes_per_s(const std::string& text) {
  return parse(
      text, rate_units(),
      "a bandwidth; expected a number with MB/s, GB/s, GiB/s (bytes) or Gb/s (bits), also as GBps, Gbps (100Gb/s)");
}

double parse_flop_per_s(const std::string& text) {
  return parse(text, flop_rate_units(),
               "a rate; expected a number with Mflop/s, Gflop/s, Tflop/s or Pflop/s (30Gflop/s)");
}

double parse_hertz(const std::string& text) {
  return parse(text, frequency_units(), "a frequency; expected a number with MHz or GHz (1.8GHz)");
}

double parse_watts(const std::string& text) {
  return parse(text, power_units(), "a power; expected a number with W or kW (200W)");
}

double parse_seconds(const std::string& text) {
  return parse(text, time_units(), "a duration; expected a number with ns, us, ms, s, min, h or d (30min)");
}

}  // namespace hplcast::core
