#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "smpi-models/clock/rank.hpp"
#include "smpi-models/flows/network_flows.hpp"
#include "smpi-models/messages/message.hpp"

namespace hplcast::smpi_models {

/// Point-to-point messages as flows, of NetworkFlows or of SimGrid, with the three semantics of MPI_Send that SMPI has
/// (eager, detached, rendezvous) and its costs, for a fraction of the work that SMPI itself has with a message.
/// Simulated times are those of SMPI to rounding (a test compares). The cost of a call (os, ois, or) joins the delay of
/// the rank and is spent with it.
///
/// Messages match by source, destination, tag and context, in order (Matching). Only bytes that both sides declare as
/// content are copied, or what is at the ends of MPI that both name.
class Messages {
 public:
  /// Reads thresholds from SMPI's settings. `ranks`: of MPI_COMM_WORLD, by number. Both must outlive this.
  /// `own_flows`: NetworkFlows moves them, else SimGrid. `checks`: invariants are checked as it goes on.
  /// @throws core::DomainError for hosts that the cluster does not have.
  Messages(const PlatformCosts& platform, std::deque<Rank>& ranks, bool own_flows, bool checks);

  /// Blocks as MPI_Send does. `from`, and `into` below, must stay where they are while their rank waits.
  std::shared_ptr<SentMessage> send(const hplcast_message& message, Sending how, const MessageEnd* from = nullptr);
  /// As MPI_Send, where the next call of the rank is wait() for this receive: the message may be on its way until then.
  void send_within(const hplcast_message& message, MessageRequest& receive);
  /// As MPI_Isend.
  std::unique_ptr<MessageRequest> isend(const hplcast_message& message, Sending how, const MessageEnd* from = nullptr);
  /// As MPI_Irecv. The request must stay where it is until wait().
  std::unique_ptr<MessageRequest> irecv(const hplcast_message& wanted, const MessageEnd* into = nullptr);
  /// As MPI_Wait.
  void wait(MessageRequest& request);
  /// Blocks the sender until a message has arrived, also one that it need not wait for.
  void wait_for_end(const std::shared_ptr<SentMessage>& sent);
  /// Whether wait() would not wait.
  bool has_ended(const MessageRequest& request) const;
  /// Blocks until one of them, which are all of one rank, has ended; wait() is still to be called.
  void wait_any(const std::vector<MessageRequest*>& requests);
  /// The same; of those whose transfers have begun, if there are any.
  void wait_next(const std::vector<MessageRequest*>& requests);
  /// Whether another rank is known to wait for what comes later. False: it may send something before, or not.
  bool sends_nothing_until(int rank, double date_s) const;
  /// `rank` begins to probe for its message of a broadcast, or goes on: hplcast_broadcast().
  void join_broadcast(Rank& rank, int number, int root, double bytes) const;
  /// sends_nothing_until() of the source of what `rank` probes for, on that channel.
  bool forwards_nothing_until(Rank& rank, double date_s) const;
  double async_small_bytes() const { return async_small_bytes_; }
  double detached_bytes() const { return detached_bytes_; }
  /// Between two ranks of MPI_COMM_WORLD.
  core::Scope scope(int source, int destination) const {
    return at(source).host == at(destination).host ? core::Scope::local : core::Scope::remote;
  }
  /// The flow of a message of so many bytes between them: NetworkCosts::between() their hosts, over their cards.
  core::MessageFlow between(int source, int destination, double bytes, core::MessageFlow flow) const;
  /// NetworkFlows::latency_ratio(), where they move messages.
  double latency_ratio(const simgrid::s4u::Host* source, const simgrid::s4u::Host* destination) {
    return flows_ ? flows_->latency_ratio(source, destination) : 1;
  }
  /// The shape of a flow that takes exactly `as`, over the cards that messages of so many bytes take.
  FlowShape shape_between(int source, int destination, std::uint64_t wire_bytes, const core::MessageFlow& as,
                          double bytes) const;
  /// Costs of messages from memory of accelerators, by ranks; null: those of the network.
  using DeviceCosts = std::function<const core::DeviceMessage*(int source, int destination)>;
  void set_device_costs(DeviceCosts of_devices) { of_devices_ = std::move(of_devices); }
  /// Before any message: SimGrid moves them.
  void leave_flows_to_simgrid() { flows_.reset(); }
  /// Before any message, if nobody probes: messages of fewer bytes than that take nothing of the links, and what a rank
  /// does among its requests comes when its own time says, ahead of the clock.
  void let_run_ahead(double below_bytes) { free_bytes_ = below_bytes; }
  /// Takes its part of the links; nobody waits for it.
  void load_links(const FlowShape& shape);
  bool checks() const { return checks_; }
  /// Whether messages take longer where they go to new memory.
  bool new_memory_costs() const {
    return costs_.first_use_s(core::Scope::local, 1) > 0 || costs_.first_use_s(core::Scope::remote, 1) > 0;
  }
  /// At the end of the simulation: bytes that began to move have arrived, but for those that nobody waits for.
  void check_end() const;
  /// Names the next message of the rank `channel.source` there.
  MessageName next_name(const hplcast_channel& channel);

 private:
  std::shared_ptr<SentMessage> prepare(const hplcast_message& message, Sending how, core::MessageCost cost,
                                       const MessageEnd* from);
  void publish(const std::shared_ptr<SentMessage>& sent);
  static void let_go_on(std::optional<double> slept_s, RankClock& clock, const SentMessage& sent);
  void meet(const std::shared_ptr<SentMessage>& sent, MessageRequest& request);
  FlowShape shape_of(const SentMessage& sent) const;
  static double on_the_clock_s(RankClock& clock);
  double own_time_s(RankClock& clock, const hplcast_channel& channel);
  void meet_new_memory(SentMessage& sent, const hplcast_message& wanted) const;
  void begin_transfer(SentMessage& sent, double date_s, const RankClock& clock);
  template <typename Sleep>
  void wait_for_both(RankClock& clock, const std::shared_ptr<SentMessage>& sent, const Sleep& sleep_until_there);
  void finish_receive(MessageRequest& request);
  void check_receive(const SentMessage& sent, double received_s) const;
  void let_opposite_pass(const hplcast_channel& channel);
  double overhead_s(core::MessageCost which, const SentMessage& sent) const;
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  Rank& rank_of(const MessageRequest& request) {
    return at(request.receives ? request.wanted.channel.destination : request.message->message.channel.source);
  }

  const NetworkCosts& costs_;
  std::deque<Rank>& ranks_;
  std::vector<std::size_t> host_of_;         // number of that of each rank; empty: nobody asks
  std::vector<core::Rails::End> card_ends_;  // of each rank; empty: hosts have one card
  double async_small_bytes_;
  double detached_bytes_;
  bool checks_;
  DeviceCosts of_devices_;
  double free_bytes_ = 0;
  std::optional<NetworkFlows> flows_;
};

}  // namespace hplcast::smpi_models
