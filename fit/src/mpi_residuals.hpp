#pragma once

#include <array>
#include <vector>

#include "outlier_limits.hpp"
#include "scope_fit.hpp"

namespace hplcast::fit::detail {

/// By scope (core::Scope) and sized operation.
template <typename Value>
using ByScopeAndOperation = std::array<std::array<Value, sized_operation_count>, 2>;

/// Interrupted calls are so many on a busy machine that no fit of all rows can tell them: found before there is a fit.
class InterruptedCalls {
 public:
  /// Finds nothing.
  InterruptedCalls() = default;
  /// One pass over the rows.
  explicit InterruptedCalls(const MpiRows& rows);
  bool contains(core::Scope scope, SizedOperation operation, const core::MpiMeasurement& row) const;

 private:
  ByScopeAndOperation<OutlierLimits> limits_;
};

/// How the rows of one operation lie around their fit.
struct ResidualSummary {
  double relative_sd = 0;           ///< 1.4826 times the median of |log(duration / fit)|
  std::vector<SegmentNoise> noise;  ///< by segment; empty for SegmentNoiseKind::none
};

/// One pass over the rows that count. Overheads have no fit from detached_bytes on.
ByScopeAndOperation<ResidualSummary> summarise_residuals(const MpiRows& rows, const InterruptedCalls& interrupted,
                                                         const std::array<ScopeLines, 2>& lines, double detached_bytes,
                                                         SegmentNoiseKind noise);

}  // namespace hplcast::fit::detail
