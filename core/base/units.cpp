#include "hplcast/core/text.hpp"

#include <cmath>
#include <cstdlib>
#include <vector>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace {

struct Unit {
  std::string name;
  double factor;
};
using Units = std::vector<Unit>;

const Units plain = {{"", 1}};
const Units decimal = {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};
const Units binary = {{"Ki", kibibyte}, {"ki", kibibyte}, {"Mi", mebibyte}, {"Gi", gibibyte}, {"Ti", 1024 * gibibyte}};

/// `others`, and each of `units` with each prefix.
Units with_prefixes(const Units& prefixes, const Units& units, Units others) {
  for (const Unit& prefix : prefixes)
    for (const Unit& unit : units) others.push_back({prefix.name + unit.name, prefix.factor * unit.factor});
  return others;
}

double parse(const std::string& text, const Units& units, const std::string& expected) {
  char* rest = nullptr;
  const double number = std::strtod(text.c_str(), &rest);
  while (*rest == ' ') ++rest;
  const std::string unit = rest;
  const bool hexadecimal = text.find_first_of("xX") < static_cast<std::size_t>(rest - text.c_str());
  if (rest != text.c_str() && !hexadecimal && std::isfinite(number) && number >= 0) {
    for (const Unit& known : units) {
      if (known.name == unit) return number * known.factor;
    }
  }
  throw UsageError("`" + text + "` is not " + expected);
}

}  // namespace

double parse_bytes(const std::string& text) {
  const Units byte = {{"B", 1}};
  return parse(text, with_prefixes(binary, byte, with_prefixes(decimal, byte, plain)),
               "a size; expected a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB (64KiB)");
}

double parse_bytes_per_s(const std::string& text) {
  const Units byte = {{"Bps", 1}, {"B/s", 1}}, bit = {{"bps", 1 / 8.0}, {"b/s", 1 / 8.0}, {"bit/s", 1 / 8.0}};
  return parse(
      text, with_prefixes(decimal, bit, with_prefixes(binary, byte, with_prefixes(decimal, byte, plain))),
      "a bandwidth; expected a number with MB/s, GB/s, GiB/s (bytes) or Gb/s (bits), also as GBps, Gbps (100Gb/s)");
}

double parse_flop_per_s(const std::string& text) {
  const Units prefixes = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};
  const Units flop = {{"flop/s", 1}, {"Flop/s", 1}, {"flops", 1}, {"FLOPS", 1}, {"FLOP/s", 1}};
  return parse(text, with_prefixes(prefixes, flop, plain),
               "a rate; expected a number with Mflop/s, Gflop/s, Tflop/s or Pflop/s (30Gflop/s)");
}

double parse_hertz(const std::string& text) {
  return parse(text, {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}},
               "a frequency; expected a number with MHz or GHz (1.8GHz)");
}

double parse_watts(const std::string& text) {
  return parse(text, {{"", 1}, {"mW", 1e-3}, {"W", 1}, {"kW", 1e3}, {"MW", 1e6}},
               "a power; expected a number with W or kW (200W)");
}

double parse_seconds(const std::string& text) {
  return parse(text,
               {{"", 1}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}},
               "a duration; expected a number with ns, us, ms, s, min, h or d (30min)");
}

}  // namespace hplcast::core
