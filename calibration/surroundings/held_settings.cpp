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

/// Waits until the other end of `life` is closed, restores all, and ends with the number of files that refused.
[[noreturn]] void keep(int life, const std::vector<FileText>& before) noexcept {
  ::setsid();  // a Ctrl-C on the terminal ends the others of its group
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
  // Nobody may wait for us because of what we inherited: locks of folders, pipes of a shell.
  const int null = ::open("/dev/null", O_RDWR);
  for (int file = 0; file < 3; ++file) ::dup2(null, file);
  const long most = ::sysconf(_SC_OPEN_MAX);
  for (int file = 3; file < std::min(most, 65536L); ++file)
    if (file != life) ::close(file);
  char nothing = 0;
  while (::read(life, &nothing, 1) < 0 && errno == EINTR) {
  }
  int refused = 0;
  for (auto one = before.rbegin(); one != before.rend(); ++one)
    refused += write_text(one->file.c_str(), one->text.data(), one->text.size()) != 0;
  ::_exit(std::min(refused, 255));
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
    if (mine.empty()) refuse(name, root / "sys/devices/system/cpu", "the system does not have it");
    for (FileText& one : mine) {
      const std::string present = chosen_word(one.file);
      if (present.empty()) refuse(name, one.file, why_unreadable(one.file));
      before.push_back({one.file, present});
      writes.push_back({name, std::move(one)});
    }
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw core::Error(core::ExitCode::external_failure, "no pipe for settings");
  keeper_ = ::fork();
  if (keeper_ == 0) {
    ::close(ends[1]);
    keep(ends[0], before);
  }
  ::close(ends[0]);
  life_ = ends[1];
  if (keeper_ < 0) {
    ::close(life_);
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
  int status = 0;
  while (::waitpid(keeper_, &status, 0) < 0 && errno == EINTR) {
  }
  keeper_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hplcast::calibration
