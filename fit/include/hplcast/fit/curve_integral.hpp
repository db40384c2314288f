#pragma once

#include <vector>

namespace hplcast::fit {

/// A piece of a curve: `units` neighbouring units, for example panels of HPL, at `x` in the mean.
struct CurvePiece {
  double x = 0;
  double units = 1;
};

/// A piece whose cost was measured, summed over its units.
struct MeasuredPiece {
  CurvePiece piece;
  double cost = 0;
};

/// The scatter of pieces as known from elsewhere than their distances from the curve: as much as `dof` spare pieces
/// say.
struct ScatterPrior {
  double unit_variance = 0;  ///< of the cost of a unit, relative to it; that of a piece is this by its units
  double dof = 0;            ///< 0: nothing is known
};

/// The scatter that pieces of `round` units would have if their parts were independent, quarters, or some eight units
/// where these are fewer: of parts around a line through each of the series, and around what parts at the same place of
/// a round have in common. Series are costs of neighbouring units and begin at the same place of a round; what is left
/// of the last round does not count. `dof`: 0 for too few rounds.
ScatterPrior scatter_of_rounds(const std::vector<std::vector<double>>& series, std::size_t round);

/// Cost of a piece, or of several, and its standard deviation: of a Student mixture, more than normal in the tails when
/// there are few measured pieces.
struct CostEstimate {
  double cost = 0;
  double sd = 0;
};

struct CurveIntegral {
  CostEstimate gaps;  ///< all together
  /// The measured pieces, as measured, and the gaps; sd: distance from what they cost in the mean, without e. That of
  /// the gaps alone is from what they cost once.
  CostEstimate whole;
  std::vector<CostEstimate> pieces;  ///< each gap alone
  /// Largest distance of a measured piece from the quadratic curve through all, relative to the curve, or to the mean
  /// of all pieces where the curve is below it, and where.
  double largest_deviation = 0;
  double deviates_at = 0;  ///< x
};

/// Estimates the cost of the pieces `gaps` of a smooth curve from pieces of it that were measured: universal kriging.
///
/// The formulas are in docs/models/sampled.md#kriging. `prior`: s^2 has a scaled inverse chi^2 distribution before the
/// pieces are seen. Without it few pieces that happen to lie on a curve have a bar of nearly nothing.
///
/// @param measured  at least 5 pieces of positive cost and positive units, with a prior 4; x need not be sorted
/// @throws DomainError for less, or for values that are not finite
CurveIntegral integrate_curve(const std::vector<MeasuredPiece>& measured, const std::vector<CurvePiece>& gaps,
                              const ScatterPrior& prior = {});

}  // namespace hplcast::fit
