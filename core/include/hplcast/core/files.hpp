#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

namespace hplcast::core {

/// Whether a name stands for the standard input or output: `-`. A file of that name is `./-`.
bool is_standard_stream(const std::filesystem::path& path);

/// Writes a file so that it is either there whole or not at all: to a temporary file in the same folder, flushed, then
/// renamed; `-` is the standard output. The folder is made if it is missing. @throws Error (bad_input) if the disk is
/// full or the folder cannot be written.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& content);

/// Opens a file (`-`: the standard input, which can be read once) and hands its stream and name to `read`.
/// @throws Error (bad_input) if it cannot be opened.
void read_file(const std::filesystem::path& path, const std::function<void(std::istream&, const std::string&)>& read);

/// The whole content of a file. @throws Error (bad_input) if it cannot be opened.
std::string read_text(const std::filesystem::path& path);

/// The text of a stream that may be a device that never ends. `hint`: for the error, what kind of file is expected.
/// @throws ParseError for more than 256 MiB: a cluster of a million CPUs with laws of their own is smaller.
std::string read_text(std::istream& in, const std::string& name, const std::string& hint);

/// A folder with a unique name, made at construction and removed with all its content at destruction.
class TemporaryFolder {
 public:
  /// Below `parent`, which is made if it is missing; if that is empty below $TMPDIR, or /tmp. @throws Error (bad_input)
  /// if it cannot be made.
  explicit TemporaryFolder(const std::string& prefix, const std::filesystem::path& parent = {});
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }
  /// It is not removed at destruction: someone will want to look into it.
  void keep() noexcept { kept_ = true; }

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

/// SHA-256 of a text, in hex.
std::string sha256_hex(const std::string& text);

}  // namespace hplcast::core
