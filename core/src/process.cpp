#include "hplcast/core/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "child_output.hpp"
#include "guard.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"

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

ExecRequest exec_request(const Command& command, const fs::path& program, int output) {
  ExecRequest request;
  request.arguments.push_back(program.string());
  for (const std::string& argument : command.arguments) request.arguments.push_back(argument);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (command.environment.count(text.substr(0, text.find('='))) == 0) request.environment.push_back(text);
  }
  for (const auto& [name, value] : command.environment) request.environment.push_back(name + "=" + value);
  request.directory = command.directory.string();
  request.output = output;
  return request;
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

/// Waits for the child, calling `while_running` about every 100 ms. Sets timed_out; throws when interrupted.
int wait_for(const Command& command, GuardedProgram& child, ShownOutput& shown, CommandResult& result,
             Clock::time_point begin) {
  using namespace std::chrono_literals;
  auto last_call = begin - 1s;
  auto pause = 1ms;
  for (;;) {
    if (const auto status = child.wait(pause)) return *status;
    if (interrupted_by != 0 && !command.despite_interrupts) {
      child.stop();
      throw Error(static_cast<ExitCode>(128 + interrupted_by), "interrupted");
    }
    if (command.timeout_s > 0 && seconds_since(begin) > command.timeout_s) {
      result.timed_out = true;
      child.stop();
      return 0;
    }
    // More often at first: a program that lives for 0.1 s is seen, too.
    const auto call_pause = std::clamp<Clock::duration>((Clock::now() - begin) / 10, 5ms, 100ms);
    if (command.while_running && Clock::now() - last_call >= call_pause) {
      command.while_running(static_cast<int>(child.pid()));
      last_call = Clock::now();
    }
    shown.copy();
    pause = std::min(pause * 2, 20ms);
  }
}

/// The file that takes the output: the one asked for, or one in memory.
Descriptor open_output(const Command& command) {
  if (!command.output.empty()) {
    Descriptor file{::open(command.output.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    if (file.fd < 0) throw_write_error("write", command.output, errno);
    return file;
  }
  Descriptor memory{::memfd_create("hplcast-output", MFD_CLOEXEC)};
  if (memory.fd < 0)
    throw Error(ExitCode::external_failure, std::string("no memory for its output: ") + std::strerror(errno));
  return memory;
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
  GuardedProgram child(exec_request(command, program, output.fd), command.program);
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
  struct sigaction of_terminal = {};
  ::sigaction(SIGHUP, nullptr, &of_terminal);
  if (of_terminal.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);  // ignored: nohup
}

}  // namespace hplcast::core
