#include "hplcast/core/files.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/os/guard.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 15s;  ///< with programs that still write there: their guards end them in 10 s
constexpr auto pause = 50ms;
constexpr std::size_t longest_path = 4096;

int to_keeper = -1;
pid_t owner = -1;  ///< a fork of ours must not speak for us

void remove_one(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (begins_with(path.parent_path().filename().string(), "ompi."))
    fs::remove(path.parent_path(), error);  // of Open MPI, if it was the last one in it
}

/// Programs that are being ended may still write there.
void remove_all_of(const std::vector<fs::path>& paths) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (const fs::path& path : paths) {
    std::error_code error;
    do {
      remove_one(path);
      if (!fs::exists(fs::symlink_status(path, error))) break;
      std::this_thread::sleep_for(pause);
    } while (std::chrono::steady_clock::now() < end);
  }
}

/// A message is + or -, and a path.
[[noreturn]] void keep(int from_owner) {
  std::vector<fs::path> paths;
  std::string message(longest_path + 1, '\0');
  for (ssize_t length = 0; (length = ::recv(from_owner, message.data(), message.size(), 0)) > 0;) {
    const fs::path path = message.substr(1, static_cast<std::size_t>(length) - 1);
    if (message.front() == '+') {
      paths.push_back(path);
    } else {
      paths.erase(std::remove(paths.begin(), paths.end(), path), paths.end());
    }
  }
  // The latest first: files in folders, then the folders.
  std::reverse(paths.begin(), paths.end());
  remove_all_of(paths);
  ::_exit(0);
}

void tell(char what, const fs::path& path) {
  if (to_keeper < 0 || ::getpid() != owner || path.string().size() > longest_path) return;
  const std::string message = what + path.string();
  [[maybe_unused]] const ssize_t sent = ::send(to_keeper, message.data(), message.size(), MSG_NOSIGNAL);
}

}  // namespace

int keeper_descriptor() noexcept {
  return to_keeper;
}

void remove_leftovers_when_we_die() {
  int ends[2] = {-1, -1};
  if (to_keeper >= 0 || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();  // not of our terminal, and not of our process group
    ::prctl(PR_SET_NAME, "hpl-keeper");
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_IGN);
    close_descriptors(CloseWhich::all, {ends[1]});
    leave_standard_streams();
    // Where we were started may be unmounted or removed before we end.
    if (::chdir("/") != 0) ::_exit(1);
    keep(ends[1]);
  }
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return;
  }
  to_keeper = ends[0];
  owner = ::getpid();
}

Leftover::Leftover(const fs::path& path) : path_(path), forgotten_(path.empty()) {
  std::error_code error;
  if (const fs::path absolute = fs::absolute(path, error); !error) path_ = absolute;
  if (!forgotten_) tell('+', path_);
}

Leftover::~Leftover() {
  if (forgotten_) return;
  remove_one(path_);
  tell('-', path_);
}

void Leftover::forget() noexcept {
  forgotten_ = true;
  tell('-', path_);
}

}  // namespace hplcast::core
