#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hplcast/fit/comparison.hpp"

namespace hplcast::fit {

/// Runs beside a source of detours that takes a share of the time.
struct NoisyRuns {
  double level = 0;
  SampleSummary runs;
};

enum class Detection {
  seen,       ///< the intervals do not overlap, and p < 1 - confidence
  not_seen,   ///< and an effect as large as the level would have been
  undecided,  ///< too few runs, or too much scatter, to see an effect as large as the level
  faster      ///< the noisy runs were shorter: something else changed
};

/// A level compared with the clean runs.
struct LevelResult {
  double level = 0;
  SampleSummary runs;
  double increase = 0;  ///< mean / clean mean - 1
  double gap = 0;       ///< lower bound of the noisy runs - upper bound of the clean ones
  double p_value = 1;   ///< Welch
  Detection detection = Detection::undecided;
  long runs_needed = 0;  ///< of both kinds, to see an increase by `level` in nine of ten studies; 0: there are enough
};

/// A detector of detours: which levels does it see?
struct Sensitivity {
  SampleSummary clean;
  Bounds clean_interval;
  double confidence = 0.99;
  std::vector<LevelResult> levels;  ///< from the highest to the lowest
  std::optional<double> limit;      ///< the lowest level that is seen with all higher ones; nothing: not the highest
};

/// @throws core::DomainError for fewer than 2 runs of a kind, no scatter at all, levels outside [0, 1).
Sensitivity detector_sensitivity(const SampleSummary& clean, std::vector<NoisyRuns> noisy, double confidence = 0.99);

const char* to_string(Detection detection);

}  // namespace hplcast::fit
