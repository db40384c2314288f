#include "fit/campaign/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "hplcast/core/random_stream.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/fit/hpl_kernels.hpp"

namespace hplcast::fit {

namespace {

constexpr std::uint64_t stream_of_blocks = 41;  // the detail of stream_fit

/// How often each of `blocks` blocks is in a campaign that is drawn from them.
std::vector<int> drawn_counts(std::size_t blocks, core::RandomStream& random) {
  std::vector<int> counts(blocks, 0);
  for (std::size_t i = 0; i < blocks; ++i) ++counts[random.below(blocks)];
  return counts;
}

core::RandomStream random_of_blocks() {
  return core::RandomStream(core::StreamName{1, core::stream_fit, 0, 0, stream_of_blocks});
}

/// The scatter of what the refits found. Resampled blocks scatter by (n - 1) / n of the variance.
core::EstimatedSd sd_of(const std::vector<double>& logs, std::size_t blocks) {
  if (logs.size() < 2) return {};
  const auto n = static_cast<double>(blocks);
  return {summarize(logs).sd * std::sqrt(n / (n - 1)), std::min(static_cast<double>(logs.size()), n) - 1};
}

using PieceCalls = std::vector<const core::KernelMeasurement*>;

/// Pieces of time of each host: about sixteen of the whole time, which is more than the speed of a machine remembers.
std::vector<PieceCalls> time_pieces(const std::vector<core::KernelMeasurement>& calls) {
  const auto earlier = [](const auto& a, const auto& b) { return a.start_s < b.start_s; };
  const auto [first, last] = std::minmax_element(calls.begin(), calls.end(), earlier);
  constexpr double pieces = 16;
  const double piece_s = std::max(least_block_s, (last->start_s - first->start_s) / pieces);
  std::map<std::pair<std::string, long>, PieceCalls> by_piece;
  for (const core::KernelMeasurement& call : calls)
    by_piece[{call.host, std::lround(std::floor((call.start_s - first->start_s) / piece_s))}].push_back(&call);
  std::vector<PieceCalls> all;
  for (auto& entry : by_piece) all.push_back(std::move(entry.second));
  return all;
}

/// Seconds of all calls of a table, expected, and their scatter.
struct DgemmTotals {
  double mean_s = 0, sd_s = 0;
};
DgemmTotals dgemm_totals(const core::KernelModel& model, const KernelTable& calls) {
  DgemmTotals totals;
  for (const ShapeSummary& one : calls.shapes()) {
    const core::DurationLaw& law = model.cluster_law().at(one.shape);
    totals.mean_s += static_cast<double>(one.count) * law.mean_s(one.shape);
    totals.sd_s += static_cast<double>(one.count) * law.sd_s(one.shape);
  }
  return totals;
}

/// From one day to another: the ratio of each day's calls to the model.
void add_days(const std::vector<core::KernelMeasurement>& calls, const core::KernelModel& model,
              core::Uncertainty& uncertainty) {
  constexpr double day_s = 86400;
  std::map<long, std::pair<double, double>> days;
  for (const core::KernelMeasurement& call : calls) {
    auto& [measured, expected] = days[std::lround(std::floor(call.start_s / day_s))];
    measured += call.duration_s;
    expected += model.cluster_law().at(call.shape).mean_s(call.shape);
  }
  uncertainty.days = static_cast<long>(days.size());
  if (days.size() < 2) return;
  std::vector<double> logs;
  for (const auto& [day, sums] : days) logs.push_back(std::log(sums.first / sums.second));
  uncertainty.between_days = core::EstimatedSd{summarize(logs).sd, static_cast<double>(days.size() - 1)};
}

}  // namespace

void BlockRatio::add(const CallBlock& block, double measured, double expected) {
  Sums& sums = blocks_[block];
  sums.measured += measured;
  sums.expected += expected;
}

core::EstimatedSd BlockRatio::sd() const {
  if (blocks_.size() < 2) return {};
  core::RandomStream random = random_of_blocks();
  std::vector<double> logs;
  for (int refit = 0; refit < uncertainty_refits; ++refit) {
    const std::vector<int> counts = drawn_counts(blocks_.size(), random);
    double measured = 0, expected = 0;
    std::size_t i = 0;
    for (const auto& entry : blocks_) {
      measured += counts[i] * entry.second.measured;
      expected += counts[i++] * entry.second.expected;
    }
    if (measured > 0 && expected > 0) logs.push_back(std::log(measured / expected));
  }
  return sd_of(logs, blocks_.size());
}

core::Uncertainty dgemm_uncertainty(const std::vector<core::KernelMeasurement>& calls) {
  core::Uncertainty uncertainty;
  const std::vector<PieceCalls> pieces = calls.empty() ? std::vector<PieceCalls>() : time_pieces(calls);
  if (pieces.size() < 2) return uncertainty;
  KernelTable whole;
  for (const core::KernelMeasurement& call : calls) whole.add(call.shape, call.duration_s);
  core::RandomStream random = random_of_blocks();
  std::vector<double> means, scatters;
  for (int refit = 0; refit < uncertainty_refits; ++refit) {
    const std::vector<int> counts = drawn_counts(pieces.size(), random);
    KernelTable drawn;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      for (int again = 0; again < counts[i]; ++again)
        for (const core::KernelMeasurement* call : pieces[i]) drawn.add(call->shape, call->duration_s);
    const KernelFit fit = fit_hpl_kernel("dgemm", drawn);
    const DgemmTotals totals = fit.ok() ? dgemm_totals(fit.model, whole) : DgemmTotals();
    if (totals.mean_s > 0) means.push_back(std::log(totals.mean_s));
    if (totals.mean_s > 0 && totals.sd_s > 0) scatters.push_back(std::log(totals.sd_s / totals.mean_s));
  }
  const auto add = [&](core::ErrorGroup group, const std::vector<double>& logs) {
    const core::EstimatedSd found = sd_of(logs, pieces.size());
    if (found.nu > 0) uncertainty.of(group) = found;
  };
  add(core::ErrorGroup::dgemm, means);
  add(core::ErrorGroup::dgemm_scatter, scatters);
  if (const KernelFit fit = fit_hpl_kernel("dgemm", whole); fit.ok()) add_days(calls, fit.model, uncertainty);
  return uncertainty;
}

}  // namespace hplcast::fit
