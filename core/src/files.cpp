#include "hplcast/core/files.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <vector>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace fs = std::filesystem;

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
  if (status != 0 && reason != EINVAL && reason != EROFS) throw cannot("write", path, std::strerror(reason));
}

/// Removes the temporary file unless it has been renamed.
struct Cleanup {
  fs::path path;
  ~Cleanup() {
    std::error_code ignored;
    if (!path.empty()) fs::remove(path, ignored);
  }
};

}  // namespace

bool is_standard_stream(const fs::path& path) {
  return path == "-";
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& content) {
  if (is_standard_stream(path)) {
    content(std::cout);
    if (!std::cout.flush()) throw cannot("write", "the standard output", std::strerror(errno));
    return;
  }
  std::error_code error;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), error);
    if (error) throw cannot("make the folder of", path, error.message());
  }
  // A device or a pipe (/dev/stdout, a process substitution) cannot be replaced by a rename: write to it directly.
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    std::ofstream out(path, std::ios::binary);
    content(out);
    if (!out.flush()) throw cannot("write", path, std::strerror(errno));
    return;
  }
  Cleanup temporary{path.string() + ".tmp" + std::to_string(::getpid())};
  {
    std::ofstream out(temporary.path, std::ios::binary);
    if (!out) throw cannot("write", path, std::strerror(errno));
    content(out);
    if (!out.flush()) throw cannot("write", path, std::strerror(errno));
  }
  sync_to_disk(temporary.path);
  fs::rename(temporary.path, path, error);
  if (error) throw cannot("write", path, error.message());
  temporary.path.clear();
}

void read_file(const fs::path& path, const std::function<void(std::istream&, const std::string&)>& read) {
  if (is_standard_stream(path)) {
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
  std::ostringstream text;
  read_file(path, [&](std::istream& in, const std::string&) { text << in.rdbuf(); });
  return text.str();
}

std::string read_text(std::istream& in, const std::string& name, const std::string& hint) {
  constexpr std::size_t largest = std::size_t{1} << 28;
  std::string text;
  std::vector<char> block(1 << 16);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > largest) throw ParseError({name, 0, ""}, "more than 256 MiB", hint);
  }
  return text;
}

TemporaryFolder::TemporaryFolder(const std::string& prefix, const fs::path& parent) {
  std::error_code error;
  fs::path base = parent;
  if (parent.empty()) {
    base = fs::temp_directory_path(error);
    if (error) base = "/tmp";
  } else {
    fs::create_directories(parent, error);
    base = fs::absolute(parent);
  }
  std::string name = (base / (prefix + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    throw Error(ExitCode::bad_input, "cannot make a temporary folder " + name +
                                         (parent.empty() ? "\n  hint: TMPDIR names another place" : ""));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!kept_) fs::remove_all(path_, ignored);
}

std::string sha256_hex(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    throw Error(ExitCode::external_failure, "OpenSSL cannot compute SHA-256");
  }
  constexpr char hex[] = "0123456789abcdef";
  std::string result;
  for (unsigned int i = 0; i < length; ++i) {
    result += hex[digest[i] >> 4];
    result += hex[digest[i] & 15];
  }
  return result;
}

}  // namespace hplcast::core
