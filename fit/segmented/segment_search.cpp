#include "fit/segmented/segments.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <queue>
#include <unordered_map>

namespace hplcast::fit::detail {

namespace {

std::uint64_t key(Range range) {
  return (static_cast<std::uint64_t>(range.first) << 32) | range.last;
}

std::ptrdiff_t offset(std::size_t i) {
  return static_cast<std::ptrdiff_t>(i);
}

/// Keeps its fits: the same ranges come up again and again.
class SegmentSearch {
 public:
  SegmentSearch(const Points& points, const SegmentedOptions& options)
      : points_(points),
        options_(options),
        min_sizes_(static_cast<std::size_t>(options.min_sizes)),
        // Bonferroni's correction for the places that a breakpoint could have been at; 1 asks for no test.
        level_(options.significance < 1 ? options.significance / static_cast<double>(points.size()) : 1) {}

  Pieces best() {
    const std::vector<Pieces> solutions = merge_bottom_up(split_top_down());
    const auto least = [this](const Pieces& a, const Pieces& b) { return bic(a) < bic(b); };
    Pieces best = refined(*std::min_element(solutions.begin(), solutions.end(), least));
    // Merging alone may have lost the best place for few breakpoints: start from fewer, too.
    constexpr std::size_t few = 10;
    for (const Pieces& start : solutions) {
      if (start.size() > few) continue;
      Pieces other = refined(start);
      if (least(other, best)) best = std::move(other);
    }
    return best;
  }

 private:
  const Line& line(Range range) {
    const auto [entry, is_new] = lines_.try_emplace(key(range));
    if (is_new) entry->second = fit_line(points_, range);
    return entry->second;
  }

  const Split& split(Range range) {
    const auto [entry, is_new] = splits_.try_emplace(key(range));
    if (is_new) {
      entry->second = best_split(points_, range, line(range), min_sizes_);
      if (entry->second.gain > 0) {
        lines_.emplace(key({range.first, entry->second.at}), entry->second.left);
        lines_.emplace(key({entry->second.at, range.last}), entry->second.right);
      }
    }
    return entry->second;
  }

  Piece piece(Range range) { return {range, line(range)}; }

  Piece merged(const Pieces& pieces, std::size_t left) {
    return piece({pieces[left].range.first, pieces[left + 1].range.last});
  }

  double bic(const Pieces& pieces) const { return detail::bic(points_, total_rss(points_, pieces), pieces.size()); }

  /// Probability that left and right are one line; exact only where it is above level_.
  double probability(const Piece& left, const Piece& right) {
    const auto [entry, is_new] = probabilities_.try_emplace({left.range.first, right.range.first, right.range.last});
    if (is_new) entry->second = same_line_probability(points_, left.range, left.line, right.range, right.line, level_);
    return entry->second;
  }

  /// Splits the piece that gains most, again and again, past the least BIC: of two breakpoints that show only together
  /// the first one gains little.
  Pieces split_top_down() {
    const auto gains_less = [this](const Piece& a, const Piece& b) {
      return split(a.range).gain < split(b.range).gain;
    };
    std::priority_queue<Piece, Pieces, decltype(gains_less)> open(gains_less);
    open.push(piece({0, points_.size()}));
    double rss = points_.within + open.top().line.rss;
    while (open.size() < static_cast<std::size_t>(options_.max_segments) && split(open.top().range).gain > 0 &&
           rss > points_.floor) {
      const Range range = open.top().range;
      const Split best = split(range);
      open.pop();
      rss -= best.gain;
      open.push({{range.first, best.at}, best.left});
      open.push({{best.at, range.last}, best.right});
    }
    Pieces pieces;
    for (; !open.empty(); open.pop()) pieces.push_back(open.top());
    std::sort(pieces.begin(), pieces.end(),
              [](const Piece& a, const Piece& b) { return a.range.first < b.range.first; });
    return pieces;
  }

  /// Takes away one breakpoint after the other, always the one that costs least: a solution for every number of pieces.
  std::vector<Pieces> merge_bottom_up(Pieces pieces) {
    std::vector<Pieces> solutions = {pieces};
    while (pieces.size() > 1) {
      std::size_t cheapest = 0;
      double least = 0;
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
        const double loss = merged(pieces, i).line.rss - pieces[i].line.rss - pieces[i + 1].line.rss;
        if (i == 0 || loss < least) {
          least = loss;
          cheapest = i;
        }
      }
      pieces[cheapest] = merged(pieces, cheapest);
      pieces.erase(pieces.begin() + offset(cheapest) + 1);
      solutions.push_back(pieces);
    }
    return solutions;
  }

