#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/kernel_id.hpp"
#include "hplcast/core/polynomial.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/smpi_models/hplcast_smpi.h"

namespace hplcast::smpi_models {

/// Names of hplcast_mpi in its order, as they stand in the statistics.
inline constexpr std::array<const char*, HPLCAST_MPI_COUNT> mpi_names = {
    "send", "ssend", "isend", "issend", "recv", "irecv", "sendrecv", "iprobe", "test", "wait", "collective"};

/// What happened in one simulation: the content of the file HPLCAST_STATS (docs/smpi-runtime.md).
struct Statistics {
  std::string cluster;       ///< name; empty without a model
  std::string model_sha256;  ///< empty without a model
  std::string model_source;
  std::string simulator;  ///< name and version
  std::uint64_t seed = 0;
  bool noise = true;
  int ranks = 0;
  bool deadlock = false;
  double end_s = 0;             ///< simulated time at the end
  std::vector<double> times_s;  ///< as reported, in order
  std::array<core::KernelCount, core::kernel_count> kernels{};
  std::array<core::MessageCount, HPLCAST_MPI_COUNT> messages{};
};

/// JSON; kernels and operations that were not called are left out.
void write_statistics(std::ostream& out, const Statistics& statistics);

/// flop of one call by the usual count of multiplications and additions; 0 for kernels that only move data.
double kernel_flop(core::KernelId kernel, const core::KernelShape& shape) noexcept;

}  // namespace hplcast::smpi_models
