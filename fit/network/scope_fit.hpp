#pragma once

#include <array>
#include <string>
#include <vector>

#include "fit/network/mpi_rows.hpp"
#include "hplcast/fit/segmented_regression.hpp"

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

/// How the rows of one operation lie around their fit.
struct ResidualSummary {
  double relative_sd = 0;           ///< 1.4826 times the median of |log(duration / fit)|
  std::vector<SegmentNoise> noise;  ///< by segment; empty for SegmentNoiseKind::none
};

using ScopeResiduals = std::array<ResidualSummary, sized_operation_count>;  // by operation

/// The costs of a scope from its lines: overheads cut at the threshold, transfer by the chosen arithmetic. The noise of
/// a transfer is such that a round trip of independent messages scatters as measured.
core::ScopeModel make_scope_model(const ScopeLines& lines, const ScopeResiduals& residuals,
                                  const Thresholds& thresholds, double max_bytes, const NetworkFitOptions& options);

/// The sizes where MPI_Send changes its way: those given, or found in the rows `send_unmatched`
/// (docs/models/network-models.md). `notes` gets what was assumed.
Thresholds find_thresholds(const MpiSamples& samples, const NetworkFitOptions& options,
                           std::vector<std::string>& notes);

/// Which rows are no interrupted calls. These are so many on a busy machine that no fit of all rows can tell them: they
/// are found before there is a fit. One pass over the rows.
KeepRow without_interruptions(const MpiRows& rows);

/// One pass over the rows that count, by scope. Overheads have no fit from detached_bytes on.
std::array<ScopeResiduals, 2> summarise_residuals(const MpiRows& rows, const KeepRow& keep,
                                                  const std::array<ScopeLines, 2>& lines, double detached_bytes,
                                                  SegmentNoiseKind noise);

}  // namespace hplcast::fit::detail
