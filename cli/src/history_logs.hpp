#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hplcast::cli {

/// --database of the commands that write a history.
void add_history_option(CLI::App& command, std::string& database);

/// Says on stderr whether something was new.
void tell_added(const std::string& name, bool added);

/// Adds `history change`, `outlier` and `failed`.
void setup_history_logs(CLI::App& group);

void setup_history_site(CLI::App& group);

}  // namespace hplcast::cli
