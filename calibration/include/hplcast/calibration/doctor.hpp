#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/calibration/machine.hpp"
#include "hplcast/calibration/surroundings.hpp"

namespace hplcast::calibration {

enum class CheckStatus { ok, warn, unknown };

HPLCAST_ENUM_NAMES(CheckStatus, "status", "ok", "warn", "unknown");

/// One thing that the doctor looked at.
struct Check {
  std::string name;
  CheckStatus status = CheckStatus::unknown;
  std::string found;
  std::string remedy;  ///< what to do; empty if all is well
};

/// Whether a check is about what disturbs measurements, not about what simulations need.
bool concerns_measuring(const Check& check);

/// The versions ("3.32") of the parts of SimGrid that simulations go through; empty: not known, or not there.
struct SimGridVersions {
  std::string smpirun;
  std::string smpicc;
  std::string library;  ///< that xhpl-smpi is linked with
  std::string headers;  ///< that hplcast was built with
};

/// External programs and what their --version says first; absent: not found.
struct ToolVersions {
  std::optional<std::string> mpirun;
  std::optional<std::string> smpirun;
  std::optional<std::string> smpicc;
  SimGridVersions simgrid;
};

/// Asks the programs themselves (paths, or names that PATH finds). Their SimGridVersions are left empty.
ToolVersions find_tools(const std::string& smpirun = "smpirun", const std::string& smpicc = "smpicc");

/// Looks for what makes measurements bad or simulations fail. `software` is absent if no measuring program could be
/// asked. Pure: everything is in the arguments.
std::vector<Check> examine(const core::MachineDescription& machine, const ToolVersions& tools,
                           const std::optional<core::SoftwareDescription>& software);

/// A check for each setting that is required of this machine.
std::vector<Check> examine_requirements(const core::MachineDescription& machine, const Settings& required);

/// A table for people, and JSON: {"checks": [{name, status, found, remedy}], "machine": {...}}.
void write_table(std::ostream& out, const std::vector<Check>& checks);
void write_json(std::ostream& out, const std::vector<Check>& checks, const core::MachineDescription& machine);

}  // namespace hplcast::calibration
