#include "study/tune/tune_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "hplcast/study/factor_effects.hpp"
#include "hplcast/study/interval.hpp"

namespace hplcast::study {

namespace {

constexpr int rounds = 4;
constexpr std::size_t keep_one_in = 3;
constexpr std::size_t finalists = 4;
constexpr std::size_t most_seeds = 3;
constexpr std::size_t least_candidates = 24;  ///< of the first round
constexpr int fewest_windows = 2;             ///< a curve needs them
constexpr double after_baselines = 0.95;      ///< part of the budget
/// Part of the budget that the last of four rounds has at least: a quarter is round 1's, of the rest a quarter the
/// panel factorisation's, then a third round 2's and a half round 3's.
constexpr double last_part = after_baselines * 0.75 * 0.75 * 2 / 3 / 2;

std::size_t kept_of(std::size_t ended) {
  return std::max(finalists, (ended + keep_one_in - 1) / keep_one_in);
}

core::HplParameters without_N(core::HplParameters parameters) {
  parameters.N = 0;
  return parameters;
}

Configuration factors_of(const core::HplParameters& p) {
  Configuration factors = {{"grid", std::to_string(p.P) + "x" + std::to_string(p.Q)}};
  for (const TunedParameter& one : crossed_parameters) factors.push_back({one.name, std::to_string(p.*one.field)});
  return factors;
}

/// The effect of look-ahead depends on the broadcast that it hides.
Configuration with_interaction(const core::HplParameters& p) {
  Configuration factors = factors_of(p);
  factors.push_back({"DEPTH x BCAST", std::to_string(p.DEPTH) + " " + std::to_string(p.BCAST)});
  return factors;
}

void average(TunedConfiguration& entry) {
  entry.mean_gflops = entry.mean_merit = 0;
  const auto count = static_cast<double>(entry.gflops.size());
  for (const double rate : entry.gflops) entry.mean_gflops += rate / count;
  for (const double merit : entry.merits) entry.mean_merit += merit / count;
  if (entry.merits.size() > 1) entry.interval = fit::mean_interval(fit::summarize(entry.merits));
}

bool better(const TunedConfiguration& a, const TunedConfiguration& b) {
  return a.mean_merit > b.mean_merit;
}

bool varies_panel(const TuneRequest& request) {
  return std::any_of(std::begin(panel_parameters), std::end(panel_parameters),
                     [&](const TunedParameter& one) { return (request.*one.levels).size() > 1; });
}

class TuneRounds {
 public:
  /// All must outlive this. `N`: the order asked for.
  TuneRounds(const TuneRequest& request, long long N, TunePredictor& predictor, TuneResult& result)
      : request_(request), N_(N), predictor_(predictor), result_(result) {}

  /// The first of `candidates` is the default configuration.
  void run(std::vector<core::HplParameters> candidates) {
    default_ = candidates.front();
    all_ = candidates.size();
    result_.not_tried = candidates;
    for (round_ = 1; round_ <= rounds && !candidates.empty(); ++round_) {
      // Even of few candidates the panel factorisation is to be tuned before the end.
      const bool last =
          round_ == rounds || (candidates.size() <= finalists && !(round_ == 1 && varies_panel(request_)));
      double available_s = predictor_.left_s() / (last ? 1 : rounds - round_ + 1);
      if (last) available_s *= before_confirmation(candidates.size());
      if (available_s <= 0) break;
      if (round_ == 1) candidates = affordable(std::move(candidates), available_s);
      const std::vector<TunedConfiguration> ended = play(candidates, last, available_s);
      if (round_ == 1) result_.tried = ended.size();
      if (round_ == 1 && scale_.N == N_ && ended.size() >= least_tried()) analyse(ended);
      if (last) break;
      if (ended.empty()) {  // predictions took much longer than expected: a few of them in the time that is left
        candidates.resize(std::min(finalists, candidates.size()));
        continue;
      }
      candidates = survivors(ended);
      if (round_ + 1 == rounds) add_neighbours(candidates);
      if (round_ == 1) nominate(ended, candidates);
      if (round_ == 1) tune_panel(candidates, predictor_.left_s() / rounds);
    }
    rank();
    judge();
    confirm();
    compare_with_first();
  }

