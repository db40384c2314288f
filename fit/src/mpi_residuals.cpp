#include "mpi_residuals.hpp"

#include <cmath>
#include <optional>

namespace hplcast::fit::detail {

namespace {

/// Hands on every row that has a duration which depends on the size.
template <typename Each>
void for_sized_rows(const MpiRows& rows, Each each) {
  rows([&](const core::MpiMeasurement& row) {
    const int operation = sized_operation(row.operation);
    if (operation >= 0 && row.error.empty())
      each(core::scope_from_name(row.scope), static_cast<SizedOperation>(operation), row);
  });
}

/// Absolute residuals of logarithms, counted in bins: their median without keeping them.
class ResidualHistogram {
 public:
  void add(double residual) {
    const double at = std::min(std::abs(residual) / width, static_cast<double>(counts_.size() - 1));
    ++counts_[static_cast<std::size_t>(at)];
    ++total_;
  }
  /// 1.4826 times the median: the standard deviation if the residuals are normal.
  double robust_sd() const {
    long seen = 0;
    for (std::size_t i = 0; i < counts_.size() && total_ > 0; ++i) {
      seen += counts_[i];
      if (2 * seen >= total_) return 1.4826 * width * (static_cast<double>(i) + 0.5);
    }
    return 0;
  }

 private:
  static constexpr double width = 1e-3;
  std::vector<long> counts_ = std::vector<long>(10000);
  long total_ = 0;
};

struct Collected {
  ResidualHistogram relative;
  std::optional<SegmentNoiseCollector> absolute;
};

}  // namespace

InterruptedCalls::InterruptedCalls(const MpiRows& rows) {
  for_sized_rows(rows, [&](core::Scope scope, SizedOperation operation, const core::MpiMeasurement& row) {
    limits_[static_cast<std::size_t>(scope)][operation].add(row.size_bytes, row.duration_s);
  });
  for (auto& of_scope : limits_)
    for (OutlierLimits& limits : of_scope) limits.close();
}

bool InterruptedCalls::contains(core::Scope scope, SizedOperation operation, const core::MpiMeasurement& row) const {
  return limits_[static_cast<std::size_t>(scope)][operation].is_outlier(row.size_bytes, row.duration_s);
}

ByScopeAndOperation<ResidualSummary> summarise_residuals(const MpiRows& rows, const InterruptedCalls& interrupted,
                                                         const std::array<ScopeLines, 2>& lines, double detached_bytes,
                                                         SegmentNoiseKind noise) {
  ByScopeAndOperation<Collected> collected;
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t o = 0; o < sized_operation_count; ++o)
      if (!lines[s].of[o].empty()) collected[s][o].absolute.emplace(lines[s].of[o]);
  for_sized_rows(rows, [&](core::Scope scope, SizedOperation operation, const core::MpiMeasurement& row) {
    Collected& of_operation = collected[static_cast<std::size_t>(scope)][operation];
    const bool overhead = operation == op_send || operation == op_recv;
    if (!of_operation.absolute || (overhead && row.size_bytes >= detached_bytes)) return;
    if (interrupted.contains(scope, operation, row)) return;
    const double fit = segment_at(lines[static_cast<std::size_t>(scope)].of[operation], row.size_bytes)(row.size_bytes);
    if (fit > 0) of_operation.relative.add(std::log(row.duration_s / fit));
    of_operation.absolute->add(row.size_bytes, row.duration_s);
  });
  ByScopeAndOperation<ResidualSummary> summaries;
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t o = 0; o < sized_operation_count; ++o) {
      summaries[s][o].relative_sd = collected[s][o].relative.robust_sd();
      if (noise != SegmentNoiseKind::none && collected[s][o].absolute)
        summaries[s][o].noise = collected[s][o].absolute->noise(noise);
    }
  }
  return summaries;
}

}  // namespace hplcast::fit::detail
