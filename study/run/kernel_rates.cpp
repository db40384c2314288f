#include "hplcast/study/predict.hpp"

#include <algorithm>
#include <map>

#include "hplcast/core/text.hpp"

namespace hplcast::study {

namespace {

/// flop per second of one rank, at the best shape.
double best_rate(const core::KernelModel& dgemm, int host, int cpu) {
  double best = 0;
  for (double m = 256; m <= 262144; m *= 2) {
    for (double k = 32; k <= 1024; k *= 2) {
      const core::KernelShape shape{m, m, k};
      const double time_s = dgemm.law(host, cpu).at(shape).mean_s(shape);
      if (time_s > 0) best = std::max(best, 2 * m * m * k / time_s);
    }
  }
  return best;
}

/// Time of all calls on all ranks at a typical rate: an order of magnitude, for people to see what matters.
double typical_s(const std::string& name, const core::KernelCount& count, double N) {
  constexpr double flop_per_s = 1e10, bytes_per_s = 5e9, call_s = 1e-6;
  const double each_call_s = static_cast<double>(count.calls) * call_s;
  if (count.flop > 0) return std::max(each_call_s, count.flop / flop_per_s);
  // Every row of the matrix below or right of a panel is read and written once for it, half the matrix on average.
  const bool moves_matrix =
      core::begins_with(name, "dlaswp") || core::begins_with(name, "dlacpy") || core::begins_with(name, "dlatcpy");
  return moves_matrix ? std::max(each_call_s, 2 * core::hpl_matrix_bytes(N) / bytes_per_s) : each_call_s;
}

}  // namespace

double dgemm_peak_gflops(const core::ClusterModel& cluster, int ranks) {
  const auto dgemm = cluster.kernels.find("dgemm");
  if (dgemm == cluster.kernels.end()) return 0;
  const core::Hosts& hosts = cluster.hosts;
  double sum = 0;
  for (int host = 0; ranks > 0 && host < hosts.count(); ++host) {
    const int here = std::min(ranks, hosts.cores_of(host));
    double rates = 0;
    const int cpus = hosts.cpus_of(host);
    for (int cpu = 0; cpu < cpus; ++cpu) rates += best_rate(dgemm->second, host, cpu) / cpus;
    sum += rates * here;
    ranks -= here;
  }
  return sum / 1e9;
}

std::vector<FreeKernel> free_kernels(const core::Prediction& prediction, const core::ClusterModel& cluster) {
  const core::HplParameters& p = prediction.parameters;
  const double ranks = static_cast<double>(p.P) * p.Q;
  std::vector<FreeKernel> all;
  for (const auto& [name, count] : prediction.kernels) {
    if (count.calls == 0 || cluster.kernels.count(name) > 0) continue;
    const double each_rank_s = typical_s(name, count, static_cast<double>(p.N)) / ranks;
    all.push_back({name, count.calls, prediction.time_s > 0 ? each_rank_s / prediction.time_s : 1});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return all;
}

std::vector<std::string> free_kernel_lines(const std::vector<core::Prediction>& predictions,
                                           const core::ClusterModel& cluster) {
  std::map<std::string, FreeKernel> worst;
  for (const core::Prediction& prediction : predictions) {
    for (const FreeKernel& one : free_kernels(prediction, cluster)) {
      const auto found = worst.emplace(one.name, one).first;
      if (one.share > found->second.share) found->second = one;
    }
  }
  constexpr double worth_telling = 0.01;
  std::vector<std::string> lines, little;
  for (const auto& [name, one] : worst) {
    if (one.share >= worth_telling) {
      lines.push_back("warning: " + to_string(one));
    } else {
      little.push_back(name + " (" + std::to_string(one.calls) + " calls)");
    }
  }
  if (!little.empty())
    lines.push_back("note: without a model, so free, each less than 1 % of the time: " + core::comma_separated(little));
  return lines;
}

std::string to_string(const FreeKernel& kernel) {
  return kernel.name + " has no model: its " + std::to_string(kernel.calls) +
         " calls were free; at a typical rate they take about " + core::printed("%.2g", 100 * kernel.share) +
         " % of the predicted time";
}

}  // namespace hplcast::study
