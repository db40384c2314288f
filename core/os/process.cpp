#include "hplcast/core/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <ostream>
#include <sstream>

#include "core/os/guard.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

extern char** environ;

namespace hplcast::core {

namespace {

std::atomic<std::ostream*> stream = nullptr;
std::mutex stream_mutex;
const void* last_shown = nullptr;  ///< whose lines were shown last, under the mutex; nullptr: of nobody who may go on

void show_lines(const void* whose, const std::string& purpose, const std::string& lines) {
  const std::lock_guard<std::mutex> lock(stream_mutex);
  std::ostream* const out = stream;
  if (out == nullptr) return;
  if (whose == nullptr || last_shown != whose) *out << "==> " << purpose << " <==\n";
  last_shown = whose;
  *out << lines << std::flush;
}

}  // namespace

void show_output(std::ostream* out) {
  stream = out;
}

bool output_is_shown() {
  return stream != nullptr;
}

void show_text(const std::string& purpose, const std::string& lines) {
  show_lines(nullptr, purpose, lines);
}

namespace {

/// Copies what a program writes into a file to the stream of show_output(), line by line; nothing without a stream, or
/// if the program has no purpose. Several threads may each have one.
class ShownOutput {
 public:
  /// `fd`: the file, which must be readable.
  ShownOutput(const Command& command, int fd)
      : command_(command), fd_(fd), shown_(output_is_shown() && !command.purpose.empty()) {
    if (shown_) show("+ " + to_string(command) + "\n");
  }
  /// Copies the rest.
  ~ShownOutput() {
    if (!shown_) return;
    copy();
    if (!begun_.empty()) show(begun_ + "\n");
    const std::lock_guard<std::mutex> lock(stream_mutex);
    if (last_shown == this) last_shown = nullptr;
  }
  ShownOutput(const ShownOutput&) = delete;
  ShownOutput& operator=(const ShownOutput&) = delete;

  /// The whole lines that have come since the last call.
  void copy() {
    if (!shown_) return;
    char buffer[65536];
    for (ssize_t n = 0; (n = ::pread(fd_, buffer, sizeof buffer, position_)) > 0; position_ += n)
      begun_.append(buffer, static_cast<std::size_t>(n));
    const std::size_t end = begun_.rfind('\n');
    if (end == std::string::npos) return;
    show(begun_.substr(0, end + 1));
    begun_.erase(0, end + 1);
  }

 private:
  void show(const std::string& lines) const { show_lines(this, command_.purpose, lines); }

