#pragma once

#include <map>
#include <string>
#include <vector>

#include "hplcast/study/sweep_plan.hpp"

namespace hplcast::study {

/// A number as a mean and an effect of the level of each factor: what a combination that was not tried probably gives.
class AdditiveModel {
 public:
  /// Effects by backfitting (Hastie and Tibshirani 1990), shrunk by n / (n + 1) for a level that occurs n times: few
  /// observations are little evidence. All configurations have the same factors in the same order.
  AdditiveModel(const std::vector<Configuration>& configurations, const std::vector<double>& values);

  /// Levels that did not occur have no effect.
  double at(const Configuration& configuration) const;

 private:
  double mean_ = 0;
  std::vector<std::map<std::string, double>> effects_;  ///< of each factor, by level
};

}  // namespace hplcast::study
