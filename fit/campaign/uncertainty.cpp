#include "fit/campaign/campaign_steps.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/fit/hpl_kernels.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::fit {

namespace {

constexpr std::uint64_t stream_of_blocks = 41;  // the detail of stream_fit

/// Campaigns that are drawn from the blocks of one.
constexpr int uncertainty_refits = 16;

/// Measured and expected durations of calls that a machine made in one state: of one file and host, in one piece of
/// time. The error of their ratio is what differs between blocks: single calls of a block share the state of the
/// machine, and say little that their neighbours do not.
using CallBlocks = std::map<std::tuple<std::string, std::string, double>, std::pair<double, double>>;
void add_to_block(const std::string& file, const std::string& host, double start_s, double measured, double expected,
                  CallBlocks& blocks) {
  auto& sums = blocks[{file, host, std::floor(start_s / least_block_s)}];
  sums.first += measured;
  sums.second += expected;
}

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

/// Pieces of time of each host, one after the other: about sixteen of the whole time, which is more than the speed of a
/// machine remembers. Time in which nothing was measured does not count, and as much of it as a piece ends one.
struct TimePieces {
  double piece_s = 0;
  std::vector<PieceCalls> calls;
};
double idle_s(const core::KernelMeasurement& before, const core::KernelMeasurement& call) {
  return call.start_s - before.start_s - before.duration_s;
}
/// `calls`: in the order of time.
TimePieces time_pieces(const std::vector<core::KernelMeasurement>& calls) {
  std::vector<double> at_s(calls.size() + 1);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const core::KernelMeasurement &before = calls[i - 1], &call = calls[i];
    at_s[i] = at_s[i - 1] + (idle_s(before, call) > least_block_s ? before.duration_s : call.start_s - before.start_s);
  }
  constexpr double pieces = 16;
  TimePieces all{std::max(least_block_s, *std::max_element(at_s.begin(), at_s.end()) / pieces), {}};
  std::map<std::tuple<std::string, std::size_t, double>, PieceCalls> by_piece;
  for (std::size_t begin = 0, end = 0; begin < calls.size(); begin = end) {
    while (++end < calls.size() && idle_s(calls[end - 1], calls[end]) < all.piece_s) continue;
    const double length_s = at_s[end - 1] - at_s[begin], count = std::max(1.0, std::round(length_s / all.piece_s));
    for (std::size_t i = begin; i < end; ++i) {
      const double piece = std::floor(count * (at_s[i] - at_s[begin]) / std::max(length_s, all.piece_s));
      by_piece[{calls[i].host, begin, std::min(piece, count - 1)}].push_back(&calls[i]);
    }
  }
  for (auto& entry : by_piece) all.calls.push_back(std::move(entry.second));
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
  std::map<long, std::pair<double, double>> days;
  for (const core::KernelMeasurement& call : calls) {
    auto& [measured, expected] = days[core::day_of(std::llround(std::floor(call.start_s)))];
    measured += call.duration_s;
    expected += model.cluster_law().at(call.shape).mean_s(call.shape);
  }
  uncertainty.days = static_cast<long>(days.size());
  if (days.size() < 2) return;
  std::vector<double> logs;
  for (const auto& [day, sums] : days) logs.push_back(std::log(sums.first / sums.second));
  uncertainty.between_days = core::EstimatedSd{summarize(logs).sd, static_cast<double>(days.size() - 1)};
}

/// From one piece to the next of the same host: half of the mean square of successive differences, which leaves a drift
/// out (von Neumann, Kent, Bellinson, Hart 1941), and is known as well as two thirds as many independent values tell.
void add_pieces(const TimePieces& pieces, const core::KernelModel& model, core::Uncertainty& uncertainty) {
  constexpr int enough = 3;
  double squares = 0, before = 0;
  int differences = 0;
  const core::KernelMeasurement* last = nullptr;
  for (const PieceCalls& piece : pieces.calls) {
    double measured = 0, expected = 0;
    for (const core::KernelMeasurement* call : piece) {
      measured += call->duration_s;
      expected += model.cluster_law().at(call->shape).mean_s(call->shape);
    }
    const double now = std::log(measured / expected);
    const core::KernelMeasurement& first = *piece.front();
    if (last != nullptr && last->host == first.host && idle_s(*last, first) < pieces.piece_s) {
      squares += (now - before) * (now - before);
      ++differences;
    }
    before = now;
    last = piece.back();
  }
  if (differences < enough || !std::isfinite(squares)) return;
  uncertainty.pieces = core::EstimatedSd{std::sqrt(squares / (2 * differences)), 2.0 / 3 * differences};
  uncertainty.piece_s = pieces.piece_s;
}

