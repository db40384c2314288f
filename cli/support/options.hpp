#pragma once

#include <algorithm>

#include "cli/support/command.hpp"

namespace hplcast::cli {

/// Names of an option's values, and what they stand for.
template <typename Value>
using Names = std::vector<std::pair<std::string, Value>>;

/// An option whose value is one of some names: the help and the message of a wrong one list them. The value that it has
/// is the default. `value` must live until the options are parsed.
template <typename Value>
Option* add_choice(Command& command, const std::string& option, Value& value, const Names<Value>& names,
                   const std::string& help) {
  std::vector<std::string> texts;
  std::string otherwise;
  for (const auto& [name, meaning] : names) {
    texts.push_back(name);
    if (meaning == value) otherwise = name;
  }
  const auto set = [&value, names](const std::string& text) {
    for (const auto& [name, meaning] : names)
      if (name == text) value = meaning;
  };
  return command.add_option_function<std::string>(option, set, help, among(texts), default_text(otherwise));
}

/// Its values are those of enum_names(), in their order.
template <typename Enum>
Option* add_choice(Command& command, const std::string& option, Enum& value, const std::string& help) {
  Names<Enum> names;
  for (const char* name : enum_names(value).names)
    if (name != nullptr) names.emplace_back(name, static_cast<Enum>(names.size()));
  return add_choice(command, option, value, names, help);
}

inline const Names<bool> on_or_off = {{"on", true}, {"off", false}};

/// An option for several of some names, of which the help says that the default is all.
template <typename Value>
Option* add_choices(Command& command, const std::string& option, std::vector<Value>& values, const Names<Value>& names,
                    const std::string& help) {
  const auto texts = core::mapped(names, [](const auto& one) { return one.first; });
  const auto set = [&values, names](const std::vector<std::string>& given) {
    values.clear();
    for (const auto& [name, meaning] : names)
      if (std::find(given.begin(), given.end(), name) != given.end()) values.push_back(meaning);
  };
  return command.add_option_function<std::vector<std::string>>(
      option, set, help + ": " + core::comma_separated(texts) + " (default: all)", by_commas, among(texts));
}

/// Quantities with units (core/text.hpp) for options of CLI11:
/// `command.add_option("--timeout", timeout_s, "...", as_seconds)`.
extern const Check as_bytes;  ///< whole ones
extern const Check as_bytes_per_s;
extern const Check as_flop_per_s;
extern const Check as_seconds;
extern const Check as_watts;
extern const Check as_time_limit;  ///< seconds, above 0

/// 0 to 1, as "0.5%". Without the sign it is refused: 0.5 could be meant either way.
extern const Check as_percentage;
/// The same for a text. @throws core::UsageError
double parse_percentage(const std::string& text);

/// 0 and more, as "0.2" or "20%". A number above 1 needs the sign.
extern const Check as_ratio;
double parse_ratio(const std::string& text);

/// As those above; a value of `option` that no machine has is warned of, with the unit that was understood: 100 is 100
/// B/s. Zero is refused.
Check as_link_bandwidth(const std::string& option);
Check as_latency(const std::string& option);           ///< between two nodes
Check as_memory(const std::string& option);            ///< of a node
Check as_core_rate(const std::string& option);         ///< to Gflop/s, which is also the unit of a bare number
Check as_accelerator_rate(const std::string& option);  ///< the same with Tflop/s

/// A whole number from 0 to 2^64 - 1, every digit of it. @throws core::UsageError for anything else.
std::uint64_t parse_seed(const std::string& text);

/// The option --seed: of one seed, whose default is the value that it has, or of several.
Option* add_seed(Command& command, std::uint64_t& seed, const std::string& help);
Option* add_seeds(Command& command, std::vector<std::uint64_t>& seeds, const std::string& help);

/// Reads the value of --rows, "FIRST:END"; empty: all. Returns [first, end). @throws core::UsageError for other texts,
/// core::Error (bad_input) for rows that are not there.
std::pair<std::size_t, std::size_t> parse_rows(const std::string& text, std::size_t rows_of_design);

/// Leaves only the rows asked for. Returns the first of them.
template <typename Rows>
std::size_t cut(Rows& rows, const std::string& text) {
  const auto [first, end] = parse_rows(text, rows.size());
  rows = Rows(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.begin() + static_cast<std::ptrdiff_t>(end));
  return first;
}

/// The result of `check()`. A value outside its domain came from an option: wrong usage, not bad input.
/// @throws core::UsageError in place of core::DomainError.
template <typename Function>
auto of_options(Function&& check) -> decltype(check()) {
  try {
    return std::forward<Function>(check)();
  } catch (const core::DomainError& error) {
    throw core::UsageError(error.what());
  }
}

/// "NAME=VALUE", the value of `option`. @throws core::UsageError for a text without a name, with the form `expected`
std::pair<std::string, std::string> name_and_value(const std::string& option, const std::string& text,
                                                   const std::string& expected);

/// @throws core::UsageError if a name is there twice.
void require_distinct(const std::string& option, const std::vector<std::string>& names);

/// `-` for the JSON of a command that prints a table else: it is --json without a file.
void unify_json_output(bool& json, std::string& output);

/// A file that is changed in place, kept open or written elsewhere: neither `-` nor a device or a pipe.
extern const Check named_file;

/// An option for two whole numbers, both inclusive, such as 0-31.
Option* add_range(Command& command, const std::string& name, int& first, int& last, const std::string& help);
/// The same for a text, and what is in it.
extern const Check first_to_last;
std::pair<int, int> first_and_last(const std::string& text);
/// @throws core::UsageError if `run` does not have what a value of `option` begins with: it has the `things` 0 to
/// `count` - 1.
void require_begins_below(const std::string& option, int first, long long count, const std::string& run,
                          const std::string& things);

/// Names of hosts, or a radical. One without a letter is refused: a number was meant as how many.
extern const Check host_names;

}  // namespace hplcast::cli
