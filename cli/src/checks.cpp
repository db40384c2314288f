#include "checks.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::cli {

void require_distinct(const std::string& option, const std::vector<std::string>& names) {
  for (auto name = names.begin(); name != names.end(); ++name)
    if (std::find(names.begin(), name, *name) != name) throw core::UsageError(option + " names `" + *name + "` twice");
}

void unify_json_output(bool& json, std::string& output) {
  if (!core::is_standard_stream(output)) return;
  json = true;
  output.clear();
}

void require_named_file(const std::string& option, const std::filesystem::path& path) {
  if (core::is_standard_stream(path)) throw core::UsageError(option + " cannot be `-`; expected the name of a file");
}

void require_rereadable(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (core::is_standard_stream(path) || is_fifo(status) || is_character_file(status) || is_socket(status))
    throw core::UsageError(path.string() + " is read more than once; expected a file, not a pipe");
}

void require_other_file(const std::filesystem::path& output, const std::vector<std::string>& inputs) {
  std::error_code error;
  if (output.empty() || core::is_standard_stream(output) || !std::filesystem::is_regular_file(output, error)) return;
  for (const std::string& input : inputs) {
    if (input.empty() || !std::filesystem::equivalent(output, input, error)) continue;
    throw core::Error(core::ExitCode::bad_input, "the output " + output.string() +
                                                     " is a file that is read: it would be overwritten\n  hint: choose "
                                                     "another name for the output");
  }
}

CLI::Validator at_least_zero() {
  return CLI::Validator(
      [](std::string& text) {
        double value = 0;
        if (core::parse_double(text, value) && value >= 0) return std::string();
        return "`" + text + "` is not a number of at least 0";
      },
      "NUMBER");
}

CLI::Validator first_to_last() {
  return CLI::Validator(
      [](std::string& text) {
        static const std::regex form("([0-9]{1,9})-([0-9]{1,9})");
        std::smatch parts;
        if (std::regex_match(text, parts, form) && std::stol(parts[1]) <= std::stol(parts[2])) return std::string();
        return "found `" + text + "`; expected FIRST-LAST, both inclusive, such as 0-31";
      },
      "");
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

CLI::Validator host_names() {
  return CLI::Validator(
      [](std::string& text) {
        const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
        if (std::any_of(text.begin(), text.end(), is_letter)) return std::string();
        return "found `" + text + "`; expected names such as node-[1-32]";
      },
      "");
}

}  // namespace hplcast::cli