/// Standard deviation of sum(measured) / sum(expected), relative, over resampled blocks (`uncertainty_refits` times);
/// nu = 0 if there are fewer than two blocks.
core::EstimatedSd sd_of_ratio(const CallBlocks& blocks) {
  if (blocks.size() < 2) return {};
  core::RandomStream random = random_of_blocks();
  std::vector<double> logs;
  for (int refit = 0; refit < uncertainty_refits; ++refit) {
    const std::vector<int> counts = drawn_counts(blocks.size(), random);
    double measured = 0, expected = 0;
    std::size_t i = 0;
    for (const auto& entry : blocks) {
      measured += counts[i] * entry.second.first;
      expected += counts[i++] * entry.second.second;
    }
    if (measured > 0 && expected > 0) logs.push_back(std::log(measured / expected));
  }
  return sd_of(logs, blocks.size());
}

void add_group(core::ErrorGroup group, const core::EstimatedSd& found, core::Uncertainty& uncertainty) {
  if (found.nu > 0) uncertainty.of(group) = found;
}

/// How well dgemm is known from the calls of a design: its mean and its scatter over HPL's shapes, from fits of
/// resampled blocks of calls. Groups that cannot be told are left out.
core::Uncertainty dgemm_uncertainty(std::vector<core::KernelMeasurement> calls) {
  std::stable_sort(calls.begin(), calls.end(), [](auto& a, auto& b) { return a.start_s < b.start_s; });
  core::Uncertainty uncertainty;
  const TimePieces all = time_pieces(calls);
  const std::vector<PieceCalls>& pieces = all.calls;
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
  add_group(core::ErrorGroup::dgemm, sd_of(means, pieces.size()), uncertainty);
  add_group(core::ErrorGroup::dgemm_scatter, sd_of(scatters, pieces.size()), uncertainty);
  if (const KernelFit fit = fit_hpl_kernel("dgemm", whole); fit.ok()) {
    add_days(calls, fit.model, uncertainty);
    add_pieces(all, fit.model, uncertainty);
  }
  return uncertainty;
}

/// Reads the files again, now that the expected durations are known: calls of HPL are not kept.
CallBlocks other_kernels(const Campaign& campaign, const ControlCurve& control, const core::ClusterModel& cluster) {
  CallBlocks blocks;
  for_kernel_rows(campaign, [&](const std::string& name, const core::KernelMeasurement& row) {
    if (row.kernel == "dgemm" || !reason_to_set_aside(row).empty() || is_of_fewer_ranks(campaign.hosts, row) ||
        is_aliased(row) || control.sets_aside(name, row.kernel, row.host, row.start_s))
      return;
    add_to_block(name, row.host, row.start_s, row.duration_s / control.slowdown(row.host, row.start_s),
                 expected_s(cluster, campaign.hosts, row), blocks);
  });
  return blocks;
}

/// Calls that took very long count as in the fit, with most_times_expected times their expected duration.
CallBlocks all_messages(const std::vector<core::MpiMeasurement>& messages, const core::NetworkModel& network) {
  CallBlocks blocks;
  std::vector<std::string> known;  // the fit has said them
  rows_of_messages(rows_of(messages), false, known)([&](const core::MpiMeasurement& row) {
    const double expected = row.error.empty() ? expected_s(network, row) : 0;
    if (expected > 0)
      add_to_block(row.background, row.host, row.start_s, std::min(row.duration_s / expected, most_times_expected), 1,
                   blocks);
  });
  return blocks;
}

}  // namespace

