#include "hplcast/core/files.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <vector>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

Error cannot(const std::string& what, const fs::path& path, const std::string& why) {
  return Error(ExitCode::bad_input, "cannot " + what + " " + path.string() + ": " + why);
}

/// Data must be on the disk before the rename makes it visible.
void sync_to_disk(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const int status = ::fsync(fd);
  const int reason = errno;
  ::close(fd);
  if (status != 0 && reason != EINVAL && reason != EROFS) throw_write_error("write", path, reason);
}

/// The new file is as the old one was: who may read it, and whose it is (that only root can change).
void keep_mode(const fs::path& old_file, const fs::path& new_file) {
  struct stat old_state = {};
  struct stat new_state = {};
  if (::stat(old_file.c_str(), &old_state) != 0 || ::stat(new_file.c_str(), &new_state) != 0) return;
  const bool same_owner = old_state.st_uid == new_state.st_uid && old_state.st_gid == new_state.st_gid;
  if (!same_owner && ::chown(new_file.c_str(), old_state.st_uid, old_state.st_gid) != 0 && errno != EPERM)
    throw_write_error("write", old_file, errno);
  if (::chmod(new_file.c_str(), old_state.st_mode & 07777) != 0) throw_write_error("write", old_file, errno);
}

/// /dev/fd/3, /proc/self/fd/3: links, but to what is open, whatever its name.
bool is_in_our_descriptors(const fs::path& path) {
  std::error_code error;
  return fs::equivalent(path.parent_path(), "/proc/self/fd", error);
}

/// The file of this name with another end; of a name too long for it another one.
fs::path beside(const fs::path& file, const std::string& end) {
  constexpr std::size_t most = 255, digits = 16;  // letters of a name, in most file systems
  const std::string name = file.filename();
  if (name.size() + end.size() <= most) return file.string() + end;
  return file.parent_path() / (name.substr(0, most - end.size() - digits) + sha256_hex(name).substr(0, digits) + end);
}

/// Such as /dev/zero and /dev/urandom; a terminal ends, and /dev/null is empty.
bool is_endless_device(const char* path) {
  struct stat state = {}, null = {};
  if (::stat(path, &state) != 0 || !S_ISCHR(state.st_mode)) return false;
  if (::stat("/dev/null", &null) == 0 && null.st_rdev == state.st_rdev) return false;
  const int fd = ::open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  const bool is_terminal = fd >= 0 && ::isatty(fd) == 1;
  if (fd >= 0) ::close(fd);
  return !is_terminal;
}

void refuse_compressed(const std::string& text, const std::string& name) {
  for (const auto& [magic, kind] :
       {std::pair("\x1F\x8B", "compressed by gzip"), {"PK\3\4", "a zip"}, {"\x28\xb5\x2f\xfd", "compressed by zstd"}})
    if (begins_with(text, magic))
      throw ParseError({name, 0, ""}, kind + std::string("; expected a text"),
                       "unpack it first; of a campaign `hplcast fit cluster` makes a cluster.json");
}

/// Where temporary folders are made.
fs::path base_of(const fs::path& parent) {
  if (parent.empty()) return temporary_place();
  std::error_code error;
  fs::create_directories(parent, error);
  return fs::absolute(parent);
}

constexpr mode_t own_mode = 0700, kept_mode = 0755;

