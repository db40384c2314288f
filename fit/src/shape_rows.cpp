#include "shape_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace hplcast::fit::detail {

long ShapeRows::calls() const noexcept {
  long sum = 0;
  for (const ShapeSummary& summary : shapes) sum += summary.count;
  return sum;
}

ShapeRows all_rows(const KernelTable& table) {
  return {table.shapes(), table.sample()};
}

ShapeRows rows_between(const ShapeRows& rows, const core::Monomial& split, double from, double to) {
  constexpr std::size_t not_here = static_cast<std::size_t>(-1);
  ShapeRows part;
  std::vector<std::size_t> place(rows.size(), not_here);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double where = split(rows.shapes[i].shape);
    if (where < from || where >= to) continue;
    place[i] = part.shapes.size();
    part.shapes.push_back(rows.shapes[i]);
  }
  for (const SampledCall& call : rows.sample)
    if (place[call.shape] != not_here) part.sample.push_back({place[call.shape], call.duration_s});
  return part;
}

std::vector<double> column_of(const ShapeRows& rows, const core::Monomial& term) {
  std::vector<double> column;
  column.reserve(rows.size());
  for (const ShapeSummary& summary : rows.shapes) column.push_back(term(summary.shape));
  return column;
}

double smallest_in_range(const core::Polynomial& polynomial, const core::ShapeRange& range) {
  const auto curved = [](const core::Monomial& term) { return term.m > 1 || term.n > 1 || term.k > 1; };
  const int steps = std::any_of(polynomial.terms().begin(), polynomial.terms().end(), curved) ? 8 : 1;
  const auto between = [&](double low, double high, int step) { return low + (high - low) * step / steps; };
  double smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= steps; ++i)
    for (int j = 0; j <= steps; ++j)
      for (int l = 0; l <= steps; ++l)
        smallest =
            std::min(smallest, polynomial({between(range.min.m, range.max.m, i), between(range.min.n, range.max.n, j),
                                           between(range.min.k, range.max.k, l)}));
  return smallest;
}

std::string short_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace hplcast::fit::detail
