#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/generative.hpp"

namespace hplcast::fit {

namespace {

using core::NodeKind;
using Vector = std::vector<double>;

/// Purpose of a stream of draws: the kind of a host, its CPUs' long-term means, their days.
enum Purpose : std::uint32_t { for_kind = 0, for_cpu = 1, for_day = 2 };

core::StreamName stream_of(const GenerateOptions& options, int host, int cpu, Purpose purpose) {
  return {options.seed, core::stream_generate, static_cast<std::uint32_t>(host),
          static_cast<std::uint32_t>(cpu) * 4 + purpose};
}

/// mean + multiplier * L z with L L' = covariance; L is the symmetric root, so that covariances of rank below the full
/// one are fine. Columns are scaled to standard deviation 1 first: coefficients differ by ten orders of magnitude.
class NormalLaw {
 public:
  explicit NormalLaw(const core::SquareMatrix& covariance) {
    const auto size = static_cast<Eigen::Index>(covariance.size());
    Eigen::MatrixXd matrix(size, size);
    for (const Vector& row : covariance)
      matrix.col(&row - covariance.data()) = Eigen::Map<const Eigen::VectorXd>(row.data(), size);
    const Eigen::VectorXd sd = matrix.diagonal().cwiseMax(0).cwiseSqrt();
    const Eigen::VectorXd per_sd = sd.unaryExpr([](double one) { return one > 0 ? 1 / one : 0.0; });
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(per_sd.asDiagonal() * matrix * per_sd.asDiagonal());
    root_ = sd.asDiagonal() * solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() *
            solver.eigenvectors().transpose();
  }

  Vector draw(const Vector& mean, double multiplier, const core::StreamName& stream, std::uint64_t attempt) const {
    Eigen::VectorXd z(root_.rows());
    for (std::size_t i = 0; i < mean.size(); ++i)
      z(static_cast<Eigen::Index>(i)) = core::draw(stream, attempt * mean.size() + i).normal;
    Vector result = mean;
    Eigen::Map<Eigen::VectorXd>(result.data(), z.size()) += multiplier * (root_ * z);
    return result;
  }

 private:
  Eigen::MatrixXd root_;
};

/// A law that can be simulated: no coefficient is below 0 unless the mean of its kind is, and mu is not zero.
bool acceptable(const core::GenerativeModel& model, const NodeKind& kind, const Vector& coefficients) {
  bool some_time = false;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    if (coefficients[i] < 0 && kind.mean[i] >= 0) return false;
    some_time = some_time || (!model.parameters()[i].of_sigma && coefficients[i] > 0);
  }
  return some_time;
}

void validate(const GenerateOptions& options) {
  for (const auto& [name, value] : {std::pair("spatial", options.spatial), std::pair("temporal", options.temporal)})
    core::require(value >= 0 && std::isfinite(value), name, value, "a finite number >= 0");
}

constexpr std::uint64_t most_attempts = 1000;

/// The first acceptable of a row of draws. `first` is where the row begins in the stream.
Vector accepted_draw(const core::GenerativeModel& model, const NodeKind& kind, const core::SquareMatrix& covariance,
                     const Vector& mean, double multiplier, const core::StreamName& stream, std::uint64_t first) {
  const NormalLaw law(covariance);
  for (std::uint64_t attempt = 0; attempt < most_attempts; ++attempt) {
    Vector drawn = law.draw(mean, multiplier, stream, first * most_attempts + attempt);
    if (acceptable(model, kind, drawn)) return drawn;
  }
  throw core::DomainError("variability", multiplier, "a multiplier with which some coefficients drawn are not negative",
                          "1000 draws in a row were refused; take a smaller multiplier");
}

/// The deviation that all CPUs of a kind share on a day: one draw per cluster and day.
Vector common_deviation(const core::GenerativeModel& model, const NodeKind& kind, const GenerateOptions& options) {
  constexpr int no_host = -1;
  Vector drawn = accepted_draw(model, kind, kind.common_days, kind.mean, options.temporal,
                               stream_of(options, no_host, 0, for_day), options.day);
  for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] -= kind.mean[i];
  return drawn;
}

