#include "quantities.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/units.hpp"

namespace hplcast::cli {

namespace {

/// As people write it.
std::string digits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// CLI11 hands texts from one step to the next: the number goes on with all its digits.
CLI::Validator validator(const std::function<double(const std::string&)>& parse_quantity, const std::string& kind) {
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

/// The number before a percent sign over 100; nothing if there is none, or no number.
std::optional<double> percentage(const std::string& text) {
  double value = 0;
  if (text.empty() || text.back() != '%' || !core::parse_double(text.substr(0, text.size() - 1), value)) return {};
  return value / 100;
}

double parse_percentage(const std::string& text) {
  const std::optional<double> share = percentage(text);
  if (share && *share >= 0 && *share <= 1) return *share;
  double bare = 0;
  const bool ambiguous = core::parse_double(text, bare) && bare > 0 && bare <= 1;
  throw core::UsageError(
      "found `" + text + "`; expected a share of 0% to 100%" +
      (ambiguous ? ", with the percent sign: " + text + "% or " + digits(100 * bare) + "%?" : ", such as 1%"));
}

double parse_ratio(const std::string& text) {
  const std::optional<double> share = percentage(text);
  double ratio = share.value_or(0);
  if (!share && !core::parse_double(text, ratio))
    throw core::UsageError("found `" + text + "`; expected a ratio such as 0.2, or 20%");
  if (!share && ratio > 1)
    throw core::UsageError("found `" + text + "`, which is " + digits(100 * ratio) +
                           "%; expected a ratio of at most 1 " + "(0.2), or a percent sign: " + text + "%?");
  if (!(ratio >= 0 && std::isfinite(ratio))) throw core::UsageError("found `" + text + "`; expected at least 0");
  return ratio;
}

/// Up to what doubles count exactly: many petabytes.
double parse_whole_bytes(const std::string& text) {
  constexpr double most = 9007199254740992.0;  // 2^53
  const double bytes = core::parse_bytes(text);
  const double whole = std::round(bytes);
  constexpr double rounding = 1e-12;  // of 1.1 times 1000
  if (std::abs(bytes - whole) > rounding * whole || whole > most)
    throw core::UsageError("`" + text + "` is not a size; expected whole bytes, at most 2^53");
  return whole;
}

/// What networks, memories and so on are like.
struct Plausible {
  double low, high;   ///< SI
  const char* range;  ///< for people
  const char* unit;   ///< of a value without one, in SI
  const char* meant;  ///< the unit that was meant if the value is plausible with it
};

CLI::Validator plausible(double (*parse_quantity)(const std::string&), const std::string& kind, const Plausible& usual,
                         const std::string& who) {
  return validator(
      [=](const std::string& text) {
        const double value = parse_quantity(text);
        if (!(value > 0)) throw core::UsageError("found `" + text + "`; expected a number above 0");
        if (value >= usual.low && value <= usual.high) return value;
        char* unit = nullptr;
        std::strtod(text.c_str(), &unit);
        const std::string number(text.c_str(), static_cast<const char*>(unit));
        const double meant = parse_quantity(number + usual.meant);
        std::cerr << who << ": `" << text << "` is " << digits(value) << ' ' << usual.unit << "; usual is "
                  << usual.range;
        if (meant >= usual.low && meant <= usual.high) std::cerr << "; did you mean " << number << usual.meant << '?';
        std::cerr << '\n';
        return value;
      },
      kind);
}

}  // namespace

CLI::Validator as_bytes() {
  return validator(parse_whole_bytes, "SIZE");
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
CLI::Validator as_time_limit() {
  return validator(
      [](const std::string& text) {
        const double seconds = core::parse_seconds(text);
        if (!(seconds > 0)) throw core::UsageError("found `" + text + "`; expected a duration above 0, such as 30min");
        return seconds;
      },
      "DURATION");
}
CLI::Validator as_percentage() {
  return validator(parse_percentage, "PERCENT");
}
CLI::Validator as_ratio() {
  return validator(parse_ratio, "RATIO");
}

CLI::Validator as_link_bandwidth(const std::string& who) {
  return plausible(core::parse_bytes_per_s, "BANDWIDTH", {10e6 / 8, 10e12 / 8, "10Mb/s to 10Tb/s", "B/s", "Gb/s"}, who);
}
CLI::Validator as_latency(const std::string& who) {
  return plausible(core::parse_seconds, "DURATION", {1e-7, 1e-2, "0.1us to 10ms", "s", "us"}, who);
}
CLI::Validator as_memory(const std::string& who) {
  constexpr double mib = 1024.0 * 1024.0;
  return plausible(core::parse_bytes, "SIZE", {16 * mib, 128 * mib * mib, "16MiB to 128TiB", "B", "GiB"}, who);
}
CLI::Validator as_core_rate(const std::string& who) {
  const auto parse_gflop_per_s = [](const std::string& text) {
    double plain = 0;
    const bool is_plain = core::parse_double(text, plain) && std::isfinite(plain) && plain >= 0;
    return is_plain ? plain : core::parse_flop_per_s(text) / 1e9;
  };
  return plausible(parse_gflop_per_s, "RATE", {0.1, 1e4, "0.1 to 10000 Gflop/s", "Gflop/s", "flop/s"}, who);
}

}  // namespace hplcast::cli
