#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/files.hpp"
#include "hplcast/study/tune.hpp"

namespace hplcast::study {

/// How much of a run is simulated in a round.
struct TuneScale {
  long long N = 0;
  int windows = WindowRule().windows;  ///< where predict samples
};

/// The predictions of one tuning: within its budget, and learning what they cost.
class TunePredictor {
 public:
  /// One prediction to make.
  struct Asked {
    core::HplParameters parameters;
    std::uint64_t seed = 1;
    int windows = WindowRule().windows;
  };

  /// `request` must outlive this. `mode`: exact or fast.
  TunePredictor(const TuneRequest& request, SimulationMode mode);

  double elapsed_s() const;
  double left_s() const { return request_.budget_s - elapsed_s(); }

  /// Makes predictions until `deadline_s` of the session, in their order; what runs then is stopped, and absent in the
  /// result. `what` is shown with the progress.
  std::vector<std::optional<core::Prediction>> predict(const std::vector<Asked>& asked, double deadline_s,
                                                       const std::string& what);

  /// Wall time of these configurations, with `seeds` seeds each, on all jobs.
  double wall_s(const std::vector<core::HplParameters>& configurations, const TuneScale& scale,
                std::size_t seeds) const;

  /// Beside those of the first and the last panels; 0: no panels are left out.
  int windows(const core::HplParameters& parameters, const TuneScale& scale) const;

  /// The largest N in [least, most] for which wall_s() with one seed is at most `available_s`; `least` if none is.
  long long affordable_N(const std::vector<core::HplParameters>& configurations, double available_s, long long least,
                         long long most) const;

  const std::vector<std::string>& failures() const { return failures_; }

 private:
  using Clock = std::chrono::steady_clock;

  RunPlan plan_of(const core::HplParameters& parameters, const TuneScale& scale) const;
  /// Seconds of one prediction on one core: as planned, in proportion to what the ones so far took.
  double cost_s(const core::HplParameters& parameters, const TuneScale& scale) const;
  void learn(const core::Prediction& prediction, int windows);

  const TuneRequest& request_;
  SimulationMode mode_;
  std::string sha256_;
  Clock::time_point start_;
  int jobs_;
  double taken_s_ = 0;
  double expected_s_ = 0;
  std::vector<std::string> failures_;
  core::TemporaryFolder folder_{"hplcast-tune"};
};

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
