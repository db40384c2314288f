#include "hplcast/study/tune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/study/kernel_rates.hpp"
#include "study/tune/tune_rounds.hpp"

namespace hplcast::study {

namespace {

struct Description {
  Objective objective;
  const char* name;
  const char* unit;
  bool less_is_better;
};

constexpr Description descriptions[] = {{Objective::gflops, "gflops", "Gflop/s", false},
                                        {Objective::gflops_per_watt, "gflops-per-watt", "Gflop/s per W", false},
                                        {Objective::energy, "energy", "J", true},
                                        {Objective::edp, "edp", "J s", true}};

const Description& description_of(Objective objective) {
  return descriptions[static_cast<std::size_t>(objective)];
}

/// Where the search begins: the default configuration, as far as its levels are among those asked for.
core::HplParameters preset_of(const TuneRequest& request, const std::pair<int, int>& grid) {
  const auto level_or_first = [](const std::vector<int>& levels, int level) {
    return std::find(levels.begin(), levels.end(), level) != levels.end() ? level : levels.front();
  };
  core::HplParameters p = request.defaults;
  std::tie(p.P, p.Q) = grid;
  p.NB = level_or_first(request.NB, p.NB);
  p.DEPTH = level_or_first(request.DEPTH, p.DEPTH);
  p.BCAST = level_or_first(request.BCAST, p.BCAST);
  p.SWAP = level_or_first(request.SWAP, p.SWAP);
  p.PFACT = level_or_first(request.PFACT, p.PFACT);
  p.RFACT = level_or_first(request.RFACT, p.RFACT);
  p.NBMIN = level_or_first(request.NBMIN, p.NBMIN);
  p.NDIV = level_or_first(request.NDIV, p.NDIV);
  return p;
}

/// All combinations, the default first, the others in a random order: those that time does not suffice for are then a
/// sample without a pattern.
std::vector<core::HplParameters> candidates_of(const TuneRequest& request,
                                               const std::vector<std::pair<int, int>>& grids) {
  const core::HplParameters preset = preset_of(request, grids.front());
  std::vector<core::HplParameters> all;
  for (const auto& [P, Q] : grids) {
    for (const int NB : request.NB) {
      for (const int DEPTH : request.DEPTH) {
        for (const int BCAST : request.BCAST) {
          for (const int SWAP : request.SWAP) {
            core::HplParameters p = preset;
            p.P = P;
            p.Q = Q;
            p.NB = NB;
            p.DEPTH = DEPTH;
            p.BCAST = BCAST;
            p.SWAP = SWAP;
            all.push_back(p);
          }
        }
      }
    }
  }
  std::iter_swap(all.begin(), std::find(all.begin(), all.end(), preset));
  core::RandomStream random({request.seed, core::stream_design, 0, 2});
  for (std::size_t i = all.size() - 1; i > 1; --i) std::swap(all[i], all[1 + random.below(i)]);
  return all;
}

/// A first prediction: what predictions cost is not known before.
void probe(const TuneRequest& request, core::HplParameters small, TunePredictor& predictor) {
  small.N = std::min(small.N, least_panels * small.NB);
  if (predictor.predict({{small, request.seed}}, request.budget_s, "a first prediction").front()) return;
  if (!predictor.failures().empty()) throw core::Error(core::ExitCode::external_failure, predictor.failures().front());
  throw core::DomainError("budget", request.budget_s,
                          "enough seconds for a prediction of N = " + std::to_string(small.N));
}

TuneBaselines baselines_of(const TuneRequest& request, core::HplParameters one, TunePredictor& predictor) {
  TuneBaselines baselines;
  const int ranks = one.P * one.Q;
  const int per_host = std::min(ranks, request.cluster.hosts.values().cores);
  const int hosts = (ranks + per_host - 1) / per_host;
  baselines.peak = dgemm_peak_gflops(request.cluster, ranks);
  std::tie(one.P, one.Q) = near_square_grids(per_host, 1).front();
  constexpr double share_of_budget = 0.05;
  const double available_s = share_of_budget * request.budget_s;
  const auto share = static_cast<long long>(static_cast<double>(one.N) / std::sqrt(hosts));
  one.N = predictor.affordable_N({one}, available_s, one.NB, std::max<long long>(one.NB, share));
  const double deadline_s = predictor.elapsed_s() + 2 * available_s;
  const auto prediction = predictor.predict({{one, request.seed}}, deadline_s, "one node").front();
  if (prediction) {
    baselines.one_node = prediction->gflops;
    baselines.one_node_N = one.N;
    baselines.linear_scaling = prediction->gflops * hosts;
  }
  return baselines;
}

int ranks_of(const TuneRequest& request) {
  if (!request.grids.empty()) return request.grids.front().first * request.grids.front().second;
  return request.ranks > 0 ? request.ranks : request.cluster.hosts.total_cores();
}

void check_request(const TuneRequest& request) {
  if (!(request.memory_fraction > 0 && request.memory_fraction <= 1)) {
    throw core::DomainError("memory fraction", request.memory_fraction, "a number in (0, 1]");
  }
  if (needs_energy(request.objective) && !request.cluster.power) {
    throw core::DomainError("objective", to_string(request.objective), "a cluster with power",
                            "`hplcast fit power` measures it; docs/formats/cluster-json.md says how to write it");
  }
  if (!(request.budget_s > 0)) throw core::DomainError("budget", request.budget_s, "a positive time");
  for (const auto* list : {&request.NB, &request.DEPTH, &request.BCAST, &request.SWAP, &request.PFACT, &request.RFACT,
                           &request.NBMIN, &request.NDIV}) {
    if (list->empty()) throw core::DomainError("levels", "none", "at least one of each parameter");
  }
  for (const auto& grid : request.grids)
    if (std::count(request.grids.begin(), request.grids.end(), grid) > 1)
      throw core::DomainError("grid", std::to_string(grid.first) + "x" + std::to_string(grid.second) + ", twice",
                              "each grid once");
  // Each level is a value of HPL's, before anything is computed with it.
  const auto check_levels = [&](const std::vector<int>& levels, int core::HplParameters::*field) {
    for (const int level : levels) {
      if (std::count(levels.begin(), levels.end(), level) > 1)
        throw core::DomainError("level", std::to_string(level) + ", twice", "each level of a parameter once");
      core::HplParameters one;
      one.*field = level;
      one.validate();
    }
  };
  check_levels(request.NB, &core::HplParameters::NB);
  check_levels(request.DEPTH, &core::HplParameters::DEPTH);
  check_levels(request.BCAST, &core::HplParameters::BCAST);
  check_levels(request.SWAP, &core::HplParameters::SWAP);
  check_levels(request.PFACT, &core::HplParameters::PFACT);
  check_levels(request.RFACT, &core::HplParameters::RFACT);
  check_levels(request.NBMIN, &core::HplParameters::NBMIN);
  check_levels(request.NDIV, &core::HplParameters::NDIV);
}

}  // namespace

const std::vector<std::string>& objective_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Description& one : descriptions) all.emplace_back(one.name);
    return all;
  }();
  return names;
}

