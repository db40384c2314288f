#include "linked_libraries.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/program_run.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

/// By what the program itself says; empty if it is no program.
std::vector<std::string> needed_libraries(const fs::path& program) {
  core::Command command;
  command.program = "readelf";
  command.arguments = {"-dW", program.string()};
  const core::CommandResult result = core::run(command);
  std::vector<std::string> libraries;
  std::istringstream lines(result.output);
  const std::regex needed("\\(NEEDED\\).*\\[(.*)\\]");
  std::smatch found;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, found, needed)) libraries.push_back(found[1]);
  return libraries;
}

bool matches(const std::string& library, const char* pattern) {
  return std::regex_search(library, std::regex(pattern));
}

bool have(const std::vector<std::string>& libraries, const char* pattern) {
  return std::any_of(libraries.begin(), libraries.end(), [&](const std::string& one) { return matches(one, pattern); });
}

}  // namespace

void require_real_program(const fs::path& program) {
  std::vector<std::string> libraries;
  try {
    libraries = needed_libraries(program);
  } catch (const core::ExternalError&) {
    return;  // without binutils it cannot be told
  }
  if (have(libraries, "^lib(hplcast-smpi|simgrid)\\.so"))
    throw core::Error(core::ExitCode::bad_input,
                      program.string() +
                          ": linked for the simulator\n  hint: real runs are observed: the program that "
                          "mpicc or mpif90 has linked");
}

std::vector<std::string> check_linked_libraries(const fs::path& program) {
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    throw core::Error(core::ExitCode::bad_input, program.string() + ": " + why + "\n  hint: " + hint);
  };
  std::error_code error;
  if (!fs::is_regular_file(program, error))
    refuse(fs::is_directory(program, error) ? "a folder; expected a program" : "there is no such file",
           "the program is the first word after the options");
  const std::vector<std::string> libraries = needed_libraries(program);
  if (!have(libraries, "^libhplcast-smpi\\.so"))
    refuse("not a program for the simulator: it is not linked with libhplcast-smpi.so",
           "compile and link it with hplcast-cc, hplcast-cxx or hplcast-fc (docs/use/any-program.md)");
  std::vector<std::string> warnings;
  for (const std::string& one : libraries) {
    if (matches(one, "^lib(blas|cblas|openblas|mkl_|blis|flexiblas|atlas|lapack|armpl|essl)"))
      refuse("needs the shared library " + one + ", whose routines would be executed and take no simulated time",
             "link it with hplcast-cc, which leaves -lblas out and takes a static LAPACK");
    if (matches(one, "^lib(mpi|mpich|mpi_mpifh|pmpi)"))
      refuse("needs " + one + ", a real MPI", "all of it must be compiled with hplcast-cc, hplcast-cxx or hplcast-fc");
    if (matches(one, "^lib(gomp|omp|iomp5)"))
      warnings.push_back(one + ": the program uses OpenMP; a simulated rank is one core, and threads take no time");
    if (!matches(one,
                 "^(lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+|gfortran|quadmath|simgrid|hplcast-smpi|gomp|omp|iomp5)|ld-"
                 "linux.*)\\.so"))
      warnings.push_back(
          one +
          ": a shared library has one copy of its variables for all ranks, and its calls of BLAS and MPI "
          "are not seen; link a static one");
  }
  return warnings;
}

}  // namespace hplcast::study
