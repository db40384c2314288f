#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hplcast::test {

/// Path of a file of the reference data, or empty if the data are not on this machine.
inline std::filesystem::path reference_file(const std::string& name) {
  const char* given = std::getenv("HPLCAST_REFERENCE_DATA");
  const std::filesystem::path folder = given != nullptr && *given != '\0'
                                           ? std::filesystem::path(given)
                                           : std::filesystem::path(HPLCAST_SOURCE_DIR) / "../shared/data";
  const std::filesystem::path file = folder / name;
  return std::filesystem::exists(file) ? file : std::filesystem::path();
}

}  // namespace hplcast::test

/// Skips the test, visibly, where the reference data are not there.
#define HPLCAST_REFERENCE_FILE(variable, name)                                \
  const std::filesystem::path variable = hplcast::test::reference_file(name); \
  if (variable.empty()) GTEST_SKIP() << "skipped: no reference data (" << name << ")"
