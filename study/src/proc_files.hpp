#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace hplcast::study {

/// The number behind `key` in a file of the kernel with lines "key: number kB", in bytes; 0 if it is not there.
inline double kib_field(const std::filesystem::path& file, const std::string& key) {
  constexpr double bytes_per_kib = 1024.0;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) == 0) return std::strtod(line.c_str() + key.size(), nullptr) * bytes_per_kib;
  }
  return 0;
}

}  // namespace hplcast::study
