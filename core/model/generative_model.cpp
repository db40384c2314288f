#include "hplcast/core/kernel_model.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "core/base/json_fields.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/kernel_shape.hpp"

namespace hplcast::core {

namespace {

const std::string residual_ending = "_residual";

void check_covariance(const std::string& name, const SquareMatrix& matrix, std::size_t size) {
  if (matrix.size() != size)
    throw DomainError("rows of " + name, static_cast<double>(matrix.size()), "one a parameter");
  for (const auto& row : matrix)
    if (row.size() != size) throw DomainError("columns of " + name, static_cast<double>(row.size()), "one a parameter");
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
  if (!(kind.share >= 0) || !(kind.share <= 1))
    throw DomainError("share of " + kind.name, kind.share, "a number from 0 to 1");
  if (kind.mean.size() != size)
    throw DomainError("length of mu of " + kind.name, static_cast<double>(kind.mean.size()), "one a parameter");
  for (double value : kind.mean)
    if (!std::isfinite(value)) throw DomainError("mu of " + kind.name, value, "finite numbers");
  check_covariance("Sigma_S of " + kind.name, kind.between_cpus, size);
  check_covariance("Sigma_T of " + kind.name, kind.between_days, size);
}

}  // namespace

LawParameter parse_law_parameter(const std::string& text) {
  const std::size_t end = text.size() > residual_ending.size() ? text.size() - residual_ending.size() : 0;
  const bool of_sigma = end > 0 && text.compare(end, residual_ending.size(), residual_ending) == 0;
  return {parse_monomial(of_sigma ? text.substr(0, end) : text), of_sigma};
}

std::string to_string(const LawParameter& parameter) {
  const std::string term = parameter.term == Monomial{} ? "intercept" : to_string(parameter.term);
  return parameter.of_sigma ? term + residual_ending : term;
}

GenerativeModel GenerativeModel::make(std::string kernel, NoiseFamily noise, std::vector<LawParameter> parameters,
                                      std::vector<NodeKind> kinds) {
  if (!kernel_from_name(kernel)) throw DomainError("kernel", kernel, "a kernel of HPL such as dgemm");
  if (noise == NoiseFamily::mixture)
    throw DomainError("noise", to_string(noise), "none, half-normal, normal or log-normal");
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
  return model;
}

DurationLaw GenerativeModel::law(const std::vector<double>& coefficients) const {
  if (coefficients.size() != parameters_.size())
    throw DomainError("number of coefficients", static_cast<double>(coefficients.size()), "one a parameter");
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

namespace {

SquareMatrix matrix_from(const Node& node) {
  SquareMatrix matrix;
  for (std::size_t i = 0; i < node.size_of_array(); ++i) matrix.push_back(node.at(i).numbers());
  return matrix;
}

NodeKind kind_from(const Node& node) {
  NodeKind kind;
  kind.name = node.at("name").text();
  kind.share = node.at("share").number();
  kind.mean = node.at("mu").numbers();
  kind.between_cpus = matrix_from(node.at("Sigma_S"));
  kind.between_days = matrix_from(node.at("Sigma_T"));
  if (node.has("cpus")) kind.cpus = node.at("cpus").integer<long>();
  if (node.has("rows")) kind.rows = node.at("rows").integer<long>();
  return kind;
}

}  // namespace

void write_generative(std::ostream& out, const GenerativeModel& model) {
  Json json = {{"schema_version", GenerativeModel::schema_version},
               {"kernel", model.kernel()},
               {"noise", to_string(model.noise())}};
  json["parameters"] = Json::array();
  for (const LawParameter& parameter : model.parameters()) json["parameters"].push_back(to_string(parameter));
  json["kinds"] = Json::array();
  for (const NodeKind& kind : model.kinds())
    json["kinds"].push_back({{"name", kind.name},
                             {"share", kind.share},
                             {"cpus", kind.cpus},
                             {"rows", kind.rows},
                             {"mu", kind.mean},
                             {"Sigma_S", kind.between_cpus},
                             {"Sigma_T", kind.between_days}});
  out << json_text(json, 2) << '\n';
}

GenerativeModel read_generative(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  const Node root(json, name);
  root.object();
  detail::check_schema(root, GenerativeModel::schema_version);
  return root.made([&] {
    std::vector<LawParameter> parameters;
    for (const std::string& text : root.at("parameters").texts()) parameters.push_back(parse_law_parameter(text));
    std::vector<NodeKind> kinds;
    const Node list = root.at("kinds");
    for (std::size_t i = 0; i < list.size_of_array(); ++i) kinds.push_back(kind_from(list.at(i)));
    return GenerativeModel::make(root.at("kernel").text(), noise_family_from_name(root.at("noise").text()),
                                 std::move(parameters), std::move(kinds));
  });
}

}  // namespace hplcast::core
