#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hplcast::core {

/// Items of a range in the words of `text_of`, with `separator` between them.
template <typename Items, typename TextOf>
std::string joined(const Items& items, std::string_view separator, TextOf text_of) {
  std::string result;
  for (const auto& item : items) {
    if (!result.empty()) result += separator;
    result += text_of(item);
  }
  return result;
}

/// The same of texts: of anything that can be added to a std::string.
template <typename Texts>
std::string joined(const Texts& texts, std::string_view separator) {
  return joined(
      texts, separator, [](const auto& text) -> const auto& { return text; });
}

/// "a, b, c": for messages.
template <typename Texts>
std::string comma_separated(const Texts& texts) {
  return joined(texts, ", ");
}

/// "a, b and 3 more": the first `most` items of a list in the words of `text_of`.
template <typename Item, typename TextOf>
std::string first_few(const std::vector<Item>& items, std::size_t most, TextOf text_of) {
  if (items.size() <= most) return joined(items, ", ", text_of);
  const std::vector<Item> first(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(most));
  return joined(first, ", ", text_of) + " and " + std::to_string(items.size() - most) + " more";
}

/// `more` at the end of `all`.
template <typename Item>
void append(std::vector<Item>& all, const std::vector<Item>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Results of `each`, a function or a member, for the items of a range.
template <typename Items, typename Each>
auto mapped(const Items& items, Each each) {
  std::vector<std::decay_t<decltype(std::invoke(each, *std::begin(items)))>> results;
  for (const auto& item : items) results.push_back(std::invoke(each, item));
  return results;
}

/// "1 run", "2 runs".
template <typename Count>
std::string counted(Count count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

inline bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

inline bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

/// The parts of a line that are separated by blanks.
std::vector<std::string> words_of(const std::string& line);

/// The text with `by` wherever it has `what`, which is not empty.
std::string all_replaced(std::string text, const std::string& what, const std::string& by);

/// The parts of a text between separators: none of an empty text, and no empty one at its end.
std::vector<std::string> split(const std::string& text, char separator);

/// The stream of a text, for functions that read streams: read_controls(TextStream(csv), name).
class TextStream {
 public:
  explicit TextStream(const std::string& text);
  operator std::istream&() const { return *in_; }

 private:
  std::shared_ptr<std::istream> in_;
};

/// The text that a function writes to a stream.
std::string written(const std::function<void(std::ostream&)>& write);

/// As std::snprintf(), at most 255 characters.
[[gnu::format(printf, 1, 2)]] std::string printed(const char* format, ...);

/// Order of names that end with numbers: node2 before node10; shorter names first.
struct ByNumber {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

// Numbers for people.

/// A number with `digits` significant digits, without exponent where that is readable: 123.4, 0.01234.
std::string significant(double value, int digits = 4);

/// A number with that many decimals and commas between thousands: "12,345.6".
std::string with_decimals(double value, int decimals);

/// `digits` significant digits, thousands separated by commas, no exponent: "1,234", "0.0123"; "not known" of NaN.
std::string readable(double value, int digits = 4);

/// A ratio in percent: "1.2 %".
inline std::string percent(double ratio) {
  return printed("%.1f %%", 100 * ratio);
}

/// With its sign: "+1.2 %".
inline std::string signed_percent(double ratio) {
  return printed("%+.1f %%", 100 * ratio);
}

/// Without a decimal of 0: "1.2 %", "3 %".
std::string short_percent(double ratio);

/// With commas between thousands: "1,234.5 %".
std::string readable_percent(double ratio, int decimals = 1);

/// With a plus where it is above 0: "+1,234.5 %", "0.0 %".
inline std::string readable_change(double ratio) {
  return (ratio > 0 ? "+" : "") + readable_percent(ratio);
}

/// "59s", "3m12s", "2h01m": at most two units, rounded to what one wants to know.
std::string duration_text(double seconds);

/// "3.2 us", "12 ms", "1.5 s".
std::string time_text(double seconds);

/// "12.5 GB/s", "61 MB/s".
std::string rate_text(double bytes_per_s);

// Names of the values of enumerations, as they stand in files and options.

/// The names of values 0, 1, 2 ...
struct EnumNames {
  const char* what;  ///< such a value is, for messages
  std::array<const char*, 12> names = {};
};

/// HPLCAST_ENUM_NAMES(Use, "use of rails", "bound", "striped"); behind Use, in its namespace, to_string() and
/// from_name() follow.
#define HPLCAST_ENUM_NAMES(Enum, what, ...)             \
  constexpr hplcast::core::EnumNames enum_names(Enum) { \
    return {what, {__VA_ARGS__}};                       \
  }                                                     \
  using hplcast::core::to_string

template <typename Enum, typename = decltype(enum_names(Enum()))>
constexpr const char* to_string(Enum value) {
  return enum_names(value).names[static_cast<std::size_t>(value)];
}

/// The place of a name. @throws DomainError that lists them all.
std::size_t index_of(const std::string& name, const EnumNames& names);

/// @throws DomainError for a name that no value has.
template <typename Enum>
Enum from_name(const std::string& name) {
  return static_cast<Enum>(index_of(name, enum_names(Enum())));
}

// Names that a user may have mistyped: of keys, columns, options.

/// Without blanks at its ends, in lower case: what two spellings of one name have in common.
std::string folded(std::string_view name);

/// The one of `names` that is nearest to `name` (letters inserted, left out, replaced or swapped; case does not count);
/// empty if none is near enough to be meant: at most a third of the letters may differ.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);

/// A hint for a name that is not known: "did you mean `x`?", or the list of all names.
std::string name_hint(std::string_view name, const std::vector<std::string>& names);

/// Text as it may stand in XML, HTML and SVG, also inside quoted attributes.
std::string xml_escaped(const std::string& text);

/// Whether a text is UTF-8, without surrogates and overlong forms (RFC 3629).
bool is_utf8(std::string_view text) noexcept;

inline constexpr double kibibyte = 1024, mebibyte = 1024 * kibibyte, gibibyte = 1024 * mebibyte;

inline constexpr std::int64_t day_s = 86400;
/// Days since 1970 (UTC), rounded down.
inline std::int64_t day_of(std::int64_t time_s) {
  return (time_s >= 0 ? time_s : time_s - day_s + 1) / day_s;
}

// Quantities as people write them: a number and a unit, with or without a blank between them. The only parser of units:
// options, campaign files and transformations use it. All @throws UsageError for anything else, and for negative or not
// finite values.

/// Bytes from "64KiB", "1.5GB", "100" (plain numbers are bytes). Units: B, kB, MB, GB, TB (powers of 1000), KiB, MiB,
/// GiB, TiB (powers of 1024).
double parse_bytes(const std::string& text);

/// Bytes per second from "12.5GBps", "12.5GB/s", "1GiB/s"; bits with a small b: "100Gbps", "100Gb/s", "100Gbit/s".
/// Plain numbers are bytes per second.
double parse_bytes_per_s(const std::string& text);

/// Floating-point operations per second from "30Gflop/s", "1.2Tflop/s", "3e10".
double parse_flop_per_s(const std::string& text);

/// Seconds from "1us", "30min", "2h", "1.5". Units: ns, us, ms, s, min, h, d.
double parse_seconds(const std::string& text);

/// Hertz from "1.8GHz", "1800MHz"; a plain number is refused: it would be read both ways.
double parse_hertz(const std::string& text);

/// Watts from "200W", "1.5kW", "125". Units: mW, W, kW, MW.
double parse_watts(const std::string& text);

}  // namespace hplcast::core
