#include "hplcast/fit/segmented_regression.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "break_test.hpp"
#include "hplcast/core/errors.hpp"
#include "line.hpp"
#include "split_search.hpp"

namespace hplcast::fit {

namespace {

using detail::Line;
using detail::Points;
using detail::Range;
using detail::Split;

struct Piece {
  Range range;
  Line line;
};
using Pieces = std::vector<Piece>;

double total_rss(const Points& points, const Pieces& pieces) {
  double sum = points.within;
  for (const Piece& piece : pieces) sum += piece.line.rss;
  return sum;
}

/// Splits the piece that gains most, again and again, past the least BIC: of two breakpoints that show only together
/// the first one gains little.
Pieces split_top_down(const Points& points, const SegmentedOptions& options) {
  const auto min_sizes = static_cast<std::size_t>(options.min_sizes);
  struct Candidate {
    Piece piece;
    Split split;
    bool operator<(const Candidate& other) const { return split.gain < other.split.gain; }
  };
  const auto candidate = [&](Range range, const Line& line) {
    return Candidate{{range, line}, detail::best_split(points, range, line, min_sizes)};
  };
  std::priority_queue<Candidate> open;
  const Range all{0, points.size()};
  open.push(candidate(all, detail::fit_line(points, all)));
  double rss = total_rss(points, {open.top().piece});
  while (open.size() < static_cast<std::size_t>(options.max_segments) && open.top().split.gain > 0 &&
         rss > points.floor) {
    const Candidate best = open.top();
    open.pop();
    rss -= best.split.gain;
    const Range range = best.piece.range;
    open.push(candidate({range.first, best.split.at}, best.split.left));
    open.push(candidate({best.split.at, range.last}, best.split.right));
  }
  Pieces pieces;
  for (; !open.empty(); open.pop()) pieces.push_back(open.top().piece);
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.range.first < b.range.first; });
  return pieces;
}

Piece merged(const Points& points, const Piece& left, const Piece& right) {
  const Range range{left.range.first, right.range.last};
  return {range, detail::fit_line(points, range)};
}

/// Takes away one breakpoint after the other, always the one that costs least, and returns the pieces of least BIC.
Pieces merge_bottom_up(const Points& points, Pieces pieces) {
  std::vector<Piece> unions;  // unions[i]: pieces i and i + 1 as one
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) unions.push_back(merged(points, pieces[i], pieces[i + 1]));
  Pieces best = pieces;
  double best_bic = detail::bic(points, total_rss(points, pieces), pieces.size());
  while (pieces.size() > 1) {
    std::size_t cheapest = 0;
    double least = 0;
    for (std::size_t i = 0; i < unions.size(); ++i) {
      const double loss = unions[i].line.rss - pieces[i].line.rss - pieces[i + 1].line.rss;
      if (i == 0 || loss < least) {
        least = loss;
        cheapest = i;
      }
    }
    const auto at = static_cast<std::ptrdiff_t>(cheapest);
    pieces[cheapest] = unions[cheapest];
    pieces.erase(pieces.begin() + at + 1);
    unions.erase(unions.begin() + at);
    if (cheapest > 0) unions[cheapest - 1] = merged(points, pieces[cheapest - 1], pieces[cheapest]);
    if (cheapest < unions.size()) unions[cheapest] = merged(points, pieces[cheapest], pieces[cheapest + 1]);
    const double bic = detail::bic(points, total_rss(points, pieces), pieces.size());
    if (bic <= best_bic) {
      best_bic = bic;
      best = pieces;
    }
  }
  return best;
}

/// Moves each breakpoint to the best place between its neighbours until none moves.
void settle(const Points& points, Pieces& pieces, std::size_t min_sizes) {
  constexpr int max_rounds = 20;
  bool moved = true;
  for (int round = 0; round < max_rounds && moved; ++round) {
    moved = false;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const Piece both = merged(points, pieces[i], pieces[i + 1]);
      const Split split = detail::best_split(points, both.range, both.line, min_sizes);
      const double now = pieces[i].line.rss + pieces[i + 1].line.rss;
      if (!(split.gain > 0) || !(split.left.rss + split.right.rss < now * (1 - 1e-12) - points.floor * 1e-3)) continue;
      pieces[i] = {{both.range.first, split.at}, split.left};
      pieces[i + 1] = {{split.at, both.range.last}, split.right};
      moved = true;
    }
  }
}

