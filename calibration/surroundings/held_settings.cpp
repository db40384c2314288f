#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "calibration/machine/sysfs.hpp"
#include "calibration/surroundings/settings.hpp"
#include "hplcast/calibration/surroundings.hpp"
#include "hplcast/core/errors.hpp"

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

/// Waits until the other end of `life` is closed, restores all, and reports how many files refused.
[[noreturn]] void keep(int life, int report, const std::vector<FileText>& before) noexcept {
  ::setsid();  // a Ctrl-C on the terminal ends the others of its group
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
  // Nobody may wait for us because of what we inherited: locks of folders, pipes of a shell.
  const int null = ::open("/dev/null", O_RDWR);
  for (int file = 0; file < 3; ++file) ::dup2(null, file);
  const long most = ::sysconf(_SC_OPEN_MAX);
  for (int file = 3; file < std::min(most, 65536L); ++file)
    if (file != life && file != report) ::close(file);
  char nothing = 0;
  while (::read(life, &nothing, 1) < 0 && errno == EINTR) {
  }
  unsigned char refused = 0;
  for (auto one = before.rbegin(); one != before.rend(); ++one)
    if (write_text(one->file.c_str(), one->text.data(), one->text.size()) != 0 && refused < 255) ++refused;
  ::_exit(::write(report, &refused, 1) == 1 ? 0 : 1);
}

}  // namespace

HeldSettings::HeldSettings(const Settings& wanted, const fs::path& root) {
  require_known(wanted, true);
  struct Write {
    std::string name;
    FileText what;
  };
  std::vector<Write> writes;
  std::vector<FileText> before;
  for (const auto& [name, value] : wanted) {
    const auto& table = setting_table();
    const auto setting = std::find_if(table.begin(), table.end(), [&](const Setting& one) { return one.name == name; });
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
    keep(life[0], report[1], before);
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

HeldSettings::~HeldSettings() {
  restore();
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
  return got == 1 && refused == 0;
}

}  // namespace hplcast::calibration
