#pragma once

#include <string>
#include <vector>

#include "hplcast/core/process.hpp"

namespace hplcast::tests {

/// Runs the built program; `output` has stdout and stderr together.
inline core::CommandResult run_hplcast(std::vector<std::string> arguments, const std::string& directory = "") {
  core::Command command;
  command.program = HPLCAST_BINARY_DIR "/bin/hplcast";
  command.arguments = std::move(arguments);
  command.directory = directory;
  command.timeout_s = 60;
  return core::run(command);
}

}  // namespace hplcast::tests
