#include "storage_trouble.hpp"

#include <signal.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "hplcast/core/files.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t probe_bytes = 1 << 20;
constexpr int signals = 128;

/// A line of the output that tells of a full disk, as the C library names it; empty if there is none.
std::string told_in(const fs::path& output) {
  std::ifstream in(output);
  for (std::string line; std::getline(in, line);) {
    for (const int reason : {ENOSPC, EDQUOT, EFBIG}) {
      if (line.find(std::strerror(reason)) != std::string::npos) return line;
    }
  }
  return "";
}

}  // namespace

void throw_if_storage(const core::Command& command, const core::ExternalError& failure) {
  const std::string where = "the simulation in " + command.directory.string() + " could not write its files: ";
  if (failure.status() == signals + SIGXFSZ)
    throw core::StorageError(where + "a file reached the limit of sizes\n  hint: `ulimit -f` shows it");
  const std::string told = told_in(command.output);
  if (!told.empty()) throw core::StorageError(where + told);
  const fs::path probe = command.directory / "probe";
  core::write_file(probe, [](std::ostream& out) { out << std::string(probe_bytes, ' '); });
  std::error_code ignored;
  fs::remove(probe, ignored);
}

}  // namespace hplcast::study