double break_probability(const Points& points, const Piece& left, const Piece& right) {
  return detail::same_line_probability(points, left.range, left.line, right.range, right.line);
}

/// Removes the least significant breakpoint until all are significant; the others settle each time.
void remove_insignificant(const Points& points, Pieces& pieces, const SegmentedOptions& options) {
  const double level = options.significance / static_cast<double>(points.size());
  while (pieces.size() > 1) {
    std::size_t worst = 0;
    double probability = -1;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const double p = break_probability(points, pieces[i], pieces[i + 1]);
      if (p > probability) {
        probability = p;
        worst = i;
      }
    }
    if (probability <= level) return;
    pieces[worst] = merged(points, pieces[worst], pieces[worst + 1]);
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(worst) + 1);
    settle(points, pieces, static_cast<std::size_t>(options.min_sizes));
  }
}

/// Adds the breakpoint that lowers the BIC most, if there is a significant one. False if not.
bool add_breakpoint(const Points& points, Pieces& pieces, const SegmentedOptions& options) {
  const auto min_sizes = static_cast<std::size_t>(options.min_sizes);
  const double level = options.significance / static_cast<double>(points.size());
  const double rss = total_rss(points, pieces);
  const double now = detail::bic(points, rss, pieces.size());
  std::size_t where = pieces.size();
  Split best;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Split split = detail::best_split(points, pieces[i].range, pieces[i].line, min_sizes);
    if (!(split.gain > best.gain)) continue;
    const Range range = pieces[i].range;
    if (options.significance < 1 &&
        break_probability(points, {{range.first, split.at}, split.left}, {{split.at, range.last}, split.right}) > level)
      continue;
    best = split;
    where = i;
  }
  if (where == pieces.size() || !(detail::bic(points, rss - best.gain, pieces.size() + 1) < now)) return false;
  const Range range = pieces[where].range;
  pieces[where] = {{range.first, best.at}, best.left};
  pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(where) + 1, {{best.at, range.last}, best.right});
  return true;
}

Pieces search(const Points& points, const SegmentedOptions& options) {
  const auto min_sizes = static_cast<std::size_t>(options.min_sizes);
  Pieces pieces = merge_bottom_up(points, split_top_down(points, options));
  settle(points, pieces, min_sizes);
  if (options.significance < 1) remove_insignificant(points, pieces, options);
  for (int added = 0; added < options.max_segments && add_breakpoint(points, pieces, options); ++added) {
    settle(points, pieces, min_sizes);
    if (options.significance < 1) remove_insignificant(points, pieces, options);
  }
  return pieces;
}

/// The pieces between given breakpoints; those without a point are left out.
Pieces cut(const Points& points, const std::vector<double>& breakpoints) {
  Pieces pieces;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= breakpoints.size(); ++i) {
    const std::size_t last =
        i == breakpoints.size()
            ? points.size()
            : static_cast<std::size_t>(std::lower_bound(points.x.begin(), points.x.end(), breakpoints[i]) -
                                       points.x.begin());
    if (last > first) pieces.push_back({{first, last}, detail::fit_line(points, {first, last})});
    first = std::max(first, last);
  }
  return pieces;
}

/// Strictly between two sizes: both readings of a limit (x < b, x <= b) then mean the same.
double between(double left, double right) {
  const double middle = left > 0 ? std::sqrt(left * right) : right / 2;
  const double whole = std::round(middle);
  return whole > left && whole < right ? whole : middle;
}

FittedSegment segment_of(const Points& points, const Piece& piece) {
  FittedSegment segment{
      0, piece.line.slope, piece.line.intercept, 0, static_cast<long>(piece.range.size()), piece.line.rss};
  for (std::size_t i = piece.range.first; i < piece.range.last; ++i) segment.n += points.rows[i];
  return segment;
}