 private:
  /// Share of the time that is for the last round: the best and the default configuration are predicted once more.
  static double before_confirmation(std::size_t candidates) {
    const auto count = static_cast<double>(candidates);
    return count / (count + 2);
  }

  /// Candidates of the first round that there is time for, at an N that says something of the full one if possible.
  std::vector<core::HplParameters> affordable(std::vector<core::HplParameters> candidates, double available_s) {
    long long least = 0, meaningful = 0;
    for (const core::HplParameters& p : candidates) {
      least = std::max<long long>(least, least_panels * p.NB);
      meaningful = std::max<long long>(meaningful, 3LL * std::max(p.P, p.Q) * p.NB);
    }
    const std::size_t few = std::min(least_candidates, candidates.size());
    const std::vector<core::HplParameters> first(candidates.begin(),
                                                 candidates.begin() + static_cast<std::ptrdiff_t>(few));
    least = std::min(N_, least);
    meaningful = std::clamp(meaningful, least, N_);
    scale_.N = predictor_.affordable_N(first, available_s, least, meaningful);
    first_N_ = scale_.N;
    const double one_s = predictor_.wall_s(candidates, scale_, 1) / static_cast<double>(candidates.size());
    const auto most = static_cast<std::size_t>(std::max(1.0, available_s / one_s));
    candidates.resize(std::min(most, candidates.size()));
    return candidates;
  }

  /// As much of the run as there is time for: the full N if that is for two windows of it or more.
  TuneScale affordable_scale(const std::vector<core::HplParameters>& configurations, double available_s) const {
    for (int windows = WindowRule().windows; windows >= fewest_windows; --windows)
      if (predictor_.wall_s(configurations, {N_, windows}, 1) <= available_s) return {N_, windows};
    if (scale_.N == N_) return scale_;
    return {predictor_.affordable_N(configurations, available_s, scale_.N, N_)};
  }

  std::size_t affordable_seeds(const std::vector<core::HplParameters>& configurations, const TuneScale& scale,
                               double available_s) const {
    std::size_t seeds = 1;
    while (seeds < most_seeds && predictor_.wall_s(configurations, scale, seeds + 1) <= available_s) ++seeds;
    return seeds;
  }

  /// An entry for each configuration, in their order; without merits where there was no time.
  std::vector<TunedConfiguration> predict(std::vector<core::HplParameters> configurations, const TuneScale& scale,
                                          std::size_t seeds, double available_s, const std::string& what,
                                          std::uint64_t first_seed = 0) {
    std::vector<TunePredictor::Asked> asked;
    for (core::HplParameters& parameters : configurations) parameters.N = scale.N;
    for (std::size_t seed = 0; seed < seeds; ++seed)
      for (const core::HplParameters& parameters : configurations)
        asked.push_back({parameters, request_.seed + first_seed + seed, scale.windows});
    const auto predictions =
        predictor_.predict(asked, predictor_.elapsed_s() + available_s, what + ", N=" + std::to_string(scale.N));
    std::vector<TunedConfiguration> entries(configurations.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
      TunedConfiguration& entry = entries[i % entries.size()];
      entry.parameters = asked[i].parameters;
      entry.round = round_;
      if (!predictions[i]) continue;
      entry.gflops.push_back(predictions[i]->gflops);
      entry.merits.push_back(merit(request_.objective, *predictions[i]));
      entry.predictions.push_back(*predictions[i]);
    }
    for (TunedConfiguration& entry : entries) average(entry);
    return entries;
  }

