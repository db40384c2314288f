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
std::vector<std::string> smpi_options();

/// model.h: the kernel macros and the kernel models of a cluster as tables in C99 (docs/formats/model-h.md). It
/// includes "hplcast/smpi_models/hplcast_smpi.h". Coefficients are hexadecimal floats: the models are equal to those of
/// cluster.json to the last bit. @throws DomainError for a kernel name that the runtime does not know.
void write_model_h(std::ostream& out, const core::ClusterModel& cluster);

/// GOAL, the schedules of LogGOPSim and ATLAHS, from a trace (core::TraceFile) of HPL: per rank
/// `calc` in ns, `send` and `recv` with bytes and tags. Time between messages is work, times in messages and waiting
/// are left to the simulator of the schedule; polls are as many as there were.
/// @throws ParseError for what is no trace, and for traces of some ranks, of a part of the time or of fast mode.
void write_goal(std::ostream& out, std::istream& trace, const std::string& name);

}  // namespace hplcast::platforms
