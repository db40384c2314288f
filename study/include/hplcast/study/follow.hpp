#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/imported.hpp"
#include "hplcast/core/prediction.hpp"

/// A run of HPL that goes on: when it will end, and whether it goes as it began (docs/models/follow.md).
namespace hplcast::study {

/// A change while the run goes on, which its curve does not explain.
struct Departure {
  bool is_pause = false;  ///< time was lost once; else the rate is another one since
  double column = 0;      ///< of the last line before
  double elapsed_s = 0;   ///< of that line
  double change = 0;      ///< seconds lost, or the rate after over the rate before, less 1
};

/// A run as it is seen after a line of progress. Times are of the whole timed part.
struct RunOutlook {
  double column = 0, elapsed_s = 0;
  double time_s = 0;
  double low_time_s = 0, high_time_s = 0;  ///< with 90 %
  double gflops = 0;
  double low_gflops = 0, high_gflops = 0;
  std::vector<Departure> departures;        ///< by time
  std::optional<double> behind_prediction;  ///< elapsed over what the prediction has for this column, less 1
};

/// The one of this run, by N and, if its header has them, P and Q; of several one of its NB, and DEPTH.
std::optional<core::Prediction> prediction_of(const core::HplLog& run, const std::vector<core::Prediction>& all);

/// Follows one run by its lines of progress. The time to a column is a sum of four terms, whose shares are known of
/// each stretch of columns (update, linear, constant, tail), a random walk and the error of each time stamp; a Kalman
/// filter for each combination of sizes of the noise, weighted by likelihood.
class RunFollower {
 public:
  RunFollower(const core::HplParameters& parameters, const std::optional<core::Prediction>& prediction);

  /// Nothing: not enough lines yet, or this one is not a step on.
  std::optional<RunOutlook> take(const core::HplProgress& progress);

 private:
  static constexpr std::size_t terms = 4;
  using Shares = std::array<double, terms>;
  /// With one noise; the last component is the time that has passed but for the error of the stamp.
  struct State {
    std::array<double, terms + 1> mean = {};
    std::array<std::array<double, terms + 1>, terms + 1> covariance = {};
    double log_likelihood = 0;
  };
  struct Noise {
    double walk, stamp, drift;
  };
  /// A departure at the step to line `line`.
  struct Change {
    std::size_t line;
    bool is_pause;
  };

  Shares shares_before(double column) const;
  void set_scale();
  State begin() const;
  void depart(State& state, bool is_pause) const;
  void step(State& state, std::size_t line, const Noise& noise) const;
  void filter(const Noise& noise, std::vector<State>& states) const;
  std::optional<std::pair<double, Departure>> change_at(std::size_t line, bool is_pause) const;
  bool find_change();
  RunOutlook outlook() const;

  core::HplParameters parameters_;
  std::optional<core::Prediction> prediction_;
  std::vector<std::pair<double, double>> curve_;  ///< of the prediction: share of the flop, of the time
  std::vector<core::HplProgress> lines_;
  double scale_s_ = 0;  ///< rough time of the run by its first lines
  double lag_ = 0;      ///< columns by which the lines are ahead of the work
  Shares mean_ = {}, sd_ = {};
  std::vector<Shares> steps_;               ///< of each term from the line before to each line
  std::vector<std::vector<State>> states_;  ///< of each noise, after each line
  std::vector<Change> changes_;
  std::vector<Departure> departures_;
};

/// SVG file: Gflop/s of the whole run as seen after each line of progress, with the interval and the departures.
/// `outlooks`: at least one. `gflops`: HPL's own result, if it is known.
std::string follow_picture(const core::HplParameters& parameters, const std::vector<RunOutlook>& outlooks,
                           std::optional<double> gflops);

}  // namespace hplcast::study
