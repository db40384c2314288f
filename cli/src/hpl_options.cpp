#include "hpl_options.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace hplcast::cli {

namespace {

/// "swap_threshold" to "--swap-threshold"; N, P and Q are one letter long.
std::string option_name(std::string field) {
  if (field == "N" || field == "P" || field == "Q") return "-" + field;
  std::transform(field.begin(), field.end(), field.begin(),
                 [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
  return "--" + field;
}

std::string description(const core::HplField& field, const core::HplParameters& defaults) {
  const std::string names = core::hpl_value_names(field.name);
  return "HPL's " + std::string(field.name) + (names.empty() ? "" : ": " + names) + " (default " +
         std::to_string(field.get(defaults)) + ")";
}

/// @throws CLI::ValidationError
long long value_of(const std::string& field, const std::string& text) {
  if (const auto value = core::hpl_value(field, text)) return *value;
  throw CLI::ValidationError(option_name(field),
                             "cannot read `" + text + "`; expected " + core::hpl_value_expected(field));
}

}  // namespace

CLI::Option* add_hpl_options(CLI::App& command, core::HplParameters& parameters, CLI::Option* file) {
  CLI::Option* first = nullptr;
  for (const core::HplField& field : core::hpl_fields()) {
    const auto set = [&parameters, &field](const CLI::results_t& texts) {
      field.set(parameters, value_of(field.name, texts.front()));
      return true;
    };
    CLI::Option* option = command.add_option(option_name(field.name), set, description(field, parameters));
    option->type_name(core::hpl_value_names(field.name).empty() ? "INT" : "INT|NAME")->group("HPL parameters");
    if (file != nullptr) option->excludes(file);
    if (first == nullptr) first = option;
  }
  return first;
}

void add_hpl_levels(CLI::App& command, const std::string& field, std::vector<int>& levels, const std::string& help) {
  const auto set = [&levels, field](const std::vector<std::string>& texts) {
    levels.clear();
    for (const std::string& text : texts) levels.push_back(static_cast<int>(value_of(field, text)));
  };
  std::string otherwise;
  for (const int level : levels) otherwise += (otherwise.empty() ? "" : ",") + std::to_string(level);
  const std::string names = core::hpl_value_names(field);
  command
      .add_option_function<std::vector<std::string>>(option_name(field), set,
                                                     "levels of " + field + help + (names.empty() ? "" : ": " + names))
      ->delimiter(',')
      ->type_name(names.empty() ? "INT" : "INT|NAME")
      ->default_str(otherwise);
}

}  // namespace hplcast::cli
