#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::study {

/// Time and memory of a simulation of HPL, estimated from the parameters (docs/measurements/scaling.md has the
/// measurements behind it).
struct SimulationNeeds {
  double messages = 0;            ///< sent by HPL
  double simulated_messages = 0;  ///< of these, message by message
  double wall_s = 0;              ///< on one core, nothing else running: right to a factor of two
  double memory_bytes = 0;        ///< proportional set size
  double address_bytes = 0;       ///< virtual
  long memory_maps = 0;           ///< with guard pages between the stacks of the ranks
  double block_bytes = 0;         ///< for smpi/shared-malloc-blocksize: the page that SMPI maps repeatedly for panels
};

/// `fast`: panel factorisations are not simulated message by message.
SimulationNeeds simulation_needs(const core::HplParameters& parameters, bool fast);
/// Messages that exact mode simulates for all panels, and fast mode does not.
double messages_saved_by_fast(const core::HplParameters& parameters);

/// Limits of this machine for one process. 0 means "no limit, or not known".
struct SimulationLimits {
  double available_bytes = 0;  ///< memory free without swapping
  double address_bytes = 0;    ///< RLIMIT_AS
  double commit_bytes = 0;     ///< rest of the commit limit, where vm.overcommit_memory is 2
  double stack_bytes = 0;      ///< RLIMIT_STACK
  double disk_bytes = 0;       ///< free where temporary files go
};

/// Those of this machine, for files in `folder`.
SimulationLimits simulation_limits(const std::filesystem::path& folder);

/// Options of smpirun for the stacks of the ranks: none, or where guard pages between them would take more memory maps
/// than there may be, no guard pages. HPL needs less than 64 KiB of a stack, where this leaves 256 KiB.
std::vector<std::string> stack_options(const SimulationNeeds& needs, long max_map_count);

/// The shortages, each with its remedy; empty: there is none.
std::vector<std::string> shortages(const SimulationNeeds& needs, const SimulationLimits& limits);

/// "about 4 min, 120 MB, 2.4 million messages".
std::string to_string(const SimulationNeeds& needs);

}  // namespace hplcast::study