bool is_mpi(const std::string& name, const std::string& text) {
  return core::CsvReader(core::TextStream(text), name).find_column("operation") != core::CsvReader::npos;
}

void for_kernel_rows(const Campaign& campaign,
                     const std::function<void(const std::string&, const core::KernelMeasurement&)>& each) {
  for (const auto& [name, text] : campaign.measurements) {
    if (core::ends_with(name, ".json") || is_mpi(name, text)) continue;
    core::read_kernel_csv(core::TextStream(text), name, "dgemm",
                          [&, &name = name](const core::KernelMeasurement& row) { each(name, row); });
  }
}

std::size_t index_of(const std::vector<MeasuredHost>& hosts, const std::string& name) {
  const auto same = [&](const MeasuredHost& host) { return host.name == name; };
  return static_cast<std::size_t>(std::find_if(hosts.begin(), hosts.end(), same) - hosts.begin());
}

int cpu_in_model(const MeasuredHost& host, int cpu) {
  const std::set<int> with_ranks(host.rank_cpus.begin(), host.rank_cpus.end());
  const auto below = static_cast<int>(std::distance(with_ranks.begin(), with_ranks.lower_bound(cpu)));
  return with_ranks.count(cpu) > 0 ? below : static_cast<int>(with_ranks.size()) + cpu - below;
}

double expected_s(const core::ClusterModel& cluster, const std::vector<MeasuredHost>& hosts,
                  const core::KernelMeasurement& row) {
  const std::size_t host = index_of(hosts, row.host);
  const int cpu = host < hosts.size() ? cpu_in_model(hosts[host], row.cpu) : row.cpu;
  return cluster.kernels.at(row.kernel).law(static_cast<int>(host), cpu).at(row.shape).mean_s(row.shape);
}

double expected_s(const core::NetworkModel& network, const core::MpiMeasurement& row) {
  using core::MessageCost;
  const core::ScopeModel& scope = network.scope(core::from_name<core::Scope>(row.scope));
  const auto cost_s = [&](MessageCost which) { return scope.cost(which).mean_s(row.size_bytes); };
  if (row.operation == "send") return cost_s(MessageCost::send);
  if (row.operation == "isend") return cost_s(MessageCost::isend);
  if (row.operation == "recv") return cost_s(MessageCost::recv);
  if (row.operation != "pingpong") return 0;
  const bool waits = row.size_bytes >= static_cast<double>(network.values().detached_bytes);
  const double overhead_s = waits ? 0 : cost_s(MessageCost::send) + cost_s(MessageCost::recv);
  return 2 * (cost_s(MessageCost::transfer) + overhead_s);
}

void add_group_errors(const Campaign& campaign, const std::vector<core::KernelMeasurement>& designed,
                      const std::vector<core::MpiMeasurement>& messages, const ControlCurve& control,
                      CampaignFit& fit) {
  std::vector<core::KernelMeasurement> dgemm;
  for (const core::KernelMeasurement& row : designed) {
    const double expected = expected_s(fit.cluster, campaign.hosts, row);
    if (row.kernel != "dgemm" || !(expected > 0)) continue;
    // The differences of hosts and CPUs are known: each has its law.
    dgemm.push_back(row);
    dgemm.back().duration_s *= fit.cluster.kernels.at("dgemm").cluster_law().at(row.shape).mean_s(row.shape) / expected;
  }
  core::Uncertainty uncertainty = dgemm_uncertainty(std::move(dgemm));
  add_group(core::ErrorGroup::other_kernels, sd_of_ratio(other_kernels(campaign, control, fit.cluster)), uncertainty);
  add_group(core::ErrorGroup::messages, sd_of_ratio(all_messages(messages, fit.cluster.network)), uncertainty);
  if (!uncertainty.of(core::ErrorGroup::dgemm)) return;
  fit.cluster.uncertainty = uncertainty;
  if (!uncertainty.between_days)
    fit.notes.push_back(
        "uncertainty: dgemm was measured on one day, which says nothing of how days differ: intervals of predictions "
        "take a default (docs/models/interval.md)");
}

}  // namespace hplcast::fit
