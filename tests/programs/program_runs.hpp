#pragma once

#include <gtest/gtest.h>

#include "hplcast/study/program_run.hpp"
#include "tests/programs/program_cluster.hpp"

namespace hplcast::tests {

/// Of tests/programs/PROGRAM, on program_cluster().
inline study::ProgramRunRequest program_request(const std::string& program, int ranks,
                                                std::vector<std::string> arguments = {}) {
  study::ProgramRunRequest request;
  request.cluster = program_cluster();
  request.ranks = ranks;
  request.program = HPLCAST_BINARY_DIR "/tests/programs_" + program;
  request.arguments = std::move(arguments);
  request.timeout_s = 120;
  return request;
}

inline double number_after(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) ADD_FAILURE() << word << " is not in: " << text;
  return at == std::string::npos ? 0 : std::stod(text.substr(at + word.size()));
}

/// What a solver of order N spends in each repetition, by the models of program_cluster().
inline double solver_s(double n) {
  const double half = n / 2;
  return 1e-10 * n * half * n + 2e-10 * n * half * half + 3e-9 * half * n + 1e-8 * half;
}

}  // namespace hplcast::tests