void check_options(const std::vector<SizeCell>& cells, const SegmentedOptions& options) {
  if (options.min_sizes < 2) throw core::DomainError("min_sizes", options.min_sizes, "at least 2");
  if (options.max_segments < 1) throw core::DomainError("max_segments", options.max_segments, "at least 1");
  if (!(options.significance > 0 && options.significance <= 1))
    throw core::DomainError("significance", options.significance, "a number in (0, 1]");
  if (options.breakpoints) {
    double previous = 0;
    for (double b : *options.breakpoints) {
      if (!std::isfinite(b) || !(b > previous)) throw core::DomainError("breakpoint", b, "ascending numbers above 0");
      previous = b;
    }
  }
  for (std::size_t i = 1; i < cells.size(); ++i)
    if (!(cells[i - 1].size < cells[i].size)) throw core::DomainError("size", cells[i].size, "ascending sizes");
}

void assign_starts(const Points& points, const Pieces& pieces, const SegmentedOptions& options, SegmentedFit& fit) {
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const double left = points.x[pieces[i].range.first - 1], right = points.x[pieces[i].range.first];
    fit.segments[i].min = between(left, right);
    if (!options.breakpoints) continue;
    const auto& given = *options.breakpoints;
    fit.segments[i].min = *(std::upper_bound(given.begin(), given.end(), right) - 1);
  }
}

}  // namespace

const char* to_string(Objective objective) {
  switch (objective) {
    case Objective::ols:
      return "ols";
    case Objective::weighted:
      return "weighted";
    case Objective::log:
      break;
  }
  return "log";
}

Objective objective_from_name(const std::string& name) {
  for (const Objective objective : {Objective::ols, Objective::weighted, Objective::log})
    if (name == to_string(objective)) return objective;
  throw core::DomainError("objective", name, "ols, weighted or log");
}

const char* to_string(SegmentedStatus status) {
  switch (status) {
    case SegmentedStatus::ok:
      return "ok";
    case SegmentedStatus::no_rows:
      return "no_rows";
    case SegmentedStatus::too_few_sizes:
      return "too_few_sizes";
    case SegmentedStatus::bad_values:
      break;
  }
  return "bad_values";
}

std::vector<double> SegmentedFit::breakpoints() const {
  std::vector<double> starts;
  for (std::size_t i = 1; i < segments.size(); ++i) starts.push_back(segments[i].min);
  return starts;
}

const FittedSegment& SegmentedFit::at(double x) const noexcept {
  const auto after = std::upper_bound(segments.begin() + 1, segments.end(), x,
                                      [](double value, const FittedSegment& s) { return value < s.min; });
  return *(after - 1);
}

double SegmentedFit::operator()(double x) const noexcept {
  const FittedSegment& segment = at(x);
  return segment.intercept + segment.slope * x;
}

SegmentedFit fit_segmented(const std::vector<SizeCell>& cells, const SegmentedOptions& options) {
  check_options(cells, options);
  SegmentedFit fit;
  fit.objective = options.objective;
  if (cells.empty()) {
    fit.reason = "no rows";
    return fit;
  }
  if (options.objective == Objective::weighted && cells.front().size == 0) {
    fit.status = SegmentedStatus::bad_values;
    fit.reason = "the objective `weighted` divides by the size, and there are rows of size 0";
    return fit;
  }
  const Points points = detail::make_points(cells, options.objective, options.non_negative);
  const Pieces pieces = options.breakpoints ? cut(points, *options.breakpoints) : search(points, options);
  fit.status = SegmentedStatus::ok;
  for (const Piece& piece : pieces) {
    fit.segments.push_back(segment_of(points, piece));
    if (piece.range.size() > 1) continue;
    fit.status = SegmentedStatus::too_few_sizes;
    fit.reason = "only one distinct size in a segment: its slope is not determined and was set to 0";
  }
  assign_starts(points, pieces, options, fit);
  fit.rss = total_rss(points, pieces);
  fit.bic = detail::bic(points, fit.rss, pieces.size());
  return fit;
}

double segmented_bic(const std::vector<SizeCell>& cells, Objective objective,
                     const std::vector<FittedSegment>& segments) {
  const Points points = detail::make_points(cells, objective, false);
  double rss = points.within;
  std::size_t i = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    while (i + 1 < segments.size() && points.x[p] >= segments[i + 1].min) ++i;
    rss += detail::residual_sum(points, {p, p + 1}, {segments[i].intercept, segments[i].slope, 0});
  }
  return detail::bic(points, rss, segments.size());
}

}  // namespace hplcast::fit
