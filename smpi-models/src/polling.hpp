#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "channel_key.hpp"
#include "hplcast/smpi_models/hplcast_smpi.h"
#include "simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

/// Turns loops that only poll into waits. A rank that says that it only probes one channel until it finds something
/// sees nothing new before somebody sends on that channel: it may as well sleep until then. Where messages go through
/// SMPI every probe that is left is a real one, so a message is found at most one probe later than by polling
/// (smpi/iprobe, some 1e-7 s); elsewhere when the probe would have found it (ProbeSeries).
///
/// Likewise a rank that probes between pieces of work that concern nobody else: it sleeps until there is something to
/// find, and catches up on its work and its probes after that, in its own past.
///
/// Whether a rank does so must be said: HPL also probes between the steps of its row swap, dozens of times in a row
/// on large process columns, and a rank that slept there would hold up its whole column.
class Polling {
 public:
  /// Where a rank may sleep.
  struct Sleeps {
    bool where_only_probing = true;
    bool where_working_between = true;  ///< its probes; only if messages do not go through SMPI
  };
  /// `actors`: ids of actors are below this.
  Polling(std::size_t actors, const Sleeps& sleeps) : sleeps_(sleeps), pollers_(actors) {}

  /// Actor `id` enters (or goes on in) a loop that probes, or leaves it. `pieces` as for hplcast_polling_loop().
  void loop(std::size_t id, hplcast_loop loop, std::size_t pieces) {
    Poller& poller = pollers_[id];
    if (poller.loop != loop) poller.failed = false;
    poller.loop = loop;
    poller.pieces = loop == HPLCAST_LOOP_WORKS_BETWEEN ? pieces : 0;
  }
  bool only_probes(std::size_t id) const { return pollers_[id].loop == HPLCAST_LOOP_ONLY_PROBES; }

  /// Whether a probe of `id` may sleep until there is something to find; sleep() does, until wake().
  bool may_sleep(std::size_t id) const { return sleeps_.where_only_probing && only_probes(id) && pollers_[id].failed; }
  /// Whether `id` may sleep after a probe that has failed, and do its work of that time afterwards.
  bool may_work_later(std::size_t id) const {
    return sleeps_.where_working_between && pollers_[id].loop == HPLCAST_LOOP_WORKS_BETWEEN;
  }
  /// Pieces of work of one kind that are left to it; 0: not known.
  std::size_t pieces(std::size_t id) const { return pollers_[id].pieces; }
  void sleep(std::size_t id) { sleep(pollers_[id]); }
  void wake(std::size_t id) { pollers_[id].wake_up->release(); }

  // For messages that go through SMPI, which says nothing of what it has.

  /// Before a probe: blocks if it cannot find anything yet.
  void begin_probe(std::size_t id, const hplcast_channel& channel);
  void end_probe(std::size_t id, bool found) { pollers_[id].failed = !found; }

  /// A message is, or is about to be, visible to probes on this channel.
  void sent(const hplcast_channel& channel);
  /// The receiver has asked for a message of this channel: probes do not see it any more.
  void taken(const hplcast_channel& channel);

 private:
  struct Poller {
    hplcast_loop loop = HPLCAST_LOOP_NONE;
    bool failed = false;  // the last probe of the loop
    std::size_t pieces = 0;
    simgrid::s4u::SemaphorePtr wake_up;
  };
  struct Traffic {
    int under_way = 0;  // sent and not taken; below 0 if receives were posted first
    Poller* waiting = nullptr;
  };
  void wait(Poller& poller, const hplcast_channel& channel);
  static void sleep(Poller& poller);

  Sleeps sleeps_;
  std::vector<Poller> pollers_;
  std::unordered_map<hplcast_channel, Traffic, ChannelHash, ChannelEqual>
      traffic_;  // channels with messages under way, or a rank that waits
};

}  // namespace hplcast::smpi_models
