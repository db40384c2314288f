#include "descriptors.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hplcast::core {

namespace {

constexpr int first_other = 3;
constexpr std::size_t buffer_bytes = 4096;
/// Of struct linux_dirent64: d_ino, d_off, d_reclen, d_type, d_name.
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

}  // namespace hplcast::core
