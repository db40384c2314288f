#include "hplcast/study/tune.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/study/local_machine.hpp"
#include "hplcast/study/transform_nodes.hpp"
#include "sweep_executor.hpp"

namespace hplcast::study {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int rounds = 4;
constexpr std::size_t keep_one_in = 3;
constexpr std::size_t finalists = 4;
constexpr std::size_t final_seeds = 3;
/// A matrix smaller than so many panels says nothing of look-ahead and broadcasts.
constexpr long long least_panels = 16;

struct OutOfTime : std::exception {};

/// Predictions within a deadline.
class Predictor {
 public:
  Predictor(const TuneRequest& request, std::string mode)
      : request_(request),
        mode_(std::move(mode)),
        sha256_(core::cluster_sha256(request.cluster)),
        start_(Clock::now()),
        jobs_(request.jobs > 0 ? request.jobs : local_machine().cores) {}

  double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double left_s() const { return request_.budget_s - elapsed_s(); }
  int jobs() const { return jobs_; }

  struct Asked {
    core::HplParameters parameters;
    std::uint64_t seed = 1;
  };

  /// Rates of what ended before `deadline_s` of the session; failures are told in `failures`.
  std::vector<std::optional<core::Prediction>> predict(const std::vector<Asked>& asked, double deadline_s,
                                                       const std::string& what, std::vector<std::string>& failures) {
    std::vector<SweepRun> runs(asked.size());
    std::vector<std::optional<core::Prediction>> results(asked.size());
    SweepExecution execution;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      runs[i].model_sha256 = sha256_;
      runs[i].parameters = asked[i].parameters;
      runs[i].mode = mode_;
      runs[i].seed = asked[i].seed;
      runs[i].id = run_id(runs[i]);
      execution.tasks.push_back({&runs[i], &request_.cluster});
    }
    execution.programs = request_.programs;
    execution.database = folder_.path() / "tune";
    execution.ended = [&](const SweepOutcome& outcome) {
      const auto index = static_cast<std::size_t>(outcome.task - execution.tasks.data());
      if (outcome.prediction) {
        results[index] = outcome.prediction;
      } else {
        failures.push_back(core::to_string(outcome.task->run->parameters) + ": " + outcome.failure.message);
      }
    };
    execution.tick = [&] {
      if (request_.progress) request_.progress(std::min(1.0, elapsed_s() / request_.budget_s), what);
      if (elapsed_s() > deadline_s) throw OutOfTime();
    };
    try {
      execute_locally(execution, jobs_);
    } catch (const OutOfTime&) {
      // What has ended counts.
    }
    return results;
  }

 private:
  const TuneRequest& request_;
  std::string mode_;
  std::string sha256_;
  Clock::time_point start_;
  int jobs_;
  core::TemporaryFolder folder_{"hplcast-tune"};
};

bool same_but_for_N(core::HplParameters a, const core::HplParameters& b) {
  a.N = b.N;
  return a == b;
}

