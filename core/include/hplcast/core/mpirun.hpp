#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hplcast/core/process.hpp"

namespace hplcast::core {

/// How an MPI program is started on this machine or on the hosts of a file: one rank per core, one BLAS thread per
/// rank, because the model of a kernel is that of one core.
struct MpiLaunch {
  int ranks = 1;
  std::filesystem::path hostfile;          ///< empty: this machine
  bool oversubscribe = false;              ///< more ranks than cores: not bound, and slower than real
  std::string mpirun = "mpirun";           ///< Open MPI's, or Slurm's srun (then the hosts are those of the job)
  std::vector<std::string> options = {};   ///< more options for it, before the program
  std::vector<std::string> exported = {};  ///< environment variables that the ranks get, besides OPENBLAS_NUM_THREADS
  bool bind = true;                        ///< ranks to cores; false: not, unless `options` say so
};

/// The mpirun (or srun) command that runs `program` so.
Command mpirun_command(const MpiLaunch& launch, const std::filesystem::path& program);

}  // namespace hplcast::core
