#pragma once

#include <array>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/core/noise_list.h"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

#define HPLCAST_FAMILY(NAME, name, text) name,
#define HPLCAST_FAMILY_OF(NAME, name, text) NoiseFamily::name,
#define HPLCAST_FAMILY_TEXT(NAME, name, text) text,

/// How durations scatter around their expectation (docs/models/kernel-models.md). A switch over them has no default:
/// one that is forgotten does not compile.
enum class NoiseFamily { HPLCAST_NOISE_FAMILIES(HPLCAST_FAMILY) };

inline constexpr std::array noise_families = {HPLCAST_NOISE_FAMILIES(HPLCAST_FAMILY_OF)};
HPLCAST_ENUM_NAMES(NoiseFamily, "noise", HPLCAST_NOISE_FAMILIES(HPLCAST_FAMILY_TEXT));

#undef HPLCAST_FAMILY
#undef HPLCAST_FAMILY_OF
#undef HPLCAST_FAMILY_TEXT

/// One mode of a mixture of normal laws for the relative duration d/mu.
struct MixtureMode {
  double probability = 1;
  double mean = 1;  ///< of d/mu (kernels) or of the intercept in seconds (network)
  double sd = 0;    ///< in the unit of `mean`
  friend bool operator==(const MixtureMode& a, const MixtureMode& b) {
    return a.probability == b.probability && a.mean == b.mean && a.sd == b.sd;
  }
};

/// The law of the duration of one call: expectation mu(m,n,k) and standard deviation sigma(m,n,k), both in seconds.
///   half_normal: d = mu + |Z| s - s sqrt(2/pi), s = sigma / sqrt(1 - 2/pi)   (Cornebize 2021; sigma < 0 mirrors it)
///   normal:      d = mu + sigma Z
///   log_normal:  d = mu exp(t Z - t^2/2), t^2 = log(1 + (sigma/mu)^2)
///   mixture:     d = mu R, R from a mixture of normals with expectation 1 (sigma is not used)
class DurationLaw {
 public:
  DurationLaw() = default;
  /// @throws DomainError for a mixture without modes, negative probabilities, a sum of probabilities or an expectation
  /// other than 1 (to 1e-6), or modes given with another family.
  static DurationLaw make(Polynomial mu, Polynomial sigma, NoiseFamily noise, std::vector<MixtureMode> modes = {});

  /// Expected duration in seconds; may be negative outside the range of the fit.
  double mean_s(const KernelShape& shape) const noexcept { return mu_(shape); }
  /// Standard deviation in seconds (absolute value).
  double sd_s(const KernelShape& shape) const noexcept;
  /// A duration in seconds; may be negative, callers clamp at 0.
  double sample_s(const KernelShape& shape, const Draw& draw) const noexcept;

  const Polynomial& mu() const noexcept { return mu_; }
  const Polynomial& sigma() const noexcept { return sigma_; }
  NoiseFamily noise() const noexcept { return noise_; }
  const std::vector<MixtureMode>& modes() const noexcept { return modes_; }

 private:
  Polynomial mu_;
  Polynomial sigma_;
  NoiseFamily noise_ = NoiseFamily::none;
  std::vector<MixtureMode> modes_;
};

/// Picks the mode that `uniform` in (0,1) falls on; modes are not empty.
const MixtureMode& pick_mode(const std::vector<MixtureMode>& modes, double uniform) noexcept;

/// mu + |Z| s - s sqrt(2/pi): a half-normal number of expectation `mean` and standard deviation |sd|.
double half_normal(double mean, double sd, double normal) noexcept;

/// A law that holds where split(shape) >= from.
struct LawPiece {
  double from = 0;
  DurationLaw law;
};

/// One law, or several that follow each other along a monomial (model level M').
class PiecewiseLaw {
 public:
  PiecewiseLaw() = default;
  explicit PiecewiseLaw(DurationLaw law);
  /// @throws DomainError if pieces are empty or not strictly ascending. Shapes below the first piece use the first.
  static PiecewiseLaw make(Monomial split, std::vector<LawPiece> pieces);

  const DurationLaw& at(const KernelShape& shape) const noexcept;
  const Monomial& split() const noexcept { return split_; }
  const std::vector<LawPiece>& pieces() const noexcept { return pieces_; }

 private:
  Monomial split_;
  std::vector<LawPiece> pieces_{LawPiece{}};
};

/// Sizes that a model was fitted on, inclusive.
struct ShapeRange {
  KernelShape min;
  KernelShape max;
};

bool contains(const ShapeRange& range, const KernelShape& shape) noexcept;

/// Quality of a fit. Vectors go with the terms of mu (or sigma), piece after piece; empty where unknown.
struct FitQuality {
  long rows = 0;
  long shapes = 0;
  long rows_set_aside = 0;
  double r2 = 0;
  double bic = 0;
  double residual_sd_s = 0;
  double mean_abs_relative_error = 0;
  std::vector<double> mu_standard_errors, mu_t_values, sigma_standard_errors, sigma_t_values;
  std::vector<std::string> notes;  ///< terms removed and why, rows set aside and why, warnings
};

