#pragma once

#include <iosfwd>
#include <string>

#include "cli/support/command.hpp"

namespace hplcast::cli {

/// The options --quiet and --verbose of a command, which mean the same everywhere. They take effect when they are
/// parsed, before the command runs:
/// --quiet: of the standard error only warnings and errors are left; no remarks beside a result (is_quiet());
/// --verbose: what programs print that the command runs (core::show_output()), in place of the progress bar.
void add_talk_options(Command& command);

bool is_quiet();
bool is_verbose();

/// Everything is told again: before the message of an error, and at the end of a program.
void talk_normally();

/// Adds a subcommand whose --help ends with `example`: one or more command lines that work as they stand. It has
/// --quiet and --verbose.
Command& add_command(Command& parent, const std::string& name, const std::string& description,
                     const std::string& example);

/// The same ending for a program without subcommands (the measuring programs).
void set_example(Command& program, const std::string& example);

/// Parses the command line, which runs the callback of the command given, and turns whatever it throws into a message
/// on `err` ("hplcast predict: ...") and an exit code of core::ExitCode. Help and version go to `out`.
int run_program(Command& program, int argc, const char* const* argv, std::ostream& out, std::ostream& err);

/// run_program() on the standard streams, for main().
int run_program(Command& program, int argc, const char* const* argv);

}  // namespace hplcast::cli
