#include "core/os/guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace {

constexpr int first_other = 3;
constexpr std::size_t buffer_bytes = 4096;
/// Offsets in struct linux_dirent64: d_ino, d_off, d_reclen, d_type, d_name.
constexpr std::size_t length_offset = 16, name_offset = 19;

void close_one(int fd, CloseWhich which, std::initializer_list<int> kept) {
  if (fd < first_other || std::find(kept.begin(), kept.end(), fd) != kept.end()) return;
  if (which == CloseWhich::those_that_exec_closes && (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) return;
  ::close(fd);
}

/// The number that a name of /proc/self/fd is; -1 for . and ..
int number_of(const char* name) {
  int number = 0;
  for (; *name != '\0'; ++name) {
    if (*name < '0' || *name > '9') return -1;
    number = 10 * number + (*name - '0');
  }
  return number;
}

}  // namespace

void close_descriptors(CloseWhich which, std::initializer_list<int> kept) {
  const int folder = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {  // no /proc: the usual limit of descriptors
    for (int fd = first_other; fd < 1024; ++fd) close_one(fd, which, kept);
    return;
  }
  alignas(std::uint64_t) char buffer[buffer_bytes];
  // readdir() allocates; the system call does not.
  for (long length = 0; (length = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < length;) {
      std::uint16_t entry_bytes = 0;
      std::memcpy(&entry_bytes, buffer + at + length_offset, sizeof entry_bytes);
      const int fd = number_of(buffer + at + name_offset);
      if (fd != folder) close_one(fd, which, kept);
      at += entry_bytes;
    }
  }
  ::close(folder);
}

void leave_standard_streams() {
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing < 0) return;
  for (int fd = 0; fd < first_other; ++fd) ::dup2(nothing, fd);
  if (nothing >= first_other) ::close(nothing);
}

namespace {

/// A message from the guard.
struct Report {
  enum class Kind { started, failed, ended } kind;
  int value;  ///< process id; errno; status of waitpid()
};

constexpr int term_patience_ms = 2000;  ///< for launchers such as mpirun to end their own children
constexpr int kill_patience_ms = 8000;  ///< for processes that wait for a disk and cannot be killed yet
constexpr int pause_ms = 10;

/// Pointers for exec, made before the fork: nothing may be allocated after it.
struct Pointers {
  std::vector<char*> argv, envp;
  explicit Pointers(ExecRequest& request) {
    for (std::string& text : request.arguments) argv.push_back(text.data());
    for (std::string& text : request.environment) envp.push_back(text.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
  }
};

struct Pipe {
  int read_end = -1, write_end = -1;
};

Pipe make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  return {ends[0], ends[1]};
}

void close_pipe(const Pipe& pipe) {
  if (pipe.read_end >= 0) ::close(pipe.read_end);
  if (pipe.write_end >= 0) ::close(pipe.write_end);
}

extern "C" void wake_up(int) {}

// From here to the end of the namespace: what runs in the guard, a fork of a process that may have threads. Only
// functions that are safe in a signal handler are called.

void sleep_ms(int milliseconds) {
  const timespec time = {0, milliseconds * 1000000L};
  ::nanosleep(&time, nullptr);
}

/// In the program's process: never returns. `failure` is a pipe that exec closes; a failure is told through it.
[[noreturn]] void become(const Pointers& pointers, const ExecRequest& request, int failure, const sigset_t& mask) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // should somebody kill the guard
  for (const int number :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGXFSZ, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2})
    ::signal(number, SIG_DFL);
  ::dup2(request.output, 1);
  ::dup2(request.output, 2);
  int reason = 0;
  if (!request.directory.empty() && ::chdir(request.directory.c_str()) != 0) reason = errno;
  if (reason == 0) {
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execve(pointers.argv[0], pointers.argv.data(), pointers.envp.data());
    reason = errno;
  }
  const ssize_t told = ::write(failure, &reason, sizeof reason);
  ::_exit(told == sizeof reason ? 127 : 126);
}

/// True as long as there are descendants: orphans of descendants become children of the guard. Reaps those that have
/// ended.
bool has_children() {
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
  }
  return ended == 0;
}

void kill_children() {
  char text[4096];
  const int file = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;  // no such list in this kernel: the group is killed
  const ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  pid_t pid = 0;
  for (ssize_t i = 0; i < length; ++i) {
    if (text[i] >= '0' && text[i] <= '9') {
      pid = 10 * pid + (text[i] - '0');
    } else {
      if (pid > 0) ::kill(pid, SIGKILL);
      pid = 0;
    }
  }
}

void end_all(pid_t program) {
  ::kill(-program, SIGTERM);
  for (int waited = 0; waited < term_patience_ms && has_children(); waited += pause_ms) sleep_ms(pause_ms);
  for (int waited = 0; waited < kill_patience_ms && has_children(); waited += pause_ms) {
    ::kill(-program, SIGKILL);
    kill_children();
    sleep_ms(pause_ms);
  }
}

