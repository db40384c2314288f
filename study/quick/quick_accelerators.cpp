#include "hplcast/study/quick.hpp"

#include <cmath>
#include <tuple>
#include <utility>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/study/tune.hpp"
#include "study/whatif/cluster_changes.hpp"

namespace hplcast::study {

namespace {

void check_accelerators(const AcceleratorMachine& machine) {
  require_positive("nodes", machine.nodes);
  require_positive("accelerators", machine.accelerators);
  constexpr double most_ranks = 1e6;
  const double ranks = static_cast<double>(machine.nodes) * machine.accelerators;
  if (ranks > most_ranks) throw core::DomainError("nodes times accelerators", ranks, "at most 10^6");
  require_positive("tflops-per-accelerator", machine.flop_per_s / 1e12);
  require_positive("accelerator-memory", machine.memory_bytes);
  if (machine.memory_bytes_per_s != 0) require_positive("accelerator-memory-bandwidth", machine.memory_bytes_per_s);
  core::require(machine.split >= 0 && machine.split <= 1, "split", machine.split, "a number in [0, 1]");
  if (machine.nodes == 1) return;
  for (const auto& [name, value] :
       {std::pair("bandwidth", machine.bandwidth_bytes_per_s), {"latency", machine.latency_s}})
    core::require(value > 0, name, value, "a positive number; several nodes need --bandwidth and --latency");
}

/// Ranks of a node along a process column and along a process row: the part of the grid nearest to a square, of which
/// the grid is made; if there is none, all messages go to other nodes.
std::pair<int, int> node_grid(const AcceleratorMachine& machine, const core::HplParameters& p) {
  std::pair<int, int> best{1, 1};
  int longest = machine.accelerators + 1;
  for (int rows = 1; rows <= machine.accelerators; ++rows) {
    if (machine.accelerators % rows != 0) continue;
    const int columns = machine.accelerators / rows;
    if (p.P % rows != 0 || p.Q % columns != 0 || std::max(rows, columns) > longest) continue;
    longest = std::max(rows, columns);
    best = {rows, columns};
  }
  return best;
}

double form_s(const AcceleratorMachine& machine, const AcceleratorAssumptions& assumed, const core::HplParameters& p) {
  return accelerator_form_s(accelerator_costs(machine, assumed, p), p);
}

constexpr double element_bytes = 8;
constexpr double gathered_bytes = 64 + 8;  ///< of an element of a row: a line of the cache is read, an element written
constexpr double chunk_bytes = 2 << 20;    ///< of a broadcast
constexpr double leaf_columns = 32;        ///< of the factorisation's recursion

double log2_steps(int ranks) {
  double steps = 0;
  int together = 1;
  for (; together < ranks; together *= 2) ++steps;
  return together == ranks ? steps : steps + 1;  // those beyond the power of two tell one of it before, and are told
}

class AcceleratorLoop {
 public:
  AcceleratorLoop(const AcceleratorCosts& costs, const core::HplParameters& p)
      : costs_(costs), p_(p), panels_(static_cast<int>((p.N + p.NB - 1) / p.NB)) {
    split_ = p.P == 1 ? panels_ : static_cast<int>(std::lround(costs.split * blocks_behind(-1, 0)));
  }

  double time_s() {
    constexpr int windows = 12;
    if (panels_ <= 3 * windows * p_.Q) return run_s(0, 0, panels_) + solution_s();
    double total_s = 0;
    for (int i = 0; i < windows; ++i) {
      const double place = (i + 0.5) * panels_ / windows;
      const int first = static_cast<int>(std::lround(place - 1.5 * p_.Q));
      const double window_s = run_s(first, first + p_.Q, first + 2 * p_.Q);
      total_s += window_s * panels_ / windows / p_.Q;
    }
    return total_s + solution_s();
  }

 private:
  /// From the factorisation of panel `first` until before panel `end`: the time from panel `counted` on.
  double run_s(int first, int counted, int end) {
    start_s_.assign(static_cast<std::size_t>(p_.Q), 0);
    broadcast(first, factorisation_s(rows_from(first)));
    for (int c = 0; c < p_.Q; ++c) at(c) = ready_s_[static_cast<std::size_t>(c)];
    double begin_s = 0;
    for (int panel = first; panel < end; ++panel) {
      if (panel == counted && counted > first) begin_s = mean_s();
      if (panel + 1 < panels_) step(panel);
    }
    if (end < panels_) return mean_s() - begin_s;
    return *std::max_element(start_s_.begin(), start_s_.end()) - begin_s;
  }

