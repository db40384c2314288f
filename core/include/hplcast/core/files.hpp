#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace hplcast {
namespace fs = std::filesystem;
}

namespace hplcast::core {

/// Starts a process that outlives us: if we end without having removed our temporary files and folders (kill -9, a
/// signal that nobody catches), it does, and ends. For the main function of a program, before it starts threads; not
/// for ranks of MPI, which had better not fork. Without it, folders are removed by the next TemporaryFolder of the same
/// name and place.
void remove_leftovers_when_we_die();

/// A temporary file or folder: removed at destruction, if it is there; until then registered with the process of
/// remove_leftovers_when_we_die(), if there is one. Registered before it is made, so that there is no moment without.
class Leftover {
 public:
  /// An absolute path, or one relative to the current folder; empty: nothing.
  explicit Leftover(const std::filesystem::path& path);
  ~Leftover();
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }
  /// It is none any more.
  void forget() noexcept;

 private:
  std::filesystem::path path_;
  bool forgotten_ = false;
};

/// Where temporary files are made, as an absolute path: $TMPDIR, or /tmp if that is no folder.
std::filesystem::path temporary_place();

/// Whether a name stands for the standard input or output: `-`. A file of that name is `./-`.
bool is_standard_stream(const std::filesystem::path& path);

/// Writes a file so that it is either there whole or not at all: to a temporary file in the same folder, flushed, then
/// renamed. The folder is made if it is missing. A symbolic link is followed, and stays; an existing file keeps its
/// mode, a new one gets that of the umask. Devices, pipes and what we have open (`-`, /dev/stderr, /dev/fd/5: maybe a
/// file with more in it) are written directly. @throws as throw_write_error().
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& content);

/// The same for files that others write: `write` gets the name of the temporary file; the folder must be there.
void replace_file(const std::filesystem::path& path,
                  const std::function<void(const std::filesystem::path& temporary)>& write);

/// Throws the error of a file that could not be written: "cannot `what` `path`: reason". `number`: an errno.
/// @throws StorageError for a full, broken or read-only disk, quotas and limits of file sizes; else Error (bad_input).
[[noreturn]] void throw_write_error(const std::string& what, const std::filesystem::path& path, int number);

/// The file that a name stands for: the end of its symbolic links, which need not exist, but not what we have open.
std::filesystem::path behind_links(std::filesystem::path path);

/// The descriptor that a name of output stands for: 1 of `-` and /dev/stdout, 2 of /dev/stderr, N of /dev/fd/N; else
/// -1.
int open_descriptor(const std::filesystem::path& path);

/// Where other programs write what a name will stand for when it is whole; empty for an empty name.
std::filesystem::path part_file(const std::filesystem::path& path);

/// Opens a file (`-`: the standard input, which can be read once) and hands its stream and name to `read`.
/// @throws Error (bad_input) if it cannot be opened, or is a device without end (/dev/zero).
void read_file(const std::filesystem::path& path, const std::function<void(std::istream&, const std::string&)>& read);

/// The result of `read(stream, name, arguments...)` of a file, if it has one. @throws as read_file()
template <typename Read, typename... Arguments>
auto read_from(const std::filesystem::path& path, Read read, Arguments&&... arguments) {
  using Result = std::decay_t<std::invoke_result_t<Read, std::istream&, const std::string&, Arguments&...>>;
  if constexpr (std::is_void_v<Result>) {
    read_file(path, [&](std::istream& in, const std::string& name) { read(in, name, arguments...); });
  } else {
    std::optional<Result> result;
    read_file(path, [&](std::istream& in, const std::string& name) { result = read(in, name, arguments...); });
    return std::move(*result);
  }
}

/// Limits of texts that are read as a whole, before memory is taken.
constexpr std::size_t most_bytes_of_plan = std::size_t{1} << 24;    ///< plans, campaigns, configurations: a few KB
constexpr std::size_t most_bytes_of_output = std::size_t{1} << 26;  ///< what programs print
constexpr std::size_t most_bytes_of_text = std::size_t{1} << 28;    ///< a cluster of a million CPUs with own laws
constexpr std::size_t most_bytes_of_file = std::size_t{1} << 32;    ///< measurements of a large campaign

/// The whole content of a file. @throws Error (bad_input) if it cannot be opened; ParseError if it is larger than
/// most_bytes_of_file, or a pipe with more than most_bytes_of_output.
std::string read_text(const std::filesystem::path& path);

/// The text of a stream that may be a device that never ends, without a byte order mark. `hint`: for the error, what
/// kind of file is expected. @throws ParseError for more than `most_bytes`.
std::string read_text(std::istream& in, const std::string& name, const std::string& hint,
                      std::size_t most_bytes = most_bytes_of_text);

/// The text of a file that may be missing or vanish, as those of the kernel do; empty if it cannot be read.
std::string text_if_any(const std::filesystem::path& path);

/// The number behind `key` in such a file with lines "key: number kB", in bytes; 0 if it is not there.
double kib_field(const std::filesystem::path& path, const std::string& key);

/// The next line, without its end (also \r\n) and a byte order mark; false if there is none. Stops before memory does:
/// a device or a binary file may have one line without end. @throws ParseError for more than 1 MiB.
bool read_line(std::istream& in, std::string& line, const std::string& name);

/// A folder with a unique name, made at construction and removed with all its content at destruction; also when we are
/// killed, if the program has called remove_leftovers_when_we_die(). Folders of the same prefix and place that belonged
/// to a process that has died are removed, too.
class TemporaryFolder {
 public:
  /// Below `parent`, which is made if it is missing; if that is empty in temporary_place(). @throws Error (bad_input)
  /// if it cannot be made.
  explicit TemporaryFolder(const std::string& prefix, const std::filesystem::path& parent = {});
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const noexcept { return folder_->path(); }
  /// It is not removed at destruction: someone will want to look into it.
  void keep() noexcept;

 private:
  std::optional<Leftover> folder_;
  int lock_ = -1;  ///< of the folder: it is in use
};

/// SHA-256 of a text, in hex.
std::string sha256_hex(const std::string& text);

}  // namespace hplcast::core
