#pragma once

#include <string>
#include <vector>

#include "hplcast/study/program_compare.hpp"

namespace hplcast::cli {

/// `hplcast compare` of programs other than HPL: with --time-from.
struct ProgramCompareOptions {
  std::vector<std::string> real, predicted;
  std::string time_from;  ///< a pattern, or `run`: the time of the whole run
  std::string match_from;
  bool json = false;
  std::string output;
  double max_error = -1;  ///< negative: no limit
};

/// @throws core::Error, also for an error above the limit.
void compare_program_runs(const ProgramCompareOptions& options);

}  // namespace hplcast::cli
