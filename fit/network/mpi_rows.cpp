#include "fit/network/network_steps.hpp"

#include <algorithm>

#include "fit/stats/robust_statistics.hpp"

namespace hplcast::fit::detail {

namespace {

/// Sizes and durations of calls in a row.
using Visit = std::vector<std::pair<double, double>>;
constexpr std::size_t calls_of_a_visit = 10;

/// The published filter: those between the 10 and 90 % quantiles.
void add_visit(Visit& visit, SizedSamples& samples) {
  std::vector<double> sorted;
  for (const auto& [size, duration_s] : visit) sorted.push_back(duration_s);
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [size, duration_s] : visit) {
    if (duration_s < quantile(sorted, 0.1) || duration_s > quantile(sorted, 0.9)) {
      ++samples.set_aside;
    } else {
      samples.by_size.add(size, duration_s);
    }
  }
  visit.clear();
}

}  // namespace

bool ScopeSamples::empty() const {
  return unmatched.empty() &&
         std::all_of(sized.begin(), sized.end(), [](const SizedSamples& s) { return s.by_size.rows() == 0; });
}

int sized_operation(const std::string& name) {
  const auto found = std::find(sized_operation_names.begin(), sized_operation_names.end(), name);
  return found == sized_operation_names.end() ? -1 : static_cast<int>(found - sized_operation_names.begin());
}

MpiSamples collect(const MpiRows& rows, const NetworkFitOptions& options, const KeepRow& keep) {
  MpiSamples samples;
  std::map<SizedSamples*, Visit> visits;
  rows([&](const core::MpiMeasurement& row) {
    const core::Scope which = core::from_name<core::Scope>(row.scope);
    ScopeSamples& scope = samples.scope(which);
    const int operation = sized_operation(row.operation);
    if (operation >= 0) {
      SizedSamples& sized = scope.sized[static_cast<std::size_t>(operation)];
      if (!row.error.empty()) {
        ++sized.failed;
      } else if (options.filter == RowFilter::visits && operation != op_pingpong) {
        Visit& visit = visits[&sized];
        visit.emplace_back(row.size_bytes, row.duration_s);
        if (visit.size() == calls_of_a_visit) add_visit(visit, sized);
      } else if (keep && !keep(which, static_cast<SizedOperation>(operation), row)) {
        ++sized.set_aside;
      } else {
        sized.by_size.add(row.size_bytes, row.duration_s);
      }
    } else if (row.error.empty() && row.operation == "send_unmatched") {
      UnmatchedCount& count = scope.unmatched[row.size_bytes];
      ++count.sends;
      if (row.duration_s >= options.receive_delay_s / 2) ++count.waited;
    } else if (row.error.empty()) {
      const auto probe = samples.probes_s.find(row.operation);
      if (probe != samples.probes_s.end()) probe->second.add(row.duration_s);
    }
  });
  for (auto& [sized, visit] : visits) add_visit(visit, *sized);
  return samples;
}

ImportedRows imported_rows(const MpiRows& rows) {
  ImportedRows imported;
  rows([&](const core::MpiMeasurement& row) {
    if (row.source.empty() || !row.error.empty()) return;
    ++imported.rows[row.source];
    if (row.operation != "stream") return;
    double& rate = imported.stream_bytes_per_s[static_cast<std::size_t>(core::from_name<core::Scope>(row.scope))];
    rate = std::max(rate, row.size_bytes / row.duration_s);
  });
  return imported;
}

void flag_imported(const ImportedRows& imported, std::array<std::optional<core::ScopeModel>, 2>& models,
                   NetworkFit& fit) {
  for (const auto& [source, rows] : imported.rows) {
    fit.flags.push_back(
        {source, "imported",
         std::to_string(rows) +
             " rows are means over many calls, without scatter, and without the load of HPL beside them; unless "
             "send and recv were measured all of the time counts as time in the network, and the sizes "
             "from which sends wait must be given (--async-small, --detached)"});
    for (std::optional<core::ScopeModel>& model : models)
      if (model) model->notes.push_back("imported: " + source + ", means over many calls");
  }
}

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

namespace {

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
