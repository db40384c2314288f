#pragma once

#include <filesystem>
#include <functional>
#include <map>
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

/// @throws core::Error (bad_input) if program.json of an archive that observe_program() wrote (`files`: read_archive())
/// is of another version, or tells of more ranks than the archive has. One without program.json is not looked at.
void require_whole_observation(const std::map<std::string, std::string>& files, const std::string& archive);

}  // namespace hplcast::calibration