  double& at(int column) { return start_s_[static_cast<std::size_t>(column)]; }
  double mean_s() const { return core::mean(start_s_); }

  /// Blocks of columns behind a panel in a process column.
  int blocks_behind(int panel, int column) const {
    const int first = panel + 1 + (column - (panel + 1) % p_.Q + p_.Q) % p_.Q;
    return first < panels_ ? (panels_ - 1 - first) / p_.Q + 1 : 0;
  }
  /// Rows of the rank with most of them from a panel on.
  double rows_from(int panel) const { return static_cast<double>(p_.NB) * ((panels_ - panel + p_.P - 1) / p_.P); }

  double gemm_s(double m, double n, double k) const {
    return m > 0 && n > 0 && k > 0 ? 2 * m * n * k / dgemm_rate(costs_, m, n, k) : 0;
  }
  double moved_s(double rows, double columns, double bytes) const {
    return rows * columns * bytes / costs_.memory_bytes_per_s;
  }
  double pack_s(double columns) const { return p_.P > 1 ? moved_s(p_.NB, columns, gathered_bytes) : 0; }
  /// Rows put in their places, dtrsm and dgemm for some columns.
  double update_s(double rows, double columns) const {
    if (columns <= 0) return 0;
    const double NB = p_.NB;
    return moved_s(NB, columns, 2 * gathered_bytes) + NB * NB * columns / costs_.dtrsm_flop_per_s +
           gemm_s(rows, columns, NB);
  }
  /// The rows of U to all ranks of a process column: a scatter, and a ring.
  double exchange_s(double columns) const {
    if (p_.P == 1 || columns <= 0) return 0;
    const double others = p_.P - 1, bytes = element_bytes * p_.NB * columns;
    return 2 * bytes * others / p_.P / costs_.column_bytes_per_s +
           others * (costs_.column_latency_s + 3 * costs_.call_s) + costs_.launch_s;
  }

  /// A panel on the accelerator: leaves of some columns, each of which asks the host for its pivot; the rest is dgemm
  /// and dtrsm of halves.
  double factorisation_s(double rows) const {
    const double NB = p_.NB, message = element_bytes * (4 + 2 * NB);
    const double pivot_s =
        p_.P == 1
            ? 0.5e-6 * NB / 512  // copies within the host
            : log2_steps(p_.P) * (costs_.column_latency_s + 2 * costs_.call_s + message / costs_.column_bytes_per_s);
    double leaf_s = costs_.launch_s;
    for (double left = leaf_columns - 1; left >= 0; --left)
      leaf_s += std::max(pivot_s + 2 * costs_.flag_s, 2 * moved_s(rows, left, element_bytes)) + costs_.column_s +
                4 * moved_s(rows, 1, element_bytes);
    double total_s = NB / leaf_columns * leaf_s;
    for (double half = NB / 2; half >= leaf_columns; half /= 2)
      total_s += NB / half / 2 *
                 (gemm_s(rows, half, half) + half * half * half / costs_.dtrsm_flop_per_s + 3 * costs_.launch_s);
    return total_s + moved_s(rows, NB, 2 * element_bytes);  // its copy
  }

  /// A panel that its owner has at `begin_s` goes round the ring in chunks: when each has it, and is free again.
  void broadcast(int panel, double begin_s) {
    const double bytes = element_bytes * p_.NB * (rows_from(panel) + p_.NB);
    const double whole_s = bytes / costs_.row_bytes_per_s;
    const double chunk_s =
        std::min(whole_s, chunk_bytes / costs_.row_bytes_per_s) + costs_.row_latency_s + 2 * costs_.call_s;
    ready_s_.resize(static_cast<std::size_t>(p_.Q));
    const auto ready = [&](int distance) -> double& {
      return ready_s_[static_cast<std::size_t>((panel + distance) % p_.Q)];
    };
    double first_s = begin_s, last_s = begin_s;
    for (int distance = 1; distance < p_.Q; ++distance) {
      first_s = std::max(first_s, at((panel + distance) % p_.Q)) + chunk_s;
      last_s = std::max(last_s + chunk_s, first_s + whole_s);
      ready(distance) = last_s;
    }
    ready(0) = p_.Q > 1 ? ready(1) : begin_s;
  }

