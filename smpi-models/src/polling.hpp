#pragma once

#include <simgrid/s4u/Semaphore.hpp>

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "hplcast/smpi_models/hplcast_smpi.h"

namespace hplcast::smpi_models {

/// Turns loops that only poll into waits. A rank that probes the same channel again and again, spending nothing in
/// between, sees nothing new before somebody sends on that channel: it may as well sleep until then. Every probe that
/// is left is a real one, so a message is found at most one probe later than by polling (measured constant:
/// smpi/iprobe, some 1e-7 s).
///
/// A wait has a time limit, so that a rank that has other things to do between its probes cannot be blocked for ever.
class Polling {
 public:
  /// `actors`: ids of actors are below this. `waits` false: never waits.
  Polling(std::size_t actors, bool waits) : waits_(waits), pollers_(actors) {}

  /// Actor `id` spends time, or does something else than probing.
  void interrupt(std::size_t id) { pollers_[id].failures = 0; }

  /// Before a probe: blocks if it cannot find anything yet.
  void begin_probe(std::size_t id, const hplcast_channel& channel);
  void end_probe(std::size_t id, bool found);

  /// A message is, or is about to be, visible to probes on this channel.
  void sent(const hplcast_channel& channel);
  /// The receiver has asked for a message of this channel: probes do not see it any more.
  void taken(const hplcast_channel& channel);

 private:
  struct Poller {
    hplcast_channel channel{};
    int failures = 0;    // probes of that channel in a row that found nothing
    double limit_s = 0;  // of the next wait
    simgrid::s4u::SemaphorePtr wake_up;
  };
  struct Traffic {
    int under_way = 0;  // sent and not taken; below 0 if receives were posted first
    Poller* waiting = nullptr;
  };
  struct Hash {
    std::size_t operator()(const hplcast_channel& channel) const noexcept;
  };
  struct Equal {
    bool operator()(const hplcast_channel& a, const hplcast_channel& b) const noexcept;
  };
  void wait(Poller& poller);

  bool waits_;
  std::vector<Poller> pollers_;
  std::unordered_map<hplcast_channel, Traffic, Hash, Equal>
      traffic_;  // channels with messages under way, or a rank that waits
};

}  // namespace hplcast::smpi_models
