#include "study/quick/panel_costs.hpp"

#include <numeric>
#include <set>

namespace hplcast::study {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double half_normal_mean = 0.7978845608028654;  // of |Z|: sqrt(2 / pi)
constexpr double half_normal_sd = 0.6028102749890869;    // sqrt(1 - 2 / pi)
constexpr double half_normal_skewness = 0.9952717464;

}  // namespace

Waiting::Waiting(int most_ranks) {
  // Where the distribution function is 1 - exp(-depth), by steps of x.
  double z = -5, half = 0;
  for (std::size_t i = 0; i < deep; ++i) {
    const double beyond = std::exp(-static_cast<double>(i) * step);
    for (; std::erfc(z / std::sqrt(2.0)) / 2 > beyond; z += 1e-3) continue;
    for (; std::erfc(half / std::sqrt(2.0)) > beyond; half += 1e-3) continue;
    normal_[i] = z;
    skewed_[i] = (half - half_normal_mean) / half_normal_sd;
  }
  constexpr int strata = 32;
  means_.resize(static_cast<std::size_t>(most_ranks) + 1);
  for (int ranks = 2; ranks <= most_ranks; ++ranks)
    for (int i = 0; i < strata; ++i) {
      const auto [normal, skewed] = longest(ranks, (i + 0.5) / strata);
      means_[static_cast<std::size_t>(ranks)].first += normal / strata;
      means_[static_cast<std::size_t>(ranks)].second += skewed / strata;
    }
}

double Waiting::in_s(const RankWork& work, const Sds& sds) {
  if (work.variance <= 0) return 0;
  const double sd_s = std::sqrt(work.variance);
  const double skewed = std::clamp(work.third / (work.variance * sd_s) / half_normal_skewness, 0.0, 1.0);
  return sd_s * (sds.first + skewed * (sds.second - sds.first));
}

Waiting::Sds Waiting::longest(int ranks, double uniform) const {
  const double depth = -std::log(-std::expm1(std::log(uniform) / ranks)) / step;
  const auto below = static_cast<std::size_t>(std::min(depth, deep - 2.0));
  const double part = depth - static_cast<double>(below);
  const auto at = [&](const std::array<double, deep>& x) { return x[below] + part * (x[below + 1] - x[below]); };
  return {at(normal_), at(skewed_)};
}

Hop Grid::hop(int rows, int columns) const {
  constexpr int typical_hosts = 64;
  const long ranks = std::min(static_cast<long>(p_.P) * p_.Q, static_cast<long>(typical_hosts) * per_host_);
  std::set<long> hosts;
  std::set<std::pair<long, int>> senders;
  long leaving = 0;
  for (long rank = 0; rank < ranks; ++rank) {
    const int row = static_cast<int>(p_.PMAP == 0 ? rank / p_.Q : rank % p_.P);
    const int column = static_cast<int>(p_.PMAP == 0 ? rank % p_.Q : rank / p_.P);
    const long to = rank_at((row + rows) % p_.P, (column + columns) % p_.Q);
    if (to / per_host_ == rank / per_host_) continue;
    ++leaving;
    hosts.insert(rank / per_host_);
    senders.insert({rank / per_host_, column});
  }
  if (leaving == 0) return {};
  const auto share = [&](std::size_t parts) { return static_cast<double>(leaving) / static_cast<double>(parts); };
  return {share(static_cast<std::size_t>(ranks)), share(senders.size()), share(hosts.size())};
}

Hop Grid::any_row() const {
  constexpr int tried = 8;
  const int step = std::max(1, (p_.P - 1) / tried);
  Hop mean{0, 0, 0};
  int count = 0;
  for (int apart = 1; apart < p_.P; apart += step, ++count) {
    const Hop one = hop(apart, 0);
    mean = {mean.leaving + one.leaving, mean.together + one.together, mean.all_at_once + one.all_at_once};
  }
  if (count == 0) return {};
  return {mean.leaving / count, mean.together / count, mean.all_at_once / count};
}

double Grid::message_s(core::Scope scope, double bytes, double at_once, bool panel) const {
  const core::ScopeModel& costs = cluster_.network.scope(scope);
  const core::SegmentedLaw& transfer = costs.transfer(panel);
  double sum = transfer.mean_s(bytes);
  if (is_detached(bytes))
    sum += costs.cost(core::MessageCost::send).mean_s(bytes) + costs.cost(core::MessageCost::recv).mean_s(bytes);
  if (scope == core::Scope::remote)
    sum += bytes * std::max(0.0, at_once / costs.link_bytes_per_s() - transfer.at(bytes).slope_s_per_byte);
  return sum;
}

PanelCosts::PanelCosts(const core::ClusterModel& cluster, const core::HplParameters& p)
    : cluster_(cluster),
      p_(p),
      grid_(cluster, p),
      leading_dimension_(core::most_aliased_dimension(p)),
      waiting_(p.P),
      row_hop_(grid_.hop(0, 1)),
      roll_hop_(grid_.any_row()) {
  // Steps of a pivot exchange between ranks 1, 2, 4 ... rows apart, with one more at both ends for what is beyond a
  // power of two.
  const double bytes = 8.0 * (p.NB + 4);
  for (int apart = 1; 2 * apart <= p.P; apart *= 2) {
    const Hop hop = grid_.hop(apart, 0);
    exchange_s_ += grid_.slowest_s(hop, bytes, hop.together) + grid_.exchange_s(hop, bytes) + mean_s("dcopy", 1, p.NB);
    if (4 * apart > p.P && 2 * apart != p.P) exchange_s_ += 2 * grid_.slowest_s(hop, bytes, hop.together);
  }
}