  /// The update by a panel that all have, and the next one meanwhile.
  void step(int panel) {
    const int owner = (panel + 1) % p_.Q, after = (panel + 2) % p_.Q;
    const double NB = p_.NB, rows = rows_from(panel + 1);
    const double flush_s = 2 * costs_.launch_s + 2 * costs_.flag_s;  // a wait, and the next launch
    const double ahead_s = update_s(rows, NB) + factorisation_s(rows) + flush_s;
    broadcast(panel + 1, at(owner) + ahead_s + flush_s);
    for (int c = 0; c < p_.Q; ++c) {
      const int rest = blocks_behind(panel, c) - (c == owner ? 1 : 0), second = std::min(rest, split_);
      const double n1 = NB * (rest - second), n2 = NB * second;
      const int rest_after = blocks_behind(panel + 1, c) - (c == after ? 1 : 0);
      const double n2_after = NB * std::min(rest_after, split_);
      double device_s = at(c) + (c == owner ? ahead_s : costs_.launch_s) + update_s(rows, n2) + pack_s(n2_after);
      double host_s = std::max(ready_s_[static_cast<std::size_t>(c)], at(c)) + exchange_s(n1);
      const double packed_s = device_s;
      device_s = std::max(device_s, host_s + costs_.launch_s) + update_s(rows, n1) + pack_s(n1);
      host_s = std::max(host_s, packed_s) + exchange_s(n2_after);
      if (c == after) host_s = std::max(host_s, device_s + pack_s(NB)) + exchange_s(NB);
      at(c) = std::max(host_s, device_s) + flush_s;
    }
  }

  /// A chain of blocks, each with a small dtrsv, a product and a message.
  double solution_s() const {
    return panels_ * (3 * costs_.launch_s + 2 * costs_.flag_s +
                      (p_.P * p_.Q > 1 ? costs_.column_latency_s + costs_.row_latency_s + 4 * costs_.call_s : 0) +
                      moved_s(p_.NB, p_.NB, element_bytes));
  }

