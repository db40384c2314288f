#include "hplcast/core/text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::core {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

std::string all_replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::istringstream in(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

TextStream::TextStream(const std::string& text) : in_(std::make_shared<std::istringstream>(text)) {}

std::string written(const std::function<void(std::ostream&)>& write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

std::string printed(const char* format, ...) {
  std::array<char, 256> text{};
  std::va_list values;
  va_start(values, format);
  (void)std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  return text.data();
}

namespace {

/// Place of the first digit: 2 of 123, -2 of 0.01.
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

std::string short_percent(double ratio) {
  return shortest(std::round(ratio * 1000) / 10) + " %";
}

std::string readable_percent(double ratio, int decimals) {
  return with_decimals(100 * ratio, decimals) + " %";
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

namespace {

/// Number of letters to insert, leave out, replace or swap with the next one, to get from `a` to `b`.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        steps[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = steps[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  }
  return steps[a.size()][b.size()];
}

}  // namespace

std::size_t index_of(const std::string& name, const EnumNames& names) {
  std::string expected;
  for (std::size_t i = 0; i < names.names.size() && names.names[i] != nullptr; ++i) {
    if (name == names.names[i]) return i;
    const bool is_last = i + 1 == names.names.size() || names.names[i + 1] == nullptr;
    expected += (i == 0 ? "" : is_last ? " or " : ", ") + std::string(names.names[i]);
  }
  throw DomainError(names.what, name, expected);
}

std::string folded(std::string_view name) {
  const char* const blanks = " \t\r\n";
  const std::size_t begin = name.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return "";
  std::string text(name.substr(begin, name.find_last_not_of(blanks) - begin + 1));
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 64;  // no name of ours is longer, and the time goes with the square
  const std::string wanted = folded(name);
  if (wanted.empty() || wanted.size() > longest) return "";
  std::string nearest;
  std::size_t least = wanted.size() / 3 + 1;
  for (const std::string& candidate : names) {
    const std::size_t steps = distance(wanted, folded(candidate));
    if (steps >= least) continue;
    least = steps;
    nearest = candidate;
  }
  return nearest;
}

std::string name_hint(std::string_view name, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(name, names);
  return nearest.empty() ? "expected one of " + comma_separated(names) : "did you mean `" + nearest + "`?";
}

std::string xml_escaped(const std::string& text) {
  static const std::map<char, const char*> entities = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string result;
  for (const char c : text) {
    const auto entity = entities.find(c);
    const bool is_in_xml = static_cast<unsigned char>(c) >= ' ' || c == '\t' || c == '\n' || c == '\r';
    result += entity == entities.end() ? std::string(1, is_in_xml ? c : '?') : entity->second;
  }
  return result;
}

bool is_utf8(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(at < text.size() ? text[at] : 0); };
    const unsigned lead = byte(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4) return false;
    // The second byte excludes overlong forms, surrogates and what is beyond U+10FFFF.
    const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(i + 1) < low || byte(i + 1) > high) return false;
    for (std::size_t k = 2; k <= more; ++k)
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    i += more + 1;
  }
  return true;
}

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
    for (const Unit& known : units)
      if (known.name == unit) return number * known.factor;
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
