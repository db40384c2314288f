#include "hplcast/study/quick.hpp"

#include <algorithm>
#include <cmath>

namespace hplcast::study {

namespace {

using core::MessageCost;

/// Costs of messages along rows and columns of the process grid: hosts are filled in order of the ranks.
class Lines {
 public:
  Lines(const core::ClusterModel& cluster, const core::HplParameters& p) : cluster_(cluster) {
    const int cores = cluster.hosts.values().cores;
    const int in_row = p.PMAP == 0 ? 1 : p.P, in_column = p.PMAP == 0 ? p.Q : 1;  // distance of neighbours in ranks
    const int ranks = p.P * p.Q, per_host = std::min(cores, ranks);
    row_ = line(in_row, p.Q, per_host, ranks);
    column_ = line(in_column, p.P, per_host, ranks);
  }

  /// A message to the next rank of a row, with `at_once` ranks of a host sending.
  double row_s(double bytes, bool all_at_once) const { return message_s(row_, bytes, all_at_once); }
  double column_s(double bytes, bool all_at_once) const { return message_s(column_, bytes, all_at_once); }

 private:
  struct Line {
    double leaving = 0;   ///< part of the messages that go to another host
    double per_host = 1;  ///< ranks of a host that send to another one
  };

  static Line line(int distance, int length, int per_host, int ranks) {
    Line line;
    if (length < 2 || ranks <= per_host) return line;
    // Neighbours `distance` ranks apart: of `per_host` ranks in a row, those in the last `distance` have theirs
    // elsewhere.
    line.leaving = std::min(1.0, static_cast<double>(distance) / per_host);
    line.per_host = line.leaving * per_host;
    return line;
  }

  double alone_s(core::Scope scope, double bytes) const {
    const core::ScopeModel& costs = cluster_.network.scope(scope);
    return costs.cost(MessageCost::send).mean_s(bytes) + costs.cost(MessageCost::transfer).mean_s(bytes) +
           costs.cost(MessageCost::recv).mean_s(bytes);
  }

  double message_s(const Line& line, double bytes, bool all_at_once) const {
    const double local_s = alone_s(core::Scope::local, bytes);
    if (line.leaving == 0) return local_s;
    double remote_s = alone_s(core::Scope::remote, bytes);
    if (all_at_once)
      remote_s =
          std::max(remote_s, line.per_host * bytes / cluster_.network.scope(core::Scope::remote).link_bytes_per_s());
    // Where lines cross hosts here and there, each step waits for those that do if all move at once.
    return all_at_once ? std::max(local_s, remote_s) : line.leaving * remote_s + (1 - line.leaving) * local_s;
  }

  const core::ClusterModel& cluster_;
  Line row_, column_;
};

/// One panel of NB columns with `rows` rows below its top, and the matrix right of it.
class Panel {
 public:
  Panel(const core::ClusterModel& cluster, const core::HplParameters& p, const Lines& lines, double remaining)
      : cluster_(cluster), p_(p), lines_(lines), rows_(share(remaining, p.P)), columns_(share(remaining - p.NB, p.Q)) {}

  /// dtrsm, dgemm and the copies of the row swap.
  double update_s() const {
    const double NB = p_.NB;
    if (columns_ <= 0) return 0;
    return kernel("dgemm", rows_, columns_, NB) + kernel("dtrsm", NB, columns_, NB) + kernel("dlatcpy", columns_, NB) +
           (p_.P == 1 ? kernel("dlaswp00N", NB, columns_)
                      : kernel("dlaswp01T", NB, columns_) + kernel("dlaswp06T", NB, columns_));
  }

  /// Spread and roll: each rank sends the rows of U twice, in pieces.
  double swap_s() const {
    if (p_.P == 1 || columns_ <= 0) return 0;
    const double bytes = 8.0 * p_.NB * columns_, steps = std::ceil(std::log2(p_.P));
    const double pieces = p_.P - 1;
    return steps * lines_.column_s(bytes / 2 / steps, true) + pieces * lines_.column_s(bytes / p_.P, true);
  }

  /// Recursive factorisation: halves down to NBMIN columns, then column by column; a pivot exchange a column.
  double factorisation_s() const {
    const double NB = p_.NB;
    double sum = 0;
    for (double width = NB / 2, calls = 1; 2 * width > p_.NBMIN; width /= 2, calls *= 2)
      sum += calls * (kernel("dgemm", rows_, width, width) + kernel("dtrsm", width, width, width));
    const double column = kernel("idamax", 1, rows_) + kernel("dscal", 1, rows_) +
                          kernel("dgemv", rows_, p_.NBMIN / 2.0) + kernel("dlocswpN", 1, NB);
    const double exchange = std::ceil(std::log2(p_.P)) * lines_.column_s(8 * (2 * NB + 4), false);
    return sum + NB * (column + exchange) + kernel("dlacpy", rows_, NB);
  }

  /// One hop of a ring: the others are hidden behind it by those that have the panel already.
  double broadcast_s() const {
    if (p_.Q == 1) return 0;
    return lines_.row_s(8.0 * (rows_ + p_.NB) * p_.NB, false);
  }

 private:
  /// Share of the rank that has most: blocks are dealt out in turn.
  double share(double size, int parts) const {
    return size <= 0 ? 0 : std::min(size, std::ceil(std::ceil(size / p_.NB) / parts) * p_.NB);
  }
  double kernel(const char* name, double m, double n, double k = 1) const {
    const auto found = cluster_.kernels.find(name);
    if (found == cluster_.kernels.end()) return 0;
    const core::KernelShape shape{m, n, k};
    return std::max(0.0, found->second.cluster_law().at(shape).mean_s(shape));
  }

  const core::ClusterModel& cluster_;
  const core::HplParameters& p_;
  const Lines& lines_;
  double rows_, columns_;
};

}  // namespace

double closed_form_s(const core::ClusterModel& cluster, const core::HplParameters& parameters,
                     const QuickAssumptions& assumed) {
  const Lines lines(cluster, parameters);
  double time_s = 0;
  for (double remaining = static_cast<double>(parameters.N); remaining > 0; remaining -= parameters.NB) {
    const Panel panel(cluster, parameters, lines, remaining);
    const double update_s = assumed.waiting * panel.update_s() + panel.swap_s();
    const double factorisation_s = assumed.waiting * panel.factorisation_s();
    const double panel_s = factorisation_s + panel.broadcast_s();
    // Each process column factors every Q-th panel; look-ahead hides of that and of the broadcast what the update
    // covers, if it hides anything.
    const double hidden_s = std::max(update_s + factorisation_s / parameters.Q, panel_s);
    time_s += assumed.overlap * hidden_s + (1 - assumed.overlap) * (update_s + panel_s);
  }
  return time_s;
}

}  // namespace hplcast::study
