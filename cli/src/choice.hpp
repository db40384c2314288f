#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace hplcast::cli {

/// Names of an option's values, and what they stand for.
template <typename Value>
using Names = std::vector<std::pair<std::string, Value>>;

/// An option whose value is one of some names: the help and the message of a wrong one list them. The value that it has
/// is the default. `value` must live until the options are parsed.
template <typename Value>
CLI::Option* add_choice(CLI::App& command, const std::string& option, Value& value, const Names<Value>& names,
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
  return command.add_option_function<std::string>(option, set, help)
      ->check(CLI::IsMember(texts))
      ->default_str(otherwise);
}

}  // namespace hplcast::cli
