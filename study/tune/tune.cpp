#include "hplcast/study/tune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/predict.hpp"
#include "study/compare/parameters_json.hpp"
#include "study/plot/figure.hpp"
#include "study/plot/markup.hpp"
#include "study/tune/tune_rounds.hpp"

namespace hplcast::study {

namespace {

/// All combinations, the default first, the others in a random order: those that time does not suffice for are then a
/// sample without a pattern. The default configuration as far as its levels are among those asked for.
std::vector<core::HplParameters> candidates_of(const TuneRequest& request,
                                               const std::vector<std::pair<int, int>>& grids) {
  core::HplParameters preset = request.defaults;
  std::tie(preset.P, preset.Q) = grids.front();
  for_parameters([&](const TunedParameter& one) {
    const std::vector<int>& levels = request.*one.levels;
    int& level = preset.*one.field;
    if (std::find(levels.begin(), levels.end(), level) == levels.end()) level = levels.front();
  });
  std::vector<core::HplParameters> all(grids.size(), preset);
  for (std::size_t i = 0; i < grids.size(); ++i) std::tie(all[i].P, all[i].Q) = grids[i];
  for (const TunedParameter& one : crossed_parameters) {
    std::vector<core::HplParameters> crossed;
    for (const core::HplParameters& parameters : all) {
      for (const int level : request.*one.levels) {
        crossed.push_back(parameters);
        crossed.back().*one.field = level;
      }
    }
    all = std::move(crossed);
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
                          "enough seconds for a prediction of N = " + std::to_string(small.N),
                          "it is estimated to take " + core::time_text(predictor.wall_s({small}, {small.N}, 1)));
}

TuneBaselines baselines_of(const TuneRequest& request, core::HplParameters one, TunePredictor& predictor) {
  TuneBaselines baselines;
  const int ranks = one.P * one.Q;
  const int per_host = request.cluster.hosts.ranks_on(0, ranks);
  const int hosts = request.cluster.hosts.hosts_of(ranks);
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
  }
  return baselines;
}

void check_request(const TuneRequest& request) {
  if (needs_energy(request.objective) && !request.cluster.power)
    throw core::DomainError("objective", to_string(request.objective), "a cluster with power",
                            "`hplcast fit power` measures it; docs/formats/cluster-json.md says how to write it");
  if (!(request.budget_s > 0)) throw core::DomainError("budget", request.budget_s, "a positive time");
  for (const auto& grid : request.grids)
    core::require(std::count(request.grids.begin(), request.grids.end(), grid) <= 1, "grid",
                  std::to_string(grid.first) + "x" + std::to_string(grid.second) + ", twice", "each grid once");
  // Each level is a value of HPL's, before anything is computed with it.
  for_parameters([&](const TunedParameter& parameter) {
    const std::vector<int>& levels = request.*parameter.levels;
    if (levels.empty()) throw core::DomainError("levels", "none", "at least one of each parameter");
    for (const int level : levels) {
      if (std::count(levels.begin(), levels.end(), level) > 1)
        throw core::DomainError("level", std::to_string(level) + ", twice", "each level of a parameter once");
      core::HplParameters one;
      one.*parameter.field = level;
      one.validate();
    }
  });
}

}  // namespace

const char* unit_of(Objective objective) {
  constexpr const char* units[] = {"Gflop/s", "Gflop/s per W", "J", "J s"};  // in the order of Objective
  return units[static_cast<std::size_t>(objective)];
}

double merit(Objective objective, const core::Prediction& prediction) {
  if (objective == Objective::gflops) return prediction.gflops;
  if (!prediction.energy)
    throw core::DomainError("objective", to_string(objective), "a prediction with energy: a cluster with power");
  const core::Energy& energy = *prediction.energy;
  if (objective == Objective::gflops_per_watt) return energy.gflops_per_w;
  return 1 / (objective == Objective::energy ? energy.energy_j : energy.energy_j * prediction.time_s);
}

double in_unit(Objective objective, double merit) {
  const bool less_is_better = objective == Objective::energy || objective == Objective::edp;
  return less_is_better ? 1 / merit : merit;
}

