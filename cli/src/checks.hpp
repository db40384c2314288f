#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/errors.hpp"

namespace hplcast::cli {

/// The result of `check()`. A value outside its domain came from an option: wrong usage, not bad input.
/// @throws core::UsageError in place of core::DomainError.
template <typename Check>
auto of_options(Check&& check) -> decltype(check()) {
  try {
    return std::forward<Check>(check)();
  } catch (const core::DomainError& error) {
    throw core::UsageError(error.what());
  }
}

/// @throws core::UsageError if a name is there twice.
void require_distinct(const std::string& option, const std::vector<std::string>& names);

/// `-` for the JSON of a command that prints a table else: it is --json without a file.
void unify_json_output(bool& json, std::string& output);

/// For files that are changed in place or kept open. @throws core::UsageError for `-`.
void require_named_file(const std::string& option, const std::filesystem::path& path);

/// For files that are read more than once. @throws core::UsageError for a pipe (a process substitution, /dev/stdin).
void require_rereadable(const std::filesystem::path& path);

/// @throws core::Error (bad_input) if `output` is the same file as one of `inputs`, whatever the paths say. Empty paths
/// and devices are fine.
void require_other_file(const std::filesystem::path& output, const std::vector<std::string>& inputs);

/// For options of CLI11: a finite number of at least 0.
CLI::Validator at_least_zero();

/// For options of CLI11: two whole numbers, both inclusive, such as 0-31.
CLI::Validator first_to_last();
/// Of a text that it has passed.
std::pair<int, int> first_and_last(const std::string& text);
/// @throws core::UsageError if `run` does not have what a value of `option` begins with: it has the `things` 0 to
/// `count` - 1.
void require_begins_below(const std::string& option, int first, long long count, const std::string& run,
                          const std::string& things);

/// For options of CLI11: names of hosts, or a radical. One without a letter is refused: a number was meant as how many.
CLI::Validator host_names();

}  // namespace hplcast::cli
