#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/process.hpp"

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
  double since_unix_s = 0;  ///< start_s counts from this Unix time; 0: from the start of each run
};

/// Runs HPL with every call of a kernel timed, a configuration after the other, and writes the sampled calls as one
/// kernel CSV (measurement.hpp; content `hpl`). A kernel's calls are a uniform sample, so that sums over them are those
/// of HPL. @throws ExternalError if a run fails, DomainError for parameters that HPL refuses, Error (bad_input) if no
/// call was kept.
void measure_hpl_kernels(const HplKernelRequest& request, std::ostream& out);

/// Looks whether all that can be done, and does nothing of it. @throws Error if parameters are refused, or the program
/// is not on every host that the largest configuration uses.
void check_hpl_kernels(const HplKernelRequest& request);

/// A real program to be run with the observer preloaded (programs/observed/observer.c).
struct ObserveRequest {
  core::MpiLaunch launch;  ///< ranks, hosts, mpirun
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::filesystem::path observer;  ///< libhplcast-observe.so, on all hosts
  std::filesystem::path archive;   ///< to be written: .zip, .tar.gz or .tar.zst
  double timeout_s = 0;            ///< 0: none
  double reach_bytes =
      0x1p28;  ///< memory of a rank for longer vectors and strides (programs/observed/reach.c); 0: none
  std::function<void()> while_running = {};
  /// Before and after the run, with the folder whose files the archive will have.
  std::function<void(const std::filesystem::path&folder)> before = {}, after = {};
};

/// Runs the program and writes what its ranks did into the archive: rank-R.calls.csv, rank-R.times.csv,
/// rank-R.reach.csv (with reach_bytes), program.json and program.out, which is what it printed. @throws
/// core::ExternalError if it fails; core::Error if it left nothing: it is linked statically, or is no MPI program.
/// @return what it printed.
std::string observe_program(const ObserveRequest& request);

/// The run that an archive is of: its program.json.
struct ObservedRun {
  std::string program;  ///< path
  std::vector<std::string> arguments;
  int ranks = 0;
  std::optional<core::Control> control = {};  ///< before and after it, if both are there
};

/// Nothing if there is no program.json. @param files read_archive() of `archive`, which observe_program() wrote.
/// @throws core::ParseError if program.json is of another version or is none; core::InputError if it tells of more
/// ranks than the archive has.
std::optional<ObservedRun> read_observed_run(const std::map<std::string, std::string>& files,
                                             const std::string& archive);

}  // namespace hplcast::calibration
