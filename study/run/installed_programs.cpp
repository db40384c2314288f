#include "hplcast/study/installed_programs.hpp"

#include <unistd.h>
#include <cstdlib>
#include <regex>

#include "hplcast/core/environment.h"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::study {

namespace {

fs::path from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? fs::path() : fs::path(value);
}

/// Major and minor number, as in "3.32", after the first `words` in a text or a binary; empty if there are none.
std::string version_after(const std::string& words, const fs::path& file) {
  if (::access(file.c_str(), R_OK) != 0) return "";
  const std::string text = core::read_text(file);
  const std::size_t found = text.find(words);
  if (found == std::string::npos) return "";
  constexpr std::size_t longest = 20;
  const std::string rest = text.substr(found + words.size(), longest);
  std::smatch version;
  return std::regex_search(rest, version, std::regex("^[0-9]+\\.[0-9]+")) ? version.str() : "";
}

bool has_text(const fs::path& file, const char* text) {
  return ::access(file.c_str(), R_OK) == 0 && core::read_text(file).find(text) != std::string::npos;
}

}  // namespace

fs::path located_program(const fs::path& given, const std::string& note) {
  std::error_code error;
  fs::path path = given;
  if (!given.has_parent_path() && !fs::exists(given, error)) path = core::find_program(given.string());
  if (fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0) return fs::absolute(path);
  throw core::InputError("the program " + (path.empty() ? given : path).string() + " is not there or cannot be run (" +
                         note + ")");
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

ConfiguredSimGrid configured_simgrid() {
  return {HPLCAST_SIMGRID_VERSION, HPLCAST_SMPIRUN, HPLCAST_SMPICC};
}

std::string smpirun_to_run(const std::string& asked) {
  if (!asked.empty()) return asked;
  const fs::path configured = configured_simgrid().smpirun;
  return ::access(configured.c_str(), X_OK) == 0 ? configured.string() : "smpirun";
}

std::string simgrid_version_of_script(const std::string& program) {
  return version_after("=\"SimGrid version ", core::find_program(program));
}

std::string linked_simgrid_version(const fs::path& program) {
  return version_after("libsimgrid.so.", program);
}

void require_one_simgrid(const std::string& smpirun, const fs::path& xhpl) {
  const std::string running = simgrid_version_of_script(smpirun);
  const std::string linked = linked_simgrid_version(xhpl);
  if (running.empty() || linked.empty() || running == linked) return;
  throw core::InputError(core::find_program(smpirun).string() + " is of SimGrid " + running + ", but " + xhpl.string() +
                         " is linked with SimGrid " + linked + "; expected one version\n  hint: give an smpirun of " +
                         linked + " with --smpirun, or build hplcast with SimGrid " + running +
                         " (CMAKE_PREFIX_PATH); `hplcast doctor` shows all versions");
}

std::string wrong_part(const std::string& smpirun, const fs::path& program, const fs::path& platform) {
  const fs::path launcher = core::find_program(smpirun);
  if (!has_text(launcher, "SimGrid"))
    return launcher.string() + " is not SimGrid's smpirun: another MPI's? --smpirun names the right one";
  if (!has_text(program, "libsimgrid"))
    return program.string() + " is not linked with SimGrid: expected a program for the simulator, such as xhpl-smpi";
  if (platform.extension() == ".so" && !has_text(platform, "load_platform"))
    return platform.string() +
           " is no platform library: expected libhplcast-platform.so; " HPLCAST_VARIABLE_PLATFORM_LIBRARY " names it";
  return "";
}

}  // namespace hplcast::study
