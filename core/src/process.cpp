#include "hplcast/core/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include "child_output.hpp"
#include "hplcast/core/errors.hpp"

extern char** environ;

namespace hplcast::core {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

volatile sig_atomic_t interrupted_by = 0;

extern "C" void remember_signal(int number) {
  interrupted_by = number;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Everything that the child needs between fork and exec, made before the fork: nothing is allocated in between.
struct Prepared {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

void prepare(const Command& command, const fs::path& program, Prepared& prepared) {
  prepared.arguments.push_back(program.string());
  for (const std::string& argument : command.arguments) prepared.arguments.push_back(argument);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (command.environment.count(text.substr(0, text.find('='))) == 0) prepared.environment.push_back(text);
  }
  for (const auto& [name, value] : command.environment) prepared.environment.push_back(name + "=" + value);
  for (std::string& text : prepared.arguments) prepared.argv.push_back(text.data());
  for (std::string& text : prepared.environment) prepared.envp.push_back(text.data());
  prepared.argv.push_back(nullptr);
  prepared.envp.push_back(nullptr);
}

/// In the child: never returns. `report` is a pipe that exec closes; a failure is told through it.
[[noreturn]] void become(const Prepared& prepared, const fs::path& directory, int output, int report) {
  ::setpgid(0, 0);
  // If we are killed without a chance to clean up, the child is told; mpirun then ends its ranks.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  const int input = ::open("/dev/null", O_RDONLY);
  if (input >= 0) ::dup2(input, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  int reason = 0;
  if (!directory.empty() && ::chdir(directory.c_str()) != 0) reason = errno;
  if (reason == 0) {
    ::execve(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
    reason = errno;
  }
  const ssize_t told = ::write(report, &reason, sizeof reason);
  ::_exit(told == sizeof reason ? 127 : 126);
}

struct Descriptor {
  int fd = -1;
  explicit Descriptor(int descriptor) : fd(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : fd(other.fd) { other.fd = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { close(); }
  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

/// A child that is killed with its whole group unless it was waited for.
struct Child {
  pid_t pid = -1;
  explicit Child(pid_t id) : pid(id) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { kill_group(); }
  void kill_group() {
    if (pid < 0) return;
    ::kill(-pid, SIGTERM);
    for (int i = 0; i < 20; ++i) {  // up to 2 s for launchers such as mpirun to end their own children
      if (::waitpid(pid, nullptr, WNOHANG) == pid) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = -1;
  }
};

pid_t start(const Command& command, const fs::path& program, int output) {
  Prepared prepared;
  prepare(command, program, prepared);
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) throw ExternalError(command.program, -1, std::strerror(errno));
  Descriptor from_child{pipe_ends[0]};
  Descriptor to_parent{pipe_ends[1]};
  const pid_t pid = ::fork();
  if (pid < 0) throw ExternalError(command.program, -1, std::strerror(errno));
  if (pid == 0) become(prepared, command.directory, output, to_parent.fd);
  ::setpgid(pid, pid);
  to_parent.close();
  int reason = 0;
  if (::read(from_child.fd, &reason, sizeof reason) == static_cast<ssize_t>(sizeof reason)) {
    ::waitpid(pid, nullptr, 0);
    throw ExternalError(command.program, -1, std::strerror(reason));
  }
  return pid;
}

/// Waits for the child, calling `while_running` about every 100 ms. Sets timed_out; throws when interrupted.
int wait_for(const Command& command, Child& child, ShownOutput& shown, CommandResult& result, Clock::time_point begin) {
  using namespace std::chrono_literals;
  auto last_call = begin - 1s;
  auto pause = 1ms;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child.pid, &status, WNOHANG);
    if (ended == child.pid) {
      child.pid = -1;
      return status;
    }
    if (interrupted_by != 0 && !command.despite_interrupts) {
      child.kill_group();
      throw Error(static_cast<ExitCode>(128 + interrupted_by), "interrupted");
    }
    if (command.timeout_s > 0 && seconds_since(begin) > command.timeout_s) {
      result.timed_out = true;
      child.kill_group();
      return 0;
    }
    // More often at first: a program that lives for 0.1 s is seen, too.
    const auto call_pause = std::clamp<Clock::duration>((Clock::now() - begin) / 10, 5ms, 100ms);
    if (command.while_running && Clock::now() - last_call >= call_pause) {
      command.while_running(static_cast<int>(child.pid));
      last_call = Clock::now();
    }
    shown.copy();
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, 20ms);
  }
}

/// The file that takes the output: the one asked for, or an unnamed temporary one.
Descriptor open_output(const Command& command) {
  if (!command.output.empty()) {
    Descriptor file{::open(command.output.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    if (file.fd < 0)
      throw Error(ExitCode::bad_input, "cannot write " + command.output.string() + ": " + std::strerror(errno));
    return file;
  }
  std::string name = (fs::temp_directory_path() / "hplcast-output-XXXXXX").string();
  Descriptor file{::mkostemp(name.data(), O_CLOEXEC)};
  if (file.fd < 0) throw Error(ExitCode::bad_input, "cannot write " + name + ": " + std::strerror(errno));
  ::unlink(name.c_str());
  return file;
}

std::string read_all(int fd) {
  std::string text;
  char buffer[65536];
  ::lseek(fd, 0, SEEK_SET);
  for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

}  // namespace

CommandResult run(const Command& command) {
  const fs::path program = find_program(command.program);
  if (program.empty()) throw ExternalError(command.program, -1, "no such program in PATH");
  Descriptor output = open_output(command);
  CommandResult result;
  const auto begin = Clock::now();
  ShownOutput shown(command, output.fd);
  Child child{start(command, program, output.fd)};
  const int status = wait_for(command, child, shown, result, begin);
  result.wall_s = seconds_since(begin);
  result.status = result.timed_out ? 124 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (command.output.empty()) result.output = read_all(output.fd);
  return result;
}

std::string shell_quoted(const std::string& text) {
  if (!text.empty() &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%") ==
          std::string::npos)
    return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string to_string(const Command& command) {
  std::string text;
  for (const auto& [name, value] : command.environment) text += name + "=" + shell_quoted(value) + " ";
  text += shell_quoted(command.program);
  for (const std::string& argument : command.arguments) text += " " + shell_quoted(argument);
  return text;
}

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? fs::absolute(name) : fs::path();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code error;
    if (::access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, error)) return fs::absolute(candidate);
  }
  return {};
}

fs::path own_executable() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = remember_signal;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace hplcast::core
