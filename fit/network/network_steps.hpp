#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fit/stats/robust_statistics.hpp"
#include "hplcast/fit/network_fit.hpp"

// Steps of fit_network(): rows to samples (mpi_rows.cpp, interrupted_calls.cpp, link_capacity.cpp,
// send_thresholds.cpp), samples to the model of a scope (scope_fit.cpp).
namespace hplcast::fit::detail {

/// Operations whose durations depend on the size.
inline constexpr int sized_operation_count = 5;
inline constexpr std::array<const char*, sized_operation_count> sized_operation_names = {"send", "isend", "recv",
                                                                                         "pingpong", "panel"};
enum SizedOperation { op_send = 0, op_isend = 1, op_recv = 2, op_pingpong = 3, op_panel = 4 };

struct SizedSamples {
  SamplesBySize by_size;
  long failed = 0;
  long set_aside = 0;
};

/// Sends to a receiver that came late.
struct UnmatchedCount {
  long sends = 0;
  long waited = 0;
};

struct ScopeSamples {
  std::array<SizedSamples, sized_operation_count> sized;
  std::map<double, UnmatchedCount> unmatched;  ///< by size
  bool empty() const;
};

struct MpiSamples {
  ScopeSamples local, remote;
  std::map<std::string, TrimmedMean> probes_s = {{"iprobe", {}}, {"test", {}}, {"wtime", {}}};  ///< by operation
  ScopeSamples& scope(core::Scope which) { return which == core::Scope::local ? local : remote; }
  const ScopeSamples& scope(core::Scope which) const { return which == core::Scope::local ? local : remote; }
};

/// True if a row counts; empty: all do. Called for sized operations without error.
using KeepRow = std::function<bool(core::Scope, SizedOperation, const core::MpiMeasurement&)>;

/// One pass over the rows; with `visits` the published filter is applied.
/// @throws DomainError for an unknown scope, a duration that is not positive.
MpiSamples collect(const MpiRows& rows, const NetworkFitOptions& options, const KeepRow& keep);

/// SizedOperation of a name, or -1.
int sized_operation(const std::string& name);

/// Sizes for which an operation has a line: MPI_Send and MPI_Recv wait for each other from detached_bytes on.
bool has_line(SizedOperation operation, double size_bytes, double detached_bytes);
std::vector<SizeCell> with_line(std::vector<SizeCell> cells, SizedOperation operation, double detached_bytes);

/// Hands on every row that has a duration which depends on the size, with its scope and operation.
template <typename Each>
void for_sized_rows(const MpiRows& rows, Each each) {
  rows([&](const core::MpiMeasurement& row) {
    const int operation = sized_operation(row.operation);
    if (operation >= 0 && row.error.empty())
      each(core::from_name<core::Scope>(row.scope), static_cast<SizedOperation>(operation), row);
  });
}

/// Turns in which several pairs of ranks sent at the same time.
struct SaturatedTurns {
  std::vector<SaturatedTurn> complete;
  long incomplete = 0;  ///< a row failed or is missing
};

/// The turns of each scope from rows of operation `one_way`. Rows of one design row (`order`) that were made at the
/// same time are one turn, as long as its slowest; a row without `order` is a turn of its own.
/// @throws core::DomainError for an unknown scope.
std::array<SaturatedTurns, 2> saturated_turns(const MpiRows& rows);

/// Rows that other programs have measured (`hplcast import`): means over many calls.
struct ImportedRows {
  std::map<std::string, long> rows;                   ///< by source
  std::array<double, 2> stream_bytes_per_s = {0, 0};  ///< by scope: the largest rate of one pair with many messages
};

ImportedRows imported_rows(const MpiRows& rows);

/// Doubts about a model from such rows, with a note in the models; none without them.
void flag_imported(const ImportedRows& imported, std::array<std::optional<core::ScopeModel>, 2>& models,
                   NetworkFit& fit);

/// Sizes where MPI_Send changes its way, see core::NetworkModel::Values.
struct Thresholds {
  double async_small_bytes = 0;
  double detached_bytes = 0;
};

/// The segments of each sized operation of a scope, as fitted; empty for an operation without rows.
struct ScopeLines {
  std::array<std::vector<FittedSegment>, sized_operation_count> of;
  std::string problem;  ///< empty: fine
};

/// Lines of every operation of a scope, broken at the chosen breakpoints and at the thresholds.
ScopeLines fit_lines(const ScopeSamples& samples, const Thresholds& thresholds, const NetworkFitOptions& options);

/// Calls that last longer than they count as.
struct CappedCalls {
  long rows = 0;
  double above_s = 0, all_s = 0;  ///< seconds that do not count, of those of all calls
};
using ScopeCappedCalls = std::array<CappedCalls, sized_operation_count>;  // by operation

/// NetworkFitOptions::means: replaces the lines, and the samples by those that count for them. One pass over the rows
/// with the filter robust, none else.
std::array<ScopeCappedCalls, 2> keep_means(const MpiRows& rows, const NetworkFitOptions& options, double detached_bytes,
                                           MpiSamples& samples, std::array<ScopeLines, 2>& lines);

/// Transfers, also of panels, begin so much sooner, or at once, and take `per_byte` times as long for each byte.
void shorten_transfers(core::ScopeModel& scope, double sooner_s, double per_byte);

/// How the rows of one operation lie around their fit.
struct ResidualSummary {
  double relative_sd = 0;           ///< 1.4826 times the median of |log(duration / fit)|
  std::vector<SegmentNoise> noise;  ///< by segment, relative; empty for SegmentNoiseKind::none
};

using ScopeResiduals = std::array<ResidualSummary, sized_operation_count>;  // by operation

/// The costs of a scope from its lines: overheads cut at the threshold, transfer by the chosen arithmetic. The noise of
/// a transfer is such that a round trip of independent messages scatters as measured, in the middle of each segment.
core::ScopeModel make_scope_model(const ScopeLines& lines, const ScopeResiduals& residuals,
                                  const Thresholds& thresholds, double max_bytes, const NetworkFitOptions& options);

/// The sizes where MPI_Send changes its way: those given, or found in the rows `send_unmatched`
/// (docs/models/network-models.md). `notes` gets what was assumed.
Thresholds find_thresholds(const MpiSamples& samples, const NetworkFitOptions& options,
                           std::vector<std::string>& notes);

/// Which rows are no interrupted calls. These are so many on a busy machine that no fit of all rows can tell them: they
/// are found before there is a fit. One pass over the rows.
KeepRow without_interruptions(const MpiRows& rows);

/// One pass over the rows that count, by scope, each as at most `most_times` its fit. Overheads have no fit from
/// detached_bytes on.
std::array<ScopeResiduals, 2> summarise_residuals(const MpiRows& rows, const KeepRow& keep, double most_times,
                                                  const std::array<ScopeLines, 2>& lines, double detached_bytes,
                                                  SegmentNoiseKind noise);

}  // namespace hplcast::fit::detail
