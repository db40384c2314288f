#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/kernel_model.hpp"

namespace hplcast::core {

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
  double share = 1;           ///< of the nodes of a cluster
  std::vector<double> mean;   ///< mu
  SquareMatrix between_cpus;  ///< Sigma_S: covariance of the CPUs' long-term means
  SquareMatrix between_days;  ///< Sigma_T: covariance of the days around the mean of their CPU
  long cpus = 0;              ///< number of CPUs that it was fitted on
  long rows = 0;              ///< number of regressions (one per CPU and day)
};

/// How the law of one kernel differs between CPUs (spatial) and days (temporal variability), T. Cornebize (2021),
/// chapter 5:
///   mu_p ~ N(mu, Sigma_S) for each CPU p;  mu_pd ~ N(mu_p, Sigma_T) for each day d;  mu_pd are the coefficients of the
///   law.
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
