#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "hplcast/core/prediction.hpp"

namespace hplcast::study {

/// What the runtime of the simulated program says of a simulation (HPLCAST_STATS, docs/smpi-runtime.md).
struct Statistics {
  std::string simulator;        ///< name and version
  std::string model_sha256;     ///< of the cluster that it used
  bool deadlock = false;        ///< the ranks waited for each other for ever
  std::vector<double> times_s;  ///< exact simulated time of every HPL run
  std::map<std::string, core::KernelCount> kernels;
  std::map<std::string, core::MessageCount> messages;
};

/// @throws core::ParseError if it is not what the runtime writes.
Statistics read_statistics(std::istream& in, const std::string& name);

}  // namespace hplcast::study
