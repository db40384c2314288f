#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/process.hpp"

namespace hplcast::test {

using Outcome = core::CommandResult;  ///< `output` has standard output and standard error together

/// Runs the built hplcast with these arguments, as they are, in a folder (empty: the one of the test).
inline Outcome run_hplcast_words(std::vector<std::string> arguments, const std::string& directory = "") {
  core::Command command;
  command.program = HPLCAST_BINARY_DIR "/bin/hplcast";
  command.arguments = std::move(arguments);
  command.directory = directory;
  command.timeout_s = 300;
  return core::run(command);
}

/// Runs the built hplcast in the source folder, where the examples of the help texts work. `arguments` are for a shell.
inline Outcome run_hplcast(const std::string& arguments) {
  core::Command command;
  command.program = "/bin/sh";
  command.arguments = {"-c", "\"" HPLCAST_BINARY_DIR "/bin/hplcast\" " + arguments};
  command.directory = HPLCAST_SOURCE_DIR;
  command.timeout_s = 300;
  return core::run(command);
}

}  // namespace hplcast::test
