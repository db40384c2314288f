#pragma once

#include <string>
#include <vector>

#include "hplcast/core/prediction.hpp"
#include "hplcast/study/compare.hpp"

namespace hplcast::study {

/// "2x1".
std::string grid_name(const core::HplParameters& parameters);

/// "N=5000 NB=128 2x1 BCAST=1 DEPTH=1 SWAP=1": what tells configurations apart.
std::string short_name(const core::HplParameters& parameters);

/// Figure: predicted over measured Gflop/s, one mark a configuration, with the line where both are equal and a band of
/// `band` (ratio) around it. Empty text without rows.
std::string predicted_over_measured(const std::vector<ComparedConfiguration>& rows, double band);

/// Figures: Gflop/s over N, one a process grid: measured medians with their range, and predictions.
std::string rate_over_size(const std::vector<ComparedConfiguration>& rows,
                           const std::vector<core::Prediction>& predictions);

}  // namespace hplcast::study