  /// One round: what ended, the best first.
  std::vector<TunedConfiguration> play(const std::vector<core::HplParameters>& candidates, bool last,
                                       double available_s) {
    scale_ = affordable_scale(candidates, available_s);
    const std::size_t seeds = last ? affordable_seeds(candidates, scale_, available_s) : 1;
    const double begin_s = predictor_.elapsed_s();
    auto ended = predict(candidates, scale_, seeds, available_s, "round " + std::to_string(round_));
    int windows = 0;  // wide ones are fewer
    for (const core::HplParameters& one : candidates) windows = std::max(windows, predictor_.windows(one, scale_));
    TuneRound round{scale_.N, windows, candidates.size(), seeds, 0, predictor_.elapsed_s() - begin_s};
    for (const TunedConfiguration& entry : ended) round.predictions += entry.gflops.size();
    result_.rounds.push_back(round);
    ended.erase(std::remove_if(ended.begin(), ended.end(), [](const auto& entry) { return entry.gflops.empty(); }),
                ended.end());
    for (const TunedConfiguration& entry : ended) {
      last_of_[without_N(entry.parameters)] = entry;
      core::HplParameters candidate = entry.parameters;  // as it was before the panel factorisation was tuned
      candidate.N = N_;
      for (const TunedParameter& one : panel_parameters) candidate.*one.field = default_.*one.field;
      auto& rest = result_.not_tried;
      rest.erase(std::remove(rest.begin(), rest.end(), candidate), rest.end());
    }
    std::stable_sort(ended.begin(), ended.end(), better);
    return ended;
  }

  /// Adds untried candidates that are predicted to beat the last survivor.
  void nominate(const std::vector<TunedConfiguration>& ended, std::vector<core::HplParameters>& candidates) {
    std::vector<Configuration> factors;
    std::vector<double> merits;
    for (const TunedConfiguration& entry : ended) {
      factors.push_back(with_interaction(entry.parameters));
      merits.push_back(std::log(entry.mean_merit));
    }
    const AdditiveModel model(factors, merits);
    const auto expected = [&](const core::HplParameters& p) { return model.at(with_interaction(p)); };
    const double bar = merits[std::min(kept_of(ended.size()), merits.size()) - 1];
    auto& rest = result_.not_tried;
    std::stable_sort(rest.begin(), rest.end(), [&](const auto& a, const auto& b) { return expected(a) > expected(b); });
    std::size_t taken = 0;
    while (taken < std::min(rest.size(), kept_of(ended.size())) && expected(rest[taken]) > bar)
      candidates.push_back(rest[taken++]);
  }

  std::vector<core::HplParameters> survivors(const std::vector<TunedConfiguration>& ended) const {
    const std::size_t kept = kept_of(ended.size());
    const bool into_the_last_round = round_ + 1 == rounds;
    std::set<std::tuple<int, int, int>> seen;
    std::vector<core::HplParameters> list;
    for (std::size_t i = 0; i < ended.size(); ++i) {
      const core::HplParameters& p = ended[i].parameters;
      const bool first_of_its_kind = seen.insert({p.P, p.Q, p.NB}).second && !into_the_last_round;
      const bool is_default = without_N(p) == without_N(default_);
      if (i < kept || first_of_its_kind || is_default) list.push_back(p);
    }
    return list;
  }

  /// The best with another SWAP, DEPTH or NB: the best of these changes with N, and the last round has the largest.
  void add_neighbours(std::vector<core::HplParameters>& candidates) const {
    using P = core::HplParameters;
    const P best = candidates.front();
    const std::pair<int P::*, const std::vector<int>*> factors[] = {
        {&P::SWAP, &request_.SWAP}, {&P::DEPTH, &request_.DEPTH}, {&P::NB, &request_.NB}};
    for (const auto& [field, levels] : factors) {
      for (const int level : *levels) {
        P neighbour = best;
        neighbour.*field = level;
        if (std::find(candidates.begin(), candidates.end(), neighbour) == candidates.end())
          candidates.push_back(neighbour);
      }
    }
  }

