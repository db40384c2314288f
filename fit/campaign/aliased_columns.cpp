#include <algorithm>
#include <cmath>

#include "fit/campaign/campaign_steps.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::fit {

namespace {

constexpr long distances_of_model[] = {4096, 8192, 16384};  // columns a multiple of the last: and of more
constexpr double near_s = 30;                               // runs so near in time share the state of the machine

/// Calls of one kernel on one core, one after the other, of runs with the same leading dimension.
struct RunCalls {
  double start_s = 0;
  long leading_dimension = 0;
  double measured_s = 0, expected_s = 0;
};

/// By kernel and core, in the order of time.
using CallsOfHpl = std::map<std::string, std::map<std::pair<std::string, int>, std::vector<RunCalls>>>;

/// 0: no multiple of 4096 bytes.
long distance_of(long leading_dimension) {
  const long bytes = core::columns_apart_bytes(leading_dimension);
  long distance = 0;
  for (const long one : distances_of_model)
    if (bytes >= one) distance = one;
  return distance;
}

CallsOfHpl calls_of_hpl(const Campaign& campaign, const ControlCurve& control, const core::ClusterModel& cluster) {
  CallsOfHpl calls;
  for_kernel_rows(campaign, [&](const std::string& name, const core::KernelMeasurement& row) {
    if (row.leading_dimension == 0 || is_of_fewer_ranks(campaign.hosts, row) || !reason_to_set_aside(row).empty() ||
        control.sets_aside(name, row.kernel, row.host, row.start_s))
      return;
    std::vector<RunCalls>& runs = calls[row.kernel][{row.host, row.core}];
    if (runs.empty() || runs.back().leading_dimension != row.leading_dimension ||
        std::abs(row.start_s - runs.back().start_s) > near_s)
      runs.push_back({row.start_s, row.leading_dimension});
    runs.back().measured_s += row.duration_s;
    runs.back().expected_s += expected_s(cluster, campaign.hosts, row);
  });
  for (auto& kernel : calls)
    for (auto& core : kernel.second)
      std::sort(core.second.begin(), core.second.end(),
                [](const RunCalls& one, const RunCalls& other) { return one.start_s < other.start_s; });
  return calls;
}

/// dgemm on aliased columns over the same call on others, by distance: neighbours of the role aliased in a design.
std::map<long, std::vector<double>> pairs_of_dgemm(const Campaign& campaign) {
  std::map<long, std::vector<double>> ratios;
  core::KernelMeasurement before;
  std::string file;
  for_kernel_rows(campaign, [&](const std::string& name, const core::KernelMeasurement& row) {
    if (!is_of_columns(row) || !row.error.empty()) return;
    const bool follows = name == file && is_aliased(row) != is_aliased(before) && row.shape == before.shape &&
                         row.host == before.host && row.core == before.core;
    const core::KernelMeasurement &aliased = is_aliased(row) ? row : before, &other = is_aliased(row) ? before : row;
    if (follows) ratios[distance_of(aliased.leading_dimension)].push_back(aliased.duration_s / other.duration_s);
    before = follows ? core::KernelMeasurement() : row;
    file = name;
  });
  return ratios;
}

/// For many short calls, some of which are interrupted: the variance of a median is pi / 2 of a mean's.
core::EstimatedRatio median_ratio(const std::vector<double>& ratios) {
  const double middle = core::median(ratios), sd = core::sd_of_median_distance * core::median_distance(ratios, middle);
  return {middle, sd * std::sqrt(1.5707963 / static_cast<double>(ratios.size()))};
}

/// Measured over expected of the runs before and after a run that are not aliased; 0: none is near.
double slowness_near(const std::vector<RunCalls>& runs, std::size_t run) {
  double measured_s = 0, expected_s = 0;
  const auto take = [&](const RunCalls& other) {
    const bool counts =
        distance_of(other.leading_dimension) == 0 && std::abs(other.start_s - runs[run].start_s) <= near_s;
    measured_s += counts ? other.measured_s : 0;
    expected_s += counts ? other.expected_s : 0;
    return counts;
  };
  for (std::size_t before = run; before > 0 && !take(runs[before - 1]);) --before;
  for (std::size_t after = run + 1; after < runs.size() && !take(runs[after]);) ++after;
  return expected_s > 0 ? measured_s / expected_s : 0;
}

}  // namespace

bool is_aliased(const core::KernelMeasurement& row) {
  return row.leading_dimension > 0 && distance_of(row.leading_dimension) > 0;
}

std::vector<core::AliasedColumns> aliased_columns(const Campaign& campaign, const ControlCurve& control,
                                                  const core::ClusterModel& cluster, std::vector<std::string>& notes) {
  const auto calls = calls_of_hpl(campaign, control, cluster);
  const auto in_pairs = pairs_of_dgemm(campaign);
  std::vector<core::AliasedColumns> all;
  for (const long distance : distances_of_model) {
    core::AliasedColumns aliased{distance, {}};
    std::string what;
    for (const auto& [kernel, cores] : calls) {
      PairedTimes times;
      for (const auto& entry : cores) {
        const std::vector<RunCalls>& runs = entry.second;
        for (std::size_t run = 0; run < runs.size(); ++run) {
          if (distance_of(runs[run].leading_dimension) != distance) continue;
          if (const double slowness = slowness_near(runs, run); slowness > 0)
            times.emplace_back(runs[run].measured_s, runs[run].expected_s * slowness);
        }
      }
      const auto pairs = in_pairs.find(distance);
      const bool has_pairs = kernel == "dgemm" && pairs != in_pairs.end() && pairs->second.size() >= few_calls;
      if (!has_pairs && times.size() < fewest_pairs) continue;
      const core::EstimatedRatio ratio = has_pairs ? median_ratio(pairs->second) : ratio_of(times);
      if (!(ratio.ratio > 1 && ratio.certainty() > 0)) continue;
      aliased.kernels[kernel] = ratio;
      what += core::printed(", %s %.3f (%.3f)", kernel.c_str(), ratio.ratio, ratio.standard_error);
    }
    if (aliased.kernels.empty()) continue;
    notes.push_back(
        core::printed("aliased: on columns that are a multiple of %ld bytes apart kernels take so many times "
                      "as long (standard error)",
                      distance) +
        what);
    all.push_back(std::move(aliased));
  }
  return all;
}

}  // namespace hplcast::fit
