#pragma once

#include <cstddef>
#include <string_view>

#include "rank_activity.hpp"

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

}  // namespace hplcast::study
