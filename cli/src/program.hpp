#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <string>

namespace hplcast::cli {

/// Adds a subcommand whose --help ends with `example`: one or more command lines that work as they stand. It has
/// --quiet and --verbose.
CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& example);

/// The same ending for a program without subcommands (the measuring programs).
void set_example(CLI::App& app, const std::string& example);

/// Parses the command line, which runs the callback of the command given, and turns whatever it throws into a message
/// on `err` ("hplcast predict: ...") and an exit code of core::ExitCode. Help and version go to `out`.
int run_program(CLI::App& app, int argc, const char* const* argv, std::ostream& out, std::ostream& err);

/// run_program() on the standard streams, for main().
int run_program(CLI::App& app, int argc, const char* const* argv);

}  // namespace hplcast::cli
