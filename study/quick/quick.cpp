#include "hplcast/study/quick.hpp"

#include <algorithm>
#include <tuple>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/units.hpp"
#include "hplcast/study/resolve.hpp"
#include "hplcast/study/tune.hpp"

namespace hplcast::study {

namespace {

double gflop_per_s(const std::string& text) {
  double plain = 0;
  return core::parse_double(text, plain) ? plain : core::parse_flop_per_s(text) / 1e9;
}

double time_s(const QuickMachine& machine, const QuickAssumptions& assumed, const core::HplParameters& parameters) {
  return closed_form_s(quick_cluster(machine, assumed), parameters, assumed);
}

std::vector<QuickInfluence> influences_of(const QuickMachine& machine, const core::HplParameters& parameters,
                                          double expected_s) {
  std::vector<QuickInfluence> all;
  for (const QuickAssumption& one : quick_assumptions()) {
    const auto change = [&](double value) {
      QuickAssumptions changed = all_assumptions(&QuickAssumption::expected);
      changed.*one.value = value;
      return expected_s / time_s(machine, changed, parameters) - 1;
    };
    all.push_back({one.text, one.worst / one.unit, one.expected / one.unit, one.best / one.unit, change(one.worst),
                   change(one.best)});
  }
  std::stable_sort(all.begin(), all.end(), [](const QuickInfluence& a, const QuickInfluence& b) {
    return a.best_change - a.worst_change > b.best_change - b.worst_change;
  });
  return all;
}

}  // namespace

QuickResult quick(const QuickRequest& request) {
  QuickMachine machine = request.machine;
  machine.flop_per_s_per_core = 1e9 * gflop_per_s(request.gflops_per_core);
  if (!(request.memory_fraction > 0 && request.memory_fraction <= 1))
    throw core::DomainError("memory fraction", request.memory_fraction, "a number in (0, 1]");
  const QuickAssumptions expected = all_assumptions(&QuickAssumption::expected);
  QuickResult result;
  result.cluster = quick_cluster(machine, expected);
  const int ranks = result.cluster.hosts.total_cores();
  core::HplParameters& p = result.parameters;
  p.NB = request.NB;
  p.N = size_from_memory(result.cluster, ranks, request.memory_fraction, p.NB);
  std::tie(p.P, p.Q) = near_square_grids(ranks, 1).front();
  p.validate();
  const auto N = static_cast<double>(p.N);
  result.memory_share = core::hpl_matrix_bytes(N) / (machine.memory_bytes * machine.nodes);
  result.time_s = time_s(machine, expected, p);
  result.peak_gflops = machine.flop_per_s_per_core * ranks / 1e9;
  const double dgemm_s = core::hpl_flop(N) / (1e9 * result.peak_gflops);
  const auto with_error = [&](double QuickAssumption::*at, double factor) {
    return dgemm_s + factor * std::max(0.0, time_s(machine, all_assumptions(at), p) - dgemm_s);
  };
  result.low_time_s = with_error(&QuickAssumption::best, 1 - closed_form_error);
  result.high_time_s = with_error(&QuickAssumption::worst, 1 + closed_form_error);
  const auto gflops = [&](double s) { return core::hpl_flop(N) / s / 1e9; };
  result.gflops = gflops(result.time_s);
  result.low_gflops = gflops(result.high_time_s);
  result.high_gflops = gflops(result.low_time_s);
  result.influences = influences_of(machine, p, result.time_s);
  PredictionRequest simulated;
  simulated.cluster = result.cluster;
  simulated.parameters = p;
  result.simulation = resolve_unchecked(std::move(simulated)).needs();
  return result;
}

}  // namespace hplcast::study
