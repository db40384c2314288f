#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "study/activity/rank_activity.hpp"
#include "study/run/simulation_files.hpp"

namespace hplcast::study {

/// Whether an MPI operation, by its place in core::mpi_names, is the one of this name.
inline bool is(std::uint8_t operation, std::string_view name) {
  return core::mpi_names[operation] == name;
}

/// A message: its channel, and its number on it.
struct MessageKey {
  int source, destination, tag;
  std::uint32_t number;
  bool operator==(const MessageKey& other) const {
    return source == other.source && destination == other.destination && tag == other.tag && number == other.number;
  }
};

struct MessageHash {
  std::size_t operator()(const MessageKey& key) const noexcept {
    std::size_t hash = 0;
    for (const std::size_t part : {static_cast<std::size_t>(key.source), static_cast<std::size_t>(key.destination),
                                   static_cast<std::size_t>(key.tag), static_cast<std::size_t>(key.number)})
      hash = (hash ^ part) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 32U);
  }
};

/// The message that a call of `rank` sends or receives.
inline MessageKey key_of(int rank, const ActivityEvent& event) {
  return event.sends ? MessageKey{rank, event.peer, event.tag, event.number}
                     : MessageKey{event.peer, rank, event.tag, event.number};
}

/// Whether the other side of a call can be found: its channel and number are known.
inline bool is_known(const ActivityEvent& event) {
  return event.kind == ActivityEvent::Kind::message && event.peer >= 0 && event.number != ActivityEvent::no_number;
}

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

/// Activity of all ranks of one run, brought together.
struct ObservedRanks {
  std::vector<RankActivity> ranks;
  std::vector<HostClock> clocks;
  MessageWaits waits;
  std::vector<RankPhases> phases;  ///< in the order of core::phase_names
};

/// The files run-RANK.activity of a run of `parameters`. @throws core::Error (bad_input) for ranks without a file,
/// files of several runs or of another one; core::ParseError for files that are cut off.
std::vector<RankActivity> read_ranks(const std::filesystem::path& folder, const core::HplParameters& parameters);

/// Aligns the clocks and finds out who waited. @throws core::Error if the clock of a host was not compared.
ObservedRanks observed_ranks(std::vector<RankActivity> ranks);

/// Share of the time in calls that block of which waiting was measured, 0 to 1.
double known_share(const ObservedRanks& observed);

/// Writes an event that took `span` in the time of the trace.
void write_event(core::TraceFile& trace, int row, const ActivityEvent& event, const core::TimeSpan& span,
                 double waited_s);

/// The events of a simulation (Chrome's JSON of `predict --trace`) as those of a run: one clock, all panels -1,
/// messages numbered on their channels. Sums are those of the events. @throws core::ParseError if it is no such trace.
std::vector<RankActivity> simulated_ranks(const std::filesystem::path& trace, int ranks);

}  // namespace hplcast::study
