#pragma once

#include <array>

#include "hplcast/core/activity_list.h"

namespace hplcast::core {

#define HPLCAST_ACTIVITY_NAME(NAME, name) #name,

/// Names of the phases of HPL, in the order of hplcast_phase, as they stand in statistics, tables and traces.
inline constexpr std::array phase_names = {HPLCAST_PHASES(HPLCAST_ACTIVITY_NAME)};

/// Names of MPI operations, in the order of hplcast_mpi.
inline constexpr std::array mpi_names = {HPLCAST_MPI_OPERATIONS(HPLCAST_ACTIVITY_NAME)};

#undef HPLCAST_ACTIVITY_NAME

}  // namespace hplcast::core