const NodeKind& named_kind(const core::GenerativeModel& model, const std::string& name) {
  for (const NodeKind& kind : model.kinds())
    if (kind.name == name) return kind;
  throw core::DomainError("kind", name,
                          "one of the generative model: " +
                              core::joined(model.kinds(), ", ", [](const NodeKind& one) { return one.name; }));
}

std::vector<const NodeKind*> kinds_of_hosts(const core::GenerativeModel& model, int hosts,
                                            const GenerateOptions& options) {
  std::vector<const NodeKind*> kinds;
  for (const auto& [name, count] : options.hosts_of_kind)
    kinds.insert(kinds.end(), static_cast<std::size_t>(std::max(0, count)), &named_kind(model, name));
  if (!options.hosts_of_kind.empty()) {
    if (kinds.size() != static_cast<std::size_t>(hosts))
      throw core::DomainError("hosts of all kinds", kinds.size(), "the hosts of the cluster: " + std::to_string(hosts));
    return kinds;
  }
  for (int host = 0; host < hosts; ++host) {
    double left = core::draw(stream_of(options, host, 0, for_kind), 0).uniform;
    kinds.push_back(&*std::find_if(model.kinds().begin(), std::prev(model.kinds().end()),
                                   [&](const NodeKind& kind) { return (left -= kind.share) < 0; }));
  }
  return kinds;
}

core::DurationLaw mean_law(const core::GenerativeModel& model) {
  Vector mean(model.parameters().size(), 0.0);
  for (const NodeKind& kind : model.kinds())
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += kind.share * kind.mean[i];
  return model.law(mean);
}

}  // namespace

std::vector<double> sample_cpu(const core::GenerativeModel& model, const NodeKind& kind, int host, int cpu,
                               const GenerateOptions& options) {
  validate(options);
  Vector mean_of_day = accepted_draw(model, kind, kind.between_cpus, kind.mean, options.spatial,
                                     stream_of(options, host, cpu, for_cpu), 0);
  core::SquareMatrix own_days = kind.between_days;
  if (!kind.common_days.empty()) {
    const Vector common = common_deviation(model, kind, options);
    for (std::size_t i = 0; i < common.size(); ++i) {
      mean_of_day[i] += common[i];
      // Around a negative mean all draws might be refused.
      if (kind.mean[i] >= 0) mean_of_day[i] = std::max(0.0, mean_of_day[i]);
      for (std::size_t j = 0; j < common.size(); ++j) own_days[i][j] -= kind.common_days[i][j];
    }
  }
  return accepted_draw(model, kind, own_days, mean_of_day, options.temporal, stream_of(options, host, cpu, for_day),
                       options.day);
}

core::ClusterModel sample_cluster(const core::ClusterModel& base, const core::GenerativeModel& model,
                                  const GenerateOptions& options) {
  validate(options);
  const std::vector<const NodeKind*> kinds = kinds_of_hosts(model, base.hosts.count(), options);
  std::vector<core::CpuLaw> laws;
  for (int host = 0; host < base.hosts.count(); ++host)
    for (int cpu = 0; cpu < base.hosts.cpus_of(host); ++cpu) {
      const NodeKind& kind = *kinds[static_cast<std::size_t>(host)];
      laws.push_back({host, cpu, core::PiecewiseLaw(model.law(sample_cpu(model, kind, host, cpu, options)))});
    }
  core::ClusterModel cluster = base;
  const auto known = base.kernels.find(model.kernel());
  const std::optional<core::ShapeRange> range = known == base.kernels.end() ? std::nullopt : known->second.range();
  const auto products = std::count_if(model.parameters().begin(), model.parameters().end(),
                                      [](const auto& one) { return !one.of_sigma && one.term != core::Monomial{}; });
  cluster.kernels[model.kernel()] =
      core::KernelModel::make("M" + std::to_string(std::min<std::ptrdiff_t>(products, 2)),
                              core::PiecewiseLaw(mean_law(model)), std::move(laws), range);
  return cluster;
}

}  // namespace hplcast::fit