/// All combinations, the default first, the others in a random order: those that time does not suffice for are then a
/// sample without a pattern.
std::vector<core::HplParameters> candidates_of(const TuneRequest& request,
                                               const std::vector<std::pair<int, int>>& grids) {
  std::vector<core::HplParameters> all;
  for (const auto& [P, Q] : grids) {
    for (const int NB : request.NB) {
      for (const int DEPTH : request.DEPTH) {
        for (const int BCAST : request.BCAST) {
          for (const int SWAP : request.SWAP) {
            core::HplParameters p = request.defaults;
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
  core::RandomStream random({request.seed, core::stream_design, 0, 2});
  for (std::size_t i = all.size() - 1; i > 0; --i) std::swap(all[i], all[random.below(i + 1)]);
  core::HplParameters preset = request.defaults;
  std::tie(preset.P, preset.Q) = grids.front();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& p) { return same_but_for_N(p, preset); });
  if (found != all.end()) std::iter_swap(all.begin(), found);
  return all;
}

Configuration factors_of(const core::HplParameters& p) {
  return {{"grid", std::to_string(p.P) + "x" + std::to_string(p.Q)},
          {"NB", std::to_string(p.NB)},
          {"DEPTH", std::to_string(p.DEPTH)},
          {"BCAST", std::to_string(p.BCAST)},
          {"SWAP", std::to_string(p.SWAP)}};
}

TuneBaselines baselines_of(const TuneRequest& request, const TuneResult& result, Predictor& predictor,
                           double seconds_per_rank_row, std::vector<std::string>& failures) {
  TuneBaselines baselines;
  const int ranks = result.best.P * result.best.Q;
  const int per_host = std::min(ranks, request.cluster.hosts.values().cores);
  const int hosts = (ranks + per_host - 1) / per_host;
  const std::vector<double> rates = host_rates(request.cluster);
  for (int host = 0; host < hosts; ++host) baselines.peak += rates[static_cast<std::size_t>(host)] * per_host / 1e9;
  core::HplParameters one = request.defaults;
  std::tie(one.P, one.Q) = near_square_grids(per_host, 1).front();
  const auto affordable = static_cast<long long>(0.05 * request.budget_s / (seconds_per_rank_row * per_host));
  const auto share = static_cast<long long>(static_cast<double>(result.best.N) / std::sqrt(hosts));
  one.N = std::max<long long>(std::min(affordable, share) / one.NB, 1) * one.NB;
  const auto prediction = predictor.predict({{one, request.seed}}, request.budget_s, "one node", failures).front();
  if (prediction) {
    baselines.one_node = prediction->gflops;
    baselines.one_node_N = one.N;
    baselines.linear_scaling = prediction->gflops * hosts;
  }
  return baselines;
}

/// Means of the rates, and the order from the best on.
std::vector<TunedConfiguration> ranked(std::vector<TunedConfiguration> list) {
  for (TunedConfiguration& entry : list) {
    entry.mean_gflops = 0;
    for (const double rate : entry.gflops) entry.mean_gflops += rate / static_cast<double>(entry.gflops.size());
    if (entry.gflops.size() > 1) entry.interval = fit::mean_interval(entry.gflops);
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.mean_gflops > b.mean_gflops; });
  return list;
}

/// The rounds of one tuning.
class Halving {
 public:
  Halving(const TuneRequest& request, long long N, Predictor& predictor, TuneResult& result)
      : request_(request), N_(N), predictor_(predictor), result_(result) {}

  /// Seconds of simulation for each rank and row of the matrix, by a small prediction: the effort grows with both.
  double probe(const core::HplParameters& preset) {
    core::HplParameters small = preset;
    small.N = std::min(N_, least_panels * preset.NB);
    const auto prediction =
        predictor_.predict({{small, request_.seed}}, request_.budget_s, "a first prediction", result_.failures).front();
    if (!prediction) {
      throw core::DomainError("budget", request_.budget_s,
                              "enough seconds for a prediction of N = " + std::to_string(small.N),
                              result_.failures.empty() ? "" : result_.failures.front());
    }
    rate_ = prediction->wall_s / (static_cast<double>(small.N) * small.P * small.Q);
    return rate_;
  }

  void run(std::vector<core::HplParameters> candidates) {
    for (int round = 1; round <= rounds && !candidates.empty(); ++round) {
      const bool last = round == rounds || candidates.size() <= finalists;
      const double available_s = predictor_.left_s() / (last ? 1 : rounds - round + 1);
      if (available_s <= 0) break;
      fit_to(available_s, candidates, round == 1);
      std::vector<TunedConfiguration> ended = play(candidates, round, last, predictor_.elapsed_s() + available_s);
      if (round == 1) analyse(ended);
      if (ended.empty()) break;
      const std::size_t kept =
          std::max(std::min(finalists, ended.size()), (ended.size() + keep_one_in - 1) / keep_one_in);
      candidates.clear();
      for (std::size_t i = 0; i < kept; ++i) candidates.push_back(ended[i].parameters);
      for (TunedConfiguration& entry : ended) {
        best_round_[key(entry.parameters)] = std::move(entry);
      }
      if (last) break;
    }
  }

  std::vector<TunedConfiguration> ranking() const {
    std::vector<TunedConfiguration> list;
    for (const auto& [parameters, entry] : best_round_) list.push_back(entry);
    list = ranked(std::move(list));
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.round > b.round; });
    return list;
  }

 private:
  static core::HplParameters key(core::HplParameters parameters) {
    parameters.N = 0;
    return parameters;
  }

  double cost_s(const core::HplParameters& p, long long N) const { return rate_ * static_cast<double>(N) * p.P * p.Q; }

  /// Chooses the N of a round; candidates of the first round that even the smallest N leaves no time for are not tried.
  void fit_to(double available_s, std::vector<core::HplParameters>& candidates, bool first) {
    const auto largest_NB = *std::max_element(request_.NB.begin(), request_.NB.end());
    const long long least = std::min(N_, least_panels * largest_NB);
    // Not all predictions end together: a tenth is left for that.
    const double usable_s = 0.9 * available_s * predictor_.jobs();
    const auto most = static_cast<std::size_t>(std::max(1.0, usable_s / cost_s(candidates.front(), least)));
    if (first && candidates.size() > most) {
      result_.not_tried.assign(candidates.begin() + static_cast<std::ptrdiff_t>(most), candidates.end());
      candidates.resize(most);
    }
    const double rows = usable_s / (cost_s(candidates.front(), 1) * static_cast<double>(candidates.size()));
    round_N_ = std::clamp(static_cast<long long>(rows), std::max(least, round_N_), N_);
    usable_s_ = usable_s;
  }

  std::vector<TunedConfiguration> play(const std::vector<core::HplParameters>& candidates, int number, bool last,
                                       double deadline_s) {
    std::size_t seeds = 1;
    while (last && seeds < final_seeds &&
           static_cast<double>((seeds + 1) * candidates.size()) * cost_s(candidates.front(), round_N_) < usable_s_) {
      ++seeds;
    }
    const double begin_s = predictor_.elapsed_s();
    std::vector<Predictor::Asked> asked;
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      for (core::HplParameters p : candidates) {
        p.N = round_N_;
        asked.push_back({p, request_.seed + seed});
      }
    }
    const auto predictions = predictor_.predict(
        asked, deadline_s, "round " + std::to_string(number) + ", N=" + std::to_string(round_N_), result_.failures);
    std::vector<TunedConfiguration> ended(candidates.size());
    TuneRound round{round_N_, candidates.size(), seeds, 0, predictor_.elapsed_s() - begin_s};
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (!predictions[i]) continue;
      ++round.predictions;
      TunedConfiguration& entry = ended[i % candidates.size()];
      entry.parameters = asked[i].parameters;
      entry.round = number;
      entry.gflops.push_back(predictions[i]->gflops);
    }
    result_.rounds.push_back(round);
    ended.erase(std::remove_if(ended.begin(), ended.end(), [](const auto& entry) { return entry.gflops.empty(); }),
                ended.end());
    return ranked(std::move(ended));
  }

  void analyse(const std::vector<TunedConfiguration>& ended) {
    std::vector<Configuration> factors;
    std::vector<double> rates;
    for (const TunedConfiguration& entry : ended) {
      factors.push_back(factors_of(entry.parameters));
      rates.push_back(entry.mean_gflops);
    }
    result_.influence = anova(factors, rates);
  }

  const TuneRequest& request_;
  long long N_;
  Predictor& predictor_;
  TuneResult& result_;
  double rate_ = 0;
  double usable_s_ = 0;
  long long round_N_ = 0;
  std::map<core::HplParameters, TunedConfiguration> best_round_;
};