  const Command& command_;
  int fd_;
  bool shown_;
  off_t position_ = 0;
  std::string begun_;  ///< a line that has no end yet
};

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
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// The session that mpirun of Open MPI 4 keeps while it runs, and leaves if the guard has to kill it: below a folder of
/// all that this user runs on this host. Empty for other programs.
fs::path session_of(const fs::path& program, pid_t pid) {
  if (program.filename() != "mpirun") return {};
  const std::string host = host_name();
  return temporary_place() / ("ompi." + host.substr(0, host.find('.')) + "." + std::to_string(::geteuid())) /
         ("pid." + std::to_string(pid));
}

/// Waits for the child, calling `while_running` about every 100 ms. Sets timed_out; throws when interrupted.
int wait_for(const Command& command, GuardedProgram& child, ShownOutput& shown, CommandResult& result,
             Clock::time_point begin) {
  using namespace std::chrono_literals;
  auto last_call = begin - 1s;
  auto wait = 1ms;
  for (;;) {
    if (const auto status = child.wait(wait)) return *status;
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
    wait = std::min(wait * 2, 20ms);
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
  std::optional<Leftover> session;  // ends after the program
  GuardedProgram child(exec_request(command, program, output.fd), command.program);
  session.emplace(session_of(program, child.pid()));
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
  for (const std::string& folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
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

namespace {

std::string name_of(const Command& command) {
  return fs::path(command.program).filename().string();
}

bool is_about_an_error(std::string line) {
  std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word :
       {"error", "fail", "cannot", "critical", "no such", "not found", "fault", "exception", "killed", "does not fit",
        // of ssh and other launchers, before the advice of mpirun
        "could not", "denied", "refused", "timed out", "no route", "unreachable", "closed by", "unable to"})
    if (line.find(word) != std::string::npos) return true;
  return false;
}

/// "hplcast-measure-mpi: ...", unless it only warns.
bool is_ours(const std::string& line) {
  return begins_with(line, "hplcast") && line.find(": ") != std::string::npos &&
         line.find(": warning: ") == std::string::npos && line.find(": note: ") == std::string::npos;
}

/// Lines that smpirun and SMPI add about a program that failed: its exit code, and the command.
bool is_of_smpirun(const std::string& line) {
  return begins_with(line, "Execution failed with code ") ||
         line.find("SMPI process did not return 0. Return value :") != std::string::npos ||
         line.find(" --cfg=smpi/privatization:") != std::string::npos;
}

/// Without blanks around it, and not longer than one wants to read.
std::string trimmed(const std::string& line) {
  constexpr std::size_t longest = 240;
  const std::size_t begin = line.find_first_not_of(" \t\r"), end = line.find_last_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  const std::string text = line.substr(begin, end - begin + 1);
  return text.size() <= longest ? text : text.substr(0, longest) + " ...";
}

/// A file that stays, with what a program has printed. Empty if it cannot be written, in /tmp neither.
fs::path kept(const Command& command, const std::string& output) {
  for (const fs::path& folder : {temporary_place(), fs::path("/tmp")}) {
    std::string name = (folder / ("hplcast-" + name_of(command) + "-XXXXXX.log")).string();
    const int fd = ::mkstemps(name.data(), 4);
    if (fd < 0) continue;
    const bool whole = ::write(fd, output.data(), output.size()) == static_cast<ssize_t>(output.size());
    ::close(fd);
    if (whole) return name;
    ::unlink(name.c_str());
  }
  return {};
}

}  // namespace

std::string telling_line(std::istream& output) {
  std::string error, last;
  for (std::string line; std::getline(output, line);) {
    if (std::none_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c); }) || is_of_smpirun(line))
      continue;
    const bool is_end = line.find(" called MPI_Abort ") != std::string::npos;
    if (is_ours(line)) return trimmed(is_end && begins_with(error, "hplcast: note: ") ? error : line);
    // Open MPI 5 wraps what it says of a rank that was lost.
    const bool goes_on = last.find(" noticed that process ") != std::string::npos;
    if (error.empty() && is_about_an_error(line)) error = goes_on ? trimmed(last) + " " + trimmed(line) : line;
    last = line;
  }
  return trimmed(error.empty() ? last : error);
}

std::string how_it_ended(const Command& command, const CommandResult& result) {
  std::ostringstream text;
  text << name_of(command);
  constexpr int signals = 128, most_signals = 64;
  if (result.timed_out) {
    text << " did not end within " << command.timeout_s << " s";
  } else if (result.status > signals && result.status <= signals + most_signals) {
    text << " was ended by signal " << result.status - signals << " (" << ::strsignal(result.status - signals) << ")";
  } else {
    text << " ended with status " << result.status;
  }
  return text.str();
}

ExternalError program_failure(const Command& command, int status, const std::string& how, const std::string& details) {
  std::string message = command.purpose.empty() ? how : command.purpose + " failed: " + how;
  std::ifstream output(command.output);
  const std::string said = telling_line(output);
  if (said.empty()) {
    message += command.output.empty() || !output.is_open() ? "" : "; it printed nothing";
  } else {
    message += "; its output is in " + fs::absolute(command.output).string();
  }
  if (!details.empty()) message += "\n  " + details;
  if (!said.empty()) message += "\n  it said: " + said;
  if (!command.purpose.empty() && !output_is_shown()) message += "\n  hint: --verbose shows the command and its output";
  return ExternalError(status, message);
}

CommandResult run_checked(const Command& command) {
  CommandResult result = run(command);
  if (result.status == 0) return result;
  Command with_log = command;
  if (command.output.empty() && !result.output.empty()) with_log.output = kept(command, result.output);
  throw program_failure(with_log, result.status, how_it_ended(command, result));
}

void settle_in() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);  // gets the lowest number that is free: this one
  }
  ::signal(SIGXFSZ, SIG_IGN);
}

