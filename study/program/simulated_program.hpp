#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hplcast::study {

/// 0 of nothing.
inline double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

/// Looks at the shared libraries that a program to be simulated needs. @throws core::Error if hplcast-cc did not link
/// it, or one of them is a BLAS, LAPACK or MPI that the simulation would not replace. @return warnings about others.
std::vector<std::string> check_linked_libraries(const std::filesystem::path& program);

}  // namespace hplcast::study
