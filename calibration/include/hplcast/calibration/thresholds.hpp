#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/calibration/mpi_schedule.hpp"
#include "hplcast/calibration/world.hpp"

namespace hplcast::calibration {

/// The first size in bytes for which something no longer holds: 0 if it never holds, nothing if it holds up to the
/// largest size tested.
using FirstSize = std::optional<long>;

/// The smallest size in [1, max_bytes] for which `holds` is false, by bisection; `holds` must not come back once it is
/// lost. Asks at most 2 + log2(max_bytes) times.
FirstSize first_size_without(const std::function<bool(long bytes)>& holds, long max_bytes);

/// Where the modes of MPI_Send change between rank 0 and a peer, and whether MPI_Iprobe is late.
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
};

/// Consequences for a model: modes that do not exist, limits beyond what was tested.
std::vector<std::string> notes_on(const ScopeThresholds& thresholds);

/// {"thresholds": [{scope, host, peer, max_bytes, async_small_bytes, detached_bytes, unattended_bytes, late_probes,
/// notes}]}; a size that is null lies beyond max_bytes.
void write_json(std::ostream& out, const std::vector<ScopeThresholds>& thresholds);

/// How thresholds are searched.
struct ThresholdOptions {
  long max_bytes = 1 << 24;
  /// The receiver posts its receive so late, later where messages are slow; a send that takes half of it has waited.
  double absence_s = 0.02;
  int repetitions = 5;  ///< of every probe; one that does not wait decides
};

/// Searches between rank 0 and each peer. No deadlock is provoked: a receiver that stays away comes after absence_s.
/// Collective; the result is on rank 0, empty elsewhere.
std::vector<ScopeThresholds> measure_thresholds(const World& world, const std::vector<MpiPeer>& peers,
                                                const ThresholdOptions& options);

}  // namespace hplcast::calibration
