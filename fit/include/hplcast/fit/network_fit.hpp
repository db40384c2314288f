#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/doubts.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/network_model.hpp"
#include "hplcast/fit/segmented_regression.hpp"

namespace hplcast::fit {

using core::QualityFlag;

/// One row of a saturation measurement: `pairs` of ranks sent a message of this size at the same time, the last of
/// which had arrived after `duration_s`.
struct SaturatedTurn {
  long pairs = 1;
  double size_bytes = 0;
  double duration_s = 0;
};

/// A rate in bytes/s with its 95 % interval.
struct RateEstimate {
  double bytes_per_s = 0;
  double low_bytes_per_s = 0, high_bytes_per_s = 0;
};

/// Total rate of a number of pairs at once.
struct SaturationPoint {
  long pairs = 1;
  long turns = 0;
  RateEstimate total;
};

enum class SaturationStatus {
  ok,
  no_rows,
  too_few_rows,  ///< for every number of pairs
  one_pair_only  ///< no row gives the rate of several
};

HPLCAST_ENUM_NAMES(SaturationStatus, "status", "ok", "no_rows", "too_few_rows", "one_pair_only");

/// Result of fit_link_capacity(). `capacity` is valid if ok.
struct LinkCapacityFit {
  SaturationStatus status = SaturationStatus::no_rows;
  std::string reason;
  std::vector<SaturationPoint> points;  ///< by number of pairs
  std::optional<RateEstimate> single;   ///< of one pair: the rate of a flow
  RateEstimate capacity;
  long plateau_from_pairs = 0, plateau_to_pairs = 0;
  std::vector<QualityFlag> flags;  ///< capacity_lower_bound, capacity_falls (docs/models/network-models.md)
  std::vector<std::string> notes;
  bool ok() const noexcept { return status == SaturationStatus::ok; }
};

/// The capacity of a link from turns with several numbers of pairs, by long messages (the rule:
/// docs/models/network-models.md#capacity-from-measurements). A number of pairs needs five turns.
LinkCapacityFit fit_link_capacity(core::Scope scope, const std::vector<SaturatedTurn>& turns);

/// How the time of a message in the network follows from the round trip p, the send overhead s and the receive overhead
/// r (docs/models/network-models.md):
///   simulated: p/2 - s - r for sizes below detached_bytes, p/2 from there on: a simulated ping-pong then takes p;
///   half_of_difference: (p - r)/2 (platform-calibration, 2016), r = 0 from detached_bytes on;
///   half_minus_receive: p/2 - r (dahu, 2018-2020), r = 0 from detached_bytes on.
enum class TransferArithmetic { simulated, half_of_difference, half_minus_receive };

/// Which rows count. robust: all but interrupted calls, those that last more than three times what like sizes usually
/// take (docs/models/network-models.md; their number is reported). visits: of each ten rows of send, isend and recv in
/// a row those between their 10 and 90 % quantiles, the published filter for calibrations that measure a size ten times
/// at a visit. none: all rows.
enum class RowFilter { robust, visits, none };

/// shared: one set of breakpoints for a scope, that of its ping-pong. each: every operation its own.
enum class BreakpointChoice { shared, each };

struct NetworkFitOptions {
  TransferArithmetic transfer = TransferArithmetic::simulated;
  RowFilter filter = RowFilter::robust;
  BreakpointChoice breakpoint_choice = BreakpointChoice::shared;
  std::optional<std::vector<double>>
      breakpoints;              ///< starts of segments after the first, for all operations; no search
  SegmentedOptions regression;  ///< objective and search; `breakpoints` in it are not used
  /// Lines whose sums are right (fit_means()), at the breakpoints of the objective. With the filter robust interrupted
  /// calls count here, too, each as at most most_times_expected times what the others take in the mean.
  bool means = false;
  /// Costs >= 0 at every size, and no message faster than the link. The published fits have neither.
  bool physical = true;

  /// Noise of each segment of each cost, relative to its line, which then is an expectation; that of isend, send and
  /// recv is of their calls, that of transfer what is left of the ping-pong's.
  SegmentNoiseKind noise = SegmentNoiseKind::none;

  std::optional<std::uint64_t> async_small_bytes;  ///< nothing: from rows `send_unmatched`
  std::optional<std::uint64_t> detached_bytes;     ///< nothing: async_small_bytes
  bool late_probes = false;                        ///< core::NetworkModel::Values::late_probes, as measured
  std::array<double, 2> first_use_s_per_byte{};    ///< by scope: core::ScopeModel::first_use_s_per_byte, as measured
  double receive_delay_s = 0.020;                  ///< how late the receiver came in rows `send_unmatched`
  double wtime_calls_per_row = 1;                  ///< calls that a duration of `wtime` covers
  bool all_backgrounds = false;                    ///< messages count whatever the other ranks did (row_rules.hpp)

