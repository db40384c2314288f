#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace hplcast::tests {

/// TMPDIR is this folder, until destruction.
class Tmpdir {
 public:
  explicit Tmpdir(const std::filesystem::path& folder) {
    if (const char* const value = std::getenv("TMPDIR")) before_ = value;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  ~Tmpdir() { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }
  Tmpdir(const Tmpdir&) = delete;
  Tmpdir& operator=(const Tmpdir&) = delete;

 private:
  std::optional<std::string> before_;
};

}  // namespace hplcast::tests