long long size_from_memory(const core::ClusterModel& cluster, int ranks, double memory_fraction, int NB) {
  core::require(memory_fraction > 0 && memory_fraction <= 1, "memory fraction", memory_fraction, "a number in (0, 1]");
  const core::Hosts& hosts = cluster.hosts;
  const int used_hosts = hosts.hosts_of(ranks);
  double memory_bytes = 0, bytes = 0;
  for (int host = 0; host < used_hosts; ++host) {
    // All ranks have as much of the matrix: the host with the least memory per rank limits it.
    const double all = memory_fraction * hosts.memory_bytes_of(host) * ranks / hosts.ranks_on(host, ranks);
    if (host == 0 || all < bytes) bytes = all, memory_bytes = hosts.memory_bytes_of(host);
  }
  core::require(memory_bytes > 0, "memory_bytes", memory_bytes, "the memory of a host in " + cluster.name, "give -N");
  const double N = std::floor(std::sqrt(bytes / 8) / NB) * NB;
  core::require(N >= NB && N <= std::numeric_limits<int>::max(), "memory_bytes", memory_bytes,
                N >= NB ? "a matrix of an order below 2^31, the largest of HPL"
                        : "room for a matrix of order NB = " + std::to_string(NB) + " on " +
                              std::to_string(used_hosts) + " hosts",
                "the memory of each host, such as 192GiB");
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

TuneRequest begun_at(TuneRequest request, const std::vector<core::HplParameters>& configurations) {
  const auto add = [](auto& list, const auto& one) {
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
  };
  const core::HplParameters& first = request.defaults = configurations.front();
  for_parameters([&](const TunedParameter& one) {
    std::vector<int> there;
    for (const core::HplParameters& parameters : configurations) add(there, parameters.*one.field);
    if (there.size() > 1)
      request.*one.levels = there;
    else
      add(request.*one.levels, there.front());
  });
  request.grids.clear();
  for (const core::HplParameters& one : configurations) add(request.grids, std::pair(one.P, one.Q));
  if (request.grids.size() == 1)
    for (const auto& grid : near_square_grids(first.P * first.Q, 3)) add(request.grids, grid);
  for (const core::HplParameters& one : configurations) request.N = std::max(request.N, one.N);
  return request;
}

TuneResult tune(const TuneRequest& request) {
  check_request(request);
  const int wanted_ranks = request.ranks > 0 ? request.ranks : request.cluster.hosts.total_cores();
  const int ranks = request.grids.empty() ? wanted_ranks : request.grids.front().first * request.grids.front().second;
  const auto grids = request.grids.empty() ? near_square_grids(ranks, 3) : request.grids;
  TuneResult result;
  result.objective = request.objective;
  std::vector<core::HplParameters> candidates = candidates_of(request, grids);
  long long N = request.N > 0 ? request.N : std::numeric_limits<int>::max();
  for (const auto& [P, Q] : grids)
    if (request.N <= 0)
      N = std::min(N, size_from_memory(request.cluster, P * Q, request.memory_fraction,
                                       *std::max_element(request.NB.begin(), request.NB.end())));
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
    for (const std::string& warning : plan.warnings())
      if (std::find(result.warnings.begin(), result.warnings.end(), warning) == result.warnings.end())
        result.warnings.push_back(warning);
  }
  TunePredictor predictor(request, *mode);
  probe(request, candidates.front(), predictor);
  result.best = candidates.front();
  result.baselines = baselines_of(request, candidates.front(), predictor);
  play_rounds(request, N, predictor, std::move(candidates), result);
  if (!result.ranking.empty()) result.best = result.ranking.front().parameters;
  result.best.N = N;
  const int best_ranks = result.best.P * result.best.Q;  // grids may be of different numbers of them
  result.baselines.peak = dgemm_peak_gflops(request.cluster, best_ranks);
  result.baselines.linear_scaling = result.baselines.one_node * best_ranks / request.cluster.hosts.ranks_on(0, ranks);
  result.failures = predictor.failures();
  result.wall_s = predictor.elapsed_s();
  return result;
}

