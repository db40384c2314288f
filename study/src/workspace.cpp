#include "hplcast/study/workspace.hpp"

#include <unistd.h>

#include <cstdlib>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

fs::path from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? fs::path() : fs::path(value);
}

}  // namespace

fs::path located_program(const fs::path& given, const std::string& note) {
  std::error_code error;
  fs::path path = given;
  if (!given.has_parent_path() && !fs::exists(given, error)) path = core::find_program(given.string());
  require_program(path.empty() ? given : path, note);
  return fs::absolute(path);
}

fs::path own_program(const std::string& name, const char* variable) {
  const fs::path chosen = from_environment(variable);
  if (!chosen.empty()) return located_program(chosen, std::string("from ") + variable);
  const fs::path beside = core::own_executable().parent_path() / name;
  std::error_code error;
  if (fs::exists(beside, error)) return located_program(beside, "beside hplcast");
  const fs::path found = core::find_program(name);
  return found.empty() ? located_program(beside, "nor is it in PATH; ./quickstart.sh builds it") : found;
}

fs::path own_library(const std::string& name, const char* variable) {
  const fs::path chosen = from_environment(variable);
  const fs::path path = chosen.empty() ? core::own_executable().parent_path().parent_path() / "lib" / name : chosen;
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
