#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
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

/// Noise by operation and segment of ScopeLines; empty lists: none.
using ScopeNoise = std::array<std::vector<SegmentNoise>, sized_operation_count>;

/// The costs of a scope from its lines: overheads cut at the threshold, transfer by the chosen arithmetic. The noise of
/// a transfer is such that a round trip of independent messages scatters as measured.
core::ScopeModel make_scope_model(const ScopeLines& lines, const ScopeNoise& noise, const Thresholds& thresholds,
                                  double max_bytes, const NetworkFitOptions& options);

/// The sizes where MPI_Send changes its way: those given, or found in the rows `send_unmatched`
/// (docs/models/network-models.md). `notes` gets what was assumed.
Thresholds find_thresholds(const MpiSamples& samples, const NetworkFitOptions& options,
                           std::vector<std::string>& notes);

/// Up to which duration a call counts, as a function of the message size, learned from the calls themselves.
///
/// Interrupted calls last far longer, never shorter, and on a busy machine they are many: so what is usual comes from
/// the lower part of the durations. Neighbouring sizes are put into bins of at least ten calls; the usual duration in a
/// bin is the 30 % quantile along the slope (in logarithms) that the neighbouring bins have. A call is an outlier if it
/// lasts more than three times what is usual by its own bin and by both neighbours (at a jump between two protocols one
/// of them is the right company), or more where calls scatter widely anyway. Where ten calls span more than a factor of
/// ten in size, nobody is an outlier: there is too little to judge by.
class OutlierLimits {
 public:
  /// All calls first, in any order. Memory: a sample of at most 16 calls per size.
  void add(double size, double duration_s);
  /// Ends the adding.
  void close();
  bool is_outlier(double size, double duration_s) const;

 private:
  struct Sample {
    std::vector<double> logs;  // of durations
    long seen = 0;
    std::size_t bin = 0;
  };
  struct Bin {
    std::vector<double> log_sizes, logs;
    double centre = 0;  // log(size)
    double usual = 0;   // log(duration) at the centre
    double slope = 0;   // d log(duration) / d log(size)
    bool wide = false;
  };
  void make_bins();
  void find_slopes();
  double usual_at(double log_size, std::size_t bin) const;

  std::map<double, Sample> samples_;
  std::vector<Bin> bins_;
  double noise_ = 0;  // what a logarithm may exceed the usual one by
};

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