  /// Varies the panel factorisation of the first of `candidates`, and gives all of them the levels that are better.
  void tune_panel(std::vector<core::HplParameters>& candidates, double available_s) {
    const core::HplParameters base = candidates.front();
    std::vector<core::HplParameters> variants = {base};
    std::vector<const TunedParameter*> varied;
    for (const TunedParameter& factor : panel_parameters) {
      for (const int level : request_.*factor.levels) {
        if (level == base.*factor.field) continue;
        variants.push_back(base);
        variants.back().*factor.field = level;
        varied.push_back(&factor);
      }
    }
    if (varied.empty()) return;
    const TuneScale scale = affordable_scale(variants, available_s / most_seeds);
    const std::size_t seeds = affordable_seeds(variants, scale, available_s);
    const auto entries = predict(variants, scale, seeds, available_s, "panel factorisation");
    if (entries.front().gflops.empty()) return;
    core::HplParameters improved = base;
    std::map<const TunedParameter*, double> best_effect;
    const double least_effect = effect_of_chance(entries, seeds);
    for (std::size_t i = 1; i < entries.size(); ++i) {
      if (entries[i].gflops.empty()) continue;
      const TunedParameter& factor = *varied[i - 1];
      const int level = entries[i].parameters.*factor.field;
      const double effect = entries[i].mean_merit / entries.front().mean_merit - 1;
      if (scale.N == N_) result_.panel.push_back({factor.name, level, effect});
      if (effect < std::max(least_effect, best_effect[&factor])) continue;
      best_effect[&factor] = effect;
      improved.*factor.field = level;
    }
    result_.panel_chance = least_effect;
    take_panel(improved, candidates);
  }

  void take_panel(const core::HplParameters& better, std::vector<core::HplParameters>& candidates) const {
    const core::HplParameters best = candidates.front();
    if (better == best) return;
    // Better at this N may be worse at a larger one: the best stays as it was, too, and so does the default.
    std::vector<core::HplParameters> kept = {best};
    for (core::HplParameters& candidate : candidates) {
      if (without_N(candidate) == without_N(default_) && !(candidate == best)) kept.push_back(candidate);
      for (const TunedParameter& one : panel_parameters) candidate.*one.field = better.*one.field;
    }
    candidates.insert(candidates.end(), kept.begin(), kept.end());
  }

  void analyse(const std::vector<TunedConfiguration>& ended) {
    std::vector<Configuration> factors;
    std::vector<double> merits;
    for (const TunedConfiguration& entry : ended) {
      factors.push_back(factors_of(entry.parameters));
      merits.push_back(entry.mean_merit);
    }
    result_.influence = anova(factors, merits);
  }

  void rank() {
    for (const auto& [parameters, entry] : last_of_) result_.ranking.push_back(entry);
    std::stable_sort(result_.ranking.begin(), result_.ranking.end(), [](const auto& a, const auto& b) {
      return a.round != b.round ? a.round > b.round : better(a, b);
    });
    const auto found = last_of_.find(without_N(default_));
    if (result_.ranking.empty() || found == last_of_.end()) return;
    const TunedConfiguration& best = result_.ranking.front();
    if (best.round == found->second.round) result_.gain = best.mean_merit / found->second.mean_merit - 1;
  }

  /// Budget of which the last round's part is expected to reach `least` or windows of the N asked for.
  double enough_budget_s(long long least) const {
    const std::size_t neighbours = request_.SWAP.size() + request_.DEPTH.size() + request_.NB.size() - 3;
    const std::vector<core::HplParameters> last(std::min(all_, finalists + neighbours), default_);
    const double cheapest_s =
        std::min(predictor_.wall_s(last, {N_, fewest_windows}, 1), predictor_.wall_s(last, {least}, 1));
    const bool one_round = all_ <= finalists && !varies_panel(request_);
    const std::vector<core::HplParameters> first(least_tried(), default_);
    const double first_s = predictor_.wall_s(first, {first_N_}, 1) * (one_round ? 1 : rounds) / after_baselines;
    const double last_s = cheapest_s / ((one_round ? after_baselines : last_part) * before_confirmation(last.size()));
    constexpr double doubt = 2;  // SimulationNeeds
    return doubt * std::max(first_s, last_s);
  }

  /// Candidates of the first round that are enough to see what matters.
  std::size_t least_tried() const { return std::min(least_candidates, (2 * all_ + 2) / 3); }

