#pragma once

#include <cstdint>
#include <vector>

namespace hplcast::calibration {

/// One run of a study: a level of the source of detours (0: it does not run), timed or only to warm up.
struct SeriesRun {
  double level = 0;
  bool warm_up = false;
};

/// Which runs a study makes.
struct SeriesPlan {
  std::vector<double> levels;  ///< of noisy runs, each in [0, 1)
  int runs = 10;               ///< of each level
  int warm_up = 2;             ///< clean ones at the beginning, set aside
  std::uint64_t seed = 1;
};

/// The order of the runs: after the warm-up blocks of one run of each level and as many clean ones as half the levels
/// (at least one), each block in an order of its own. So whatever changes meanwhile hits all of them alike; clean runs
/// are never all first. @throws core::DomainError for no levels, levels outside [0, 1) or there twice, fewer than 2
/// runs, a negative warm-up.
std::vector<SeriesRun> make_series(const SeriesPlan& plan);

}  // namespace hplcast::calibration
