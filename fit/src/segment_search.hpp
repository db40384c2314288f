#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "split_search.hpp"

namespace hplcast::fit::detail {

/// A range of points and its line.
struct Piece {
  Range range;
  Line line;
};
using Pieces = std::vector<Piece>;

/// Sum over the pieces, with the part inside the sizes.
double total_rss(const Points& points, const Pieces& pieces);

/// The search of fit_segmented() for the number and the places of the breakpoints. What was once fitted is kept: the
/// same ranges come up again and again.
class SegmentSearch {
 public:
  SegmentSearch(const Points& points, const SegmentedOptions& options);
  Pieces best();

 private:
  const Line& line(Range range);
  const Split& split(Range range);
  Piece piece(Range range) { return {range, line(range)}; }
  Piece merged(const Pieces& pieces, std::size_t left);
  double bic(const Pieces& pieces) const;

  /// Splits the piece that gains most, again and again, past the least BIC: of two breakpoints that show only together
  /// the first one gains little.
  Pieces split_top_down();
  /// Takes away one breakpoint after the other, always the one that costs least: a solution for every number of pieces.
  std::vector<Pieces> merge_bottom_up(Pieces pieces);
  /// Moves, removes and adds breakpoints as long as the BIC falls.
  Pieces refined(Pieces pieces);
  /// Moves each breakpoint to the best place between its neighbours until none moves.
  void settle(Pieces& pieces);
  /// Removes, one by one, breakpoints that are not significant or not worth their BIC; the others settle each time.
  void drop_idle(Pieces& pieces);
  /// The breakpoint to drop, or pieces.size().
  std::size_t most_idle(const Pieces& pieces);
  /// Adds the significant breakpoint that lowers the rss most. False if there is none.
  bool add_breakpoint(Pieces& pieces);
  /// That left and right are one line; exact only where it is above level_.
  double probability(const Piece& left, const Piece& right);

  const Points& points_;
  const SegmentedOptions& options_;
  std::size_t min_sizes_;
  double level_;
  std::unordered_map<std::uint64_t, Line> lines_;
  std::unordered_map<std::uint64_t, Split> splits_;
  std::map<std::array<std::size_t, 3>, double> probabilities_;  ///< by first, breakpoint, last
};

}  // namespace hplcast::fit::detail
