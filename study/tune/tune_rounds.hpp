#pragma once

#include <chrono>
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

  /// Wall time of these configurations, with `seeds` seeds each, on all jobs: as planned, in proportion to what
  /// predictions took so far beside their start.
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

  const TuneRequest& request_;
  SimulationMode mode_;
  std::string sha256_;
  Clock::time_point start_;
  int jobs_;
  double start_s_ = 0;                   ///< of each prediction
  double taken_s_ = 0, expected_s_ = 0;  ///< of all so far, after their starts
  std::vector<std::string> failures_;
  core::TemporaryFolder folder_{"hplcast-tune"};
};

/// The rounds of one tuning, of which the first of `candidates` is the default configuration. `N`: the order asked for.
/// What they find goes into `result`.
void play_rounds(const TuneRequest& request, long long N, TunePredictor& predictor,
                 std::vector<core::HplParameters> candidates, TuneResult& result);

/// How far two means of `seeds` merits may differ by chance: twice the standard error of the difference, relative. With
/// a single seed 1 percent, which is what small matrices were seen to scatter by (docs/measurements/fast-mode.md).
double effect_of_chance(const std::vector<TunedConfiguration>& entries, std::size_t seeds);

/// The order of configurations at a smaller share of N than this is not that at N: broadcasts, look-ahead and NB weigh
/// in proportion to 1/N, at a third of it three times as much.
inline constexpr double least_share_of_N = 1.0 / 3;

/// A matrix with fewer panels does not show the effect of look-ahead and broadcasts.
inline constexpr long long least_panels = 16;

}  // namespace hplcast::study
