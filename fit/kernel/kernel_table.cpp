#include "hplcast/fit/kernel_table.hpp"

#include <algorithm>
#include <boost/functional/hash.hpp>
#include <cmath>
#include <limits>
#include <tuple>

#include "fit/kernel/kernel_regression.hpp"
#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::fit {

std::size_t KernelTable::ShapeHash::operator()(const core::KernelShape& shape) const noexcept {
  return boost::hash_value(std::tie(shape.m, shape.n, shape.k));
}

void KernelTable::add(const core::KernelShape& shape, double duration_s) {
  for (const auto& [name, value] :
       {std::pair("m", shape.m), std::pair("n", shape.n), std::pair("k", shape.k), std::pair("duration_s", duration_s)})
    core::require(std::isfinite(value) && value > 0, name, value, "a finite number above 0");

  const auto [place, is_new] = index_.try_emplace(shape, shapes_.size());
  if (is_new) shapes_.push_back({shape, 0, 0, 0, duration_s, duration_s});
  ShapeSummary& summary = shapes_[place->second];
  ++summary.count;
  detail::update_moments(static_cast<double>(summary.count), duration_s, summary.mean_s, summary.squares_s2);
  summary.min_s = std::min(summary.min_s, duration_s);
  summary.max_s = std::max(summary.max_s, duration_s);

  ++rows_;
  total_s_ += duration_s;
  const SampledCall call{place->second, duration_s};
  if (first_calls_.size() < first_calls_kept) first_calls_.push_back(call);
  if (sample_.size() < sample_size) {
    sample_.push_back(call);
  } else if (const std::uint64_t slot = stream_.below(static_cast<std::uint64_t>(rows_)); slot < sample_size) {
    sample_[slot] = call;
  }
}

core::ShapeRange range_of(const std::vector<ShapeSummary>& shapes) noexcept {
  if (shapes.empty()) return {};
  core::ShapeRange range{shapes.front().shape, shapes.front().shape};
  for (const ShapeSummary& summary : shapes) {
    const core::KernelShape& shape = summary.shape;
    range.min = {std::min(range.min.m, shape.m), std::min(range.min.n, shape.n), std::min(range.min.k, shape.k)};
    range.max = {std::max(range.max.m, shape.m), std::max(range.max.n, shape.n), std::max(range.max.k, shape.k)};
  }
  return range;
}

void add_kernel_csv(std::istream& in, const std::string& name, const KernelCsvOptions& options, GroupedTables& tables) {
  for (const std::string& column : options.by)
    core::require(std::count(options.by.begin(), options.by.end(), column) <= 1, "by", column, "each column once");
  // Kernel and host come from the row, which knows the names that they can have; the rest from the file as it stands.
  std::vector<std::string> columns;
  for (const std::string& column : options.by)
    if (column != "kernel" && column != "host") columns.push_back(column);
  const bool all_contents =
      options.all_contents || std::find(options.by.begin(), options.by.end(), "content") != options.by.end();
  std::vector<std::string> group(options.by.size());
  core::read_kernel_csv(
      in, name, options.default_kernel, columns,
      [&](const core::KernelMeasurement& row, const std::vector<std::string>& texts) {
        if (is_empty(row) || (!options.only_kernel.empty() && row.kernel != options.only_kernel)) return;
        if (options.only_designed && !is_designed(row)) return;
        std::size_t next = 0;
        for (std::size_t i = 0; i < options.by.size(); ++i)
          group[i] = options.by[i] == "kernel" ? row.kernel : options.by[i] == "host" ? row.host : texts[next++];
        KernelTable& table = tables[group];
        const auto warm_up = table.rows_set_aside().find("warm-up");
        const bool is_warm = options.skip_first <= (warm_up == table.rows_set_aside().end() ? 0 : warm_up->second);
        if (is_warm || !reason_to_set_aside(row, all_contents).empty()) {
          add_row(row, table, all_contents);
        } else {
          table.set_aside("warm-up");
        }
      });
}

detail::ShapeRows detail::rows_between(const ShapeRows& rows, const core::Monomial& split, double from, double to) {
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

std::vector<double> detail::column_of(const ShapeRows& rows, const core::Monomial& term) {
  return core::mapped(rows.shapes, [&](const ShapeSummary& summary) { return term(summary.shape); });
}

double detail::smallest_in_range(const core::Polynomial& polynomial, const core::ShapeRange& range) {
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

std::string detail::short_number(double value) {
  return core::printed("%.4g", value);
}

}  // namespace hplcast::fit
