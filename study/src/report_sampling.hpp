#pragma once

#include <string>
#include <utility>
#include <vector>

#include "figure.hpp"
#include "hplcast/core/prediction.hpp"

namespace hplcast::study {

/// Whether panels were left out in any of them.
bool any_sampled(const std::vector<const core::Prediction*>& predictions);

/// The headers of what sampled_cells() gives.
std::vector<std::string> sampled_columns();

/// The 95 % error, relative to the time, and the share of the panels that was simulated; nothing and "all" where all
/// were.
std::vector<std::string> sampled_cells(const core::Prediction& prediction);

/// How sampled predictions are to be read; empty if none is.
std::string sampling_note(const std::vector<const core::Prediction*>& predictions);

/// Gflop/s over the remaining order of the matrix: the windows, and the curve between them with its band. One for each
/// sampled prediction of `predictions` (with a name), at most `most`.
std::vector<Figure> sampling_figures(const std::vector<std::pair<std::string, const core::Prediction*>>& predictions,
                                     std::size_t most);

}  // namespace hplcast::study
