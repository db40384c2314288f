#pragma once

#include <filesystem>

namespace hplcast::core {

/// Starts a process that outlives us: if we end without having removed our temporary files and folders (kill -9, a
/// signal that nobody catches), it does, and ends. For the main function of a program, before it starts threads; not
/// for ranks of MPI, which had better not fork. Without it, folders are removed by the next TemporaryFolder of the same
/// name and place.
void remove_leftovers_when_we_die();

/// A file or folder that is temporary: registered from construction to destruction with the process of
/// remove_leftovers_when_we_die(), if there is one. Registered before it is made, so that there is no moment without.
class Leftover {
 public:
  /// An absolute path, or one relative to the current folder.
  explicit Leftover(const std::filesystem::path& path);
  ~Leftover();
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

 private:
  std::filesystem::path path_;
};

}  // namespace hplcast::core
