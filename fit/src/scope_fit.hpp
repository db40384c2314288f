#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hplcast/fit/segment_noise.hpp"
#include "mpi_samples.hpp"

namespace hplcast::fit::detail {

/// Sizes where MPI_Send changes its way, see core::NetworkModel::Values.
struct Thresholds {
  double async_small_bytes = 0;
  double detached_bytes = 0;
};

/// The segments of each sized operation of a scope, as fitted; empty for an operation without rows.
struct ScopeLines {
  std::array<std::vector<FittedSegment>, sized_operation_count> of;
  std::string problem;  ///< empty: fine
};

/// Lines of every operation of a scope, broken at the chosen breakpoints and at the thresholds.
ScopeLines fit_lines(const ScopeSamples& samples, const Thresholds& thresholds, const NetworkFitOptions& options);

/// Noise by operation and segment of ScopeLines; empty lists: none.
using ScopeNoise = std::array<std::vector<SegmentNoise>, sized_operation_count>;

/// The costs of a scope from its lines: overheads cut at the threshold, transfer by the chosen arithmetic. The noise of
/// a transfer is such that a round trip of independent messages scatters as measured.
core::ScopeModel make_scope_model(const ScopeLines& lines, const ScopeNoise& noise, const Thresholds& thresholds,
                                  double max_bytes, const NetworkFitOptions& options);

}  // namespace hplcast::fit::detail
