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

}  // namespace

CLI::Option* add_hpl_options(CLI::App& command, core::HplParameters& parameters, CLI::Option* file) {
  CLI::Option* first = nullptr;
  for (const core::HplField& field : core::hpl_fields()) {
    const auto set = [&parameters, &field](const CLI::results_t& texts) {
      const auto value = core::hpl_value(field.name, texts.front());
      if (!value) return false;
      field.set(parameters, *value);
      return true;
    };
    CLI::Option* option = command.add_option(option_name(field.name), set, description(field, parameters));
    option->type_name(core::hpl_value_names(field.name).empty() ? "INT" : "INT|NAME")->group("HPL parameters");
    if (file != nullptr) option->excludes(file);
    if (first == nullptr) first = option;
  }
  return first;
}

}  // namespace hplcast::cli
