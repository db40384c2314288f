#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/kernel_model.hpp"

namespace hplcast::fit {

/// One regression: the coefficients of one CPU on one day.
struct DailyRegression {
  std::string node;
  std::string cpu;
  std::vector<double> coefficients;  ///< in the order of GenerativeFitOptions::parameters
  std::string day = {};              ///< the same text on the same day; empty: not known
  std::string left_out = {};         ///< terms that it has beside these coefficients, such as " mk nk"
};

/// Reads a CSV with columns `node`, `cpu`, one for each parameter under its name, and, if it is there, `day` or
/// `start_time` (Unix time). @throws core::ParseError
std::vector<DailyRegression> read_daily_regressions(std::istream& in, const std::string& name,
                                                    const std::vector<core::LawParameter>& parameters);

/// How the covariance between days is put together from the days of all CPUs.
///   mean_of_cpus: the mean of the sample covariances of the CPUs (unbiased, each CPU counts once); needs two days of
///   each. pooled: the sample covariance of all values less the mean of their CPU, divisor rows - 1.
/// Both as published; they agree to the number of CPUs over the number of rows.
enum class DaysCovariance { mean_of_cpus, pooled };
HPLCAST_ENUM_NAMES(DaysCovariance, "covariance of days", "mean", "pooled");

struct GenerativeFitOptions {
  std::string kernel = "dgemm";
  core::NoiseFamily noise = core::NoiseFamily::half_normal;
  std::vector<core::LawParameter> parameters;  ///< for example mnk, intercept, mnk_residual
  DaysCovariance days = DaysCovariance::mean_of_cpus;
  std::map<std::string, std::string> kind_of_node;  ///< by its name; nodes that are not named are of the kind "normal"
  /// Finds the kinds instead: a Gaussian mixture of the nodes' means of the first parameter, its number of modes by
  /// BIC; kinds are then named "kind-1" (the least mean) and so on.
  bool find_kinds = false;
};

/// Result of fit_generative(): without `ok` there is only the reason.
struct GenerativeFit {
  bool ok = false;
  std::string reason;
  core::GenerativeModel model;
  std::vector<std::string> notes;
  std::map<std::string, std::string> kind_of_node;  ///< of every node in the data
};

/// Fits by moments: mu_p is the mean over the days of CPU p, mu the mean of the mu_p, Sigma_S their sample covariance
/// (divisor CPUs - 1), Sigma_T as `days` says. From three days of two CPUs on, where rows tell their day, Sigma_C and
/// Sigma_e = Sigma_T - Sigma_C by the means over p of y_pd - mu_p, both without negative eigenvalues.
/// @throws DomainError for coefficients that are not finite or not one per parameter.
GenerativeFit fit_generative(const std::vector<DailyRegression>& rows, const GenerativeFitOptions& options);

/// Which cluster to draw from a model.
struct GenerateOptions {
  std::uint64_t seed = 1;
  std::uint64_t day = 0;  ///< another day of the same cluster: Sigma_S draws stay, Sigma_T and Sigma_C draws change
  double spatial = 1;     ///< multiplies the standard deviations between CPUs; 0: all CPUs of a kind alike
  double temporal = 1;    ///< multiplies those between days; 0: every day is the long-term mean
  /// Hosts of each kind instead of their shares, by kind name; the kinds then come in this order.
  std::vector<std::pair<std::string, int>> hosts_of_kind;
};

/// The coefficients of one CPU on one day. Depends on the seed, the host, the CPU and the day only: a larger cluster
/// begins with the hosts of a smaller one. The common part of a day depends on seed and day. Draws whose mu would not
/// be positive or whose sigma would be negative are drawn again.
/// @throws DomainError for multipliers below 0 or not finite, or if 1000 draws in a row are refused.
std::vector<double> sample_cpu(const core::GenerativeModel& model, const core::NodeKind& kind, int host, int cpu,
                               const GenerateOptions& options);

/// `base` with a law for every CPU of its hosts, drawn from the model, in place of that of the model's kernel; the law
/// of the cluster becomes the mean of the kinds. What `base` says of hosts, network and the other kernels stays.
/// @throws DomainError also for kinds that the model does not have or counts that do not add up to the hosts.
core::ClusterModel sample_cluster(const core::ClusterModel& base, const core::GenerativeModel& model,
                                  const GenerateOptions& options);

}  // namespace hplcast::fit
