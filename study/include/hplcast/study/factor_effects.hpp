#pragma once

#include <map>
#include <string>
#include <vector>

#include "hplcast/study/sweep_plan.hpp"

namespace hplcast::study {

/// One factor's, or two factors', part in the variance.
struct AnovaRow {
  std::string name;    ///< "NB", or "NB x BCAST" for an interaction
  int freedom = 0;     ///< degrees of freedom; 0: other factors say the same
  double share = 0;    ///< of the total sum of squares, 0 to 1; of rows that are not balanced beyond all other factors
  double f = 0;        ///< F statistic; 0 without a residual
  double p_value = 1;  ///< of "no effect"; 1 where there is no f
  std::map<std::string, double>
      effects;  ///< of a factor: level to mean Gflop/s over the geometric mean of all, minus 1
};

/// Analysis of variance of the logarithm of a rate, over the factors that take two levels or more.
struct Anova {
  std::size_t observations = 0;
  bool balanced = false;       ///< all combinations of levels, equally often; otherwise shares do not add up
  std::vector<AnovaRow> rows;  ///< largest share first; interactions of two factors only if balanced
  double residual_share = 0;
  int residual_freedom = 0;
};

/// Classical fixed-effects analysis (Montgomery, Design and Analysis of Experiments, chapter 5); of rows that are not
/// balanced all main effects at once (type II). Logarithms, because factors act in percent. @throws core::DomainError
/// for rates that are not positive, or lists of different lengths.
Anova anova(const std::vector<Configuration>& factors, const std::vector<double>& gflops);

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
