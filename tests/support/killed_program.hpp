#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/text_of.hpp"

namespace hplcast::test {

/// An hplcast in the background that a test kills. It and all that it starts have a mark in their environment, by which
/// they are found again, and a TMPDIR of their own.
class KilledProgram {
 public:
  /// Runs hplcast with these arguments in `folder`; its temporary files and those of Open MPI's shared memory are to be
  /// in `temporary`.
  KilledProgram(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                const std::filesystem::path& temporary)
      : mark_("HPLCAST_KILL_TEST=" + std::to_string(::getpid())) {
    std::vector<std::string> words = {"hplcast"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::setenv("TMPDIR", temporary.c_str(), 1);
    ::setenv("OMPI_MCA_btl_vader_backing_directory", temporary.c_str(), 1);
    ::setenv("HPLCAST_KILL_TEST", mark_.substr(mark_.find('=') + 1).c_str(), 1);
    const std::string log = (folder / "killed.log").string();
    if (::chdir(folder.c_str()) != 0 || std::freopen(log.c_str(), "a", stderr) == nullptr ||
        std::freopen("/dev/null", "w", stdout) == nullptr)
      ::_exit(99);
    ::execv(HPLCAST_BINARY_DIR "/bin/hplcast", argv.data());
    ::_exit(98);
  }

  /// Sends a signal to hplcast alone, and waits until it has ended: its exit status, or 128 + signal.
  int end_by(int signal) {
    ::kill(pid_, signal);
    return wait();
  }

  /// Exit status, or 128 + signal.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  /// What it has left running, as lines of `ps`; waits for that to end.
  std::vector<std::string> strays_after(std::chrono::milliseconds patience) const {
    const auto end = std::chrono::steady_clock::now() + patience;
    std::vector<std::string> found = marked_processes();
    while (!found.empty() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      found = marked_processes();
    }
    return found;
  }

 private:
  std::vector<std::string> marked_processes() const {
    std::vector<std::string> found;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string pid = entry->path().filename();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string environment = '\0' + text_of(entry->path() / "environ");  // empty: a zombie
      if (environment.find('\0' + mark_ + '\0') == std::string::npos) continue;
      found.push_back(pid + " " + text_of(entry->path() / "comm"));
    }
    return found;
  }

  std::string mark_;
  pid_t pid_ = -1;
};

/// Whether nobody holds this lock; a missing file is not locked. Waits a little: a process that ends has lost its
/// environment, by which strays are found, before it closes its files.
inline bool is_free(const std::filesystem::path& lock) {
  const int file = ::open(lock.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  bool free = ::flock(file, LOCK_EX | LOCK_NB) == 0;
  while (!free && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    free = ::flock(file, LOCK_EX | LOCK_NB) == 0;
  }
  ::close(file);
  return free;
}

/// Files below a folder whose names tell that they are temporary, for messages.
inline std::vector<std::string> temporary_files(const std::filesystem::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.find(".tmp") != std::string::npos || name.find(".work.") != std::string::npos)
      found.push_back(entry->path());
  }
  return found;
}

}  // namespace hplcast::test