/// The model of one CPU where it differs from the rest of the cluster.
struct CpuLaw {
  int host = 0;  ///< index into the hosts of the cluster, from 0
  int cpu = 0;   ///< CPU (socket) of that host, from 0
  PiecewiseLaw law;
};

/// The model of one kernel on a whole cluster.
class KernelModel {
 public:
  KernelModel() = default;
  /// `level` is one of "M0", "M1", "M2", "M'" (docs/models/kernel-models.md).
  /// @throws DomainError for an unknown level, or a CPU given twice.
  static KernelModel make(std::string level, PiecewiseLaw law, std::vector<CpuLaw> overrides = {},
                          std::optional<ShapeRange> range = std::nullopt, FitQuality quality = {});

  /// The same with these laws of CPUs in place of its own. @throws as make()
  KernelModel with_overrides(std::vector<CpuLaw> overrides) const {
    return make(level_, law_, std::move(overrides), range_, quality_);
  }

  /// The law on a CPU: its own, or that of the cluster.
  const PiecewiseLaw& law(int host, int cpu) const noexcept;

  const std::string& level() const noexcept { return level_; }
  const PiecewiseLaw& cluster_law() const noexcept { return law_; }
  const std::vector<CpuLaw>& overrides() const noexcept { return overrides_; }
  const std::optional<ShapeRange>& range() const noexcept { return range_; }
  const FitQuality& quality() const noexcept { return quality_; }

 private:
  std::string level_ = "M0";
  PiecewiseLaw law_;
  std::vector<CpuLaw> overrides_;  // sorted by (host, cpu)
  std::optional<ShapeRange> range_;
  FitQuality quality_;
};

/// One coefficient of a kernel's law that differs between CPUs and days.
struct LawParameter {
  Monomial term;
  bool of_sigma = false;  ///< of sigma, else of mu
  friend bool operator==(const LawParameter& a, const LawParameter& b) {
    return a.term == b.term && a.of_sigma == b.of_sigma;
  }
};

/// "mnk", "intercept", "mnk_residual", "intercept_residual": the names of the columns of day-by-day regressions.
/// @throws DomainError for anything else.
LawParameter parse_law_parameter(const std::string& text);
std::string to_string(const LawParameter& parameter);

/// Square matrix, row by row.
using SquareMatrix = std::vector<std::vector<double>>;

/// The CPUs of one kind of node. In the order of GenerativeModel::parameters().
struct NodeKind {
  std::string name;
  double share = 1;               ///< of the nodes of a cluster
  std::vector<double> mean;       ///< mu
  SquareMatrix between_cpus;      ///< Sigma_S: covariance of the CPUs' long-term means
  SquareMatrix between_days;      ///< Sigma_T: covariance of the days around the mean of their CPU
  long cpus = 0;                  ///< number of CPUs that it was fitted on
  long rows = 0;                  ///< number of regressions (one per CPU and day)
  SquareMatrix common_days = {};  ///< Sigma_C: the part of Sigma_T that all CPUs share; empty: none
};

/// How the law of one kernel differs between CPUs (spatial) and days (temporal variability), T. Cornebize (2021),
/// chapter 5:
///   mu_p ~ N(mu, Sigma_S) for each CPU p;  mu_pd ~ N(mu_p, Sigma_T) for each day d;  mu_pd are the coefficients of the
///   law. Beyond the thesis: mu_pd - mu_p = c_d + e_pd, where c_d ~ N(0, Sigma_C) is the same for all CPUs.
class GenerativeModel {
 public:
  static constexpr int schema_version = 1;

  GenerativeModel() = default;
  /// @throws DomainError for an unknown kernel, no or repeated parameters, kinds without name or of other dimensions,
  /// covariances that are not symmetric and positive semi-definite on their diagonal, shares that do not sum to 1
  /// (1e-6).
  static GenerativeModel make(std::string kernel, NoiseFamily noise, std::vector<LawParameter> parameters,
                              std::vector<NodeKind> kinds);

  const std::string& kernel() const noexcept { return kernel_; }
  NoiseFamily noise() const noexcept { return noise_; }
  const std::vector<LawParameter>& parameters() const noexcept { return parameters_; }
  const std::vector<NodeKind>& kinds() const noexcept { return kinds_; }

  /// The law with these coefficients. @throws DomainError if there are not as many as parameters.
  DurationLaw law(const std::vector<double>& coefficients) const;

 private:
  std::string kernel_ = "dgemm";
  NoiseFamily noise_ = NoiseFamily::half_normal;
  std::vector<LawParameter> parameters_;
  std::vector<NodeKind> kinds_;
};

/// generative.json, see docs/formats/generative-json.md. Deterministic.
void write_generative(std::ostream& out, const GenerativeModel& model);
/// @throws ParseError with the JSON pointer of the field.
GenerativeModel read_generative(std::istream& in, const std::string& name);

}  // namespace hplcast::core
