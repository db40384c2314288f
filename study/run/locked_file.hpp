#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::study {

/// A file that is open, and locked against others of this type until destruction.
class LockedFile {
 public:
  /// Makes the file if it is missing. `flags`: more of open(). @throws core::Error if it cannot be opened, or with
  /// `busy` if another process has locked it.
  LockedFile(const std::filesystem::path& path, int flags, const std::string& busy)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | flags, 0644)) {
    if (descriptor_ < 0) core::throw_write_error("open", path, errno);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    ::close(descriptor_);
    throw core::InputError(busy);
  }
  ~LockedFile() { ::close(descriptor_); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace hplcast::study