int ranks_of(const TuneRequest& request) {
  if (!request.grids.empty()) return request.grids.front().first * request.grids.front().second;
  return request.ranks > 0 ? request.ranks : request.cluster.hosts.total_cores();
}

void check_request(const TuneRequest& request) {
  if (!(request.memory_fraction > 0 && request.memory_fraction <= 1)) {
    throw core::DomainError("memory fraction", request.memory_fraction, "a number in (0, 1]");
  }
  if (!(request.budget_s > 0)) throw core::DomainError("budget", request.budget_s, "a positive time");
  for (const auto* list : {&request.NB, &request.DEPTH, &request.BCAST, &request.SWAP}) {
    if (list->empty()) throw core::DomainError("levels", "none", "at least one of each parameter");
  }
}

}  // namespace

long long size_from_memory(const core::ClusterModel& cluster, int ranks, double memory_fraction, int NB) {
  const core::Hosts::Values& hosts = cluster.hosts.values();
  if (!(hosts.memory_bytes > 0)) {
    throw core::DomainError("memory_bytes", hosts.memory_bytes, "the memory of a host in " + cluster.name, "give -N");
  }
  const double used_hosts = std::ceil(static_cast<double>(ranks) / hosts.cores);
  const double bytes = memory_fraction * hosts.memory_bytes * used_hosts;
  return std::max<long long>(static_cast<long long>(std::sqrt(bytes / 8)) / NB, 1) * NB;
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
  std::vector<core::HplParameters> candidates = candidates_of(request, grids);
  const long long N = request.N > 0 ? request.N
                                    : size_from_memory(request.cluster, ranks, request.memory_fraction,
                                                       *std::max_element(request.NB.begin(), request.NB.end()));
  for (core::HplParameters& candidate : candidates) {
    candidate.N = N;
    PredictionRequest check_only;
    check_only.cluster = request.cluster;
    check_only.parameters = candidate;
    check_only.mode = request.mode;
    check(check_only);
  }
  PredictionRequest full_size;
  full_size.parameters = candidates.front();
  full_size.mode = request.mode;
  full_size.programs = request.programs;
  Predictor predictor(request, mode_of(full_size) == SimulationMode::fast ? "fast" : "exact");
  Halving halving(request, N, predictor, result);
  result.best = candidates.front();
  const double seconds_per_rank_row = halving.probe(candidates.front());
  result.baselines = baselines_of(request, result, predictor, seconds_per_rank_row, result.failures);
  halving.run(std::move(candidates));
  result.ranking = halving.ranking();
  if (!result.ranking.empty()) result.best = result.ranking.front().parameters;
  result.best.N = N;
  result.wall_s = predictor.elapsed_s();
  return result;
}

}  // namespace hplcast::study
