#include "hplcast/study/workspace.hpp"

#include <unistd.h>

#include <cstdlib>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

fs::path folder_of_executable() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

fs::path from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? fs::path() : fs::path(value);
}

}  // namespace

fs::path own_program(const std::string& name, const char* variable) {
  const fs::path chosen = from_environment(variable);
  const fs::path path = chosen.empty() ? folder_of_executable() / name : chosen;
  require_program(path, chosen.empty() ? "./quickstart.sh builds it" : std::string("from ") + variable);
  return fs::absolute(path);
}

fs::path own_library(const std::string& name, const char* variable) {
  const fs::path chosen = from_environment(variable);
  const fs::path path = chosen.empty() ? folder_of_executable().parent_path() / "lib" / name : chosen;
  std::error_code error;
  return fs::is_regular_file(path, error) ? fs::absolute(path) : fs::path();
}

void require_program(const fs::path& path, const std::string& note) {
  std::error_code error;
  if (fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0) return;
  throw core::Error(core::ExitCode::bad_input,
                    "the program " + path.string() + " is not there or cannot be run (" + note + ")");
}

}  // namespace hplcast::study
