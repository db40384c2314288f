#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "hplcast/study/clock_alignment.hpp"
#include "rank_activity.hpp"

namespace hplcast::study {

/// The clocks of all ranks, in their order. @throws core::Error if that of a host was not compared.
std::vector<HostClock> clocks_of(const std::vector<RankActivity>& ranks);

/// Time in MPI calls of which the other side is known, too.
struct KnownTime {
  double calls_s = 0;
  double waited_s = 0;  ///< part of it: the other side was not there yet
};

/// How long ranks waited in the calls that they kept, with both ends of every message brought together.
struct MessageWaits {
  std::vector<std::vector<double>> waited_s;  ///< of each event of each rank; 0 for what is not a message
  std::vector<std::array<KnownTime, core::phase_names.size()>> known;  ///< per rank and phase
  std::size_t too_early = 0;  ///< messages that came before they were sent, beyond the errors of the clocks
  double most_early_s = 0;    ///< by how much at most
};

/// Whether such a call may wait for the other side: one that blocks.
bool may_wait(std::uint8_t operation);

/// Waiting as in the simulation (docs/use/traces.md): a receiver waits until the sender has called its send, a sender
/// until the receiver has asked for the message, if that comes before the call is over.
MessageWaits message_waits(const std::vector<RankActivity>& ranks, const std::vector<HostClock>& clocks);

}  // namespace hplcast::study
