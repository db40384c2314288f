#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"
#include "hplcast/fit/generative.hpp"

namespace hplcast::fit {

namespace {

using core::SquareMatrix;
using Vector = std::vector<double>;

/// The days of one CPU.
struct Cpu {
  std::string node;
  std::vector<const Vector*> days;
  std::vector<std::string> names;  ///< of the days; the second row of a day is another one
  Vector mean;
};

Vector mean_of(const std::vector<const Vector*>& values) {
  Vector mean(values.front()->size(), 0.0);
  for (const Vector* value : values)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += (*value)[i];
  for (double& sum : mean) sum /= static_cast<double>(values.size());
  return mean;
}

/// Adds the products of the deviations from `mean` to `sum`.
void add_products(const std::vector<const Vector*>& values, const Vector& mean, SquareMatrix& sum) {
  for (const Vector* value : values)
    for (std::size_t i = 0; i < mean.size(); ++i)
      for (std::size_t j = 0; j < mean.size(); ++j) sum[i][j] += ((*value)[i] - mean[i]) * ((*value)[j] - mean[j]);
}

SquareMatrix zeros(std::size_t size) {
  return SquareMatrix(size, Vector(size, 0.0));
}

void divide(SquareMatrix& matrix, double divisor) {
  for (auto& row : matrix)
    for (double& value : row) value /= divisor;
}

SquareMatrix covariance(const std::vector<const Vector*>& values, const Vector& mean) {
  SquareMatrix sum = zeros(mean.size());
  add_products(values, mean, sum);
  divide(sum, static_cast<double>(values.size() - 1));
  return sum;
}

/// a + factor b
SquareMatrix sum_of(SquareMatrix a, double factor, const SquareMatrix& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) a[i][j] += factor * b[i][j];
  return a;
}

std::vector<Cpu> cpus_of(const std::vector<DailyRegression>& rows) {
  std::map<std::pair<std::string, std::string>, Cpu> by_name;
  std::map<std::tuple<std::string, std::string, std::string>, int> rows_of_day;
  for (const DailyRegression& row : rows) {
    Cpu& cpu = by_name[{row.node, row.cpu}];
    cpu.node = row.node;
    cpu.days.push_back(&row.coefficients);
    const auto again = row.day.empty() ? 0 : ++rows_of_day[{row.node, row.cpu, row.day}];
    cpu.names.push_back(again > 1 ? row.day + "#" + std::to_string(again) : row.day);
  }
  std::vector<Cpu> cpus;
  for (auto& [name, cpu] : by_name) {
    cpu.mean = mean_of(cpu.days);
    cpus.push_back(std::move(cpu));
  }
  return cpus;
}

SquareMatrix between_days(const std::vector<const Cpu*>& cpus, DaysCovariance how, std::size_t size) {
  SquareMatrix sum = zeros(size);
  if (how == DaysCovariance::pooled) {
    double rows = 0;
    for (const Cpu* cpu : cpus) {
      add_products(cpu->days, cpu->mean, sum);
      rows += static_cast<double>(cpu->days.size());
    }
    divide(sum, rows - 1);
    return sum;
  }
  double counted = 0;
  for (const Cpu* cpu : cpus) {
    if (cpu->days.size() < 2) continue;
    sum = sum_of(std::move(sum), 1, covariance(cpu->days, cpu->mean));
    counted += 1;
  }
  if (counted > 0) divide(sum, counted);
  return sum;
}

/// Without negative eigenvalues, in units of the standard deviations of `scale`: coefficients differ by ten orders of
/// magnitude.
SquareMatrix positive_part(const SquareMatrix& matrix, const SquareMatrix& scale) {
  const auto n = static_cast<Eigen::Index>(matrix.size());
  Eigen::VectorXd sd(n);
  Eigen::MatrixXd scaled = Eigen::MatrixXd::Zero(n, n);
  const auto at = [](Eigen::Index i) { return static_cast<std::size_t>(i); };
  for (Eigen::Index i = 0; i < n; ++i) sd(i) = std::sqrt(scale[at(i)][at(i)]);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      if (sd(i) > 0 && sd(j) > 0) scaled(i, j) = matrix[at(i)][at(j)] / sd(i) / sd(j);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scaled);
  const Eigen::MatrixXd positive = sd.asDiagonal() * solver.eigenvectors() *
                                   solver.eigenvalues().cwiseMax(0).asDiagonal() * solver.eigenvectors().transpose() *
                                   sd.asDiagonal();
  SquareMatrix result = matrix;
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) result[at(i)][at(j)] = positive(i, j);
  return result;
}

