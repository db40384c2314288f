#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace hplcast::test {

struct Outcome {
  int status = -1;
  std::string output;  ///< standard output and standard error together
};

/// Runs the built hplcast in the source folder, where the examples of the help texts work. `arguments` are for a shell.
inline Outcome run_hplcast(const std::string& arguments) {
  const std::string command =
      "cd \"" HPLCAST_SOURCE_DIR "\" && { \"" HPLCAST_BINARY_DIR "/bin/hplcast\" " + arguments + "; } 2>&1";
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, pipe)) outcome.output.append(buffer, size);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

}  // namespace hplcast::test
