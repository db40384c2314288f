#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>

#include "calibration/machine/sysfs.hpp"
#include "calibration/surroundings/settings.hpp"
#include "hplcast/calibration/surroundings.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

/// errno of what went wrong; 0: written. Calls only what a child of fork() may call.
int write_text(const char* file, const char* text, std::size_t size) noexcept {
  const int out = ::open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (out < 0) return errno;
  const bool whole = ::write(out, text, size) == static_cast<ssize_t>(size);
  const int error = whole ? 0 : errno == 0 ? EIO : errno;
  ::close(out);
  return error;
}

[[noreturn]] void refuse(const std::string& name, const fs::path& file, const std::string& why) {
  throw core::InputError("setting " + name + " cannot be changed: " + file.string() + ": " + why +
                         "\n  hint: root can change most of them; virtual machines and containers often have none. "
                         "`require` only looks whether they are as they should be");
}

/// Waits until the other end of `life` is closed, restores all, and reports how many files refused. `lock` stays until
/// then.
[[noreturn]] void keep(int life, int report, int lock, const std::vector<FileText>& before) noexcept {
  ::setsid();  // a Ctrl-C on the terminal ends the others of its group
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
  // Nobody may wait for us because of what we inherited: locks of folders, pipes of a shell.
  const int null = ::open("/dev/null", O_RDWR);
  for (int file = 0; file < 3; ++file) ::dup2(null, file);
  const long most = ::sysconf(_SC_OPEN_MAX);
  for (int file = 3; file < std::min(most, 65536L); ++file)
    if (file != life && file != report && file != lock) ::close(file);
  char nothing = 0;
  while (::read(life, &nothing, 1) < 0 && errno == EINTR) {
  }
  unsigned char refused = 0;
  for (auto one = before.rbegin(); one != before.rend(); ++one)
    if (write_text(one->file.c_str(), one->text.data(), one->text.size()) != 0 && refused < 255) ++refused;
  if (lock >= 0) ::flock(lock, LOCK_UN);
  ::_exit(::write(report, &refused, 1) == 1 ? 0 : 1);
}

/// A lock on the settings of a host: of two that change them, the second would restore what the first has changed. It
/// is on a folder that all hosts have, so that no file is left. -1: this system has no such locks.
int lock_settings(const fs::path& root) {
  const fs::path folder = root / "sys/devices/system/cpu";
  const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  const int error = errno;
  ::close(lock);
  if (error == EWOULDBLOCK)
    throw core::InputError(
        "settings of this host are held by another process, such as a campaign with `set`\n  hint: "
        "wait for its end; only one can restore what was there before");
  return -1;
}

}  // namespace

HeldSettings::HeldSettings(const Settings& wanted, const fs::path& root) {
  require_known(wanted, true);
  lock_.fd = lock_settings(root);
  struct Write {
    std::string name;
    FileText what;
  };
  std::vector<Write> writes;
  std::vector<FileText> before;
  for (const auto& [name, value] : wanted) {
    const auto& table = setting_table();
    const auto setting =
        std::find_if(table.begin(), table.end(), [&name = name](const Setting& one) { return one.name == name; });
    std::vector<FileText> mine;
    try {
      mine = setting->writes(root, value);
    } catch (const core::DomainError& error) {
      throw core::InputError("setting " + name + ": " + error.what());
    }
    changes_.push_back(name + ": " + setting->read(root) + " -> " + value);
    if (mine.empty()) refuse(name, root / "sys/devices/system/cpu", "the system does not have it");
    for (FileText& one : mine) {
      const std::string present = chosen_word(one.file);
      if (present.empty()) refuse(name, one.file, why_unreadable(one.file));
      before.push_back({one.file, present});
      writes.push_back({name, std::move(one)});
    }
  }
  int life[2], report[2];
  if (::pipe2(life, O_CLOEXEC) != 0 || ::pipe2(report, O_CLOEXEC) != 0)
    throw core::Error(core::ExitCode::external_failure, "no pipe for settings");
  keeper_ = ::fork();
  if (keeper_ == 0) {
    ::close(life[1]);
    keep(life[0], report[1], lock_.fd, before);
  }
  ::close(life[0]);
  ::close(report[1]);
  life_ = life[1];
  report_ = report[0];
  if (keeper_ < 0) {
    ::close(life_);
    ::close(report_);
    throw core::Error(core::ExitCode::external_failure, "no process that restores settings can be started");
  }
  try {
    for (const Write& one : writes) {
      const auto& [file, text] = one.what;
      if (const int error = write_text(file.c_str(), text.data(), text.size()))
        refuse(one.name, file, std::strerror(error));
      if (const std::string now = chosen_word(file); now != text)
        refuse(one.name, file, "it was written \"" + text + "\", and says \"" + now + "\"");
    }
  } catch (...) {
    restore();
    throw;
  }
}