/// Means over the CPUs of how far a day is from the mean of its CPU.
struct DayMeans {
  std::vector<Vector> all;
  double cpus = 0;  ///< harmonic mean of their number
};

DayMeans day_means(const std::vector<const Cpu*>& cpus, std::size_t size) {
  std::map<std::string, std::pair<Vector, double>> sums;
  for (const Cpu* cpu : cpus) {
    for (std::size_t d = 0; d < cpu->days.size() && cpu->days.size() > 1; ++d) {
      if (cpu->names[d].empty()) continue;
      auto& [sum, count] = sums[cpu->names[d]];
      sum.resize(size);
      for (std::size_t i = 0; i < size; ++i) sum[i] += (*cpu->days[d])[i] - cpu->mean[i];
      ++count;
    }
  }
  DayMeans means;
  double inverse = 0;
  for (auto& [name, day] : sums) {
    if (day.second < 2) continue;
    for (double& value : day.first) value /= day.second;
    inverse += 1 / day.second;
    means.all.push_back(std::move(day.first));
  }
  if (!means.all.empty()) means.cpus = static_cast<double>(means.all.size()) / inverse;
  return means;
}

/// Sigma_C; empty if there are too few days that several CPUs have.
SquareMatrix common_days(const std::vector<const Cpu*>& cpus, const SquareMatrix& between_days) {
  constexpr std::size_t least_days = 3;
  const std::size_t size = between_days.size();
  const DayMeans means = day_means(cpus, size);
  if (means.all.size() < least_days) return {};
  std::vector<const Vector*> days;
  for (const Vector& day : means.all) days.push_back(&day);
  const SquareMatrix of_means = covariance(days, mean_of(days));
  // of_means = Sigma_C + Sigma_e / P and Sigma_T = Sigma_C + Sigma_e
  SquareMatrix own = sum_of(between_days, -1, of_means);
  divide(own, 1 - 1 / means.cpus);
  own = positive_part(own, between_days);
  SquareMatrix common = positive_part(sum_of(of_means, -1 / means.cpus, own), between_days);
  Vector factor(size, 1);  // CPUs that lack days may have less between days than their means
  for (std::size_t i = 0; i < size; ++i)
    if (common[i][i] > between_days[i][i]) factor[i] = std::sqrt(between_days[i][i] / common[i][i]);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) common[i][j] *= factor[i] * factor[j];
  return common;
}

core::NodeKind fit_kind(const std::string& name, const std::vector<const Cpu*>& cpus, DaysCovariance days) {
  core::NodeKind kind;
  kind.name = name;
  std::vector<const Vector*> means;
  for (const Cpu* cpu : cpus) {
    means.push_back(&cpu->mean);
    kind.rows += static_cast<long>(cpu->days.size());
  }
  kind.cpus = static_cast<long>(cpus.size());
  kind.mean = mean_of(means);
  kind.between_cpus = covariance(means, kind.mean);
  kind.between_days = between_days(cpus, days, kind.mean.size());
  kind.common_days = common_days(cpus, kind.between_days);
  return kind;
}

/// Means of the first parameter by node.
std::map<std::string, double> node_means(const std::vector<Cpu>& cpus) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const Cpu& cpu : cpus) {
    sums[cpu.node].first += cpu.mean.front();
    ++sums[cpu.node].second;
  }
  std::map<std::string, double> means;
  for (const auto& [node, sum] : sums) means[node] = sum.first / sum.second;
  return means;
}

std::map<std::string, std::string> found_kinds(const std::vector<Cpu>& cpus) {
  const std::map<std::string, double> means = node_means(cpus);
  Vector values;
  for (const auto& [node, mean] : means) values.push_back(mean);
  GaussianMixtureOptions options;
  options.max_modes = 3;
  options.min_values = 2.5;  // nodes; their CPUs must make a covariance
  options.starts = 20;
  const std::vector<core::MixtureMode> modes = fit_gaussian_mixture(values, options);
  std::map<std::string, std::string> kinds;
  for (const auto& [node, mean] : means) {
    std::size_t best = 0;
    double largest = -1;
    for (std::size_t i = 0; i < modes.size(); ++i) {
      core::MixtureMode alone = modes[i];
      const double weight = alone.probability;
      alone.probability = 1;
      const double density = modes.size() == 1 ? 1 : weight * mixture_density({alone}, mean);
      if (density <= largest) continue;
      largest = density;
      best = i;
    }
    kinds[node] = "kind-" + std::to_string(best + 1);
  }
  return kinds;
}