  /// Says whether the rounds tell the order at the N asked for, and by how much its parameters matter there.
  void judge() {
    const long long least = std::llround(std::ceil(least_share_of_N * static_cast<double>(N_)));
    const auto& ranking = result_.ranking;
    // Where no other panel factorisation is better, the only candidate has the last round to itself.
    const bool several = ranking.size() > 1 && ranking[1].round == ranking[0].round;
    const bool compared = several || (all_ == 1 && !result_.panel.empty());
    result_.few_tried = result_.tried < least_tried();
    result_.decided = !result_.few_tried &&
                      ((all_ == 1 && !varies_panel(request_)) || (compared && ranking.front().parameters.N >= least));
    if (!result_.decided) {
      // A budget that did not suffice shows that predictions take longer than they are thought to.
      result_.enough_budget_s = std::max(enough_budget_s(least), 2 * request_.budget_s);
      return;
    }
    for (const TunedConfiguration& entry : result_.ranking) {
      const TunedConfiguration& best = result_.ranking.front();
      for_parameters([&](const TunedParameter& one) {
        core::HplParameters other = best.parameters;
        other.*one.field = entry.parameters.*one.field;
        if (entry.round == best.round && other == entry.parameters && !(other == best.parameters))
          result_.neighbours.push_back({one.name, other.*one.field, entry.mean_merit / best.mean_merit - 1});
      });
    }
    std::stable_sort(result_.neighbours.begin(), result_.neighbours.end(),
                     [](const PanelLevel& a, const PanelLevel& b) { return a.factor < b.factor; });
  }

  /// The best of several is the luckiest of them, too: it and the default configuration with seeds that chose nothing.
  void confirm() {
    if (result_.ranking.empty() || predictor_.left_s() <= 0) return;
    const TunedConfiguration& best = result_.ranking.front();
    std::vector<core::HplParameters> again = {best.parameters};
    if (result_.gain && !(without_N(best.parameters) == without_N(default_))) again.push_back(default_);
    TuneScale scale = scale_;
    scale.N = best.parameters.N;
    auto entries =
        predict(again, scale, best.gflops.size(), predictor_.left_s(), "the best with other seeds", most_seeds);
    if (entries.front().gflops.size() < best.gflops.size()) return;
    if (entries.size() > 1 && entries.back().gflops.size() == best.gflops.size())
      result_.gain = entries.front().mean_merit / entries.back().mean_merit - 1;
    entries.front().round = best.round;
    result_.fresh = std::move(entries.front());
  }

  /// With fresh seeds, if there are: those that chose it make it too fast.
  void compare_with_first() {
    if (result_.ranking.empty()) return;
    const TunedConfiguration first = result_.fresh ? *result_.fresh : result_.ranking.front();
    for (TunedConfiguration& entry : result_.ranking)
      if (entry.round == first.round && &entry != &result_.ranking.front())
        entry.first_is_faster = probability_faster(first.predictions, entry.predictions);
  }

  const TuneRequest& request_;
  long long N_;
  TunePredictor& predictor_;
  TuneResult& result_;
  int round_ = 0;
  TuneScale scale_;  ///< of the round
  core::HplParameters default_;
  std::size_t all_ = 0;                                        ///< candidates asked for
  long long first_N_ = 0;                                      ///< that there is time for in the first round
  std::map<core::HplParameters, TunedConfiguration> last_of_;  ///< by parameters with N = 0
};

}  // namespace

void play_rounds(const TuneRequest& request, long long N, TunePredictor& predictor,
                 std::vector<core::HplParameters> candidates, TuneResult& result) {
  TuneRounds(request, N, predictor, result).run(std::move(candidates));
}

double effect_of_chance(const std::vector<TunedConfiguration>& entries, std::size_t seeds) {
  double squares = 0, freedom = 0;
  for (const TunedConfiguration& entry : entries) {
    for (const double merit : entry.merits) squares += std::pow(merit / entry.mean_merit - 1, 2);
    if (!entry.merits.empty()) freedom += static_cast<double>(entry.merits.size()) - 1;
  }
  constexpr double least_freedom = 5;
  if (freedom < least_freedom) return 0.01;
  return 2 * std::sqrt(squares / freedom * 2 / static_cast<double>(seeds));
}

std::vector<std::size_t> places(const std::vector<TunedConfiguration>& ranking) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    const bool equal = i > 0 && ranking[i].round == ranking[i - 1].round && ranking[i].merits == ranking[i - 1].merits;
    result.push_back(equal ? result.back() : i + 1);
  }
  return result;
}

}  // namespace hplcast::study
