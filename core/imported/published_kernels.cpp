#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

using NodeCpu = std::pair<long long, long long>;

constexpr NodeCpu everywhere{-1, -1};

/// The products of the published polynomials and the suffixes of their columns.
const std::vector<std::pair<const char*, Monomial>> published_terms = {
    {"mnk", {1, 1, 1}}, {"mn", {1, 1, 0}}, {"mk", {1, 0, 1}}, {"nk", {0, 1, 1}}, {"intercept", {0, 0, 0}}};

/// Columns of one polynomial. Coefficients of zero are no terms.
class PolynomialColumns {
 public:
  PolynomialColumns(const CsvReader& csv, const std::string& prefix) {
    for (const auto& [suffix, term] : published_terms) columns_.push_back(csv.column(prefix + suffix));
  }
  Polynomial read(const CsvReader& csv) const {
    std::vector<Monomial> terms;
    std::vector<double> coefficients;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double coefficient = csv.number(columns_[i]);
      if (coefficient == 0) continue;
      terms.push_back(published_terms[i].second);
      coefficients.push_back(coefficient);
    }
    return Polynomial::make(std::move(terms), std::move(coefficients));
  }

 private:
  std::vector<std::size_t> columns_;
};

DurationLaw law_of(const Polynomial& mu, const Polynomial& sigma) {
  return DurationLaw::make(mu, sigma, sigma.empty() ? NoiseFamily::none : NoiseFamily::half_normal);
}

std::map<NodeCpu, DurationLaw> read_lines(std::istream& in, const std::string& name, const std::string& model_id) {
  CsvReader csv(in, name);
  const std::size_t id = csv.column("model_id");
  const std::size_t node = csv.column("node");
  const std::size_t cpu = csv.column("cpu");
  const std::size_t cpu_id = csv.column("cpu_id");
  const PolynomialColumns mu(csv, "mu_");
  const PolynomialColumns sigma(csv, "sigma_");
  std::vector<std::string> models;
  std::map<NodeCpu, DurationLaw> lines;
  while (csv.next()) {
    if (std::find(models.begin(), models.end(), csv.text(id)) == models.end()) models.emplace_back(csv.text(id));
    if (csv.text(id) != model_id) continue;
    const NodeCpu where = csv.integer(cpu_id) == -1 ? everywhere : NodeCpu(csv.integer(node), csv.integer(cpu));
    if (!lines.emplace(where, law_of(mu.read(csv), sigma.read(csv))).second)
      throw ParseError(csv.at(cpu_id), "model " + model_id + " has this CPU twice");
  }
  if (lines.empty())
    throw ParseError({name, 0, "model_id"}, "no model `" + model_id + "`; expected one of " + comma_separated(models));
  return lines;
}

/// 7 of "dahu-7.grid5000.fr".
long long node_number(const std::string& host) {
  const std::string first = host.substr(0, host.find('.'));
  std::size_t begin = first.size();
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(first[begin - 1])) != 0) --begin;
  constexpr std::size_t most_digits = 18;
  require(begin != first.size() && first.size() - begin <= most_digits, "host", host,
          "a name that ends with the number of the node, such as dahu-7", "the models are given by node number");
  return std::stoll(first.substr(begin));
}

Polynomial mean(const std::map<NodeCpu, DurationLaw>& lines, const Polynomial& (DurationLaw::*part)() const) {
  std::vector<Monomial> terms;
  std::vector<double> coefficients;
  for (const auto& [suffix, term] : published_terms) {
    double sum = 0;
    for (const auto& [where, law] : lines) sum += (law.*part)().coefficient(term);
    if (sum == 0) continue;
    terms.push_back(term);
    coefficients.push_back(sum / static_cast<double>(lines.size()));
  }
  return Polynomial::make(std::move(terms), std::move(coefficients));
}

DurationLaw mean(const std::map<NodeCpu, DurationLaw>& lines) {
  return law_of(mean(lines, &DurationLaw::mu), mean(lines, &DurationLaw::sigma));
}

bool linear(const DurationLaw& law) {
  return std::all_of(law.mu().terms().begin(), law.mu().terms().end(), [](const Monomial& term) {
    return term == Monomial{1, 1, 1} || term == Monomial{};
  });
}