void HeldSettings::Lock::release() noexcept {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

bool HeldSettings::restore() noexcept {
  if (keeper_ < 0) return true;
  ::close(life_);
  // Its word, not its end: waitpid() fails for a process that was started with SIGCHLD ignored.
  unsigned char refused = 255;
  ssize_t got = 0;
  while ((got = ::read(report_, &refused, 1)) < 0 && errno == EINTR) {
  }
  ::close(report_);
  while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
  keeper_ = -1;
  lock_.release();
  return got == 1 && refused == 0;
}

namespace {

constexpr const char *said_change = "set on ", *said_held = "held on ", *said_restored = "restored on ";

/// One write per line: those of several hosts come through one pipe.
void say(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) return;  // who does not listen any more ends us soon
}

}  // namespace

bool hold_settings(const Settings& wanted) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&ends, number);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) return true;  // it has ended before
  const std::string host = core::host_name();
  std::optional<HeldSettings> held;
  try {
    held.emplace(wanted);
  } catch (const core::InputError& error) {
    throw core::InputError(host + ": " + error.what());
  }
  for (const std::string& change : held->changes()) say(said_change + host + ": " + change);
  say(said_held + host);
  int number = 0;
  ::sigwait(&ends, &number);
  const bool whole = held->restore();
  if (whole) say(said_restored + host);
  return whole;
}

SettingsOnHosts::SettingsOnHosts(const Settings& wanted, const core::MpiLaunch& launch, const fs::path& hplcast,
                                 const fs::path& output)
    : command_(core::mpirun_command(launch, hplcast)), hosts_(static_cast<std::size_t>(launch.ranks)) {
  constexpr double answer_s = 120;
  constexpr auto pause = std::chrono::milliseconds(20);
  command_.arguments.push_back("doctor");
  for (const auto& [name, value] : wanted) command_.arguments.push_back("--hold=" + name + "=" + value);
  command_.output = output;
  command_.purpose = "changing settings of the hosts";
  command_.despite_interrupts = true;  // at a Ctrl-C we end it ourselves, when nothing is measured any more
  core::write_file(output, [](std::ostream&) {});
  thread_ = std::thread([this] { run(); });
  const double begin_s = core::unix_time_s();
  while (said(said_held).size() < hosts_ && !has_ended_ && core::unix_time_s() < begin_s + answer_s)
    std::this_thread::sleep_for(pause);
  const std::vector<std::string> held = said(said_held);
  changes_ = said(said_change);
  if (std::set<std::string>(held.begin(), held.end()).size() == hosts_ && !has_ended_) return;
  restore();
  if (failure_) std::rethrow_exception(failure_);
  throw core::InputError("settings were changed on " + std::to_string(held.size()) + " of " + std::to_string(hosts_) +
                         " hosts" + (held.empty() ? "" : " (" + core::comma_separated(held) + ")") +
                         ", and restored; expected an answer of each within " + core::shortest(answer_s) + " s");
}

void SettingsOnHosts::run() {
  constexpr double patience_s = 60;  // to switch hyper-threads on takes seconds
  double asked_s = 0;
  command_.while_running = [&](int launcher) {
    if (!is_ending_) return;
    // Launchers pass this signal on, and give what they start all the time that it wants.
    if (asked_s == 0) ::kill(launcher, SIGUSR1);
    if (asked_s == 0) asked_s = core::unix_time_s();
    if (core::unix_time_s() > asked_s + patience_s)
      throw core::Error(core::ExitCode::external_failure, "hosts do not restore their settings");
  };
  try {
    const core::CommandResult result = core::run(command_);
    if (!is_ending_) {
      const bool is_input = result.status == static_cast<int>(core::ExitCode::bad_input);
      throw core::Error(is_input ? core::ExitCode::bad_input : core::ExitCode::external_failure,
                        core::program_failure(command_, result.status, core::how_it_ended(command_, result)).what());
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  has_ended_ = true;
}

std::vector<std::string> SettingsOnHosts::said(const std::string& word) const {
  std::vector<std::string> lines;
  std::ifstream in(command_.output);
  for (std::string line; std::getline(in, line) && !in.eof();)  // a line without an end may go on
    if (line.rfind(word, 0) == 0) lines.push_back(line.substr(word.size()));
  return lines;
}

bool SettingsOnHosts::restore() noexcept {
  if (!thread_.joinable()) return true;
  is_ending_ = true;
  thread_.join();
  return said(said_restored).size() == hosts_;
}

}  // namespace hplcast::calibration
