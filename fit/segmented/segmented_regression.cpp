#include "hplcast/fit/segmented_regression.hpp"

#include <algorithm>
#include <cmath>

#include "fit/segmented/segments.hpp"
#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"

namespace hplcast::fit {

void SamplesBySize::add(double size, double duration_s) {
  if (!(size >= 0) || !std::isfinite(size)) throw core::DomainError("size", size, "a finite number >= 0");
  core::require(duration_s > 0 && std::isfinite(duration_s), "duration_s", duration_s, "a finite number > 0");
  SizeCell& cell = cells_[size];
  cell.size = size;
  const auto n = static_cast<double>(++cell.rows);
  detail::update_moments(n, duration_s, cell.mean, cell.m2);
  detail::update_moments(n, std::log(duration_s), cell.mean_log, cell.m2_log);
  ++rows_;
}

std::vector<SizeCell> SamplesBySize::cells() const {
  std::vector<SizeCell> sorted;
  for (const auto& entry : cells_) sorted.push_back(entry.second);
  std::sort(sorted.begin(), sorted.end(), [](const SizeCell& a, const SizeCell& b) { return a.size < b.size; });
  return sorted;
}

std::vector<SizeCell> averaged(std::vector<SizeCell> cells) {
  for (SizeCell& cell : cells) cell = SizeCell{cell.size, 1, cell.mean, 0, std::log(cell.mean), 0};
  return cells;
}

double detail::between(double left, double right) {
  const double middle = left > 0 ? std::sqrt(left * right) : right / 2;
  const double whole = std::round(middle);
  return whole > left && whole < right ? whole : middle;
}

namespace {

using detail::Piece;
using detail::Pieces;
using detail::Points;

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

FittedSegment segment_of(const Points& points, const Piece& piece) {
  FittedSegment segment{
      0, piece.line.slope, piece.line.intercept, 0, static_cast<long>(piece.range.size()), piece.line.rss};
  for (std::size_t i = piece.range.first; i < piece.range.last; ++i) segment.n += points.rows[i];
  return segment;
}

/// Counts of rows and sizes, and the residuals, of segments whose starts and lines are known.
void count_rows(const Points& points, std::vector<FittedSegment>& segments) {
  std::size_t i = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    while (i + 1 < segments.size() && points.x[p] >= segments[i + 1].min) ++i;
    segments[i].n += points.rows[p];
    ++segments[i].sizes;
    segments[i].rss += detail::residual_sum(points, {p, p + 1}, {segments[i].intercept, segments[i].slope, 0});
  }
}

/// Joins the lines at the breakpoints: those given, or those that the search without joining found, moved to fit.
void fit_continuous(const Points& points, const SegmentedOptions& options, const std::vector<double>& found,
                    SegmentedFit& fit) {
  const detail::JoinedLines lines =
      options.breakpoints ? detail::fit_joined(points, found)
                          : detail::refine_joined(points, found, static_cast<std::size_t>(options.min_sizes));
  fit.segments.clear();
  double value = lines.start;
  for (std::size_t i = 0; i < lines.slopes.size(); ++i) {
    FittedSegment segment;
    segment.min = i == 0 ? 0 : lines.knots[i - 1];
    if (i > 0) value += lines.slopes[i - 1] * (segment.min - fit.segments.back().min);
    segment.slope = lines.slopes[i];
    segment.intercept = value - lines.slopes[i] * segment.min;
    fit.segments.push_back(segment);
  }
  count_rows(points, fit.segments);
  fit.rss = points.within + lines.rss;
  fit.bic = detail::bic(points, fit.rss, fit.segments.size(), true);
}

void assign_starts(const Points& points, const Pieces& pieces, const SegmentedOptions& options, SegmentedFit& fit) {
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const double left = points.x[pieces[i].range.first - 1], right = points.x[pieces[i].range.first];
    fit.segments[i].min = detail::between(left, right);
    if (!options.breakpoints) continue;
    const auto& given = *options.breakpoints;
    fit.segments[i].min = *(std::upper_bound(given.begin(), given.end(), right) - 1);
  }
}

}  // namespace

