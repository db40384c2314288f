#pragma once

#include <CLI/CLI.hpp>

namespace hplcast::cli {

/// Makes all options with several values alike, in a command and those below it: `--nb 64,128`, or the option again,
/// `--nb 64 --nb 128`. In commands that take names of files, a word after the first value is one of them.
void unify_list_options(CLI::App& app);

}  // namespace hplcast::cli