std::string host_name() {
  char name[256] = "?";
  ::gethostname(name, sizeof name - 1);
  return name;
}

double unix_time_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

namespace {

/// Environment with which the loader takes `library`, if there is one, before those that a program names. It divides
/// LD_PRELOAD at blanks and colons: of a folder with such a name, the library is found as others are.
std::vector<std::string> preloading(const fs::path& library) {
  if (library.string().find_first_of(" :") == std::string::npos)
    return library.empty() ? std::vector<std::string>{} : std::vector{"LD_PRELOAD=" + library.string()};
  const std::string folder = library.parent_path().string(), name = library.filename().string();
  if (name.find_first_of(" :") != std::string::npos || folder.find_first_of(":;") != std::string::npos)
    throw InputError("cannot preload " + library.string() +
                     ": the loader divides names of libraries at blanks and colons, those of their folders at colons "
                     "and semicolons\n  hint: copy it to a path without any");
  const char* const others = std::getenv("LD_LIBRARY_PATH");
  const bool are_any = others != nullptr && *others != '\0';
  return {"LD_PRELOAD=" + name, "LD_LIBRARY_PATH=" + folder + (are_any ? std::string(":") + others : "")};
}

}  // namespace

Command mpirun_command(const MpiLaunch& launch, const fs::path& program) {
  Command command;
  const auto add = [&](std::initializer_list<std::string> arguments) {
    command.arguments.insert(command.arguments.end(), arguments);
  };
  // Slurm's launcher knows the hosts and their slots itself, and hands our environment on.
  const bool is_srun = fs::path(launch.mpirun).filename() == "srun";
  command.program = launch.mpirun;
  // For OpenBLAS, OpenMP (BLIS, ATLAS, OpenBLAS built with it), BLIS and MKL, which may take fewer than it is told.
  const std::string threads = std::to_string(launch.threads);
  command.environment = {{"OPENBLAS_NUM_THREADS", threads}};
  if (launch.threads > 1 || !launch.blas.empty())
    for (const char* name : {"OMP_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"})
      command.environment[name] = threads;
  if (launch.threads > 1) command.environment["MKL_DYNAMIC"] = "FALSE";
  std::vector<std::string> exported;
  for (const auto& [name, value] : command.environment) exported.push_back(name);
  append(exported, launch.exported);
  const std::vector<std::string> preloaded = preloading(launch.blas);  // not for the launcher itself
  append(exported, preloaded);
  add({is_srun ? "-n" : "-np", std::to_string(launch.ranks)});
  require(!is_srun || launch.hostfile.empty(), "hostfile", launch.hostfile.string(),
          "none beside srun, which takes the hosts of its job");
  if (!launch.hostfile.empty()) add({"--hostfile", fs::absolute(launch.hostfile).string()});
  if (is_srun) {
    if (launch.oversubscribe) add({"--overcommit"});
    if (launch.threads > 1) add({"--cpus-per-task=" + threads});
    if (launch.bind && !launch.oversubscribe) add({"--cpu-bind=cores"});
    add({"--export=ALL"});  // also in jobs of `sbatch --export=NONE`
  } else if (launch.oversubscribe) {
    add({"--oversubscribe", "--bind-to", "none"});  // Open MPI refuses to bind two ranks to one core
  } else if (launch.bind) {
    add({"--map-by", launch.threads > 1 ? "slot:PE=" + threads : "core", "--bind-to", "core"});
  } else {
    add({"--bind-to", "none"});
  }
  if (!is_srun && ::geteuid() == 0) add({"--allow-run-as-root"});
  command.arguments.insert(command.arguments.end(), launch.options.begin(), launch.options.end());
  if (!is_srun)
    for (const std::string& variable : exported) add({"-x", variable});
  if (is_srun && !preloaded.empty()) add({"env"});  // --export divides its values at commas
  if (is_srun) append(command.arguments, preloaded);
  add({program.string()});
  return command;
}

}  // namespace hplcast::core
