#include "sysfs.hpp"

#include <fstream>
#include <sstream>

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

}  // namespace hplcast::calibration
