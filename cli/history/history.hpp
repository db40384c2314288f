#pragma once

#include <string>
#include <vector>

namespace hplcast::cli {

/// --database of the commands that write a history.
void add_history_option(Command& command, std::string& database);

/// For messages: "a, b"; '' for a cluster without a name.
std::string named(const std::vector<std::string>& names);

/// Says on stderr whether something was new.
void tell_added(const std::string& name, bool added);

/// Adds `history change`, `outlier` and `failed`.
void setup_history_logs(Command& group);

void setup_history_site(Command& group);

}  // namespace hplcast::cli
