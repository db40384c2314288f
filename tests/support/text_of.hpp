#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace hplcast::test {

/// All bytes of a file; empty if it cannot be read.
inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace hplcast::test
