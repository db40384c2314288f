#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/mpirun.hpp"

namespace hplcast::calibration {

/// Which runs of the instrumented HPL give the durations of its kernels.
struct HplKernelRequest {
  std::vector<core::HplParameters> configurations;
  std::filesystem::path program;  ///< xhpl-instrumented
  core::MpiLaunch launch;         ///< ranks are those of each configuration
  std::filesystem::path folder;   ///< where HPL runs, visible to all hosts; empty: below $TMPDIR
  long max_rows = 5000;           ///< sampled calls per kernel, rank and configuration
  /// Called with the fraction done in [0, 1]; may be empty.
  std::function<void(double)> progress;
};

/// Runs HPL with every call of a kernel timed, a configuration after the other, and writes the sampled calls as one
/// kernel CSV (measurement.hpp; content `hpl`). A kernel's calls are a uniform sample, so that sums over them are those
/// of HPL. @throws ExternalError if a run fails, DomainError for parameters that HPL refuses, Error (bad_input) if no
/// call was kept.
void measure_hpl_kernels(const HplKernelRequest& request, std::ostream& out);

/// Looks whether all that can be done, and does nothing of it. @throws Error if parameters are refused, or the program
/// is not on every host that the largest configuration uses.
void check_hpl_kernels(const HplKernelRequest& request);

}  // namespace hplcast::calibration
