#include "calibration/machine/sysfs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "hplcast/core/csv.hpp"

namespace hplcast::calibration {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<double> first_number(const std::filesystem::path& path) {
  std::istringstream words(first_line(path));
  std::string word;
  double value = 0;
  if (words >> word && core::parse_double(word, value)) return value;
  return std::nullopt;
}

std::string why_unreadable(const std::filesystem::path& path) {
  if (first_number(path)) return "";
  errno = 0;
  std::FILE* const stream = std::fopen(path.c_str(), "re");
  if (stream == nullptr) return std::strerror(errno);
  char first = 0;
  const std::size_t read = std::fread(&first, 1, 1, stream);
  const int error = errno;
  std::fclose(stream);
  return read == 0 && error != 0 ? std::strerror(error) : "no number in it";
}

std::vector<std::filesystem::path> entries(const std::filesystem::path& folder, const std::string& prefix) {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().filename().string().rfind(prefix, 0) == 0) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace hplcast::calibration
