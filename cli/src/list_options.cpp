#include "list_options.hpp"

#include <algorithm>

namespace hplcast::cli {

namespace {

/// Options that take exactly one value whenever they are given (`--sbatch`) have said so; tuples (`--for-hpl`) too.
bool is_list(const CLI::Option& option) {
  return option.nonpositional() && option.get_expected_min() <= 1 && option.get_expected_max() > 1 &&
         option.get_type_size_max() > 0 && (option.get_allow_extra_args() || option.get_delimiter() != '\0');
}

}  // namespace

void unify_list_options(CLI::App& app) {
  const std::vector<CLI::Option*> options = app.get_options();
  const bool takes_files =
      std::any_of(options.begin(), options.end(), [](const auto* one) { return one->get_positional(); });
  for (CLI::Option* option : options) {
    if (!is_list(*option)) continue;
    if (option->get_type_name() != "FILE") option->delimiter(',');  // names of files may have commas
    if (takes_files) option->allow_extra_args(false);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) unify_list_options(*command);
}

}  // namespace hplcast::cli
