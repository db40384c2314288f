#include "cli/support/options.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <tuple>

#include "hplcast/core/csv.hpp"

namespace hplcast::cli {

namespace {

/// As people write it.
std::string digits(double value) {
  return core::printed("%.6g", value);
}

/// CLI11 hands texts from one step to the next: the number goes on with all its digits.
Check quantity(const std::function<double(const std::string&)>& parse, const std::string& kind) {
  return {[parse](std::string& text) { text = core::printed("%.17g", parse(text)); }, kind, true};
}

/// The number before a percent sign over 100; nothing if there is none, or no number.
std::optional<double> percentage(const std::string& text) {
  double value = 0;
  if (text.empty() || text.back() != '%' || !core::parse_double(text.substr(0, text.size() - 1), value)) return {};
  return value / 100;
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

/// Usual values of a quantity of networks, memories and so on.
struct Plausible {
  double low, high;   ///< SI
  const char* range;  ///< for people
  const char* unit;   ///< of a value without one, in SI
  const char* meant;  ///< the unit that was meant if the value is plausible with it
};

Check plausible(const std::function<double(const std::string&)>& parse_quantity, const std::string& kind,
                const Plausible& usual, const std::string& option) {
  return quantity(
      [=](const std::string& text) {
        const double value = parse_quantity(text);
        if (!(value > 0)) throw core::UsageError("found `" + text + "`; expected a number above 0");
        if (value >= usual.low && value <= usual.high) return value;
        char* unit = nullptr;
        std::strtod(text.c_str(), &unit);
        const std::string number(text.c_str(), static_cast<const char*>(unit));
        const double meant = parse_quantity(number + usual.meant);
        const bool is_meant = meant >= usual.low && meant <= usual.high;
        warn(option + ": `" + text + "` is " + digits(value) + ' ' + usual.unit + "; usual is " + usual.range +
             (is_meant ? "; did you mean " + number + usual.meant + '?' : ""));
        return value;
      },
      kind);
}

/// A bare number is in `unit`.
std::function<double(const std::string&)> flop_per_s_over(double unit) {
  return [unit](const std::string& text) {
    double plain = 0;
    const bool is_plain = core::parse_double(text, plain) && std::isfinite(plain) && plain >= 0;
    return is_plain ? plain : core::parse_flop_per_s(text) / unit;
  };
}

/// CLI11 reads -1 as 2^64 - 1.
const Check as_seed = {[](std::string& text) { parse_seed(text); }, "SEED"};

}  // namespace

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

double parse_percentage(const std::string& text) {
  const std::optional<double> share = percentage(text);
  if (share && *share >= 0 && *share <= 1) return *share;
  double bare = 0;
  const bool ambiguous = core::parse_double(text, bare) && bare > 0 && bare <= 1;
  throw core::UsageError(
      "found `" + text + "`; expected a share of 0% to 100%" +
      (ambiguous ? ", with the percent sign: " + text + "% or " + digits(100 * bare) + "%?" : ", such as 1%"));
}

const Check as_bytes = quantity(parse_whole_bytes, "SIZE");
const Check as_bytes_per_s = quantity(core::parse_bytes_per_s, "BANDWIDTH");
const Check as_flop_per_s = quantity(core::parse_flop_per_s, "RATE");
const Check as_seconds = quantity(core::parse_seconds, "DURATION");
const Check as_time_limit = quantity(
    [](const std::string& text) {
      const double seconds = core::parse_seconds(text);
      if (!(seconds > 0)) throw core::UsageError("found `" + text + "`; expected a duration above 0, such as 30min");
      return seconds;
    },
    "DURATION");
const Check as_watts = quantity(core::parse_watts, "WATTS");
const Check as_percentage = quantity(parse_percentage, "PERCENT");
const Check as_ratio = quantity(parse_ratio, "RATIO");

Check as_link_bandwidth(const std::string& option) {
  return plausible(core::parse_bytes_per_s, "BANDWIDTH", {10e6 / 8, 10e12 / 8, "10Mb/s to 10Tb/s", "B/s", "Gb/s"},
                   option);
}
Check as_latency(const std::string& option) {
  return plausible(core::parse_seconds, "DURATION", {1e-7, 1e-2, "0.1us to 10ms", "s", "us"}, option);
}
Check as_memory(const std::string& option) {
  constexpr double mib = 1024.0 * 1024.0;
  return plausible(core::parse_bytes, "SIZE", {16 * mib, 128 * mib * mib, "16MiB to 128TiB", "B", "GiB"}, option);
}

Check as_core_rate(const std::string& option) {
  return plausible(flop_per_s_over(1e9), "RATE", {0.1, 1e3, "0.1 to 1000 Gflop/s of one core", "Gflop/s", "flop/s"},
                   option);
}

Check as_accelerator_rate(const std::string& option) {
  return plausible(flop_per_s_over(1e12), "RATE", {0.05, 1000, "0.05 to 1000 Tflop/s", "Tflop/s", "flop/s"}, option);
}

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  if (core::parse_integer(text, seed)) return seed;
  throw core::UsageError("`" + text + "` is not a seed; expected a whole number from 0 to 2^64 - 1");
}

Option* add_seed(Command& command, std::uint64_t& seed, const std::string& help) {
  return command.add_option("--seed", seed, help, as_seed, with_default);
}

Option* add_seeds(Command& command, std::vector<std::uint64_t>& seeds, const std::string& help) {
  const auto set = [&seeds](const std::vector<std::string>& texts) {
    seeds.clear();
    std::vector<std::string> numbers;  // 01 is 1
    for (const std::string& text : texts) numbers.push_back(std::to_string(seeds.emplace_back(parse_seed(text))));
    require_distinct("--seed", numbers);
  };
  return command.add_option_function<std::vector<std::string>>("--seed", set, help, of_type("UINT"), as_seed, by_commas,
                                                               one_each);
}

std::pair<std::size_t, std::size_t> parse_rows(const std::string& text, std::size_t rows_of_design) {
  if (text.empty()) return {0, rows_of_design};
  std::size_t first = 0, end = 0;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || !parse_whole(text.substr(0, colon), first) ||
      !parse_whole(text.substr(colon + 1), end) || first >= end)
    throw core::UsageError("--rows is `" + text + "`; expected FIRST:END with FIRST < END, such as 0:100");
  if (end > rows_of_design)
    throw InputError("--rows is " + text + "; the design has " + std::to_string(rows_of_design) + " rows");
  return {first, end};
}

