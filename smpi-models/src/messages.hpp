#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "hplcast/smpi_models/hplcast_smpi.h"
#include "network_costs.hpp"
#include "polling.hpp"
#include "probe_series.hpp"
#include "simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

class Runtime;
struct RankState;

/// A message from its sending to its receiving.
struct SentMessage {
  hplcast_message message;
  MessageName name;
  double sent_s = 0;          ///< when its sender called
  bool detached = false;      ///< the sender does not wait for it: the receiver pays for the copy that SMPI would make
  std::vector<char> copy;     ///< its content: the sender may go on before the receiver looks
  core::MessageFlow as;       ///< in the network
  bool starts_alone = false;  ///< without the receiver
  port::Flow flow;            ///< null: nobody has begun or offered it
  simgrid::s4u::Mailbox* sender_waits_in = nullptr;
};

/// A receive or a sending that does not block; what MPI_Request is for.
struct MessageRequest {
  bool receives = false;
  hplcast_message wanted;                ///< of a receive
  std::shared_ptr<SentMessage> message;  ///< of a receive: null until something was sent
  port::Flow flow;                       ///< of a receive from a sender that waits: the receiver's end of it
  simgrid::s4u::Mailbox* receiver_waits_in = nullptr;
};

/// Point-to-point messages on SimGrid's flows, with the three semantics of MPI_Send that SMPI has (eager, detached,
/// rendezvous) and its costs, for a fraction of the work that SMPI itself has with a message. Simulated times are those
/// of SMPI to rounding (a test compares). What a call costs (os, ois, or, probe) joins the pending delay of the rank
/// and is spent with it.
///
/// Messages match by source, destination and tag, in order; there are no wildcards. Only content is copied: bytes that
/// both the sender and the receiver call so.
class Messages {
 public:
  /// Reads thresholds and the cost of probes from SMPI's settings. All must outlive this.
  Messages(const Runtime& runtime, const NetworkCosts& costs, Polling& polling);

  /// One more rank of MPI_COMM_WORLD, in order. `state` must outlive this.
  void add_rank(RankState& state, simgrid::s4u::Host* host);

  /// Blocks as MPI_Send does, or MPI_Ssend.
  void send(const hplcast_message& message, bool synchronous);
  /// As MPI_Isend or MPI_Issend.
  std::unique_ptr<MessageRequest> isend(const hplcast_message& message, bool synchronous);
  /// As MPI_Irecv. The request must stay where it is until wait().
  std::unique_ptr<MessageRequest> irecv(const hplcast_message& wanted);
  /// As MPI_Wait.
  void wait(MessageRequest& request);
  double async_small_bytes() const { return async_small_bytes_; }
  double detached_bytes() const { return detached_bytes_; }
  /// Between two ranks of MPI_COMM_WORLD.
  core::Scope scope(int source, int destination) const;
  simgrid::s4u::Host* host(int rank) const { return at(rank).host; }
  /// Names the next message of the rank `channel.source` there.
  MessageName next_name(const hplcast_channel& channel);

  /// As MPI_Iprobe.
  bool probe(const hplcast_channel& channel);

 private:
  /// What a rank has to do that has slept where it would have worked and probed.
  struct CatchUp {
    bool active = false;
    std::size_t failed_probes = 0;  // to be made, after a piece of work each
    double done_s = 0;              // when that is done, and the work after it
    bool probes = false;            // then it is at the end of a probe, not at the begin of one
  };
  struct Rank {
    RankState* state = nullptr;
    simgrid::s4u::Host* host = nullptr;
    std::vector<std::shared_ptr<SentMessage>> sent;  // to this rank, not matched
    std::vector<MessageRequest*> posted;             // by this rank, not matched
    const hplcast_channel* polled = nullptr;         // it sleeps until something is sent there
    std::vector<MessageRequest*> receiving;          // by this rank, not waited for
    CatchUp catch_up;
    std::unordered_map<std::uint64_t, std::uint64_t> sendings;  // by destination and tag; only if names matter
  };

  std::shared_ptr<SentMessage> prepare(const hplcast_message& message, bool synchronous, core::MessageCost cost);
  bool match_posted(const std::shared_ptr<SentMessage>& sent);
  void publish(const std::shared_ptr<SentMessage>& sent);
  FlowShape shape_of(const SentMessage& sent) const;
  void finish_receive(MessageRequest& request);
  static bool in_sight(const Rank& rank, const hplcast_channel& channel);
  void sleep_until_sent(Rank& rank, const hplcast_channel& channel);
  void skip_probes_until_sent(Rank& rank, const hplcast_channel& channel);
  void probe_in_the_past(RankState& state);
  void work_later(Rank& rank, const hplcast_channel& channel);
  static bool catches_up(Rank& rank);
  bool spend_probe(Rank& rank, const hplcast_channel& channel);
  void let_opposite_pass(const hplcast_channel& channel);
  double overhead_s(core::MessageCost which, const SentMessage& sent) const;
  void have_mailbox();
  simgrid::s4u::Mailbox* take_mailbox();
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  const Runtime& runtime_;
  const NetworkCosts& costs_;
  Polling& polling_;
  std::vector<Rank> ranks_;
  std::vector<simgrid::s4u::Mailbox*> idle_mailboxes_;
  std::size_t mailboxes_ = 0;
  double async_small_bytes_;
  double detached_bytes_;
  bool probes_grow_;  // smpi/grow-injected-times, and they cost something
  ProbeSeries probes_;
};

}  // namespace hplcast::smpi_models
