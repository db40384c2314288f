#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hplcast::core {

/// An external program to run. Arguments go to it as they are: no shell.
struct Command {
  std::string program;  ///< a path, or a name that PATH finds
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  ///< added to ours
  std::filesystem::path directory;                 ///< empty: ours
  std::filesystem::path output;                    ///< file for stdout and stderr together; empty: captured
  double timeout_s = 0;                            ///< 0: none
  /// Called with the process id while it runs, about every 100 ms, in the first second more often (progress, memory);
  /// may be empty.
  std::function<void(int pid)> while_running;
  bool despite_interrupts = false;  ///< runs to its end after these signals, too: for cleaning up
};

struct CommandResult {
  int status = 0;  ///< exit status; 128 + signal if killed by one
  bool timed_out = false;
  std::string output;  ///< if captured
  double wall_s = 0;
};

/// Runs a program in a process group of its own and waits. At a timeout, at SIGINT, SIGTERM or SIGHUP to us (after
/// catch_interrupts()), on exceptions from while_running, and when we are killed outright, the program is ended with
/// everything that it has started: SIGTERM to its group, SIGKILL to all descendants 2 s later. A process between us and
/// the program does that (guard.hpp).
/// @throws ExternalError if it cannot be started. A non-zero status is a value, see require().
CommandResult run(const Command& command);

/// run(), and @throws ExternalError with the last lines of its output unless the status is 0.
CommandResult run_checked(const Command& command);

/// The command as one would type it, quoted, for messages and logs.
std::string to_string(const Command& command);

/// Path of a program found in PATH, or empty.
std::filesystem::path find_program(const std::string& name);

/// The file of the running program; empty if the system does not tell.
std::filesystem::path own_executable();

/// Installs handlers so that SIGINT, SIGTERM and SIGHUP (unless it is ignored: nohup) make run() stop its child and
/// throw an Error with exit code 128 + signal.
void catch_interrupts();

}  // namespace hplcast::core
