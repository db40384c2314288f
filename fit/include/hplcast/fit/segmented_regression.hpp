#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hplcast/core/kernel_model.hpp"

namespace hplcast::fit {

/// All durations of one size, reduced to what the objectives of a regression need.
struct SizeCell {
  double size = 0;
  long rows = 0;
  double mean = 0;      ///< of the durations, s
  double m2 = 0;        ///< sum of squared differences from `mean`, s^2
  double mean_log = 0;  ///< of log(duration)
  double m2_log = 0;    ///< sum of squared differences from `mean_log`
};

/// Durations by message size, row after row: memory grows with the number of distinct sizes, not with the rows. Means
/// and spreads are kept by Welford's update (1962), which does not cancel.
class SamplesBySize {
 public:
  /// @throws DomainError unless size >= 0 and duration_s > 0, both finite.
  void add(double size, double duration_s);

  /// Ascending by size.
  std::vector<SizeCell> cells() const;
  long rows() const noexcept { return rows_; }

 private:
  std::unordered_map<double, SizeCell> cells_;
  long rows_ = 0;
};

/// One row per size: its mean duration (arithmetic), as published fits take it. The spread inside a size is forgotten.
std::vector<SizeCell> averaged(std::vector<SizeCell> cells);

/// The objective of a segmented regression y = intercept + slope x, over all rows:
///   ols:      sum (y - f(x))^2
///   weighted: sum (y - f(x))^2 / x          (x > 0)
///   log:      sum (log y - log f(x))^2      (the relative error; T. Cornebize 2021, pycewise)
enum class Objective { ols, weighted, log };
HPLCAST_ENUM_NAMES(Objective, "objective", "ols", "weighted", "log");

struct SegmentedOptions {
  Objective objective = Objective::log;
  /// Slope and intercept of every segment >= 0 (continuous: the line never falls). Always so for log.
  bool non_negative = false;
  /// Segments join at the breakpoints.
  bool continuous = false;
  /// Starts of the second segment and those after, ascending: nothing is searched then.
  std::optional<std::vector<double>> breakpoints;
  /// Fewest distinct sizes in a segment, at least 2.
  int min_sizes = 3;
  /// The top-down search stops at this many segments.
  int max_segments = 40;
  /// A breakpoint stays only if a test that does not assume equal noise everywhere rejects "one line on both sides" at
  /// this level, divided by the number of sizes it could have been at. 1: the least BIC alone decides.
  double significance = 0.003;
};

/// @throws DomainError for options outside their domain.
void validate(const SegmentedOptions& options);

/// slope and intercept on min <= x < min of the next segment.
struct FittedSegment {
  double min = 0;
  double slope = 0;
  double intercept = 0;
  long n = 0;      ///< rows
  long sizes = 0;  ///< distinct sizes
  double rss = 0;  ///< of the objective

  double operator()(double x) const noexcept { return intercept + slope * x; }
};

/// The segment of x: the first one for all below it. `segments` ascend and are not empty.
const FittedSegment& segment_at(const std::vector<FittedSegment>& segments, double x) noexcept;

enum class SegmentedStatus {
  ok,
  no_rows,
  too_few_sizes,  ///< fewer than two distinct sizes in a segment: its slope is 0, the rest is usable
  bad_values,     ///< size 0 where the objective divides by it
};

HPLCAST_ENUM_NAMES(SegmentedStatus, "status", "ok", "no_rows", "too_few_sizes", "bad_values");

/// Result of fit_segmented(). A bad fit is a status with a reason.
struct SegmentedFit {
  SegmentedStatus status = SegmentedStatus::no_rows;
  std::string reason;
  Objective objective = Objective::log;
  /// rows log(rss / rows) + k log(rows) with k = slopes + intercepts + breakpoints + 1 (Schwarz 1978, normal residuals
  /// of unknown variance). rss is not taken below what rounding leaves of exact data.
  double bic = 0;
  double rss = 0;  ///< of the objective
  std::vector<FittedSegment> segments;

  bool ok() const noexcept { return status == SegmentedStatus::ok; }
  std::vector<double> breakpoints() const;
  /// intercept + slope x of the segment of x.
  double operator()(double x) const noexcept { return segment_at(segments, x)(x); }
};

/// Segmented linear regression with an unknown number of breakpoints (docs/models/segmented-regression.md): top-down
/// splitting in constant time per candidate by running sums, bottom-up merging, the solution with the least BIC, whose
/// breakpoints are then moved to their best places and tested. `cells` ascend by size. A breakpoint lies between two
/// sizes.
/// @throws DomainError for options outside their domain, cells that do not ascend.
SegmentedFit fit_segmented(const std::vector<SizeCell>& cells, const SegmentedOptions& options = {});

/// The same segments with lines whose sums are right: a + b x with a, b >= 0 and
///   sum (y - f) / f^2 (1, x) = 0    (quasi-likelihood of constant relative scatter, identity link; Wedderburn 1974)
/// so that the mean of y / f is 1, also where a or b is 0. Segments without cells stay as they are. With `search` a
/// segment gets more breakpoints where its means lie on two lines: where the test of SegmentedOptions::significance,
/// with weights 1 / f^2, rejects that they lie on one.
std::vector<FittedSegment> fit_means(const std::vector<SizeCell>& cells, const std::vector<FittedSegment>& segments,
                                     const SegmentedOptions* search = nullptr);

/// The law fitted to the residuals of each segment: nothing, one standard deviation (N1), or a mixture of normal laws
/// whose number of modes the BIC chooses (N').
enum class SegmentNoiseKind { none, n1, mixture };
HPLCAST_ENUM_NAMES(SegmentNoiseKind, "noise", "none", "n1", "mixture");

enum class ResidualKind {
  absolute,  ///< y - f(x)
  relative   ///< log(y / f(x))
};

/// Noise of one segment. The law of y at x is f(x) + one draw, or f(x) exp(one draw).
struct SegmentNoise {
  double mean = 0;  ///< of the residuals: not zero for the objective log, whose line is a geometric mean
  double sd = 0;    ///< around their mean; 0 for fewer than three rows
  std::vector<core::MixtureMode> modes;  ///< of the residuals; for N1 none of absolute ones, one of relative ones;
                                         ///< none for too few rows
  std::vector<double> sample;            ///< of the residuals, at most 5000: for pictures; empty for none
  double mean_ratio = 1;                 ///< of y / f(x); of relative ones only
};

/// Collects the residuals of a fit in a second pass over its rows. Memory: at most 5000 residuals a segment; of more, a
/// random sample (reproducible) stands for all in the mixture. Relative ones need f(x) > 0: other rows do not count.
class SegmentNoiseCollector {
 public:
  /// Segments as fit_segmented() gives them; not empty.
  explicit SegmentNoiseCollector(std::vector<FittedSegment> segments, ResidualKind kind = ResidualKind::absolute);
  void add(double x, double y);
  /// One entry per segment.
  std::vector<SegmentNoise> noise(SegmentNoiseKind kind) const;

 private:
  struct Residuals {
    long rows = 0;
    double mean = 0, m2 = 0, ratios = 0;
    std::vector<double> sample;
  };
  std::vector<FittedSegment> segments_;
  ResidualKind kind_;
  std::vector<Residuals> residuals_;
};

}  // namespace hplcast::fit
