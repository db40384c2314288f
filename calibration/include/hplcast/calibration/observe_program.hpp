#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/mpirun.hpp"

namespace hplcast::calibration {

/// A real program to be run with the observer preloaded (programs/src/observer.c).
struct ObserveRequest {
  core::MpiLaunch launch;  ///< ranks, hosts, mpirun
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::filesystem::path observer;  ///< libhplcast-observe.so, on all hosts
  std::filesystem::path archive;   ///< to be written: .zip, .tar.gz or .tar.zst
  double timeout_s = 0;            ///< 0: none
  double reach_bytes = 0x1p28;     ///< memory of a rank for longer vectors and strides (programs/src/reach.c); 0: none
  std::function<void()> while_running = {};
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
};

/// Nothing if there is no program.json. @param files read_archive() of `archive`, which observe_program() wrote.
/// @throws core::ParseError if program.json is of another version or is none; core::Error (bad_input) if it tells of
/// more ranks than the archive has.
std::optional<ObservedRun> read_observed_run(const std::map<std::string, std::string>& files,
                                             const std::string& archive);

}  // namespace hplcast::calibration