void validate(const SegmentedOptions& options) {
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
}

std::vector<double> SegmentedFit::breakpoints() const {
  std::vector<double> starts;
  for (std::size_t i = 1; i < segments.size(); ++i) starts.push_back(segments[i].min);
  return starts;
}

const FittedSegment& segment_at(const std::vector<FittedSegment>& segments, double x) noexcept {
  const auto after = std::upper_bound(segments.begin() + 1, segments.end(), x,
                                      [](double value, const FittedSegment& s) { return value < s.min; });
  return *(after - 1);
}

SegmentedFit fit_segmented(const std::vector<SizeCell>& cells, const SegmentedOptions& options) {
  validate(options);
  for (std::size_t i = 1; i < cells.size(); ++i)
    if (!(cells[i - 1].size < cells[i].size)) throw core::DomainError("size", cells[i].size, "ascending sizes");
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
  const Pieces pieces = options.breakpoints ? cut(points, *options.breakpoints) : detail::best_pieces(points, options);
  fit.status = SegmentedStatus::ok;
  for (const Piece& piece : pieces) {
    fit.segments.push_back(segment_of(points, piece));
    if (piece.range.size() > 1) continue;
    fit.status = SegmentedStatus::too_few_sizes;
    fit.reason = "only one distinct size in a segment: its slope is not determined and was set to 0";
  }
  assign_starts(points, pieces, options, fit);
  if (fit.reason.empty() && options.breakpoints && pieces.size() <= options.breakpoints->size())
    fit.reason = "breakpoints without rows on both sides, up to the next, are left out";
  fit.rss = detail::total_rss(points, pieces);
  fit.bic = detail::bic(points, fit.rss, pieces.size());
  if (options.continuous && points.size() > 1) fit_continuous(points, options, fit.breakpoints(), fit);
  return fit;
}

SegmentNoiseCollector::SegmentNoiseCollector(std::vector<FittedSegment> segments, ResidualKind kind)
    : segments_(std::move(segments)), kind_(kind), residuals_(segments_.size()) {}

void SegmentNoiseCollector::add(double x, double y) {
  constexpr std::size_t capacity = 5000;
  const FittedSegment& segment = segment_at(segments_, x);
  Residuals& residuals = residuals_[static_cast<std::size_t>(&segment - segments_.data())];
  const bool relative = kind_ == ResidualKind::relative;
  const double fit = segment(x);
  if (relative && !(fit > 0)) return;
  const double residual = relative ? std::log(y / fit) : y - fit;
  ++residuals.rows;
  if (relative) residuals.ratios += y / fit;
  detail::update_moments(static_cast<double>(residuals.rows), residual, residuals.mean, residuals.m2);
  detail::keep_in_reservoir(residuals.sample, capacity, residuals.rows, residual);
}

std::vector<SegmentNoise> SegmentNoiseCollector::noise(SegmentNoiseKind kind) const {
  std::vector<SegmentNoise> all;
  for (const Residuals& residuals : residuals_) {
    SegmentNoise noise;
    constexpr long coefficients = 2;  // of the line, fitted to these rows
    if (residuals.rows > coefficients && kind != SegmentNoiseKind::none) {
      noise.mean = residuals.mean;
      noise.sd = std::sqrt(residuals.m2 / static_cast<double>(residuals.rows - coefficients));
      if (kind == SegmentNoiseKind::mixture) {
        noise.modes = fit_gaussian_mixture(residuals.sample);
      } else if (kind_ == ResidualKind::relative) {
        noise.modes = {{1, noise.mean, noise.sd}};
      }
      if (kind_ == ResidualKind::relative) noise.mean_ratio = residuals.ratios / static_cast<double>(residuals.rows);
      noise.sample = residuals.sample;
    }
    all.push_back(std::move(noise));
  }
  return all;
}

}  // namespace hplcast::fit
