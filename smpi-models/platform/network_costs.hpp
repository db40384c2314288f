#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/network_model.hpp"

namespace hplcast::smpi_models {

/// How often a rank has sent something to each destination with each tag. HPL uses a thousand tags in turn: an open
/// hash table, for the memory of most of them is not in a cache any more.
class SendingNumbers {
 public:
  /// How often it was asked for this before.
  std::uint32_t next(std::uint32_t destination, std::uint32_t tag);

 private:
  struct Cell {
    std::uint32_t destination = 0, tag = 0, count = 0;
  };
  Cell& cell_of(std::uint32_t destination, std::uint32_t tag);

  std::vector<Cell> cells_;  ///< as many as a power of two; used ones have a count
  std::size_t used_ = 0;
};

/// Which message of a simulation: names the draws of its costs, so that they do not depend on the order of events.
struct MessageName {
  std::uint32_t source = 0;       ///< rank in MPI_COMM_WORLD
  std::uint32_t destination = 0;  ///< likewise
  std::uint32_t tag = 0;
  std::uint64_t number = 0;  ///< among those with these ends and this tag, from 0
  bool by_smpi =
      false;  ///< SMPI knows hosts and no tags: then `source` is a host's index, `number` counts its messages
};

/// The message costs of a network model, message by message. Where a law has noise, every message draws from the stream
/// of its name; a model without noise draws nothing. No name (null): what is expected.
class NetworkCosts {
 public:
  /// `noise` false: every message takes its expected time. `link_shares`: of each host; empty: all 1.
  NetworkCosts(core::NetworkModel network, std::uint64_t seed, bool noise, std::vector<double> link_shares = {});

  /// Whether names matter.
  bool draws() const { return draws_any_; }

  /// Time in s that a rank spends in its send, isend or recv. `size_bytes` without SMPI's envelope.
  double overhead_s(core::MessageCost which, core::Scope scope, double size_bytes, const MessageName* name) const;
  /// The message in the network.
  core::MessageFlow flow(core::Scope scope, double size_bytes, const MessageName* name, bool panel = false) const;
  /// Time in s that a message takes at least, of a panel or not, whatever is drawn and whoever shares its links: a
  /// neighbour on a torus has half of the latency, and SimGrid shares links to 1e-9.
  double least_time_s(core::Scope scope, double size_bytes) const;
  /// The same as flow() from memory of an accelerator, of `own` costs.
  core::MessageFlow flow(const core::DeviceMessage& own, core::Scope scope, double size_bytes) const;
  /// Whether messages differ by their hosts.
  bool differs_by_hosts() const {
    return !link_shares_.empty() || rails() || std::holds_alternative<core::HostGroups>(topology());
  }
  const std::optional<core::Rails>& rails() const { return network_.values().rails; }
  /// The link of a host with one card.
  double link_bytes_per_s() const { return network_.scope(core::Scope::remote).link_bytes_per_s(); }
  /// `flow` between these two hosts of the cluster, by their numbers: longer where they are of different groups, or one
  /// has a slower link.
  core::MessageFlow between(std::size_t host, std::size_t other, core::MessageFlow flow) const {
    if (host == other) return flow;
    flow = between_groups(host, other, flow);
    if (!link_shares_.empty()) flow.bandwidth_bytes_per_s *= std::min(link_shares_.at(host), link_shares_.at(other));
    return flow;
  }
  core::MessageFlow between_groups(std::size_t host, std::size_t other, core::MessageFlow flow) const {
    const auto* groups = std::get_if<core::HostGroups>(&topology());
    if (groups == nullptr || !groups->are_apart(host, other)) return flow;
    return {flow.latency_s + groups->extra_latency_s, flow.bandwidth_bytes_per_s * groups->bandwidth_share};
  }
  /// Time in s of a message that has its way to itself.
  static double time_alone_s(const core::MessageFlow& flow, double wire_bytes) {
    return flow.latency_s + wire_bytes / flow.bandwidth_bytes_per_s;
  }

  /// Time in s by which a message takes longer, of which so many bytes go to memory that is new to messages.
  double first_use_s(core::Scope scope, double new_bytes) const {
    return network_.scope(scope).first_use_s_per_byte * new_bytes;
  }

  /// Time in s that the calls of a receiver take longer than MPI_Recv, for a message in an exchange.
  double exchange_s(core::Scope scope, double size_bytes) const {
    return network_.scope(scope).exchange_cost_s(size_bytes);
  }

  /// Whether messages that wait for their receivers go one way at a time between two ranks.
  bool is_half_duplex(core::Scope scope) const { return network_.scope(scope).half_duplex; }

  /// Whether messages take from each other what they use of the network, there.
  bool is_shared(core::Scope scope) const { return core::link_limit(network_.scope(scope), scope).is_shared; }

  const core::Topology& topology() const { return network_.values().topology; }

  /// SimGrid's factor on the bandwidth of links for a flow with a bound of its own: 1 but where noise makes a message
  /// faster than the link.
  double bandwidth_factor(core::Scope scope, const core::MessageFlow& flow) const {
    return std::max(1.0, smpi_bandwidth_factor(scope, flow));
  }
  /// The same where the links are those of these cards.
  double bandwidth_factor(core::Scope scope, const core::MessageFlow& flow, int card, int other_card) const {
    if (card < 0) return bandwidth_factor(scope, flow);
    const double share = std::min(rails()->share_of(card), rails()->share_of(other_card));
    return bandwidth_factor(scope, {flow.latency_s, flow.bandwidth_bytes_per_s / share});
  }
  /// The same for a message of SMPI, whose flow has no bound: its share of a link, rate / capacity. Several
  /// such flows together get as much as one, less than the link has.
  double smpi_bandwidth_factor(core::Scope scope, const core::MessageFlow& flow) const {
    return flow.bandwidth_bytes_per_s / network_.scope(scope).link_bytes_per_s();
  }

 private:
  core::MessageFlow flow_of(core::Scope scope, const core::SegmentedLaw& law, double size_bytes, double mean_s,
                            double noise_s) const;
  double noise_s(core::MessageCost which, const core::SegmentedLaw& law, core::Scope scope, double size_bytes,
                 double mean_s, const MessageName* name) const;

  core::NetworkModel network_;
  std::vector<double> link_shares_;
  std::uint64_t seed_;
  std::array<std::array<bool, core::message_cost_count>, 2> draws_{};  // by scope and cost
  bool draws_any_ = false;
};

}  // namespace hplcast::smpi_models
