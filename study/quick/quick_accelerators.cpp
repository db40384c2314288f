#include "hplcast/study/quick_accelerators.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "hplcast/core/errors.hpp"
#include "hplcast/study/tune.hpp"

namespace hplcast::study {

namespace {

void must_be_positive(const char* name, double value) {
  if (!(value > 0 && std::isfinite(value))) throw core::DomainError(name, value, "a positive number");
}

void check_accelerators(const AcceleratorMachine& machine) {
  must_be_positive("nodes", machine.nodes);
  must_be_positive("accelerators", machine.accelerators);
  constexpr double most_ranks = 1e6;
  const double ranks = static_cast<double>(machine.nodes) * machine.accelerators;
  if (ranks > most_ranks) throw core::DomainError("nodes times accelerators", ranks, "at most 10^6");
  must_be_positive("tflops-per-accelerator", machine.flop_per_s / 1e12);
  must_be_positive("accelerator-memory", machine.memory_bytes);
  if (machine.memory_bytes_per_s != 0) must_be_positive("accelerator-memory-bandwidth", machine.memory_bytes_per_s);
  if (!(machine.split >= 0 && machine.split <= 1))
    throw core::DomainError("split", machine.split, "a number in [0, 1]");
  if (machine.nodes == 1) return;
  for (const auto& [name, value] :
       {std::pair("bandwidth", machine.bandwidth_bytes_per_s), {"latency", machine.latency_s}})
    if (!(value > 0))
      throw core::DomainError(name, value, "a positive number; several nodes need --bandwidth and --latency");
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

}  // namespace

const std::vector<AcceleratorAssumption>& accelerator_assumptions() {
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

AcceleratorAssumptions all_assumptions(double AcceleratorAssumption::*at) {
  AcceleratorAssumptions all{};
  for (const AcceleratorAssumption& one : accelerator_assumptions()) all.*one.value = one.*at;
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
  if (!(blocks >= 1 && most < 2e9))
    throw core::DomainError("accelerator-memory", machine.memory_bytes,
                            "room for a block of --nb " + std::to_string(p.NB) + ", and N below 2^31");
  p.N = request.N > 0 ? request.N : static_cast<int>(blocks) * p.NB;
  p.validate();
  const auto N = static_cast<double>(p.N);
  result.memory_share = core::hpl_matrix_bytes(N) / memory_bytes;
  if (result.memory_share > 1)
    throw core::DomainError("N", N,
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
  result.influences = influences_of(accelerator_assumptions(),
                                    [&](const AcceleratorAssumptions& changed) { return form_s(machine, changed, p); });
  result.influences.erase(
      std::remove_if(result.influences.begin(), result.influences.end(),
                     [](const QuickInfluence& one) { return one.worst_change == 0 && one.best_change == 0; }),
      result.influences.end());
  return result;
}

}  // namespace hplcast::study
