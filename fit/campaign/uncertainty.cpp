#include "fit/campaign/campaign_steps.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
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
/// A block lasts at least so long: the speed of a machine changes within seconds to minutes.
constexpr double least_block_s = 2;
/// Number of the block of that length in which a call began.
long piece_of(double start_s) {
  return std::lround(std::floor(start_s / least_block_s));
}

/// Calls that a machine made in one state: of one file and host, in one run of HPL, in one piece of time.
using CallBlock = std::tuple<std::string, std::string, long, long>;

/// Measured and expected durations by block. The error of their ratio is what differs between blocks: single calls of a
/// block share the state of the machine, and say little that their neighbours do not.
class BlockRatio {
 public:
  void add(const CallBlock& block, double measured, double expected);
  /// Standard deviation of sum(measured) / sum(expected), relative, over resampled blocks (`uncertainty_refits` times);
  /// nu = 0 if there are fewer than two blocks.
  core::EstimatedSd sd() const;

 private:
  struct Sums {
    double measured = 0, expected = 0;
  };
  std::map<CallBlock, Sums> blocks_;
};

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
/// machine remembers.
struct TimePieces {
  double piece_s = 0;
  std::vector<PieceCalls> calls;
};
TimePieces time_pieces(const std::vector<core::KernelMeasurement>& calls) {
  const auto earlier = [](const auto& a, const auto& b) { return a.start_s < b.start_s; };
  const auto [first, last] = std::minmax_element(calls.begin(), calls.end(), earlier);
  constexpr double pieces = 16;
  const double piece_s = std::max(least_block_s, (last->start_s - first->start_s) / pieces);
  std::map<std::pair<std::string, long>, PieceCalls> by_piece;
  for (const core::KernelMeasurement& call : calls)
    by_piece[{call.host, std::lround(std::floor((call.start_s - first->start_s) / piece_s))}].push_back(&call);
  TimePieces all{piece_s, {}};
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
  const std::string* host = nullptr;
  for (const PieceCalls& piece : pieces.calls) {
    double measured = 0, expected = 0;
    for (const core::KernelMeasurement* call : piece) {
      measured += call->duration_s;
      expected += model.cluster_law().at(call->shape).mean_s(call->shape);
    }
    const double now = std::log(measured / expected);
    if (host != nullptr && *host == piece.front()->host) {
      squares += (now - before) * (now - before);
      ++differences;
    }
    before = now;
    host = &piece.front()->host;
  }
  if (differences < enough || !std::isfinite(squares)) return;
  uncertainty.pieces = core::EstimatedSd{std::sqrt(squares / (2 * differences)), 2.0 / 3 * differences};
  uncertainty.piece_s = pieces.piece_s;
}

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

/// How well dgemm is known from the calls of a design: its mean and its scatter over HPL's shapes, from fits of
/// resampled blocks of calls. Groups that cannot be told are left out.
core::Uncertainty dgemm_uncertainty(const std::vector<core::KernelMeasurement>& calls) {
  core::Uncertainty uncertainty;
  const TimePieces all = calls.empty() ? TimePieces() : time_pieces(calls);
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
  const auto add = [&](core::ErrorGroup group, const std::vector<double>& logs) {
    const core::EstimatedSd found = sd_of(logs, pieces.size());
    if (found.nu > 0) uncertainty.of(group) = found;
  };
  add(core::ErrorGroup::dgemm, means);
  add(core::ErrorGroup::dgemm_scatter, scatters);
  if (const KernelFit fit = fit_hpl_kernel("dgemm", whole); fit.ok()) {
    add_days(calls, fit.model, uncertainty);
    add_pieces(all, fit.model, uncertainty);
  }
  return uncertainty;
}

/// Numbers the runs of HPL in a file: the calls of each rank are in the order of time.
class RunCounter {
 public:
  long run_of(const core::KernelMeasurement& row) {
    auto& [last_s, run] = ranks_[{row.host, row.core}];
    if (row.start_s < last_s) ++run;
    last_s = row.start_s;
    return run;
  }

 private:
  std::map<std::pair<std::string, int>, std::pair<double, long>> ranks_;
};

/// Reads the files again, now that the expected durations are known: calls of HPL are not kept.
BlockRatio other_kernels(const Campaign& campaign, const core::ClusterModel& cluster) {
  BlockRatio ratio;
  for (const auto& [name, text] : campaign.measurements) {
    if (core::ends_with(name, ".json") || is_mpi(name, text)) continue;
    std::istringstream in(text);
    RunCounter runs;
    core::read_kernel_csv(in, name, "dgemm", [&, &name = name](const core::KernelMeasurement& row) {
      if (row.kernel == "dgemm" || !reason_to_set_aside(row).empty() || is_of_fewer_ranks(campaign.hosts, row) ||
          is_aliased(row))
        return;
      const long run = is_designed(row) ? 0 : runs.run_of(row);
      ratio.add({name, row.host, run, piece_of(row.start_s)}, row.duration_s, expected_s(cluster, campaign.hosts, row));
    });
  }
  return ratio;
}

/// Calls that took very long count as in the fit, with most_times_expected times their expected duration.
BlockRatio all_messages(const std::vector<core::MpiMeasurement>& messages, const core::NetworkModel& network) {
  BlockRatio ratio;
  std::vector<std::string> known;  // the fit has said them
  rows_of_messages(rows_of(messages), false, known)([&](const core::MpiMeasurement& row) {
    const double expected = row.error.empty() ? expected_s(network, row) : 0;
    if (expected > 0)
      ratio.add({row.background, row.host, 0, piece_of(row.start_s)},
                std::min(row.duration_s / expected, most_times_expected), 1);
  });
  return ratio;
}

}  // namespace

bool is_mpi(const std::string& name, const std::string& text) {
  std::istringstream in(text);
  const core::CsvReader csv(in, name);
  return csv.find_column("operation") != core::CsvReader::npos;
}

std::size_t index_of(const std::vector<MeasuredHost>& hosts, const std::string& name) {
  const auto same = [&](const MeasuredHost& host) { return host.name == name; };
  return static_cast<std::size_t>(std::find_if(hosts.begin(), hosts.end(), same) - hosts.begin());
}

int cpu_in_model(const MeasuredHost& host, int cpu) {
  const std::set<int> with_ranks(host.rank_cpus.begin(), host.rank_cpus.end());
  return static_cast<int>(std::distance(with_ranks.begin(), with_ranks.lower_bound(cpu)));
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
                      const std::vector<core::MpiMeasurement>& messages, CampaignFit& fit) {
  std::vector<core::KernelMeasurement> dgemm;
  for (const core::KernelMeasurement& row : designed)
    if (row.kernel == "dgemm") dgemm.push_back(row);
  core::Uncertainty uncertainty = dgemm_uncertainty(dgemm);
  const auto add = [&](core::ErrorGroup group, const core::EstimatedSd& found) {
    if (found.nu > 0) uncertainty.of(group) = found;
  };
  add(core::ErrorGroup::other_kernels, other_kernels(campaign, fit.cluster).sd());
  add(core::ErrorGroup::messages, all_messages(messages, fit.cluster.network).sd());
  if (!uncertainty.of(core::ErrorGroup::dgemm)) return;
  fit.cluster.uncertainty = uncertainty;
  if (!uncertainty.between_days)
    fit.notes.push_back(
        "uncertainty: dgemm was measured on one day, which says nothing of how days differ: intervals of predictions "
        "take a default (docs/models/interval.md)");
}

}  // namespace hplcast::fit