RankWork PanelCosts::kernel(const char* name, double m, double n, double k) const {
  const auto found = cluster_.kernels.find(name);
  if (found == cluster_.kernels.end() || m <= 0 || n <= 0 || k <= 0) return {};
  const core::KernelShape shape{m, n, k};
  const core::DurationLaw& law = found->second.cluster_law().at(shape);
  const double ratio = core::aliased_ratio(cluster_, name, leading_dimension_), sd_s = ratio * law.sd_s(shape);
  const bool is_skewed = law.noise() == core::NoiseFamily::half_normal;
  return {ratio * std::max(0.0, law.mean_s(shape)), sd_s * sd_s,
          is_skewed ? half_normal_skewness * std::pow(sd_s, 3) : 0};
}

RankWork PanelCosts::update(double rows, double columns) const {
  RankWork all = kernel("dtrsm", columns, p_.NB, p_.NB);
  if (p_.P == 1) all += kernel("dlaswp00N", p_.NB, columns);
  return all += kernel("dgemm", rows, columns, p_.NB);
}

double RowSwap::messages_s() const {
  return std::accumulate(tree_s.begin(), tree_s.end(), static_cast<double>(rolls) * (equil_s + roll_s));
}

RowSwap PanelCosts::row_swap(double columns, std::size_t ranks, bool crowded) const {
  RowSwap swap;
  if (p_.P == 1) return swap;
  const double bytes = 8.0 * p_.NB * columns, at_once = crowded ? columns_at_once() : 1;
  const auto message_s = [&](double part, double of_column) {
    return grid_.slowest_s(roll_hop_, part * bytes, of_column * at_once);
  };
  const auto levels_of = [](double n) { return static_cast<std::size_t>(std::ceil(std::log2(n))); };
  swap.tree_s.resize(std::max<std::size_t>(1, levels_of(static_cast<double>(ranks))));
  if (is_binary(columns)) {
    swap.source_copy_s = mean_s("dlaswp01T", p_.NB, columns);
    const double step_s = message_s(1, roll_hop_.together) + grid_.exchange_s(roll_hop_, bytes) +
                          mean_s("dlaswp03T", p_.NB / 2.0, columns);
    for (std::size_t level = 0; level < levels_of(p_.P); ++level)
      swap.tree_s[std::min(level, swap.tree_s.size() - 1)] += step_s;
    return swap;
  }
  swap.source_copy_s = mean_s("dlaswp01T", p_.NB * (1 + 1.0 / p_.P), columns);
  swap.other_copy_s = mean_s("dlaswp06T", static_cast<double>(p_.NB) / p_.P, columns);
  swap.permutation_s = permutation(columns).mean_s;
  double part = 1;
  for (std::size_t level = 0; level < levels_of(p_.P); ++level)
    swap.tree_s[std::min(level, swap.tree_s.size() - 1)] += message_s(part /= 2, 1);
  swap.rolls = ranks - 1;
  const double each = (p_.P - 1) / std::max(1.0, static_cast<double>(swap.rolls));
  swap.roll_s = each * (message_s(1.0 / p_.P, roll_hop_.together) + grid_.exchange_s(roll_hop_, bytes / p_.P));
  if (p_.EQUIL != 0 && p_.P > 2) swap.equil_s = each * message_s(std::sqrt(2 / pi) * pi / 8 / std::sqrt(p_.NB), 1);
  return swap;
}

double PanelCosts::factorisation_s(double rows) const {
  const double NB = p_.NB;
  const int leaf = std::min(p_.NBMIN, p_.NB);
  double sum = 0;
  for (double width = NB / 2, calls = 1; 2 * width > leaf; width /= 2, calls *= 2)
    sum += calls * wait_for_all(kernel("dgemm", rows, width, width)) +
           calls * (mean_s("dtrsm", width, width, width) + mean_s("dlatcpy", width, width));
  for (int column = 0; column < leaf; ++column) {
    RankWork work = kernel("idamax", 1, rows);
    work += kernel("dscal", 1, rows);
    work += kernel(p_.PFACT == 2 ? "dger" : "dgemv", rows, p_.PFACT == 1 ? column + 1 : leaf - column - 1);
    work += kernel("dlocswpT", 1, NB);
    work += kernel("dcopy", 1, NB).repeated(2);
    sum += NB / leaf * (wait_for_all(work) + exchange_s_);
  }
  return sum;
}

double PanelCosts::solution_s(double blocks) const {
  const double NB = p_.NB, others = NB * std::max(1, p_.Q - 1) / p_.P;
  double step_s = mean_s("dtrsv", 1, NB) + mean_s("dgemv", others, NB) + mean_s("daxpy", 1, others);
  if (p_.P > 1) step_s += grid_.mean_s(roll_hop_, 8 * NB);
  if (p_.Q > 1) step_s += grid_.mean_s(row_hop_, 8 * others);
  const double rows = NB * blocks / p_.P;
  return std::max(blocks * step_s, blocks / p_.Q * mean_s("dgemv", rows / 2, NB));
}

}  // namespace hplcast::study