  /// Moves each breakpoint to the best place between its neighbours until none moves.
  void settle(Pieces& pieces) {
    constexpr int max_rounds = 20;
    const double negligible = 1e-3 * points_.floor;
    bool moved = true;
    for (int round = 0; round < max_rounds && moved; ++round) {
      moved = false;
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
        const Range both{pieces[i].range.first, pieces[i + 1].range.last};
        const Split& best = split(both);
        const double now = pieces[i].line.rss + pieces[i + 1].line.rss;
        if (!(best.gain > 0) || !(best.left.rss + best.right.rss < now * (1 - 1e-12) - negligible)) continue;
        pieces[i] = {{both.first, best.at}, best.left};
        pieces[i + 1] = {{best.at, both.last}, best.right};
        moved = true;
      }
    }
  }

  /// The breakpoint to drop, or pieces.size().
  std::size_t most_idle(const Pieces& pieces) {
    std::size_t worst = pieces.size();
    double worst_probability = level_;
    for (std::size_t i = 0; level_ < 1 && i + 1 < pieces.size(); ++i) {
      const double p = probability(pieces[i], pieces[i + 1]);
      if (p <= worst_probability) continue;
      worst_probability = p;
      worst = i;
    }
    if (worst < pieces.size()) return worst;
    const double rss = total_rss(points_, pieces);
    double least = bic(pieces);
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const double loss = merged(pieces, i).line.rss - pieces[i].line.rss - pieces[i + 1].line.rss;
      const double without = detail::bic(points_, rss + loss, pieces.size() - 1);
      if (without > least) continue;
      least = without;
      worst = i;
    }
    return worst;
  }

  /// Removes, one by one, breakpoints that are not significant or not worth their BIC; the others settle each time.
  void drop_idle(Pieces& pieces) {
    while (pieces.size() > 1) {
      const std::size_t idle = most_idle(pieces);
      if (idle == pieces.size()) return;
      pieces[idle] = merged(pieces, idle);
      pieces.erase(pieces.begin() + offset(idle) + 1);
      settle(pieces);
    }
  }

  /// Adds the significant breakpoint that lowers the rss most. False if there is none.
  bool add_breakpoint(Pieces& pieces) {
    std::size_t where = pieces.size();
    Split best;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Range range = pieces[i].range;
      const Split& candidate = split(range);
      if (!(candidate.gain > best.gain)) continue;
      const Piece left{{range.first, candidate.at}, candidate.left}, right{{candidate.at, range.last}, candidate.right};
      if (level_ < 1 && probability(left, right) > level_) continue;
      best = candidate;
      where = i;
    }
    if (where == pieces.size()) return false;
    const Range range = pieces[where].range;
    pieces[where] = {{range.first, best.at}, best.left};
    pieces.insert(pieces.begin() + offset(where) + 1, {{best.at, range.last}, best.right});
    return true;
  }

  /// Moves, removes and adds breakpoints as long as the BIC falls.
  Pieces refined(Pieces pieces) {
    settle(pieces);
    drop_idle(pieces);
    for (Pieces more = pieces; pieces.size() < static_cast<std::size_t>(options_.max_segments); more = pieces) {
      if (!add_breakpoint(more)) break;
      settle(more);
      drop_idle(more);
      if (!(bic(more) < bic(pieces))) break;
      pieces = more;
    }
    return pieces;
  }

  const Points& points_;
  const SegmentedOptions& options_;
  std::size_t min_sizes_;
  double level_;
  std::unordered_map<std::uint64_t, Line> lines_;
  std::unordered_map<std::uint64_t, Split> splits_;
  std::map<std::array<std::size_t, 3>, double> probabilities_;  ///< by first, breakpoint, last
};

}  // namespace

double total_rss(const Points& points, const Pieces& pieces) {
  double sum = points.within;
  for (const Piece& piece : pieces) sum += piece.line.rss;
  return sum;
}

Pieces best_pieces(const Points& points, const SegmentedOptions& options) {
  return SegmentSearch(points, options).best();
}

}  // namespace hplcast::fit::detail