static Json configuration_json(const TunedConfiguration& entry, Objective objective) {
  Json row;
  row.update(HPLCAST_JSON(entry, parameters, round, gflops, mean_gflops));
  if (objective != Objective::gflops) {
    for (const double merit : entry.merits) row["objective"].push_back(in_unit(objective, merit));
    row["mean_objective"] = in_unit(objective, entry.mean_merit);
  }
  if (entry.interval) {
    const auto [low, high] =
        std::minmax({in_unit(objective, entry.interval->lower), in_unit(objective, entry.interval->upper)});
    row["interval"] = {low, high};
  }
  if (entry.first_is_faster) row["first_is_faster"] = *entry.first_is_faster;
  return row;
}

void write_tune_result(std::ostream& out, const TuneResult& result) {
  Json json;
  json["objective"] = to_string(result.objective);
  json["best"] = result.best;
  const std::vector<std::size_t> place = places(result.ranking);
  for (const TunedConfiguration& entry : result.ranking) {
    Json row = {{"place", place[json["ranking"].size()]}};
    row.update(configuration_json(entry, result.objective));
    json["ranking"].push_back(std::move(row));
  }
  json["decided"] = result.decided;
  if (!result.decided) json["enough_budget_s"] = result.enough_budget_s;
  if (result.fresh) json["fresh"] = configuration_json(*result.fresh, result.objective);
  for (const TuneRound& round : result.rounds)
    json["rounds"].push_back(HPLCAST_JSON(round, N, windows, configurations, seeds, predictions, wall_s));
  for (const AnovaRow& row : result.influence.rows)
    json["influence"].push_back(
        {{"factor", row.name}, {"share", row.share}, {"p_value", row.p_value}, {"effects", row.effects}});
  json["influence_balanced"] = result.influence.balanced;
  for (const auto& [name, levels] : {std::pair{"panel", &result.panel}, std::pair{"neighbours", &result.neighbours}})
    for (const PanelLevel& level : *levels) json[name].push_back(HPLCAST_JSON(level, factor, level, effect));
  json["panel_chance"] = result.panel_chance;
  if (result.gain) json["gain"] = *result.gain;
  json["tried"] = result.tried;
  json["not_tried"] = result.not_tried.size();
  json["failures"] = result.failures;
  json["baselines"] = {{"peak_gflops", result.baselines.peak},
                       {"one_node_gflops", result.baselines.one_node},
                       {"one_node_N", result.baselines.one_node_N},
                       {"linear_scaling_gflops", result.baselines.linear_scaling}};
  json["wall_s"] = result.wall_s;
  out << core::json_text(json, 2) << '\n';
}

std::string tune_picture(const TuneResult& result) {
  const auto value = [&](const TunedConfiguration& one) { return in_unit(result.objective, one.mean_merit); };
  double low = value(result.ranking.front()), high = low;
  for (const TunedConfiguration& one : result.ranking) {
    low = std::min(low, value(one));
    high = std::max(high, value(one));
  }
  PlotAxis rounds{"round and its N", 0.5, static_cast<double>(result.rounds.size()) + 0.5, {}, false, false};
  std::string counts;
  for (const TuneRound& round : result.rounds) {
    rounds.ticks.push_back(
        {static_cast<double>(rounds.ticks.size() + 1), with_decimals(static_cast<double>(round.N), 0)});
    counts += (counts.empty() ? "" : ", ") + std::to_string(round.configurations);
  }
  const double beside = 0.05 * (high - low) + 1e-3 * high;
  Figure plot("rounds", "The rounds of tune", rounds, {unit_of(result.objective), low - beside, high + beside});
  std::vector<PlotPoint> points;
  for (const TunedConfiguration& one : result.ranking) points.push_back({static_cast<double>(one.round), value(one)});
  plot.dots(points, "s2-line dots large");
  plot.marker(points.front(), Marker::diamond, "predicted", core::to_string(result.ranking.front().parameters));
  plot.legend = {{"s2-line dots large", Marker::dot, "a configuration, in its last round"},
                 {"predicted", Marker::diamond, "the best"}};
  plot.caption = "Candidates of each round: " + counts + ".";
  return figure_file({plot});
}

}  // namespace hplcast::study
