#pragma once

#include <unordered_map>

#include "hplcast/smpi_models/hplcast_smpi.h"
#include "smpi-models/clock/kernels.hpp"
#include "smpi-models/clock/rank.hpp"
#include "smpi-models/messages/matching.hpp"
#include "smpi-models/messages/messages.hpp"
#include "smpi-models/messages/probe_series.hpp"

namespace hplcast::smpi_models {

/// Polling for messages that go through SMPI, which says nothing of what it has: the program tells what it sends and
/// receives. A rank that has announced that it only probes one channel sleeps until somebody sends there. Every probe
/// that is left is a real one, so a message is found at most one probe later than by polling (smpi/iprobe, some 1e-7
/// s).
class Polling {
 public:
  /// `may_sleep` false: every probe is made.
  explicit Polling(bool may_sleep) : may_sleep_(may_sleep) {}

  /// Before a probe: blocks if it cannot find anything yet.
  void begin_probe(Rank& rank, const hplcast_channel& channel);

  /// A message is, or is about to be, visible to probes on this channel.
  void sent(const hplcast_channel& channel);
  /// The receiver has asked for a message of this channel: probes do not see it any more.
  void taken(const hplcast_channel& channel);

 private:
  struct Traffic {
    int under_way = 0;  // sent and not taken; below 0 if receives were posted first
    Rank* waiting = nullptr;
  };
  bool may_sleep_;
  std::unordered_map<hplcast_channel, Traffic> traffic_;  // channels with messages under way, or a rank that waits
};

/// MPI_Iprobe for messages that do not go through SMPI. A rank that polls sleeps until there is something to find, and
/// goes on when the probe that finds it would have ended; RankClock has the states it goes through, ProbeSeries when
/// probes end.
///
/// Only where the program has announced its loop (hplcast_polling_loop()): HPL also probes between the steps of its row
/// swap, dozens of times in a row on large process columns, and a rank that slept there would hold up its column.
class Probes {
 public:
  /// Reads the cost of probes from SMPI's settings. `may_sleep` false: every probe is an event. `may_work_later` false:
  /// those of loops with work between them are. The messages must outlive this.
  Probes(const Kernels& kernels, const Messages& messages, bool may_sleep, bool may_work_later);

  /// Whether PollingLoop::piece is looked at.
  bool ask_for_pieces() const { return grow_ && may_work_later_; }
  /// As MPI_Iprobe by `rank`, the destination of the channel. Blocks.
  bool probe(Rank& rank, const hplcast_channel& channel);
  /// To be called when something was sent to `rank`: it may be asleep.
  static void wake(Rank& rank, const hplcast_channel& channel);
  /// Blocks until then; the channel, which may have wildcards, must stay where it is.
  static void sleep_until_sent(Rank& rank, const hplcast_channel& channel);

 private:
  bool is_let_in(const Rank& rank, const hplcast_channel& channel) const;
  bool spend_if_known(Rank& rank, const hplcast_channel& channel);
  bool reach_end(Rank& rank, const hplcast_channel& channel);
  bool end_in_the_past(Rank& rank);
  static bool end_replayed(Rank& rank);
  void skip_probes(Rank& rank, const hplcast_channel& channel);
  void work_later(Rank& rank, const hplcast_channel& channel);

  const Kernels& kernels_;
  const Messages& messages_;
  bool may_sleep_;
  bool may_work_later_;
  bool grow_;  // smpi/grow-injected-times, and they cost something
  bool late_;  // core::NetworkModel::Values::late_probes
  ProbeSeries series_;
};

}  // namespace hplcast::smpi_models