GenerativeFit failed(const std::string& reason) {
  GenerativeFit fit;
  fit.reason = reason;
  return fit;
}

void validate(const std::vector<DailyRegression>& rows, std::size_t parameters) {
  for (const DailyRegression& row : rows) {
    if (row.coefficients.size() != parameters)
      throw core::DomainError("number of coefficients", row.coefficients.size(), "one a parameter");
    for (double value : row.coefficients)
      if (!std::isfinite(value)) throw core::DomainError("coefficient", value, "a finite number");
  }
}

}  // namespace

std::vector<DailyRegression> read_daily_regressions(std::istream& in, const std::string& name,
                                                    const std::vector<core::LawParameter>& parameters) {
  core::CsvReader csv(in, name);
  const std::size_t node = csv.column("node"), cpu = csv.column("cpu");
  const std::size_t day = csv.find_column("day"), start = csv.find_column("start_time");
  std::vector<std::size_t> columns;
  columns.reserve(parameters.size());
  for (const core::LawParameter& parameter : parameters) columns.push_back(csv.column(to_string(parameter)));
  std::vector<DailyRegression> rows;
  while (csv.next()) {
    DailyRegression row{std::string(csv.text(node)), std::string(csv.text(cpu)), {}};
    for (std::size_t column : columns) row.coefficients.push_back(csv.number(column));
    if (csv.has(day)) {
      row.day = csv.text(day);
    } else if (csv.has(start)) {
      row.day = std::to_string(core::day_of(std::llround(std::floor(csv.number(start)))));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

GenerativeFit fit_generative(const std::vector<DailyRegression>& rows, const GenerativeFitOptions& options) {
  validate(rows, options.parameters.size());
  if (rows.empty()) return failed("there are no regressions");
  const std::vector<Cpu> cpus = cpus_of(rows);
  GenerativeFit fit;
  if (options.find_kinds) {
    fit.kind_of_node = found_kinds(cpus);
  } else {
    for (const Cpu& cpu : cpus) {
      const auto named = options.kind_of_node.find(cpu.node);
      fit.kind_of_node[cpu.node] = named == options.kind_of_node.end() ? "normal" : named->second;
    }
    for (const auto& [node, kind] : options.kind_of_node) {
      if (fit.kind_of_node.count(node) > 0) continue;
      fit.notes.push_back("kind " + kind + ": no regressions of node " + node);
    }
  }
  std::map<std::string, std::vector<const Cpu*>> by_kind;
  for (const Cpu& cpu : cpus) by_kind[fit.kind_of_node[cpu.node]].push_back(&cpu);

  std::vector<core::NodeKind> kinds;
  for (const auto& [name, members] : by_kind) {
    if (members.size() < 2)
      return failed("the kind " + name + " has one CPU only; a covariance between CPUs needs two");
    kinds.push_back(fit_kind(name, members, options.days));
    double nodes = 0;
    for (const auto& [node, kind] : fit.kind_of_node) nodes += kind == name ? 1 : 0;
    kinds.back().share = nodes / static_cast<double>(fit.kind_of_node.size());
    if (members.size() < options.parameters.size() + 2)
      fit.notes.push_back("kind " + name + ": " + std::to_string(members.size()) +
                          " CPUs say little about a covariance of " + std::to_string(options.parameters.size()) +
                          " parameters");
    if (kinds.back().rows < 2 * kinds.back().cpus)
      fit.notes.push_back("kind " + name + ": fewer than two days a CPU; the variability between days is badly known");
  }
  if (std::any_of(kinds.begin(), kinds.end(), [](const core::NodeKind& kind) { return kind.common_days.empty(); }))
    fit.notes.push_back(
        "the days of the CPUs are drawn independently: what they have in common needs a column day (or start_time) and "
        "three days of two CPUs or more");
  fit.model = core::GenerativeModel::make(options.kernel, options.noise, options.parameters, std::move(kinds));
  fit.ok = true;
  return fit;
}

}  // namespace hplcast::fit
