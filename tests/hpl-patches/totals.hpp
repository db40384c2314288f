// Reader of the instrumented xhpl's PREFIX-RANK.totals.csv.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace hplcast::hpl_patches {

struct KernelTotal {
  long long calls = 0;
  double total_s = 0;
  double flop = 0;
};

/// By name of kernel; "clock" is the cost of reading the clock.
inline std::map<std::string, KernelTotal> read_totals(const std::filesystem::path& path) {
  std::map<std::string, KernelTotal> totals;
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string kernel;
    KernelTotal total;
    char comma = 0;
    std::getline(fields, kernel, ',');
    fields >> total.calls >> comma >> total.total_s >> comma >> total.flop;
    totals[kernel] = total;
  }
  return totals;
}

}  // namespace hplcast::hpl_patches
