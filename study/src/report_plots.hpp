#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/study/compare.hpp"

namespace hplcast::study {

/// "2x1".
std::string grid_name(const core::HplParameters& parameters);

/// "N=5000 NB=128 2x1 BCAST=1 DEPTH=1 SWAP=1": what tells configurations apart.
std::string short_name(const core::HplParameters& parameters);

/// Predicted over measured Gflop/s, one mark a configuration, with the line where both are equal and a band of `band`
/// (ratio) around it. None without rows.
std::optional<Figure> predicted_over_measured(const std::vector<ComparedConfiguration>& rows, double band);

/// Gflop/s over N, one plot per process grid: measured medians with their range, and predictions.
std::vector<Figure> rate_over_size(const std::vector<ComparedConfiguration>& rows,
                                   const std::vector<core::Prediction>& predictions);

}  // namespace hplcast::study
