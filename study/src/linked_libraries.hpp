#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hplcast::study {

/// Looks at the shared libraries that a program to be simulated needs. @throws core::Error if hplcast-cc did not link
/// it, or one of them is a BLAS, LAPACK or MPI that the simulation would not replace. @return warnings about others.
std::vector<std::string> check_linked_libraries(const std::filesystem::path& program);

}  // namespace hplcast::study
