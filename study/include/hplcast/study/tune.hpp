#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/fit/comparison.hpp"
#include "hplcast/study/factor_effects.hpp"
#include "hplcast/study/resolve.hpp"

namespace hplcast::study {

/// The quantity to optimise. All but the first need Prediction::energy.
enum class Objective {
  gflops,           ///< Gflop/s
  gflops_per_watt,  ///< Gflop/s per W: of one order of the matrix the same ranking as energy
  energy,           ///< J, less is better
  edp               ///< energy delay product in J s, less is better
};

using core::to_string;
HPLCAST_ENUM_NAMES(Objective, "an objective", "gflops", "gflops-per-watt", "energy", "edp");
/// "Gflop/s per W".
const char* unit_of(Objective objective);
inline bool needs_energy(Objective objective) {
  return objective != Objective::gflops;
}

/// More is better: the rate, the rate per W, 1/J, 1/(J s). @throws core::DomainError for a prediction without energy
/// where that is needed.
double merit(Objective objective, const core::Prediction& prediction);
/// A merit in the unit of the objective: what less is better of, too.
double in_unit(Objective objective, double merit);

/// A search: cluster, matrix, budget and candidates.
struct TuneRequest {
  core::ClusterModel cluster;
  double memory_fraction = 0.8;  ///< of the memory of all hosts, for the matrix
  long long N = 0;               ///< 0: from the memory
  int ranks = 0;                 ///< 0: all cores
  Objective objective = Objective::gflops;
  double budget_s = 600;  ///< wall time of all predictions together
  int jobs = 0;           ///< predictions at a time; 0: the cores of this machine
  std::uint64_t seed = 1;
  core::HplParameters defaults;  ///< what is not tuned, and where the search begins
  std::vector<int> NB = {128, 192, 256};
  std::vector<int> DEPTH = {0, 1};
  std::vector<int> BCAST = {0, 1, 2, 3, 4, 5};
  std::vector<int> SWAP = {0, 1, 2};
  std::vector<int> PFACT = {0, 1, 2};  ///< these four: looked at one at a time, not in all combinations
  std::vector<int> RFACT = {0, 1, 2};
  std::vector<int> NBMIN = {2, 4, 8};
  std::vector<int> NDIV = {2, 3};
  std::vector<std::pair<int, int>> grids;           ///< empty: the nearest to square, P <= Q, at most 3
  SimulationMode mode = SimulationMode::automatic;  ///< that of the full N, in all rounds
  SimulatorPrograms programs;
  std::function<void(double fraction, const std::string& what)> progress;  ///< may be empty
};

/// A parameter that is tuned, and its levels.
struct TunedParameter {
  const char* name;
  int core::HplParameters::*field;
  std::vector<int> TuneRequest::*levels;
};
/// In all combinations.
inline constexpr TunedParameter crossed_parameters[] = {{"NB", &core::HplParameters::NB, &TuneRequest::NB},
                                                        {"DEPTH", &core::HplParameters::DEPTH, &TuneRequest::DEPTH},
                                                        {"BCAST", &core::HplParameters::BCAST, &TuneRequest::BCAST},
                                                        {"SWAP", &core::HplParameters::SWAP, &TuneRequest::SWAP}};
/// Parameters of the panel factorisation, one at a time.
inline constexpr TunedParameter panel_parameters[] = {{"PFACT", &core::HplParameters::PFACT, &TuneRequest::PFACT},
                                                      {"RFACT", &core::HplParameters::RFACT, &TuneRequest::RFACT},
                                                      {"NBMIN", &core::HplParameters::NBMIN, &TuneRequest::NBMIN},
                                                      {"NDIV", &core::HplParameters::NDIV, &TuneRequest::NDIV}};

/// Calls `each` with every parameter that is tuned.
template <typename Each>
void for_parameters(Each each) {
  for (const TunedParameter& one : crossed_parameters) each(one);
  for (const TunedParameter& one : panel_parameters) each(one);
}

/// The largest N whose matrix takes at most `memory_fraction` of the memory of each host (filled in order, every rank
/// has as much), rounded down to a multiple of NB. @throws core::DomainError for a fraction that is none, if the
/// cluster does not tell its memory, or if that is too little for one block, or too much for HPL.
long long size_from_memory(const core::ClusterModel& cluster, int ranks, double memory_fraction, int NB);

/// Grids of this number of ranks with P <= Q, the nearest to square first, at most `most` and none longer than 4 : 1,
/// unless there is no other.
std::vector<std::pair<int, int>> near_square_grids(int ranks, int most);

/// The search that configurations of an HPL.dat ask for. It begins at the first of them. A parameter that has several
/// values there has these as its levels; of one value, and its own levels else. Grids likewise: a single one stands for
/// its number of ranks. N is the largest.
TuneRequest begun_at(TuneRequest request, const std::vector<core::HplParameters>& configurations);

/// A configuration that was predicted, at its last round.
struct TunedConfiguration {
  core::HplParameters parameters;  ///< with the N of that round
  int round = 0;                   ///< the last one that it took part in, from 1
  std::vector<double> gflops;      ///< one per seed
  std::vector<double> merits;      ///< of the objective, one per seed: merit()
  double mean_gflops = 0;
  double mean_merit = 0;
  std::optional<fit::Bounds> interval;        ///< 95 percent of the mean merit; absent for one seed
  std::vector<core::Prediction> predictions;  ///< one per seed
  std::optional<double> first_is_faster;      ///< probability_faster() of the first of the ranking, if of its round
};

/// A round of successive halving.
struct TuneRound {
  long long N = 0;
  int windows = 0;  ///< of sampled predictions, besides the first and the last; 0: all panels
  std::size_t configurations = 0;
  std::size_t seeds = 1;
  std::size_t predictions = 0;  ///< that ended within the budget
  double wall_s = 0;
};

/// Effect of one other level of one parameter on a configuration, at the order of the matrix of the answer.
struct PanelLevel {
  std::string factor;  ///< "NB"
  int level = 0;
  double effect = 0;  ///< merit over that with the default level, minus 1
};

/// Naive guesses, to see what simulation adds. In Gflop/s.
struct TuneBaselines {
  double peak = 0;      ///< dgemm_peak_gflops(); 0 without a model of dgemm
  double one_node = 0;  ///< predicted, with the default configuration
  long long one_node_N = 0;
  double linear_scaling = 0;  ///< one_node times the number of hosts
};

struct TuneResult {
  Objective objective = Objective::gflops;
  core::HplParameters best;                 ///< with the N asked for
  std::vector<TunedConfiguration> ranking;  ///< those of the last round first, each round by merit
  /// The first of the ranking once more, with seeds that no round had: its mean in the ranking is that of the luckiest.
  /// Absent if there was no time.
  std::optional<TunedConfiguration> fresh;
  std::vector<TuneRound> rounds;
  std::size_t tried = 0;  ///< candidates that were predicted in the first round
  /// Is the last round's N at least a third of the one asked for, and were enough candidates tried? Else the order of
  /// configurations is not known, unless there is one only.
  bool decided = true;
  bool few_tried = false;              ///< why not: fewer than two thirds of the candidates, and than 24
  double enough_budget_s = 0;          ///< if not: a budget that is expected to do
  Anova influence;                     ///< of the first round; empty if that was at another N than asked for
  std::vector<PanelLevel> neighbours;  ///< of the best, in the last round
  std::vector<PanelLevel> panel;  ///< PFACT, RFACT, NBMIN, NDIV on the best of the first round; empty as `influence` is
  double panel_chance = 0;        ///< effects of `panel` up to here may be chance: they were not taken
  std::optional<double> gain;     ///< in merit, of the best over the default configuration, both in the last round, or
                                  ///< with fresh seeds
  std::vector<core::HplParameters> not_tried;  ///< of the candidates: no time
  std::vector<std::string> failures;
  std::vector<std::string> warnings;  ///< of the plans, each once
  TuneBaselines baselines;
  double wall_s = 0;
};

/// Successive halving (Jamieson and Talwalkar 2016): all candidates at a small N, the best third at a larger one, and
/// so on, in four rounds with equal parts of the budget. Where predictions at the full N are sampled, a round takes
/// that as soon as there is time for two windows, and later ones more windows. The best of each grid and NB stays for
/// three rounds, because the best of these changes with N; the default configuration stays for all. After the first
/// round the parameters of the panel factorisation are varied one at a time, and levels that do better than chance are
/// taken. The last round uses several seeds if there is time. The best is then predicted with other seeds.
/// @throws core::DomainError for wrong ranks, grids, fractions, a budget in which nothing can be predicted;
/// core::Error.
TuneResult tune(const TuneRequest& request);

/// Places in the ranking, from 1: configurations of one round whose rates are equal to the last digit share one.
std::vector<std::size_t> places(const std::vector<TunedConfiguration>& ranking);

/// JSON of a result (docs/use/tune.md).
void write_tune_result(std::ostream& out, const TuneResult& result);

/// SVG file: each configuration in the last round that it took part in. The ranking must not be empty.
std::string tune_picture(const TuneResult& result);

}  // namespace hplcast::study
