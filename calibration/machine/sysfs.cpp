#include "calibration/machine/sysfs.hpp"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

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

std::string of_cpuinfo(const std::filesystem::path& root, const std::string& key) {
  std::ifstream in(root / "proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.rfind(key, 0) != 0) continue;
    const std::size_t begin = line.find_first_not_of(' ', colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
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

namespace {

/// "(NAME)" and, after the state, the parent of a line of /proc/PID/stat.
struct TaskStat {
  std::string name;
  char state = '?';
  long parent = 0;

  explicit TaskStat(const std::string& line) {
    const std::size_t begin = line.find('('), end = line.rfind(')');
    if (begin == std::string::npos || end == std::string::npos || end < begin) return;
    name = line.substr(begin, end - begin + 1);
    std::istringstream(line.substr(end + 1)) >> state >> parent;
  }
};

double runnable_of_ours(const std::filesystem::path& root) {
  double count = 0;
  const TaskStat us(first_line(root / "proc" / std::to_string(::getpid()) / "stat"));
  for (const std::filesystem::path& process : entries(root / "proc", "")) {
    const TaskStat one(first_line(process / "stat"));
    if (one.name.empty() || one.name != us.name || one.parent != us.parent) continue;
    for (const std::filesystem::path& task : entries(process / "task", ""))
      if (TaskStat(first_line(task / "stat")).state == 'R') ++count;
  }
  return count;
}

}  // namespace

std::optional<double> runnable_of_others(const std::filesystem::path& root) {
  constexpr int looks = 10;
  double sum = 0;
  for (int i = 0; i < looks; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::istringstream words(first_line(root / "proc/loadavg"));
    double load = 0, runnable = 0;
    if (!(words >> load >> load >> load >> runnable)) return std::nullopt;
    sum += runnable - runnable_of_ours(root);
  }
  return std::max(0.0, sum / looks);
}

}  // namespace hplcast::calibration
