#pragma once

#include <smpi/smpi.h>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "hplcast/smpi_models/hplcast_smpi.h"
#include "smpi-models/flows/network_flows.hpp"
#include "smpi-models/messages/matching.hpp"
#include "smpi-models/platform/network_costs.hpp"
#include "smpi-models/program/device_memory.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

/// One end of a message of MPI.
struct MessageEnd {
  void* buffer;
  int count;
  MPI_Datatype type;
  int peer;  ///< MPI_PROC_NULL; of a receive also MPI_ANY_SOURCE
  int tag;
  MPI_Comm communicator;
};

/// Content of a message, packed.
struct MessageContent {
  std::unique_ptr<char[]> bytes;  ///< null: nobody looks at it, or it is in pieces
  std::size_t size = 0;
  bool of_device = false;                 ///< from memory of an accelerator
  std::vector<ContentPiece> pieces = {};  ///< what is kept of that
};

/// Whether a sender waits for its receiver: if the message is long (MPI_Send), always (MPI_Ssend), never (MPI_Bsend).
enum class Sending { standard, synchronous, buffered };

/// A message from its sending to its receiving.
struct SentMessage {
  hplcast_message message;
  MessageName name;
  double sent_s = 0;      ///< when its sender called, perhaps ahead of the clock
  double begins_s = 0;    ///< likewise, its transfer
  bool detached = false;  ///< the sender does not wait for it: the receiver pays for the copy that SMPI would make
  const MessageEnd* from = nullptr;      ///< where its content is; null: nobody asks, or it is in `copy`
  MessageContent copy;                   ///< of a sender that goes on before the receiver looks
  core::MessageFlow as;                  ///< in the network
  bool starts_alone = false;             ///< without the receiver
  std::optional<double> sender_slept_s;  ///< own time of a sender that sleeps: until the end, if it is a flow
  port::BellPtr alarm;                   ///< of a sender that waits for any of several: the transfer has begun
  Transfer transfer;
};

/// A receive or a sending that does not block; what MPI_Request is for.
struct MessageRequest {
  bool receives = false;
  hplcast_message wanted{};                  ///< of a receive
  double wanted_s = 0;                       ///< of a receive: when it was called, perhaps ahead of the clock
  const MessageEnd* into = nullptr;          ///< of a receive: where its content is to be put
  std::shared_ptr<SentMessage> message;      ///< of a receive: null until something was sent
  std::optional<double> receiver_slept_s;    ///< as SentMessage::sender_slept_s
  port::BellPtr alarm;                       ///< of a rank that waits for any of several: its transfer has begun
  std::shared_ptr<SentMessage> sent_within;  ///< of a receive: what its wait is to wait for, too
};

inline const hplcast_channel& channel_of(const SentMessage& sent) {
  return sent.message.channel;
}
inline const hplcast_channel& channel_of(const MessageRequest& request) {
  return request.receives ? request.wanted.channel : request.message->message.channel;
}

// Contents of which Messages knows only the ends (datatype_layout.cpp). Memory that ranks share (SharedMemory) is
// neither read nor written: what is in it means nothing, and arrives as ones.

/// The sender goes on before it has met the receiver: from `sent.from` to `sent.copy`.
void keep_content(SentMessage& sent);
/// They have met: to `request.into`. Ends the simulation if there is less room than the message has bytes.
void move_content(SentMessage& sent, const MessageRequest& request);

/// A broadcast that a rank takes part in (hplcast_broadcast()), and its probes, as far as others may know of them.
struct Broadcast {
  int number = -1;
  int root = -1;  ///< negative: nothing is known of what the rank probes for
  double bytes = 0;
  std::array<double, 2> least_s{};  ///< by scope: from when a receive of its message is posted to the end of that
  hplcast_channel probed{any_value, any_value, 0, 0};
  bool is_posted = false;      ///< a receive on that channel
  double nothing_until_s = 0;  ///< nobody sends anything there before
};

/// The messages of one rank that are not over yet.
struct Mail {
  Matching<std::shared_ptr<SentMessage>, MessageRequest*> open;  ///< sent to this rank, or posted by it
  std::vector<MessageRequest*> receiving;                        ///< by this rank, not waited for
  const hplcast_channel* probed = nullptr;                       ///< the rank sleeps until something is sent here
  SendingNumbers sendings;                                       ///< only if names matter
  Broadcast broadcast;

  /// Whether a probe of this channel finds something.
  bool has(const hplcast_channel& channel) const { return open.find(channel) != nullptr; }
  /// Whether it was sent until then.
  bool has(const hplcast_channel& channel, double until_s) const;
};

}  // namespace hplcast::smpi_models
