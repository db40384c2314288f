#pragma once

#include <filesystem>
#include <string>

namespace hplcast::study {

/// Path of a program that is built with hplcast: the value of the environment variable `variable` if it is set, else
/// `name` next to the running executable, else the one that PATH finds. @throws core::Error (bad_input) if it is not a
/// file that can be run.
std::filesystem::path own_program(const std::string& name, const char* variable);

/// Path of a library that is built with hplcast: the value of the environment variable `variable` if it is set, else
/// `name` in ../lib beside the running executable; empty if there is no such file.
std::filesystem::path own_library(const std::string& name, const char* variable);

/// Absolute path of a program that the user names: a path, or a name that is a file here or in PATH.
/// @throws core::Error (bad_input) with `note` in its message if there is none.
std::filesystem::path located_program(const std::filesystem::path& given, const std::string& note);

/// The SimGrid that hplcast was built with.
struct ConfiguredSimGrid {
  std::string version;            ///< of its headers: "3.32"
  std::filesystem::path smpirun;  ///< as CMake found it; not there if hplcast was moved to another machine
  std::filesystem::path smpicc;
};

ConfiguredSimGrid configured_simgrid();

/// The smpirun that a prediction runs: `asked` if it is not empty, else that of configured_simgrid(), else (where this
/// is not there) the name smpirun, for PATH.
std::string smpirun_to_run(const std::string& asked);

/// Version of an smpirun or smpicc (a path, or a name that PATH finds), read from the script, which is not run; empty
/// if it does not tell.
std::string simgrid_version_of_script(const std::string& program);

/// Version of the SimGrid library that a program is linked with; empty if it is linked with none.
std::string linked_simgrid_version(const std::filesystem::path& program);

/// smpirun brings a library of its own version: two of them in one simulation end it with an abort that explains
/// nothing. @throws core::Error (bad_input) if both versions are known and differ.
void require_one_simgrid(const std::string& smpirun, const std::filesystem::path& xhpl);

/// Which part of a simulation that has failed is none, for people: a launcher that is not SimGrid's, a program that is
/// not linked with it, a library that is no platform. Empty: all look right.
std::string wrong_part(const std::string& smpirun, const std::filesystem::path& program,
                       const std::filesystem::path& platform);

}  // namespace hplcast::study