  std::optional<double> bandwidth_bytes_per_s;  ///< that the factors refer to; nothing: of the fastest long messages
  std::optional<double> latency_s;              ///< that the factors refer to; nothing: of the shortest messages
  std::array<std::optional<double>, 2>
      capacity_bytes_per_s;  ///< by scope, as the user gives it; nothing: from rows `one_way`
};

/// Calls that last longer than so many times what is expected are detours of the machine, and no costs of a message.
inline constexpr double most_times_expected = 20;

/// @throws DomainError for options outside their domain.
void validate(const NetworkFitOptions& options);

/// Use of the rows of one operation.
struct OperationReport {
  core::Scope scope = core::Scope::remote;
  std::string operation;
  long rows = 0;            ///< that count
  long rows_failed = 0;     ///< with an error
  long rows_set_aside = 0;  ///< by the filter; with `means`: of those that count, how many did not for the breakpoints
  long rows_capped = 0;     ///< with `means`: that count as less than they lasted
  double share_above_cap = 0;  ///< of the time of all rows: how much they lasted longer
  long sizes = 0;
  double min_bytes = 0, max_bytes = 0;
  std::vector<FittedSegment> segments;  ///< before overheads and transfer are made to agree; empty for probes
  std::vector<SizeCell> cells;          ///< of the rows that count
  std::vector<SegmentNoise> noise;      ///< by segment, of relative residuals; empty for SegmentNoiseKind::none
  double relative_sd = 0;               ///< of the residuals, of log(duration / fit)
};

enum class NetworkStatus { ok, no_rows, no_pingpong, too_few_sizes };

/// Result of fit_network(). A bad fit is a status with a reason; `model` is valid if ok.
struct NetworkFit {
  NetworkStatus status = NetworkStatus::no_rows;
  std::string reason;
  core::NetworkModel model;
  std::vector<OperationReport> operations;
  std::array<LinkCapacityFit, 2> capacities;  ///< by scope
  std::vector<QualityFlag> flags;             ///< of the capacities, and what in the model contradicts itself
  std::vector<std::string> notes;
  bool ok() const noexcept { return status == NetworkStatus::ok; }
};

/// Hands every row to its argument, in the order of the measurement; called several times, with the same rows each
/// time.
using MpiRows = std::function<void(const std::function<void(const core::MpiMeasurement&)>&)>;

/// Fits the network from rows of send, isend, recv, pingpong, iprobe, test, wtime, exchange and send_unmatched, of one
/// scope or both, made by one pair of ranks at a time; and the capacities from rows of one_way, made by several at once
/// (fit_link_capacity()). Other operations are ignored; rows_of_messages() says which of the first count. Memory grows
/// with the distinct sizes. With rows of one scope only, they become that scope (rows of scope `remote` alone:
/// the model has them as `remote`, and as `local` too, with a note).
/// @throws DomainError for options outside their domain.
NetworkFit fit_network(const MpiRows& rows, const NetworkFitOptions& options = {});
NetworkFit fit_network(const std::vector<core::MpiMeasurement>& rows, const NetworkFitOptions& options = {});

/// SMPI's factors of a segment of a scope's transfer: bandwidth factor 1/(slope bandwidth), latency factor
/// intercept/latency.
struct TransferFactors {
  double min_bytes = 0;
  double bandwidth_factor = 1;
  double latency_factor = 1;
};
std::vector<TransferFactors> transfer_factors(const core::ScopeModel& scope);

/// A message between a CPU of a host and one of another: a row of `hplcast-measure-mpi --pattern cpus`.
struct CpuMessage {
  int cpu = 0, peer_cpu = 0;
  std::string operation;  ///< pingpong, or one_way
  long order = 0;         ///< of the row in its design
  int beside = 0;         ///< one_way: CPU whose pairs sent at the same time as those of `cpu`, or that itself
  double size_bytes = 0, duration_s = 0;
};

/// Adds the rows of such a file without those that failed; `cpu_of_rank` has the CPU of each rank. The rows one_way of
/// a rank are in the order of calibration::turns_of_cpus(): beside each other CPU, then alone.
/// @throws core::ParseError
void read_cpu_messages(std::istream& in, const std::string& name, const std::vector<int>& cpu_of_rank,
                       std::vector<CpuMessage>& rows);

/// The cards of a host.
struct RailsFit {
  std::optional<core::Rails> rails;  ///< nothing: one card, as near to all CPUs, or not known
  double link_bytes_per_s = 0;       ///< of the first card; 0: not known
  std::string text;                  ///< what was found, or why nothing was
};

/// Ping-pongs say how far each CPU is from its card; pairs at once which CPUs share one: two that together get more
/// than the mean of the faster one's total and of both totals have cards of their own, if pairs of one of them alone
/// fill it (docs/models/network-models.md).
RailsFit fit_rails(const std::vector<CpuMessage>& rows);

/// `network` with these cards. Its messages were measured between two first CPUs; they become those of near ones, and
/// the capacity that of the first card.
core::NetworkModel with_rails(const core::NetworkModel& network, const RailsFit& found);

/// Takes the thresholds of what hplcast-measure-thresholds wrote: those of scope `remote` if there are any, since SMPI
/// knows one set for all scopes, and most messages of a cluster go between hosts. A message that MPI_Send does not let
/// go before a computing receiver enters MPI counts as one that waits: ranks of HPL compute most of the time.
/// @throws core::ParseError for anything else.
void set_thresholds(std::istream& in, const std::string& name, NetworkFitOptions& options);

}  // namespace hplcast::fit
