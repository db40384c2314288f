#pragma once

#include <unordered_map>

#include "channel_key.hpp"
#include "hplcast/smpi_models/hplcast_smpi.h"
#include "rank.hpp"

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
  std::unordered_map<hplcast_channel, Traffic, ChannelHash, ChannelEqual>
      traffic_;  // channels with messages under way, or a rank that waits
};

}  // namespace hplcast::smpi_models
