#pragma once

#include <string>
#include <vector>

#include "mpi_samples.hpp"
#include "scope_fit.hpp"

namespace hplcast::fit::detail {

/// The sizes where MPI_Send changes its way: those given, or found in the rows `send_unmatched`
/// (docs/models/network-models.md). `notes` gets what was assumed.
Thresholds find_thresholds(const MpiSamples& samples, const NetworkFitOptions& options,
                           std::vector<std::string>& notes);

}  // namespace hplcast::fit::detail
