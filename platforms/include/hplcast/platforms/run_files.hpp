#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::platforms {

/// A hostfile for smpirun and mpirun: one line per rank, hosts filled in order with one rank per core.
/// @throws DomainError for fewer than one rank, or more ranks than the cluster has cores.
void write_hostfile(std::ostream& out, const core::ClusterModel& cluster, int ranks);

/// The `--cfg=...` arguments that smpirun needs for a simulation with our models, whatever the program. Options for
/// the network come with platform.xml or with the platform library and are not repeated here.
std::vector<std::string> smpi_options(const core::ClusterModel& cluster);

/// model.h: the kernel macros and the kernel models of a cluster as tables in C99 (docs/formats/model-h.md). It
/// includes "hplcast/smpi_models/hplcast_smpi.h". Coefficients are hexadecimal floats: the models are equal to those of
/// cluster.json to the last bit. @throws DomainError for a kernel name that the runtime does not know.
void write_model_h(std::ostream& out, const core::ClusterModel& cluster);

}  // namespace hplcast::platforms
