// What the tests of hpl-patches share: a folder of their own, programs run in it, and HPL.dat files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "hplcast/core/files.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::hpl_patches {

namespace fs = std::filesystem;

/// A new folder, removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "hplcast hpl'test-XXXXXX").string();  // blanks and quotes are legal
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

inline void write_text(const fs::path& path, const std::string& text) {
  core::write_file(path, [&](std::ostream& out) { out << text; });
}

inline std::string read_text(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string program_path(const std::string& name) {
  return HPLCAST_BINARY_DIR "/bin/" + name;
}

/// One BLAS thread a rank, and Open MPI allowed to run in a container.
inline std::map<std::string, std::string> run_environment() {
  return {{"OPENBLAS_NUM_THREADS", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
}

/// HPL's defaults but for the size and the grid.
inline core::HplParameters configuration(int n, int nb, int p, int q) {
  core::HplParameters parameters;
  parameters.N = n;
  parameters.NB = nb;
  parameters.P = p;
  parameters.Q = q;
  return parameters;
}

/// HPL.dat for one configuration.
inline void write_dat(const fs::path& folder, const core::HplParameters& parameters, bool check) {
  std::ostringstream text;
  core::write_hpl_dat(text, parameters, check);
  write_text(folder / "HPL.dat", text.str());
}

/// The runs in HPL's output. @throws ParseError
inline std::vector<core::HplRun> runs_in(const std::string& output) {
  std::istringstream in(output);
  return core::read_hpl_output(in, "output", {});
}

/// A program built here, started by mpirun in `folder`.
inline core::CommandResult mpirun(const fs::path& folder, const std::string& program, int ranks,
                                  std::map<std::string, std::string> environment = {}) {
  environment.merge(run_environment());
  core::Command command;
  command.program = "mpirun";
  command.arguments = {"--oversubscribe", "-np", std::to_string(ranks), program_path(program)};
  command.environment = environment;
  command.directory = folder;
  command.timeout_s = 300;
  return core::run(command);
}

}  // namespace hplcast::hpl_patches