/// Opens a folder that is nobody else's and was not kept, and locks it: as long as we live, nobody takes it for
/// abandoned. -1: it is locked, or cannot be (some network file systems have no locks of folders: there nothing is ever
/// taken for abandoned).
int lock_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  struct stat state = {};
  const bool is_ours =
      fd >= 0 && ::fstat(fd, &state) == 0 && state.st_uid == ::geteuid() && (state.st_mode & 0777) == own_mode;
  if (is_ours && ::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

/// Folders of ours whose processes were killed together with what should have removed them.
void remove_abandoned(const fs::path& base, const std::string& begin) {
  constexpr auto fresh = std::chrono::minutes(1);  // perhaps not locked yet
  std::error_code error;
  for (fs::directory_iterator entry(base, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (!begins_with(entry->path().filename().string(), begin)) continue;
    const auto changed = fs::last_write_time(entry->path(), ignored);
    if (ignored || fs::file_time_type::clock::now() - changed < fresh) continue;
    const int lock = lock_folder(entry->path());
    if (lock < 0) continue;
    fs::remove_all(entry->path(), ignored);
    ::close(lock);
  }
}

/// No other process of this host takes the same name at the same time.
fs::path unused_name(const fs::path& base, const std::string& begin) {
  static std::atomic<unsigned> count = 0;
  const std::string own = begin + std::to_string(::getpid()) + "-";
  std::error_code error;
  for (;;) {
    fs::path name = base / (own + std::to_string(count++));
    if (!fs::exists(fs::symlink_status(name, error))) return name;
  }
}

}  // namespace

fs::path temporary_place() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : fs::absolute(place);
}

bool is_standard_stream(const fs::path& path) {
  return path == "-";
}

void throw_write_error(const std::string& what, const fs::path& path, int number) {
  const std::string message = cannot(what, path, std::strerror(number)).what();
  for (const int of_place : {ENOSPC, EDQUOT, EFBIG, EROFS, EIO})
    if (number == of_place) throw StorageError(message);
  throw InputError(message);
}

fs::path behind_links(fs::path path) {
  constexpr int most = 40;  // as the kernel
  std::error_code error;
  for (int i = 0; i < most && !is_in_our_descriptors(path) && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;
    if (i + 1 == most) throw_write_error("use", path, ELOOP);
  }
  return path;
}

int open_descriptor(const fs::path& path) {
  if (is_standard_stream(path)) return STDOUT_FILENO;
  const fs::path end = behind_links(path);
  int number = -1;
  return is_in_our_descriptors(end) && parse_integer(end.filename().string(), number) ? number : -1;
}

fs::path part_file(const fs::path& path) {
  return path.empty() ? path : beside(behind_links(path), ".part");
}

void replace_file(const fs::path& path, const std::function<void(const fs::path& temporary)>& write) {
  std::error_code error;
  // A device or a pipe (/dev/stdout, a process substitution) cannot be replaced by a rename: write to it directly.
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return write(path);
  const fs::path target = behind_links(path);
  const bool is_there = fs::exists(target, error);
  if (is_there && ::access(target.c_str(), W_OK) != 0) throw_write_error("write", path, errno);
  const Leftover temporary(beside(target, ".tmp" + std::to_string(::getpid())));
  write(temporary.path());
  if (is_there) keep_mode(target, temporary.path());
  sync_to_disk(temporary.path());
  fs::rename(temporary.path(), target, error);
  if (error) throw_write_error("write", target, error.value());
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& content) {
  const int descriptor = open_descriptor(path);
  if (descriptor == STDOUT_FILENO) {
    content(std::cout);
    if (!std::cout.flush()) throw_write_error("write", "the standard output", errno == 0 ? EIO : errno);
    return;
  }
  if (descriptor >= 0) {
    if (::dprintf(descriptor, "%s", written(content).c_str()) < 0) throw_write_error("write", path, errno);
    return;
  }
  const auto write_to = [&](const fs::path& file) {
    std::ofstream out(file, std::ios::binary);
    if (!out) throw_write_error("write", path, errno);
    errno = 0;
    content(out);
    if (!out.flush()) throw_write_error("write", path, errno == 0 ? EIO : errno);
  };
  std::error_code error;
  const fs::path folder = behind_links(path).parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  if (!folder.empty() && error) throw_write_error("make the folder of", path, error.value());
  replace_file(path, write_to);
}

