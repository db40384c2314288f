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

/// @throws core::Error (bad_input) with `note` in its message unless `path` is a file that can be run.
void require_program(const std::filesystem::path& path, const std::string& note);

}  // namespace hplcast::study
