#pragma once

#include <CLI/CLI.hpp>

namespace hplcast::cli {

/// The options --quiet and --verbose of a command, which mean the same everywhere. They take effect when they are
/// parsed, before the command runs:
/// --quiet: of the standard error only warnings and errors are left; no remarks beside a result (is_quiet());
/// --verbose: what programs print that the command runs (core::show_output()), in place of the progress bar.
void add_talk_options(CLI::App& command);

bool is_quiet();
bool is_verbose();

/// Everything is told again: before the message of an error, and at the end of a program.
void talk_normally();

}  // namespace hplcast::cli