void read_file(const fs::path& path, const std::function<void(std::istream&, const std::string&)>& read) {
  const bool is_input = is_standard_stream(path);
  if (is_endless_device(is_input ? "/dev/stdin" : path.c_str()))
    throw cannot("read", is_input ? fs::path("the standard input") : path, "it is a device; expected a file or a pipe");
  if (is_input) {
    if (std::cin.peek() == std::istream::traits_type::eof())
      throw cannot("read", "the standard input", "nothing is there; `-` can be given for one input only");
    read(std::cin, "standard input");
    std::cin.ignore(std::numeric_limits<std::streamsize>::max());
    return;
  }
  std::error_code error;
  if (fs::is_directory(path, error)) throw cannot("read", path, "it is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw cannot("read", path, std::strerror(errno));
  read(in, path.string());
}

std::string read_text(const fs::path& path) {
  std::error_code error;
  const bool is_file = fs::is_regular_file(path, error);
  const std::uintmax_t size = is_file ? fs::file_size(path, error) : 0;
  if (is_file && !error && size > most_bytes_of_file) throw cannot("read", path, "it is larger than 4 GiB");
  return read_from(path, [&](std::istream& in, const std::string& name) {
    return read_text(in, name, "", is_file ? most_bytes_of_file : most_bytes_of_output);
  });
}

std::string read_text(std::istream& in, const std::string& name, const std::string& hint, std::size_t most_bytes) {
  std::string text;
  std::vector<char> block(1 << 16);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
    // A device, or a file with a hole: not worth 256 MiB.
    if (text.size() == block.size() && text.find_first_not_of('\0') == std::string::npos)
      throw ParseError({name, 0, ""}, "zeros only", hint);
    if (text.size() > most_bytes)
      throw ParseError({name, 0, ""}, "more than " + std::to_string(most_bytes >> 20) + " MiB", hint);
  }
  if (begins_with(text, "\xEF\xBB\xBF")) text.erase(0, 3);  // a byte order mark
  if (!hint.empty()) refuse_compressed(text, name);         // a text is expected
  return text;
}

std::string text_if_any(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();  // an error of reading is its end: the process may be gone whose file it was
  return text.str();
}

double kib_field(const fs::path& path, const std::string& key) {
  for (const std::string& line : split(text_if_any(path), '\n'))
    if (begins_with(line, key)) return std::strtod(line.c_str() + key.size(), nullptr) * kibibyte;
  return 0;
}

bool read_line(std::istream& in, std::string& line, const std::string& name) {
  constexpr std::size_t longest = std::size_t{1} << 20;
  line.clear();
  for (char block[4096]; in.getline(block, sizeof block) || in.gcount() > 0;) {
    const bool is_full = !in && !in.eof();
    line.append(block, static_cast<std::size_t>(in.gcount()) - (in.eof() || is_full ? 0 : 1));  // with the line's end
    if (!is_full) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (begins_with(line, "\xEF\xBB\xBF")) line.erase(0, 3);  // a byte order mark
      refuse_compressed(line, name);
      return true;
    }
    in.clear();
    if (line.size() > longest) throw ParseError({name, 0, ""}, "a line of more than 1 MiB", "is this a text file?");
  }
  return !line.empty();
}

TemporaryFolder::TemporaryFolder(const std::string& prefix, const fs::path& parent) {
  const fs::path base = base_of(parent);
  const std::string begin = prefix + ".";
  remove_abandoned(base, begin);
  for (int attempt = 0; attempt < 100; ++attempt) {  // another host may have made it meanwhile
    folder_.emplace(unused_name(base, begin));
    if (::mkdir(path().c_str(), own_mode) == 0) {
      lock_ = lock_folder(path());
      return;
    }
    const int reason = errno;
    folder_->forget();
    if (reason != EEXIST) throw_write_error("make a temporary folder", path(), reason);
  }
  throw InputError("cannot make a temporary folder " + path().string() + ": names are in use");
}

void TemporaryFolder::keep() noexcept {
  folder_->forget();
  ::chmod(path().c_str(), kept_mode);  // nobody takes it for abandoned
}

TemporaryFolder::~TemporaryFolder() {
  folder_.reset();
  if (lock_ >= 0) ::close(lock_);
}

std::string sha256_hex(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    throw Error(ExitCode::external_failure, "OpenSSL cannot compute SHA-256");
  std::string result;
  for (unsigned int i = 0; i < length; ++i) result += printed("%02x", static_cast<unsigned>(digest[i]));
  return result;
}

}  // namespace hplcast::core
