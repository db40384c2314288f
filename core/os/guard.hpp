#pragma once

#include <sys/types.h>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace hplcast::core {

/// Which descriptors a forked process gives up.
enum class CloseWhich { all, those_that_exec_closes };

/// Closes descriptors from 3 on, but for `kept`. Safe between fork and exec: allocates nothing.
void close_descriptors(CloseWhich which, std::initializer_list<int> kept);

/// Standard input, output and error become /dev/null: who waits for their end does not wait for this process. Safe
/// between fork and exec.
void leave_standard_streams();

/// Tells the keeper of leftovers.cpp that we live, -1: nothing. Guards keep it open: files go after the programs
/// that may still write them, or make their folders again.
int keeper_descriptor() noexcept;

/// Everything that exec needs.
struct ExecRequest {
  std::vector<std::string> arguments;    ///< the first one is the path of the program
  std::vector<std::string> environment;  ///< NAME=VALUE
  std::string directory;                 ///< empty: ours
  int output = -1;                       ///< descriptor for stdout and stderr
};

/// A running program and its guard: a process between it and us that waits for it. When we let go of the program, or
/// end in whatever way (kill -9, too), the guard ends the program and everything that it has started: first with
/// SIGTERM to its process group, 2 s later with SIGKILL to all descendants, also to those in groups of their own, such
/// as the ranks of mpirun. A program that ends by itself may leave daemons behind.
class GuardedProgram {
 public:
  /// `name`: of the program, for errors. @throws ExternalError if it cannot be started.
  GuardedProgram(ExecRequest request, const std::string& name);
  /// Ends all that still runs.
  ~GuardedProgram() { stop(); }
  GuardedProgram(const GuardedProgram&) = delete;
  GuardedProgram& operator=(const GuardedProgram&) = delete;

  /// The program's process id, also of its group.
  pid_t pid() const noexcept { return pid_; }

  /// The status as waitpid() gives it, if the program ends within `most`; nothing else, or at a signal to us.
  std::optional<int> wait(std::chrono::milliseconds most);

  /// Ends the program with all descendants. Takes up to 2 s, and longer for processes that the kernel cannot kill.
  void stop();

 private:
  void forget();

  pid_t guard_ = -1;  ///< -1: both have ended
  pid_t pid_ = -1;
  int life_ = -1;    ///< the guard acts when this is closed
  int report_ = -1;  ///< what the guard tells
};

}  // namespace hplcast::core
