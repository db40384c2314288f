#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "hplcast/study/predict.hpp"

namespace hplcast::study {

/// Several predictions, up to `jobs` at a time. What each one gives does not depend on the others.
struct PredictionBatch {
  std::vector<PredictionRequest> requests;  ///< their callbacks are not used
  int jobs = 1;
  /// Called on the calling thread as soon as a prediction has ended; `index` of its request.
  std::function<void(std::size_t index, core::Prediction prediction)> ended;
  /// Called there, too, several times a second, with the progress of every request: 0 to 1.
  std::function<void(const std::vector<double>& fractions)> tick;
};

/// Makes them all. The first failure stops the others. @throws what predict() throws.
void predict_many(const PredictionBatch& batch);

}  // namespace hplcast::study
