#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"

/// Costs of a panel of HPL for the ranks of a process column, by the models of a cluster (docs/models/quick.md).
namespace hplcast::study {

/// Time of one rank in independent calls that follow on each other: mean, variance, third central moment.
struct RankWork {
  double mean_s = 0, variance = 0, third = 0;

  RankWork& operator+=(const RankWork& other) {
    mean_s += other.mean_s;
    variance += other.variance;
    third += other.third;
    return *this;
  }
  /// `factor` times as long, each call.
  RankWork scaled(double factor) const {
    return {factor * mean_s, factor * factor * variance, std::pow(factor, 3) * third};
  }
  /// So many such calls.
  RankWork repeated(double calls) const { return {calls * mean_s, calls * variance, calls * third}; }
};

/// Time that the longest of several ranks takes more than their mean.
class Waiting {
 public:
  explicit Waiting(int most_ranks);

  using Sds = std::pair<double, double>;  ///< of normal and of half-normal numbers

  double mean_s(const RankWork& work, int ranks) const { return in_s(work, means_[static_cast<std::size_t>(ranks)]); }

  /// The skewness of the sum says where it is between normal and half-normal numbers.
  static double in_s(const RankWork& work, const Sds& sds);

  /// `uniform` in (0, 1) says which of all possible times.
  Sds longest(int ranks, double uniform) const;

 private:
  static constexpr std::size_t deep = 500;
  static constexpr double step = 0.05;

  std::array<double, deep> normal_{}, skewed_{};
  std::vector<Sds> means_;
};

/// Messages from all ranks to those so many rows and columns further in the process grid.
struct Hop {
  double leaving = 0;      ///< part of them that goes to another host
  double together = 1;     ///< through the link of a host, of one process column
  double all_at_once = 1;  ///< of all process columns
};

/// Hosts are filled in the order of the ranks.
class Grid {
 public:
  Grid(const core::ClusterModel& cluster, const core::HplParameters& p)
      : cluster_(cluster), p_(p), per_host_(cluster.hosts.most_cores()) {}

  Hop hop(int rows, int columns) const;

  /// To another row, whichever.
  Hop any_row() const;

  /// With so many at once on the link of a host.
  double message_s(core::Scope scope, double bytes, double at_once, bool panel = false) const;
  /// A message that some take to another host and some do not, of which all wait for the longest.
  double slowest_s(const Hop& hop, double bytes, double at_once) const {
    const double local_s = message_s(core::Scope::local, bytes, 1);
    return hop.leaving == 0 ? local_s : std::max(local_s, message_s(core::Scope::remote, bytes, at_once));
  }
  /// By which an exchange takes longer.
  double exchange_s(const Hop& hop, double bytes) const {
    return cluster_.network.scope(hop.leaving == 0 ? core::Scope::local : core::Scope::remote).exchange_cost_s(bytes);
  }
  double mean_s(const Hop& hop, double bytes) const {
    return (1 - hop.leaving) * message_s(core::Scope::local, bytes, 1) +
           (hop.leaving == 0 ? 0 : hop.leaving * message_s(core::Scope::remote, bytes, hop.together));
  }
  /// The sender goes on at once.
  bool is_detached(double bytes) const { return bytes < static_cast<double>(cluster_.network.values().detached_bytes); }
  long host_of(int row, int column) const { return rank_at(row, column) / per_host_; }
  /// With several ranks: as many in each row or column of the process grid.
  bool hosts_are_aligned() const {
    const int line = p_.PMAP == 0 ? p_.Q : p_.P;
    return per_host_ > 1 && (per_host_ % line == 0 || line % per_host_ == 0);
  }

 private:
  long rank_at(int row, int column) const {
    return p_.PMAP == 0 ? static_cast<long>(row) * p_.Q + column : static_cast<long>(column) * p_.P + row;
  }

  const core::ClusterModel& cluster_;
  const core::HplParameters& p_;
  long per_host_;
};

/// Steps of a row swap, each of two ranks: along a tree, from each rank to the next, between neighbours. Without rolls
/// it is the binary exchange: all ranks at each level.
struct RowSwap {
  double source_copy_s = 0, other_copy_s = 0, permutation_s = 0;  ///< the rank that has the rows of U, others, all
  std::vector<double> tree_s;                                     ///< a message per level, the root first
  double equil_s = 0, roll_s = 0;
  std::size_t rolls = 0;

  double copies_s() const { return source_copy_s + other_copy_s + permutation_s; }
  double messages_s() const;
};

/// Costs of one panel for the ranks of a process column that have the most rows.
class PanelCosts {
 public:
  PanelCosts(const core::ClusterModel& cluster, const core::HplParameters& p);

  const Waiting& waiting() const { return waiting_; }

  RankWork kernel(const char* name, double m, double n, double k = 1) const;
  double mean_s(const char* name, double m, double n, double k = 1) const { return kernel(name, m, n, k).mean_s; }

  /// dtrsm and dgemm of so many columns in one call.
  RankWork update(double rows, double columns) const;

  /// A copy of each rank, between the end of the row swap and the update.
  RankWork permutation(double columns) const { return p_.P == 1 ? RankWork{} : kernel("dlaswp10N", columns, p_.NB); }

  /// A row swap, so many ranks of a process column being those that stand for all. Rows of U are spread in halves, a
  /// tree. HPL_equil passes on what the ranks, each with the pivots that it happens to have, have too much: the mean
  /// distance of a Brownian bridge from its line. Then all exchange what they have with their neighbours, P - 1 times;
  /// HPL_logsort makes any ranks neighbours. `crowded`: all process columns of a host at once.
  RowSwap row_swap(double columns, std::size_t ranks, bool crowded) const;
  /// Process columns of one host.
  double columns_at_once() const { return roll_hop_.all_at_once / roll_hop_.together; }

  /// Recursive factorisation: halves down to NBMIN columns, then column by column, with a pivot exchange each.
  double factorisation_s(double rows) const;

  long host_of(int row, int column) const { return grid_.host_of(row, column); }
  bool hosts_are_aligned() const { return grid_.hosts_are_aligned(); }
  /// A hop of the panel with so many rows below its top; on the link of a host alone.
  double hop_s(core::Scope scope, double rows) const { return grid_.message_s(scope, panel_bytes(rows), 1, true); }
  double hop_link_s(double rows) const {
    return panel_bytes(rows) / cluster_.network.scope(core::Scope::remote).link_bytes_per_s();
  }
  bool hop_is_detached(double rows) const { return grid_.is_detached(panel_bytes(rows)); }

  /// The system of all `blocks` block rows is solved at the end, one block after the other.
  double solution_s(double blocks) const;

 private:
  bool is_binary(double columns) const { return p_.SWAP == 0 || (p_.SWAP == 2 && columns <= p_.swap_threshold); }
  double wait_for_all(const RankWork& work) const { return work.mean_s + waiting_.mean_s(work, p_.P); }
  double panel_bytes(double rows) const { return 8.0 * ((rows + p_.NB + 1) * p_.NB + 1); }

  const core::ClusterModel& cluster_;
  const core::HplParameters& p_;
  Grid grid_;
  long leading_dimension_;  // all wait for the rows with the slowest
  Waiting waiting_;
  Hop row_hop_, roll_hop_;
  double exchange_s_ = 0;
};

}  // namespace hplcast::study
