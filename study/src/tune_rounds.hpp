#pragma once

#include <map>
#include <vector>

#include "hplcast/study/tune.hpp"
#include "tune_predictor.hpp"

namespace hplcast::study {

/// The rounds of one tuning. What they find goes into `result`.
class TuneRounds {
 public:
  /// All must outlive this. `N`: the order asked for.
  TuneRounds(const TuneRequest& request, long long N, TunePredictor& predictor, TuneResult& result)
      : request_(request), N_(N), predictor_(predictor), result_(result) {}

  /// The first of `candidates` is the default configuration.
  void run(std::vector<core::HplParameters> candidates);

 private:
  std::vector<core::HplParameters> affordable(std::vector<core::HplParameters> candidates, double available_s);
  /// As much of the run as there is time for: the full N if that is for two windows of it or more.
  TuneScale affordable_scale(const std::vector<core::HplParameters>& configurations, double available_s) const;
  std::size_t affordable_seeds(const std::vector<core::HplParameters>& configurations, const TuneScale& scale,
                               double available_s) const;
  /// An entry for each configuration, in their order; without merits where there was no time.
  std::vector<TunedConfiguration> predict(std::vector<core::HplParameters> configurations, const TuneScale& scale,
                                          std::size_t seeds, double available_s, const std::string& what);
  /// One round: what ended, the best first.
  std::vector<TunedConfiguration> play(const std::vector<core::HplParameters>& candidates, bool last,
                                       double available_s);
  void nominate(const std::vector<TunedConfiguration>& ended, std::vector<core::HplParameters>& candidates);
  std::vector<core::HplParameters> survivors(const std::vector<TunedConfiguration>& ended) const;
  void add_neighbours(std::vector<core::HplParameters>& candidates) const;
  /// Varies the panel factorisation of the first of `candidates`, and gives all of them the levels that are better.
  void tune_panel(std::vector<core::HplParameters>& candidates, double available_s);
  void take_panel(const core::HplParameters& better, std::vector<core::HplParameters>& candidates) const;
  void analyse(const std::vector<TunedConfiguration>& ended);
  void rank();

  const TuneRequest& request_;
  long long N_;
  TunePredictor& predictor_;
  TuneResult& result_;
  int round_ = 0;
  TuneScale scale_;  ///< of the round
  core::HplParameters default_;
  std::map<core::HplParameters, TunedConfiguration> last_of_;  ///< by parameters with N = 0
};

/// A matrix with fewer panels does not show the effect of look-ahead and broadcasts.
inline constexpr long long least_panels = 16;

}  // namespace hplcast::study
