#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"
#include "hplcast/fit/generative.hpp"

namespace hplcast::fit {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The days of one CPU.
struct Cpu {
  std::string node;
  std::vector<VectorXd> days;
  std::vector<std::string> names;  ///< of the days; the second row of a day is another one
  VectorXd mean;
};

VectorXd mean_of(const std::vector<VectorXd>& values) {
  VectorXd sum = VectorXd::Zero(values.front().size());
  for (const VectorXd& value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Sum of the products of the deviations from the mean.
MatrixXd products_of(const std::vector<VectorXd>& values) {
  const VectorXd mean = mean_of(values);
  MatrixXd sum = MatrixXd::Zero(mean.size(), mean.size());
  for (const VectorXd& value : values) sum += (value - mean) * (value - mean).transpose();
  return sum;
}

MatrixXd covariance(const std::vector<VectorXd>& values) {
  return products_of(values) / static_cast<double>(values.size() - 1);
}

/// The rows of a symmetric matrix.
core::SquareMatrix square_of(const MatrixXd& matrix) {
  core::SquareMatrix rows;
  for (Index i = 0; i < matrix.rows(); ++i) rows.emplace_back(matrix.col(i).begin(), matrix.col(i).end());
  return rows;
}

std::vector<Cpu> cpus_of(const std::vector<DailyRegression>& rows) {
  std::map<std::pair<std::string, std::string>, Cpu> by_name;
  std::map<std::tuple<std::string, std::string, std::string>, int> rows_of_day;
  for (const DailyRegression& row : rows) {
    Cpu& cpu = by_name[{row.node, row.cpu}];
    cpu.node = row.node;
    const std::vector<double>& values = row.coefficients;
    cpu.days.emplace_back(Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size())));
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

MatrixXd between_days(const std::vector<const Cpu*>& cpus, DaysCovariance how) {
  const bool pooled = how == DaysCovariance::pooled;
  const Index size = cpus.front()->mean.size();
  MatrixXd sum = MatrixXd::Zero(size, size);
  double counted = 0;
  for (const Cpu* cpu : cpus) {
    if (cpu->days.size() < 2) continue;
    sum += pooled ? products_of(cpu->days) : covariance(cpu->days);
    counted += pooled ? static_cast<double>(cpu->days.size() - 1) : 1.0;
  }
  return sum / std::max(counted, 1.0);
}

/// Without negative eigenvalues, in units of the standard deviations of `scale`: coefficients differ by ten orders of
/// magnitude.
MatrixXd positive_part(const MatrixXd& matrix, const MatrixXd& scale) {
  const VectorXd sd = scale.diagonal().cwiseSqrt();
  const VectorXd per_sd = sd.unaryExpr([](double one) { return one > 0 ? 1 / one : 0.0; });
  const MatrixXd scaled = per_sd.asDiagonal() * matrix * per_sd.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(scaled);
  return sd.asDiagonal() * solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).asDiagonal() *
         solver.eigenvectors().transpose() * sd.asDiagonal();
}

/// Sigma_C, by the means over the CPUs of how far a day is from the mean of its CPU; empty if there are too few days
/// that several CPUs have.
MatrixXd common_days(const std::vector<const Cpu*>& cpus, const MatrixXd& between_days) {
  std::map<std::string, std::vector<std::pair<const Cpu*, VectorXd>>> by_day;  // how far it is from the CPU's mean
  for (const Cpu* cpu : cpus)
    for (std::size_t d = 0; d < cpu->days.size() && cpu->days.size() > 1; ++d)
      if (!cpu->names[d].empty()) by_day[cpu->names[d]].emplace_back(cpu, cpu->days[d] - cpu->mean);
  constexpr long least_days = 3;  // of several CPUs
  const auto has_several = [](const auto& day) { return day.second.size() > 1; };
  if (std::count_if(by_day.begin(), by_day.end(), has_several) < least_days) return {};
  std::map<const Cpu*, std::vector<Index>> days_of;
  Index all_days = 0, day = 0;
  for (const auto& [name, rows] : by_day) {
    for (const auto& [cpu, distance] : rows) days_of[cpu].push_back(all_days);
    ++all_days;
  }
  // A day's mean over its CPUs lacks the means of the days that these have: the squares of all are
  // common_in Sigma_C + own_in Sigma_e. Sigma_T = Sigma_C + Sigma_e.
  MatrixXd squares = MatrixXd::Zero(between_days.rows(), between_days.cols());
  double common_in = 0, own_in = 0;
  for (const auto& [name, rows] : by_day) {
    VectorXd sum = VectorXd::Zero(between_days.rows()), held = VectorXd::Zero(all_days);
    const auto count = static_cast<double>(rows.size());
    held(day++) = count;
    if (rows.size() < 2) continue;
    for (const auto& [cpu, distance] : rows) {
      const double share = 1 / static_cast<double>(cpu->days.size());
      for (const Index other : days_of[cpu]) held(other) -= share;
      own_in += (1 - share) / (count * count);
      sum += distance;
    }
    squares += sum * sum.transpose() / (count * count);
    common_in += held.squaredNorm() / (count * count);
  }
  const MatrixXd of_means = squares / common_in;
  const double per_cpu = own_in / common_in;
  const MatrixXd own = positive_part((between_days - of_means) / (1 - per_cpu), between_days);
  const MatrixXd common = positive_part(of_means - per_cpu * own, between_days);
  VectorXd factor = VectorXd::Ones(common.rows());  // CPUs that lack days may have less between days than their means
  for (Index i = 0; i < factor.size(); ++i)
    if (common(i, i) > between_days(i, i)) factor(i) = std::sqrt(between_days(i, i) / common(i, i));
  return factor.asDiagonal() * common * factor.asDiagonal();
}

core::NodeKind fit_kind(const std::string& name, const std::vector<const Cpu*>& cpus, DaysCovariance days) {
  core::NodeKind kind;
  kind.name = name;
  std::vector<VectorXd> means;
  for (const Cpu* cpu : cpus) {
    means.push_back(cpu->mean);
    kind.rows += static_cast<long>(cpu->days.size());
  }
  kind.cpus = static_cast<long>(cpus.size());
  const VectorXd mean = mean_of(means);
  kind.mean.assign(mean.begin(), mean.end());
  kind.between_cpus = square_of(covariance(means));
  const MatrixXd of_days = between_days(cpus, days);
  // As published: the divisor of all values is their number less 1, though each CPU has a mean of its own.
  const auto rows = static_cast<double>(kind.rows), own_means = static_cast<double>(cpus.size());
  const double share = days == DaysCovariance::pooled ? (rows - own_means) / (rows - 1) : 1;
  kind.between_days = square_of(share * of_days);
  kind.common_days = square_of(share * common_days(cpus, of_days));
  return kind;
}

std::map<std::string, std::string> found_kinds(const std::vector<Cpu>& cpus) {
  std::map<std::string, std::vector<double>> of_node;  // the first parameter
  for (const Cpu& cpu : cpus) of_node[cpu.node].push_back(cpu.mean(0));
  const auto values = core::mapped(of_node, [](const auto& node) { return core::mean(node.second); });
  GaussianMixtureOptions options;
  options.max_modes = 3;
  options.min_values = 2.5;  // nodes; their CPUs must make a covariance
  options.starts = 20;
  const std::vector<core::MixtureMode> modes = fit_gaussian_mixture(values, options);
  std::map<std::string, std::string> kinds;
  for (const auto& [node, of_cpus] : of_node) {
    const auto density = [&, mean = core::mean(of_cpus)](const core::MixtureMode& mode) {
      return modes.size() == 1 ? 1 : mixture_density({mode}, mean);
    };
    const auto best = std::max_element(modes.begin(), modes.end(),
                                       [&](const auto& a, const auto& b) { return density(a) < density(b); });
    kinds[node] = "kind-" + std::to_string(best - modes.begin() + 1);
  }
  return kinds;
}

void validate(const std::vector<DailyRegression>& rows, std::size_t parameters) {
  for (const DailyRegression& row : rows) {
    core::require(row.coefficients.size() == parameters, "number of coefficients", row.coefficients.size(),
                  "one a parameter");
    for (double value : row.coefficients) core::require(std::isfinite(value), "coefficient", value, "a finite number");
  }
}

}  // namespace

std::vector<DailyRegression> read_daily_regressions(std::istream& in, const std::string& name,
                                                    const std::vector<core::LawParameter>& parameters) {
  core::CsvReader csv(in, name);
  const std::size_t node = csv.column("node"), cpu = csv.column("cpu");
  const std::size_t day = csv.find_column("day"), start = csv.find_column("start_time");
  std::vector<std::size_t> columns;
  for (const core::LawParameter& parameter : parameters) columns.push_back(csv.column(to_string(parameter)));
  std::vector<DailyRegression> rows;
  while (csv.next()) {
    DailyRegression row{std::string(csv.text(node)), std::string(csv.text(cpu)), {}};
    for (std::size_t column : columns) row.coefficients.push_back(csv.number(column));
    for (const char* term : {"mnk", "mn", "mk", "nk"})
      if (const std::size_t column = csv.find_column(term);
          csv.has(column) && std::count(columns.begin(), columns.end(), column) == 0)
        if (const double value = std::strtod(std::string(csv.text(column)).c_str(), nullptr); std::abs(value) > 0)
          row.left_out += std::string(" ") + term;  // NA, as R writes it, is no term
    if (csv.has(day))
      row.day = csv.text(day);
    else if (csv.has(start))
      row.day = core::printed("%.0f", std::floor(csv.number(start) / core::day_s));
    rows.push_back(std::move(row));
  }
  return rows;
}

GenerativeFit fit_generative(const std::vector<DailyRegression>& rows, const GenerativeFitOptions& options) {
  validate(rows, options.parameters.size());
  if (rows.empty()) return {false, "there are no regressions", {}, {}, {}};
  const std::vector<Cpu> cpus = cpus_of(rows);
  GenerativeFit fit;
  if (options.find_kinds) {
    fit.kind_of_node = found_kinds(cpus);
  } else {
    for (const Cpu& cpu : cpus) fit.kind_of_node[cpu.node] = "normal";
    for (const auto& [node, kind] : options.kind_of_node) {
      if (fit.kind_of_node.count(node) == 0)
        fit.notes.push_back("kind " + kind + ": no regressions of node " + node);
      else
        fit.kind_of_node[node] = kind;
    }
  }
  std::map<std::string, std::vector<const Cpu*>> by_kind;
  for (const Cpu& cpu : cpus) by_kind[fit.kind_of_node[cpu.node]].push_back(&cpu);

  std::vector<core::NodeKind> kinds;
  for (const auto& [name, members] : by_kind) {
    if (members.size() < 2)
      return {false, "the kind " + name + " has one CPU only; a covariance between CPUs needs two", {}, {}, {}};
    kinds.push_back(fit_kind(name, members, options.days));
    double nodes = 0;
    for (const auto& [node, kind] : fit.kind_of_node) nodes += kind == name ? 1 : 0;
    kinds.back().share = nodes / static_cast<double>(fit.kind_of_node.size());
    if (members.size() < options.parameters.size() + 2)
      fit.notes.push_back("kind " + name + ": " + std::to_string(members.size()) +
                          " CPUs say little about a covariance of " + std::to_string(options.parameters.size()) +
                          " parameters");
    if (const auto& of = kinds.back();
        std::max(of.between_cpus[0][0], of.between_days[0][0]) > of.mean[0] * of.mean[0] / 4)
      fit.notes.push_back("kind " + name + ": " + to_string(options.parameters.front()) +
                          " differs by more than half of it: a row of another unit, or of a fit that went wrong?");
    if (kinds.back().rows < 2 * kinds.back().cpus)
      fit.notes.push_back("kind " + name + ": fewer than two days a CPU; the variability between days is badly known");
  }
  if (std::any_of(kinds.begin(), kinds.end(), [](const core::NodeKind& kind) { return kind.common_days.empty(); }))
    fit.notes.push_back(
        "the days of the CPUs are drawn independently: what they have in common needs a column day (or start_time) and "
        "three days of two CPUs or more");
  const auto more = std::find_if(rows.begin(), rows.end(), [](const auto& row) { return !row.left_out.empty(); });
  if (more != rows.end())
    fit.notes.push_back("regressions have further terms:" + more->left_out +
                        "; without them in --parameters calls take another time than those measured");
  fit.model = core::GenerativeModel::make(options.kernel, options.noise, options.parameters, std::move(kinds));
  fit.ok = true;
  return fit;
}

}  // namespace hplcast::fit
