#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/calibration/world.hpp"
#include "hplcast/core/measurement.hpp"

namespace hplcast::calibration {

/// How MPI is measured.
struct MpiMeasureOptions {
  MpiPattern pattern = MpiPattern::pair;
  PeerChoice scope = PeerChoice::any;
  std::vector<int> cpus = {};  ///< of each rank; for MpiPattern::cpus
  Background background = Background::none;
  int warm_up_calls = 100;               ///< ping-pongs of each pair that are not recorded
  double budget_s = 0;                   ///< stop after this long, whatever is left; 0: no limit
  double epoch_s = 0;                    ///< start_s counts from here, on the clock of now_s(); 0: from the start
  std::uint64_t seed = 1;                ///< of the messages' contents
  std::string scope_name;                ///< written instead of the scope found, if not empty
  std::function<void(double)> progress;  ///< share done, 0 to 1; on one rank; may be empty
};

/// A measured row of a design.
struct MpiRow {
  std::size_t order = 0;  ///< index in the design
  int peer_rank = 0;
  std::size_t pairs = 1;  ///< that exchanged messages at the same time
  core::MpiMeasurement measurement;
};

/// Measures a design, row by row, with each turn of the pattern, or with the number of pairs that the rows have: these
/// then begin one_way messages together, and their durations count from the same moment. Ranks without a part in a turn
/// are the background (with Background::none they sleep); the pair itself computes before a message and polls for it,
/// as the background says. Collective; returns the rows of which this rank had the clock.
/// @throws core::InputError for a pattern without pairs, or too little memory.
std::vector<MpiRow> measure_mpi(const World& world, const MpiDesign& design, const MpiMeasureOptions& options);

/// The file of a measurement: the columns order, rank, peer_rank and pairs before those of core::mpi_csv_header.
void write_mpi_header(std::ostream& out);
void write_mpi_rows(std::ostream& out, int rank, const std::vector<MpiRow>& rows);

/// The first size in bytes for which something no longer holds: 0 if it never holds, nothing if it holds up to the
/// largest size tested.
using FirstSize = std::optional<long>;

/// The smallest size in [1, max_bytes] for which `holds` is false, by bisection; `holds` must not come back once it is
/// lost. Asks at most 2 + log2(max_bytes) times.
FirstSize first_size_without(const std::function<bool(long bytes)>& holds, long max_bytes);

/// Where the modes of MPI_Send change between rank 0 and a peer, whether MPI_Iprobe is late, and what memory costs that
/// is new to messages.
struct ScopeThresholds {
  std::string scope;
  std::string host, peer;
  long max_bytes = 0;  ///< largest size tested
  /// From here on MPI_Isend does not copy the message: what the sender writes into its buffer after the call is
  /// received. SMPI's async-small-thresh.
  FirstSize copied;
  /// From here on MPI_Send waits for a receiver that is inside MPI but has not posted its receive (two ranks that send
  /// to each other first would wait for ever). SMPI's send-is-detached-thresh.
  FirstSize detached;
  /// From here on MPI_Send waits for a receiver that computes, outside of MPI. At most `detached`.
  FirstSize unattended;
  /// The first MPI_Iprobe of a receiver that was outside of MPI does not find a message that has come meanwhile; the
  /// second one does. Most of several times.
  bool late_probes = false;
  /// By which panels take longer that the peer receives into memory that it has just got, where neither it nor a
  /// message has been, than into the same memory afterwards: the median of several times, or 0 if it was not longer in
  /// four of five.
  double first_use_s_per_byte = 0;
};

/// Consequences for a model: modes that do not exist, limits beyond what was tested.
std::vector<std::string> notes_on(const ScopeThresholds& thresholds);

/// {"thresholds": [{scope, host, peer, max_bytes, async_small_bytes, detached_bytes, unattended_bytes, late_probes,
/// first_use_s_per_byte, notes}]}; a size that is null lies beyond max_bytes.
void write_json(std::ostream& out, const std::vector<ScopeThresholds>& thresholds);

/// How thresholds are searched.
struct ThresholdOptions {
  long max_bytes = 1 << 24;
  /// The receiver posts its receive so late, later where messages are slow; a send that takes half of it has waited.
  double absence_s = 0.02;
  int repetitions = 5;  ///< of every probe; one that does not wait decides
};

/// @throws DomainError for options with which nothing can be found.
void validate(const ThresholdOptions& options);

/// Searches between rank 0 and each peer. No deadlock is provoked: a receiver that stays away comes after absence_s.
/// Collective; the result is on rank 0, empty elsewhere.
std::vector<ScopeThresholds> measure_thresholds(const World& world, const std::vector<MpiPair>& peers,
                                                const ThresholdOptions& options);

}  // namespace hplcast::calibration
