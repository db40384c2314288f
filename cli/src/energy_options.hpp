#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "hplcast/core/files.hpp"
#include "hplcast/study/observation.hpp"

namespace hplcast::cli {

/// --energy, --power-trace, --bin, --power-hosts.
void add_energy(CLI::App& command, study::Observation& observation);

/// The file of --power-trace: where its name ends in .svg or .png, the CSV goes elsewhere, and is drawn at the end.
class PowerTraceFile {
 public:
  /// Changes where `observation` has it, and turns on its energy. @throws as require_picture()
  explicit PowerTraceFile(study::Observation& observation);
  /// After the simulation. @throws as write_picture()
  void finish() const;

 private:
  std::filesystem::path picture_;
  std::filesystem::path csv_;
  std::optional<core::TemporaryFolder> folder_;
};

}  // namespace hplcast::cli
