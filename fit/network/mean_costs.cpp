#include <algorithm>

#include "fit/network/network_steps.hpp"

namespace hplcast::fit::detail {

namespace {

/// Sizes for which an operation has a line: MPI_Send and MPI_Recv wait for each other from detached_bytes on.
bool has_line(SizedOperation operation, double size_bytes, double detached_bytes) {
  const bool overhead = operation == op_send || operation == op_recv;
  return !overhead || size_bytes < detached_bytes;
}

std::vector<SizeCell> with_line(std::vector<SizeCell> cells, SizedOperation operation, double detached_bytes) {
  cells.erase(std::remove_if(cells.begin(), cells.end(),
                             [&](const SizeCell& c) { return !has_line(operation, c.size, detached_bytes); }),
              cells.end());
  return cells;
}

struct Capped {
  SamplesBySize by_size;
  CappedCalls calls;
};

}  // namespace

std::array<ScopeCappedCalls, 2> keep_means(const MpiRows& rows, const NetworkFitOptions& options, double detached_bytes,
                                           MpiSamples& samples, std::array<ScopeLines, 2>& lines) {
  const auto for_each = [&](const auto& action) {
    for (const core::Scope scope : {core::Scope::local, core::Scope::remote})
      for (int o = 0; o < sized_operation_count; ++o) {
        auto& of = lines[static_cast<std::size_t>(scope)].of[static_cast<std::size_t>(o)];
        if (!of.empty())
          action(scope, static_cast<SizedOperation>(o), of, samples.scope(scope).sized[static_cast<std::size_t>(o)]);
      }
  };
  const bool given = options.breakpoints.has_value(), robust = options.filter == RowFilter::robust;
  const auto fit = [&](SizedOperation operation, std::vector<FittedSegment>& of, const SizedSamples& sized, bool last) {
    of = fit_means(with_line(sized.by_size.cells(), operation, detached_bytes), of,
                   last && !given ? &options.regression : nullptr);
  };
  for_each([&](core::Scope, SizedOperation operation, std::vector<FittedSegment>& of, const SizedSamples& sized) {
    fit(operation, of, sized, !robust);
  });
  std::array<ScopeCappedCalls, 2> all{};
  if (!robust) return all;
  std::array<std::array<Capped, sized_operation_count>, 2> capped;
  for_sized_rows(rows, [&](core::Scope scope, SizedOperation operation, const core::MpiMeasurement& row) {
    const auto s = static_cast<std::size_t>(scope);
    const std::vector<FittedSegment>& of = lines[s].of[operation];
    auto& [by_size, calls] = capped[s][operation];
    double counted_s = row.duration_s;
    if (!of.empty() && has_line(operation, row.size_bytes, detached_bytes))
      counted_s = std::min(counted_s, most_times_expected * segment_at(of, row.size_bytes)(row.size_bytes));
    by_size.add(row.size_bytes, counted_s);
    calls.rows += counted_s < row.duration_s ? 1 : 0;
    calls.above_s += row.duration_s - counted_s;
    calls.all_s += row.duration_s;
  });
  for_each([&](core::Scope scope, SizedOperation operation, std::vector<FittedSegment>& of, SizedSamples& sized) {
    Capped& one = capped[static_cast<std::size_t>(scope)][operation];
    sized.by_size = std::move(one.by_size);
    all[static_cast<std::size_t>(scope)][operation] = one.calls;
    fit(operation, of, sized, true);
  });
  return all;
}

}  // namespace hplcast::fit::detail
