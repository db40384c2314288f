#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/kernel_model.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::fit {

/// The divisor of the squared residuals, docs/models/kernel-models.md.
///   ordinary: nothing; the longest calls decide.
///   relative: mu^2; every call counts alike, errors are relative.
///   totals:   mu; the residuals of the calls sum to zero, so that the predicted total time of the calls measured is
///             the measured one, whatever the terms (quasi-likelihood with variance proportional to the mean,
///             Wedderburn 1974).
/// relative and totals are solved by iteratively reweighted least squares.
enum class Weighting { ordinary, relative, totals };

/// calls: a shape counts as often as it was called (the same as a regression on all calls). shapes: the durations of
/// equal shapes are averaged and every shape counts once.
enum class Averaging { calls, shapes };
HPLCAST_ENUM_NAMES(Averaging, "average", "calls", "shapes");

/// free: a constant like any other term. none: no constant. published: the mean over the shapes with mnk at most 3
/// times the smallest, without those from the 95 percent quantile of that group on, and not below 0; subtracted before
/// the regression (T. Cornebize's dgemm regressions, ../shared/data/README.md).
enum class Intercept { free, none, published };
HPLCAST_ENUM_NAMES(Intercept, "intercept", "free", "none", "published");

/// N0 no noise; N1 one standard deviation; N2 a polynomial for it; mixture: modes of the relative duration (N').
enum class NoiseLevel { n0, n1, n2, mixture };
HPLCAST_ENUM_NAMES(NoiseLevel, "noise", "N0", "N1", "N2", "mixture");

/// Options of a fit. The defaults are those of `hplcast fit kernel`.
struct KernelFitOptions {
  std::string level = "M2";  ///< M0, M1, M2 or M' (see `split`)
  /// The products without the constant, in order of importance. Empty: mnk for M1, mnk mn mk nk for M2, the split for
  /// M' (if that is one size: the product of all that vary). Sizes that never vary are dropped with a note.
  std::vector<core::Monomial> terms;
  Intercept intercept = Intercept::free;
  Weighting weighting = Weighting::totals;
  Averaging averaging = Averaging::calls;
  bool remove_insignificant = true;  ///< backward, the least |t| first; the first product stays
  /// Terms below are insignificant. At 1 the variance of a coefficient is as large as what is lost without it
  /// (Toro-Vizcarrondo and Wallace 1968); a larger limit makes totals of other shapes too small.
  double min_abs_t = 1;
  /// Coefficients of mu >= 0. M' of one product: constants of later pieces may be below 0, where mu is not.
  bool non_negative = false;
  /// Fits again with non_negative if mu is not positive everywhere in the range of the sizes.
  bool keep_positive = true;

  NoiseLevel noise = NoiseLevel::n2;
  std::optional<core::NoiseFamily> family = core::NoiseFamily::half_normal;  ///< nothing: the one that fits best
  std::vector<core::Monomial> sigma_terms;  ///< with the constant if wanted; empty: those of mu and a constant
  /// The published way for sigma: ordinary least squares on the standard deviation of each shape, intercept like mu's;
  /// sigma may then be negative somewhere in the range. Standard errors are classical.
  bool published_sigma = false;

  core::Monomial split{1, 1, 1};    ///< M': the product along which the pieces follow each other
  std::vector<double> breakpoints;  ///< M': starts of the second piece and those after; empty: searched
  int max_pieces = 4;               ///< M', searched: the least BIC decides
};

/// @throws DomainError for options outside their domain or that contradict each other.
void validate(const KernelFitOptions& options);

/// The options that reproduce the published dgemm regressions (dgemm_agr_data.csv) with that intercept.
KernelFitOptions published_options(Intercept intercept);

enum class FitStatus {
  ok,
  no_rows,         ///< nothing to fit
  too_few_shapes,  ///< fewer distinct shapes than coefficients
  constant,        ///< no term is left: nothing varies, or all coefficients ended at zero
  not_positive,    ///< the durations predicted inside the range are not positive
};

HPLCAST_ENUM_NAMES(FitStatus, "status", "ok", "no rows", "too few shapes", "no term left", "not positive");

/// A polynomial with its uncertainty.
struct PolynomialFit {
  core::Polynomial polynomial;
  std::vector<double> standard_errors;          ///< empty if there were no spare rows
  std::vector<double> t_values;                 ///< empty likewise
  std::vector<std::vector<double>> covariance;  ///< of the coefficients; empty likewise
  double degrees_of_freedom = 0;                ///< of the t-values
  double r2 = 0;
  double bic = 0;  ///< of the weighted residuals
};

/// mu and sigma where split(shape) >= from.
struct PieceFit {
  double from = 0;
  PolynomialFit mu;
  PolynomialFit sigma;  ///< no terms for N0 and mixtures
};

/// Result of fit_kernel(): a bad fit is a status with a reason, not an exception.
struct KernelFit {
  FitStatus status = FitStatus::no_rows;
  std::string reason;            ///< for humans, when status is not ok
  core::KernelModel model;       ///< with its quality and notes; valid if ok
  std::vector<PieceFit> pieces;  ///< as in the model's law
  bool ok() const noexcept { return status == FitStatus::ok; }
};

/// Fits one kernel. @throws DomainError only as validate() does.
KernelFit fit_kernel(const KernelTable& table, const KernelFitOptions& options = {});

/// Seconds that hold the expected duration of `shape` with probability `level`; normal theory for the coefficients.
/// @throws DomainError if the fit is not ok, has no standard errors, or level is not in (0, 1).
Bounds mean_interval_s(const KernelFit& fit, const core::KernelShape& shape, double level = 0.95);

/// Holds the duration of one new call with probability `level`: quantiles of the noise, of which mean and standard
/// deviation are uncertain themselves (the predictive distribution). @throws DomainError as mean_interval_s().
Bounds prediction_interval_s(const KernelFit& fit, const core::KernelShape& shape, double level = 0.95);

/// The distribution of one call under a law, for one shape. The values are of the law before
/// durations below 0 are set to 0. Noise `none` counts as all of its probability at mu.
double duration_cdf(const core::DurationLaw& law, const core::KernelShape& shape, double duration_s);

/// Density of the duration in 1/s; infinite at mu for noise `none`.
double duration_density(const core::DurationLaw& law, const core::KernelShape& shape, double duration_s);

/// Expectation of max(duration, 0) in seconds: what a simulation that never injects negative times spends on average.
double clamped_mean_s(const core::DurationLaw& law, const core::KernelShape& shape);

/// The result of a fit, for people who are no statisticians: the formula, how far off single calls are, what is
/// uncertain, the notes. Several lines, each ended by a newline. `kernel` names it.
std::string describe(const std::string& kernel, const KernelFit& fit);

}  // namespace hplcast::fit