std::pair<std::string, std::string> name_and_value(const std::string& option, const std::string& text,
                                                   const std::string& expected) {
  const std::size_t equal = text.find('=');
  if (equal == 0 || equal == std::string::npos)
    throw core::UsageError(option + " is `" + text + "`; expected " + expected);
  return {text.substr(0, equal), text.substr(equal + 1)};
}

void require_distinct(const std::string& option, const std::vector<std::string>& names) {
  for (auto name = names.begin(); name != names.end(); ++name)
    if (std::find(names.begin(), name, *name) != name) throw core::UsageError(option + " names `" + *name + "` twice");
}

void unify_json_output(bool& json, std::string& output) {
  if (!core::is_standard_stream(output)) return;
  json = true;
  output.clear();
}

const Check named_file = {
    [](const std::string& path) {
      if (is_stream(path) || core::open_descriptor(path) >= 0)
        throw core::UsageError("found `" + path + "`, the standard output, a device or a pipe; expected a named file");
    },
    ""};

const Check first_to_last = {
    [](const std::string& text) {
      static const std::regex form("([0-9]{1,9})-([0-9]{1,9})");
      std::smatch parts;
      if (!std::regex_match(text, parts, form) || std::stol(parts[1]) > std::stol(parts[2]))
        throw core::UsageError("found `" + text + "`; expected FIRST-LAST, both inclusive, such as 0-31");
    },
    ""};

Option* add_range(Command& command, const std::string& name, int& first, int& last, const std::string& help) {
  const auto set = [&first, &last](const std::string& text) { std::tie(first, last) = first_and_last(text); };
  return command.add_option_function<std::string>(name, set, help, of_type("FIRST-LAST"), first_to_last);
}

std::pair<int, int> first_and_last(const std::string& text) {
  return {std::stoi(text), std::stoi(text.substr(text.find('-') + 1))};
}

void require_begins_below(const std::string& option, int first, long long count, const std::string& run,
                          const std::string& things) {
  if (first < count) return;
  throw core::UsageError(option + " begins with " + std::to_string(first) + "; " + run + " has the " + things + " 0-" +
                         std::to_string(count - 1));
}

const Check host_names = {[](const std::string& text) {
                            const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
                            if (std::none_of(text.begin(), text.end(), is_letter))
                              throw core::UsageError("found `" + text + "`; expected names such as node-[1-32]");
                          },
                          ""};

}  // namespace hplcast::cli
