#pragma once

#include <string>

#include "hplcast/fit/program_fit.hpp"

namespace hplcast::fit::detail {

/// Of the names of regions among those of routines.
inline const std::string region_prefix = "region:";

/// Adds what is doubtful in an observation, and in the models fitted to it.
void add_warnings(const ProgramObservation& seen, ProgramFit& fit);

}  // namespace hplcast::fit::detail
