#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace hplcast::test {

/// All bytes of a file; empty if it cannot be read.
inline std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();  // does not throw if a process of /proc ends meanwhile
  return text.str();
}

}  // namespace hplcast::test