/// The product that one kernel's duration is proportional to, from the table; nothing if it costs nothing.
std::optional<Monomial> product_of(const CsvReader& csv, std::size_t duration, std::size_t size) {
  const std::string_view form = csv.text(duration);
  if (form == "0") return std::nullopt;
  if (form == "coef") return Monomial{};
  if (form != "size*coef")
    throw ParseError(csv.at(duration), "found `" + std::string(form) + "`; expected size*coef, coef or 0");
  const std::string_view text = csv.text(size);
  // The triangle of dtrsm has m rows on the left and n on the right: the k of our shape either way.
  if (text == "M*M*N if side=left else M*N*N") return Monomial{1, 1, 1};
  if (text == "M1*N") return Monomial{1, 1, 0};  // the m of dlaswp04 is HPL's M1
  return csv.made(size, parse_monomial);
}

}  // namespace

KernelModel read_dgemm_table(std::istream& in, const std::string& name, const std::string& model_id,
                             const Hosts& hosts) {
  std::map<NodeCpu, DurationLaw> lines = read_lines(in, name, model_id);
  const auto cluster_line = lines.find(everywhere);
  const bool has_cluster_line = cluster_line != lines.end();
  const DurationLaw cluster_law = has_cluster_line ? cluster_line->second : mean(lines);
  std::vector<CpuLaw> overrides;
  const bool per_cpu = lines.size() > (has_cluster_line ? 1U : 0U);
  for (int host = 0; per_cpu && host < hosts.count(); ++host) {
    const std::string& host_name = hosts.names()[static_cast<std::size_t>(host)];
    const long long node = node_number(host_name);
    for (int cpu = 0; cpu < hosts.cpus_of(host); ++cpu) {
      const auto line = lines.find({node, cpu});
      if (line != lines.end()) {
        overrides.push_back({host, cpu, PiecewiseLaw(line->second)});
      } else if (!has_cluster_line) {
        throw DomainError("CPU " + std::to_string(cpu) + " of host", host_name,
                          "a line of model " + model_id + " in " + name + " for it, or one with cpu_id -1");
      }
    }
  }
  const bool all_linear = std::all_of(lines.begin(), lines.end(), [](const auto& line) { return linear(line.second); });
  return KernelModel::make(all_linear ? "M1" : "M2", PiecewiseLaw(cluster_law), std::move(overrides));
}

std::map<std::string, KernelModel> read_kernel_table(std::istream& in, const std::string& name, KernelSet set) {
  CsvReader csv(in, name);
  const std::size_t kernel = csv.column("kernel");
  const std::size_t duration = csv.column("duration");
  const std::size_t size = csv.column("size");
  const std::size_t mu = csv.column("mu");
  const std::size_t sigma = csv.column("sigma");
  const std::size_t use = csv.column(set == KernelSet::full ? "full_model" : "simple_model");
  std::map<std::string, KernelModel> kernels;
  while (csv.next()) {
    const std::string kernel_name(csv.text(kernel));
    if (!kernel_from_name(kernel_name)) throw ParseError(csv.at(kernel), "no kernel of HPL: " + kernel_name);
    const std::string_view how = csv.text(use);
    if (how != "stochastic" && how != "mu only" && how != "0")
      throw ParseError(csv.at(use), "found `" + std::string(how) + "`; expected stochastic, mu only or 0");
    const std::optional<Monomial> product = product_of(csv, duration, size);
    if (!product || how == "0") continue;
    const auto times_product = [&](double coefficient) { return Polynomial::make({*product}, {coefficient}); };
    // The coefficient is drawn per call, so the duration scatters in proportion to the product.
    const Polynomial scatter = how == "stochastic" ? times_product(csv.non_negative(sigma)) : Polynomial();
    const PiecewiseLaw law(law_of(times_product(csv.non_negative(mu)), scatter));
    if (!kernels.emplace(kernel_name, KernelModel::make(*product == Monomial{} ? "M0" : "M1", law)).second)
      throw ParseError(csv.at(kernel), "the kernel " + kernel_name + " is there twice");
  }
  return kernels;
}

}  // namespace hplcast::core
