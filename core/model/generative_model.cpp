#include "hplcast/core/kernel_model.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "core/base/described_json.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

const std::string residual_ending = "_residual";

void check_covariance(const std::string& name, const SquareMatrix& matrix, std::size_t size) {
  if (matrix.size() != size) throw DomainError("rows of " + name, matrix.size(), "one a parameter");
  for (const auto& row : matrix)
    if (row.size() != size) throw DomainError("columns of " + name, row.size(), "one a parameter");
  for (std::size_t i = 0; i < size; ++i) {
    if (!(matrix[i][i] >= 0)) throw DomainError("variance in " + name, matrix[i][i], "a number >= 0");
    for (std::size_t j = 0; j < size; ++j) {
      if (!std::isfinite(matrix[i][j])) throw DomainError("covariance in " + name, matrix[i][j], "a finite number");
      // Files are written with all digits, published ones with 7.
      const double bound = std::sqrt(matrix[i][i] * matrix[j][j]);
      if (std::abs(matrix[i][j] - matrix[j][i]) > 1e-6 * bound)
        throw DomainError("covariance in " + name, matrix[i][j], "a symmetric matrix");
      if (std::abs(matrix[i][j]) > bound * (1 + 1e-6))
        throw DomainError("covariance in " + name, matrix[i][j], "a correlation between -1 and 1");
    }
  }
}

void check_kind(const NodeKind& kind, std::size_t size) {
  if (kind.name.empty()) throw DomainError("name of a kind", "empty", "a name");
  require(kind.share >= 0 && kind.share <= 1, "share of " + kind.name, kind.share, "a number from 0 to 1");
  if (kind.mean.size() != size) throw DomainError("length of mu of " + kind.name, kind.mean.size(), "one a parameter");
  for (double value : kind.mean)
    if (!std::isfinite(value)) throw DomainError("mu of " + kind.name, value, "finite numbers");
  check_covariance("Sigma_S of " + kind.name, kind.between_cpus, size);
  check_covariance("Sigma_T of " + kind.name, kind.between_days, size);
  if (kind.common_days.empty()) return;
  check_covariance("Sigma_C of " + kind.name, kind.common_days, size);
  for (std::size_t i = 0; i < size; ++i)
    if (kind.common_days[i][i] > kind.between_days[i][i] * (1 + 1e-6))
      throw DomainError("variance in Sigma_C of " + kind.name, kind.common_days[i][i],
                        "at most that in Sigma_T, which it is a part of");
}

}  // namespace

LawParameter parse_law_parameter(const std::string& text) {
  const bool of_sigma = text.size() > residual_ending.size() && ends_with(text, residual_ending);
  return {parse_monomial(of_sigma ? text.substr(0, text.size() - residual_ending.size()) : text), of_sigma};
}

std::string to_string(const LawParameter& parameter) {
  const std::string term = parameter.term == Monomial{} ? "intercept" : to_string(parameter.term);
  return parameter.of_sigma ? term + residual_ending : term;
}

GenerativeModel GenerativeModel::make(std::string kernel, NoiseFamily noise, std::vector<LawParameter> parameters,
                                      std::vector<NodeKind> kinds) {
  if (!kernel_from_name(kernel)) throw DomainError("kernel", kernel, "a kernel of HPL such as dgemm");
  require(noise != NoiseFamily::mixture, "noise", to_string(noise), "none, half-normal, normal or log-normal");
  if (parameters.empty()) throw DomainError("parameters", "empty", "at least one");
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (std::find(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(i), parameters[i]) !=
        parameters.begin() + static_cast<std::ptrdiff_t>(i))
      throw DomainError("parameters", to_string(parameters[i]), "each parameter once");
  if (kinds.empty()) throw DomainError("kinds", "empty", "at least one");
  double share = 0;
  for (const NodeKind& kind : kinds) {
    check_kind(kind, parameters.size());
    share += kind.share;
  }
  if (std::abs(share - 1) > 1e-6) throw DomainError("sum of the shares of the kinds", share, "1");
  GenerativeModel model;
  model.kernel_ = std::move(kernel);
  model.noise_ = noise;
  model.parameters_ = std::move(parameters);
  model.kinds_ = std::move(kinds);
  constexpr KernelShape large{10000, 10000, 512};
  for (const NodeKind& kind : model.kinds_)
    if (const double mean_s = model.law(kind.mean).mu()(large); !(mean_s > 0))
      throw DomainError("mu of " + kind.name, printed("%.3g s for a call of 10000 x 10000 x 512", mean_s),
                        "more than 0 s", "without _residual parameters are coefficients of mu, in s");
  return model;
}

DurationLaw GenerativeModel::law(const std::vector<double>& coefficients) const {
  require(coefficients.size() == parameters_.size(), "number of coefficients", coefficients.size(), "one a parameter");
  std::vector<Monomial> mu_terms, sigma_terms;
  std::vector<double> mu, sigma;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    (parameters_[i].of_sigma ? sigma_terms : mu_terms).push_back(parameters_[i].term);
    (parameters_[i].of_sigma ? sigma : mu).push_back(coefficients[i]);
  }
  return DurationLaw::make(Polynomial::make(std::move(mu_terms), std::move(mu)),
                           Polynomial::make(std::move(sigma_terms), std::move(sigma)), noise_);
}

using detail::Json;
using detail::Node;

static Json own_json(const LawParameter& parameter) {
  return to_string(parameter);
}

static void take_own(const Node& node, LawParameter& parameter) {
  parameter = node.made([&] { return parse_law_parameter(node.text()); });
}

HPLCAST_DESCRIPTION(NodeKind, kind) {
  HPLCAST_FIELDS(kind, name, share);
  fields.if_given("cpus", kind.cpus);
  fields.if_given("rows", kind.rows);
  fields("mu", kind.mean);
  fields("Sigma_S", kind.between_cpus);
  fields("Sigma_T", kind.between_days);
  fields.if_any("Sigma_C", kind.common_days);
}

namespace {

struct GenerativeFile {
  static constexpr int schema_version = GenerativeModel::schema_version;
  std::string kernel;
  NoiseFamily noise = NoiseFamily::none;
  std::vector<LawParameter> parameters;
  std::vector<NodeKind> kinds;
};

HPLCAST_DESCRIBED(GenerativeFile, kernel, noise, parameters, kinds);

}  // namespace

void write_generative(std::ostream& out, const GenerativeModel& model) {
  GenerativeFile file{model.kernel(), model.noise(), model.parameters(), model.kinds()};
  out << detail::described_text(file);
}

GenerativeModel read_generative(std::istream& in, const std::string& name) {
  const auto file = detail::read_described<GenerativeFile>(in, name, detail::Reading::whole);
  return Node(Json(), name).made([&] {
    return GenerativeModel::make(file.kernel, file.noise, file.parameters, file.kinds);
  });
}

}  // namespace hplcast::core