std::optional<Objective> objective_from_name(const std::string& name) {
  for (const Description& one : descriptions)
    if (name == one.name) return one.objective;
  return std::nullopt;
}

const char* to_string(Objective objective) {
  return description_of(objective).name;
}

const char* unit_of(Objective objective) {
  return description_of(objective).unit;
}

bool needs_energy(Objective objective) {
  return objective != Objective::gflops;
}

double merit(Objective objective, const core::Prediction& prediction) {
  if (objective == Objective::gflops) return prediction.gflops;
  if (!prediction.energy)
    throw core::DomainError("objective", to_string(objective), "a prediction with energy: a cluster with power");
  const core::Energy& energy = *prediction.energy;
  switch (objective) {
    case Objective::energy:
      return 1 / energy.energy_j;
    case Objective::edp:
      return 1 / (energy.energy_j * prediction.time_s);
    default:
      return energy.gflops_per_w;
  }
}

double in_unit(Objective objective, double merit) {
  return description_of(objective).less_is_better ? 1 / merit : merit;
}

long long size_from_memory(const core::ClusterModel& cluster, int ranks, double memory_fraction, int NB) {
  const core::Hosts::Values& hosts = cluster.hosts.values();
  if (!(hosts.memory_bytes > 0)) {
    throw core::DomainError("memory_bytes", hosts.memory_bytes, "the memory of a host in " + cluster.name, "give -N");
  }
  const double used_hosts = std::ceil(static_cast<double>(ranks) / hosts.cores);
  const double bytes = memory_fraction * hosts.memory_bytes * used_hosts;
  const double N = std::floor(std::sqrt(bytes / 8) / NB) * NB;
  if (!(N >= NB && N <= std::numeric_limits<int>::max()))
    throw core::DomainError("memory_bytes", hosts.memory_bytes,
                            N >= NB ? "a matrix of an order below 2^31, the largest of HPL"
                                    : "room for a matrix of order NB = " + std::to_string(NB) + " on " +
                                          std::to_string(static_cast<long long>(used_hosts)) + " hosts",
                            "the memory of each host, in bytes");
  return static_cast<long long>(N);
}

std::vector<std::pair<int, int>> near_square_grids(int ranks, int most) {
  if (ranks < 1) throw core::DomainError("ranks", ranks, "at least 1");
  std::vector<std::pair<int, int>> grids;
  for (int P = static_cast<int>(std::sqrt(static_cast<double>(ranks))); P >= 1; --P) {
    if (ranks % P != 0) continue;
    const bool too_long = ranks / P > 4 * P;
    if (static_cast<int>(grids.size()) == most || (too_long && !grids.empty())) break;
    grids.emplace_back(P, ranks / P);
  }
  return grids;
}

TuneResult tune(const TuneRequest& request) {
  check_request(request);
  const int ranks = ranks_of(request);
  const auto grids = request.grids.empty() ? near_square_grids(ranks, 3) : request.grids;
  TuneResult result;
  result.objective = request.objective;
  std::vector<core::HplParameters> candidates = candidates_of(request, grids);
  const long long N = request.N > 0 ? request.N
                                    : size_from_memory(request.cluster, ranks, request.memory_fraction,
                                                       *std::max_element(request.NB.begin(), request.NB.end()));
  PredictionRequest full_size;
  full_size.cluster = request.cluster;
  full_size.mode = request.mode;
  full_size.programs = request.programs;
  std::optional<SimulationMode> mode;
  for (core::HplParameters& candidate : candidates) {
    candidate.N = N;
    full_size.parameters = candidate;
    const RunPlan plan = resolve(full_size);
    if (!mode) mode = plan.unsampled_mode();
    for (const std::string& warning : plan.warnings()) {
      if (std::find(result.warnings.begin(), result.warnings.end(), warning) == result.warnings.end())
        result.warnings.push_back(warning);
    }
  }
  TunePredictor predictor(request, *mode);
  probe(request, candidates.front(), predictor);
  result.best = candidates.front();
  result.baselines = baselines_of(request, candidates.front(), predictor);
  play_rounds(request, N, predictor, std::move(candidates), result);
  if (!result.ranking.empty()) result.best = result.ranking.front().parameters;
  result.best.N = N;
  result.failures = predictor.failures();
  result.wall_s = predictor.elapsed_s();
  return result;
}

}  // namespace hplcast::study