/// To nobody, should the one who asked have died: the end of `life` says that, and then the program is ended.
void tell(int report, Report::Kind kind, int value) {
  const Report message = {kind, value};
  [[maybe_unused]] const ssize_t told = ::write(report, &message, sizeof message);
}

/// Starts the program; its process id, or -1 with errno.
pid_t start_program(const Pointers& pointers, const ExecRequest& request, const sigset_t& mask) {
  const Pipe failure = make_pipe();
  if (failure.read_end < 0) return -1;
  const pid_t program = ::fork();
  if (program == 0) become(pointers, request, failure.write_end, mask);
  ::close(failure.write_end);
  if (program < 0) return -1;
  ::setpgid(program, program);
  int reason = 0;
  const bool failed = ::read(failure.read_end, &reason, sizeof reason) == static_cast<ssize_t>(sizeof reason);
  ::close(failure.read_end);
  if (!failed) return program;
  ::waitpid(program, nullptr, 0);
  errno = reason;
  return -1;
}

/// Waits until the program has ended, or `life` has.
[[noreturn]] void watch(pid_t program, int life, int report, const sigset_t& awake) {
  for (;;) {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended != program) continue;
      tell(report, Report::Kind::ended, status);
      ::_exit(0);
    }
    pollfd event = {life, POLLIN, 0};
    if (::ppoll(&event, 1, nullptr, &awake) > 0) {
      end_all(program);
      ::_exit(0);
    }
  }
}

[[noreturn]] void guard(const Pointers& pointers, const ExecRequest& request, int life, int report,
                        const sigset_t& mask) {
  ::setpgid(0, 0);  // signals of a terminal are for us, who then decide
  ::prctl(PR_SET_NAME, "hpl-guard");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGTSTP})
    ::signal(number, SIG_IGN);
  struct sigaction wake = {};
  wake.sa_handler = wake_up;
  ::sigaction(SIGCHLD, &wake, nullptr);
  sigset_t awake = mask;
  sigdelset(&awake, SIGCHLD);
  // Locks and pipes of others: to hold them would say that we live. Descriptors that exec hands on are for the program.
  close_descriptors(CloseWhich::those_that_exec_closes, {life, report, request.output, keeper_descriptor()});
  leave_standard_streams();
  const pid_t program = start_program(pointers, request, mask);
  if (program < 0) {
    tell(report, Report::Kind::failed, errno);
    ::_exit(1);
  }
  tell(report, Report::Kind::started, program);
  watch(program, life, report, awake);
}

}  // namespace

GuardedProgram::GuardedProgram(ExecRequest request, const std::string& name) {
  const Pointers pointers(request);
  const Pipe life = make_pipe(), report = make_pipe();
  sigset_t child_ended, mask;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &child_ended, &mask);  // the guard must not miss the first one
  if (life.read_end >= 0 && report.read_end >= 0) guard_ = ::fork();
  if (guard_ == 0) guard(pointers, request, life.read_end, report.write_end, mask);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if (guard_ < 0) {
    close_pipe(life);
    close_pipe(report);
    throw ExternalError(name, -1, std::strerror(fork_error));
  }
  ::close(life.read_end);
  ::close(report.write_end);
  life_ = life.write_end;
  report_ = report.read_end;
  Report first = {Report::Kind::failed, EAGAIN};
  ssize_t got = 0;
  while ((got = ::read(report_, &first, sizeof first)) < 0 && errno == EINTR) {
  }
  if (got == static_cast<ssize_t>(sizeof first) && first.kind == Report::Kind::started) {
    pid_ = first.value;
    return;
  }
  forget();
  throw ExternalError(name, -1, std::strerror(first.value));
}

std::optional<int> GuardedProgram::wait(std::chrono::milliseconds most) {
  pollfd event = {report_, POLLIN, 0};
  if (::poll(&event, 1, static_cast<int>(most.count())) <= 0) return std::nullopt;
  Report last = {Report::Kind::ended, SIGKILL};
  if (::read(report_, &last, sizeof last) != static_cast<ssize_t>(sizeof last)) last.value = SIGKILL;  // of the guard
  forget();
  return last.value;
}

void GuardedProgram::stop() {
  if (guard_ < 0) return;
  ::close(life_);
  life_ = -1;
  // The guard tells nothing more, but the end of its pipe: waitpid() fails for who ignores SIGCHLD.
  char rest[sizeof(Report)];
  for (ssize_t got = 1; got > 0 || (got < 0 && errno == EINTR);) got = ::read(report_, rest, sizeof rest);
  forget();
}

/// Both have ended, or are about to.
void GuardedProgram::forget() {
  if (life_ >= 0) ::close(life_);
  ::close(report_);
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(guard_, &status, 0)) < 0 && errno == EINTR) {
  }
  // Somebody has killed the guard: what it would have done for the group is left to us.
  if (ended == guard_ && WIFSIGNALED(status) && pid_ > 0) ::kill(-pid_, SIGKILL);
  guard_ = life_ = report_ = -1;
}

}  // namespace hplcast::core