  const AcceleratorCosts& costs_;
  const core::HplParameters& p_;
  int panels_, split_ = 0;
  std::vector<double> start_s_, ready_s_;  ///< of each process column
};

}  // namespace

template <>
const std::vector<AcceleratorAssumption>& listed_assumptions() {
  using A = AcceleratorAssumptions;  // text, place, unit: worst, expected, best
  static const std::vector<AcceleratorAssumption> all = {
      {"dgemm in HPL, for minutes, over a short benchmark", &A::sustained, 1, 0.75, 0.88, 1},
      {"waiting for the slowest accelerator, factor", &A::waiting, 1, 1.1, 1.03, 1},
      {"rate of dtrsm, over dgemm", &A::dtrsm, 1, 0.25, 0.4, 0.7},
      {"part of the memory's bandwidth that kernels reach", &A::memory_bytes_per_s, 1, 0.6, 0.8, 0.9},
      {"bandwidth of the memory, if not given, over dgemm [byte/flop]", &A::memory_bytes_per_flop, 1, 0.04, 0.06, 0.12},
      {"launches, flags and waits, over typical times", &A::reaction, 1, 2.5, 1, 0.6},
      {"bandwidth of a message, over the accelerator's share of the links", &A::link_share, 1, 0.6, 0.9, 1.5},
      {"bandwidth of a message inside a node [GB/s]", &A::local_bytes_per_s, 1e9, 20e9, 50e9, 150e9},
      {"time of a call that sends or receives [us]", &A::call_s, 1e-6, 4e-6, 1e-6, 5e-7}};
  return all;
}

AcceleratorCosts accelerator_costs(const AcceleratorMachine& machine, const AcceleratorAssumptions& assumed,
                                   const core::HplParameters& parameters) {
  AcceleratorCosts costs;
  costs.dgemm_flop_per_s = machine.flop_per_s * assumed.sustained / assumed.waiting;
  costs.dtrsm_flop_per_s = costs.dgemm_flop_per_s * assumed.dtrsm;
  const double memory_bytes_per_s =
      machine.memory_bytes_per_s > 0 ? machine.memory_bytes_per_s : machine.flop_per_s * assumed.memory_bytes_per_flop;
  costs.memory_bytes_per_s = memory_bytes_per_s * assumed.memory_bytes_per_s / assumed.waiting;
  for (double* time : {&costs.launch_s, &costs.flag_s, &costs.column_s}) *time *= assumed.reaction;
  costs.call_s = assumed.call_s;
  costs.split = machine.split;
  const auto [rows, columns] = node_grid(machine, parameters);
  // A ring is as slow as its slowest message; most of the messages of a broadcast's first chunk stay in the node.
  constexpr double local_latency_s = 1e-6;
  const auto set = [&](int ranks, int of_node, double& bytes_per_s, double& latency_s) {
    const bool is_local = machine.nodes == 1 || ranks <= of_node;
    bytes_per_s = is_local ? assumed.local_bytes_per_s
                           : machine.bandwidth_bytes_per_s / machine.accelerators * assumed.link_share;
    latency_s = is_local ? local_latency_s : machine.latency_s;
  };
  set(parameters.P, rows, costs.column_bytes_per_s, costs.column_latency_s);
  set(parameters.Q, columns, costs.row_bytes_per_s, costs.row_latency_s);
  return costs;
}

QuickResult quick_accelerators(const AcceleratorRequest& request) {
  const AcceleratorMachine& machine = request.machine;
  check_accelerators(machine);
  if (!(request.memory_fraction > 0 && request.memory_fraction <= 1))
    throw core::DomainError("memory fraction", request.memory_fraction, "a number in (0, 1]");
  QuickResult result;
  core::HplParameters& p = result.parameters;
  const int ranks = machine.nodes * machine.accelerators;
  p.NB = request.NB;
  std::tie(p.P, p.Q) = near_square_grids(ranks, 1).front();
  const double memory_bytes = machine.memory_bytes * ranks;
  const double most = std::sqrt(request.memory_fraction * memory_bytes / core::hpl_matrix_bytes(1));
  const double blocks = std::floor(most / p.NB);
  core::require(blocks >= 1 && most < 2e9, "accelerator-memory", machine.memory_bytes,
                "room for a block of --nb " + std::to_string(p.NB) + ", and N below 2^31");
  p.N = request.N > 0 ? request.N : static_cast<int>(blocks) * p.NB;
  p.validate();
  const auto N = static_cast<double>(p.N);
  result.memory_share = core::hpl_matrix_bytes(N) / memory_bytes;
  core::require(result.memory_share <= 1, "N", N,
                "a matrix that fits the memory of the accelerators: at most " +
                    std::to_string(static_cast<long>(most / std::sqrt(request.memory_fraction))));
  result.peak_gflops = machine.flop_per_s * ranks / 1e9;
  const double dgemm_s = core::hpl_flop(N) / (1e9 * result.peak_gflops);
  const auto with_error = [&](double AcceleratorAssumption::*at, double factor) {
    const AcceleratorCosts costs = accelerator_costs(machine, all_assumptions(at), p);
    const double least_s = core::hpl_flop(N) / (costs.dgemm_flop_per_s * ranks);
    return least_s + factor * std::max(0.0, accelerator_form_s(costs, p) - least_s);
  };
  result.time_s = form_s(machine, all_assumptions(&AcceleratorAssumption::expected), p);
  result.low_time_s = std::max(dgemm_s, with_error(&AcceleratorAssumption::best, 1 - accelerator_form_error));
  result.high_time_s = with_error(&AcceleratorAssumption::worst, 1 + accelerator_form_error);
  const auto gflops = [&](double s) { return core::hpl_flop(N) / s / 1e9; };
  result.gflops = gflops(result.time_s);
  result.low_gflops = gflops(result.high_time_s);
  result.high_gflops = gflops(result.low_time_s);
  result.influences = influences_of<AcceleratorAssumptions>(
      [&](const AcceleratorAssumptions& changed) { return form_s(machine, changed, p); });
  result.influences.erase(
      std::remove_if(result.influences.begin(), result.influences.end(),
                     [](const QuickInfluence& one) { return one.worst_change == 0 && one.best_change == 0; }),
      result.influences.end());
  return result;
}

// HPL on accelerators (the order of rocHPL 7) with a date for each process column: docs/models/quick.md.

double dgemm_rate(const AcceleratorCosts& costs, double m, double n, double k) {
  return costs.dgemm_flop_per_s / (1 + 200 / m + 200 / n + 40 / k);
}

double accelerator_form_s(const AcceleratorCosts& costs, const core::HplParameters& parameters) {
  return AcceleratorLoop(costs, parameters).time_s();
}

}  // namespace hplcast::study
