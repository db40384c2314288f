#pragma once

#include <boost/functional/hash.hpp>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "smpi-models/flows/fair_flows.hpp"
#include "smpi-models/flows/flow_shape.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

class NetworkCosts;
struct PlatformCosts;

/// A message on its way through FairFlows.
struct NetworkFlow {
  std::uint32_t name = 0;
  bool has_ended = false;
  bool is_due = false;               ///< it has ended, which those who wait for it do not know yet
  std::vector<port::BellPtr> bells;  ///< each rings once, at its end
  double wire_bytes = 0;
  const std::vector<std::uint32_t>* loads = nullptr;  ///< links on which it counts as load; null: nobody asks
  std::unique_ptr<Alarm> start = nullptr;             ///< is set while its way is not chosen yet
  double earliest_end_s = 0;                          ///< then
  // A striped message has no way of its own: it is what its parts are of.
  std::vector<std::shared_ptr<NetworkFlow>> parts = {};
  std::size_t open_parts = 0;
  std::shared_ptr<NetworkFlow> whole = nullptr;  ///< of a part, until that has ended
};

/// FairFlows over the links of SimGrid's platform, by its clock: the same dates as SimGrid's own flows to rounding, in
/// a fraction of the time. The two know nothing of each other: a simulation whose messages share links must leave all
/// of them to one.
///
/// Routes are SimGrid's, but for topologies with adaptive routing or failed links (core::ways_between(), by the rule of
/// docs/internals/platform.md#routes). Where hosts have several cards, the first and the last link of a route are those
/// of the cards that the message takes, and the links of SimGrid's platform are those of one card. A striped message is
/// one flow per card.
class NetworkFlows {
 public:
  /// It must outlive this. `checks`: as FairFlows.
  NetworkFlows(const PlatformCosts& platform, bool checks);

  /// Does not block, nor let others run.
  std::shared_ptr<NetworkFlow> begin(const FlowShape& shape);
  /// A flow that has not ended does not end before this date, whatever others do.
  double earliest_end_s(const NetworkFlow& flow) const;
  /// Latency of a message alone over that of the route that was measured: more over several switches.
  double latency_ratio(const simgrid::s4u::Host* source, const simgrid::s4u::Host* destination);
  void check_end() const { flows_.check_end(); }

 private:
  struct Route {
    FairFlows::Route number = 0;
    std::size_t links = 0;
    double latency_s = 0;
    double least_bytes_per_s = 0;
    std::vector<FairFlows::Link> between;  ///< switches; only if there are several ways
  };
  struct Ends {
    const simgrid::s4u::Host *first, *second;
    int first_card = FlowShape::no_card, second_card = FlowShape::no_card;
    bool operator==(const Ends& other) const {
      return first == other.first && second == other.second && first_card == other.first_card &&
             second_card == other.second_card;
    }
    friend std::size_t hash_value(const Ends& ends) {
      std::size_t hash = boost::hash_value(std::pair(ends.first, ends.second));
      boost::hash_combine(hash, ends.first_card);
      boost::hash_combine(hash, ends.second_card);
      return hash;
    }
  };

  const Route& route(const Ends& ends);
  Route made_route(const std::vector<simgrid::s4u::Link*>& links, double latency_s, const Ends& ends);
  std::vector<Route> made_ways(const Ends& ends);
  const Route& way(const Ends& ends, double bytes);
  std::shared_ptr<NetworkFlow> new_flow();
  std::shared_ptr<NetworkFlow> begin_parts(const FlowShape& shape);
  void start(NetworkFlow& flow, const FlowShape& shape);
  FairFlows::Link link(const simgrid::s4u::Link& of, int card = FlowShape::no_card);
  double bytes_per_s(const simgrid::s4u::Link& of, int card) const;
  static NetworkFlow& waited_for(NetworkFlow& flow) { return flow.whole ? *flow.whole : flow; }
  void set_timer();
  void advance();
  void end(std::uint32_t name);
  void ring();

  const NetworkCosts& costs_;
  FairFlows flows_;
  std::unordered_map<Ends, Route, boost::hash<Ends>> routes_;
  using Card = std::pair<const simgrid::s4u::Link*, int>;
  std::unordered_map<Card, FairFlows::Link, boost::hash<Card>> links_;
  // Where there are several ways:
  bool is_adaptive_ = false;
  const std::vector<simgrid::s4u::Host*>& places_;
  std::unordered_map<const simgrid::s4u::Host*, std::size_t> place_of_;
  std::unordered_map<Ends, std::vector<Route>, boost::hash<Ends>> ways_;
  std::vector<double> load_bytes_, bytes_per_s_;      // of each link
  std::vector<std::shared_ptr<NetworkFlow>> moving_;  // by name
  std::vector<std::uint32_t> free_names_;
  std::vector<std::uint32_t> ended_;
  std::vector<std::uint32_t> due_;  // flows that have ended and are waited for
  Alarm timer_{[this] { advance(); }, true};
  Alarm due_now_{[this] { ring(); }};
};

class RankClock;

/// A message on its way, from when both of its ends are there (or its sender alone, if it does not need the other).
///
/// Where it shares the network it is a flow, of ours or of SimGrid's, which says when it ends. Where it shares nothing
/// with others, as between ranks of a host whose messages do not slow each other, all there is to it is the date of its
/// end: neither flow nor event.
class Transfer {
 public:
  /// As a flow.
  void begin(NetworkFlows& flows, const FlowShape& shape) { own_flow_ = flows.begin(shape); }
  /// As a flow of SimGrid. Lets other actors run before it returns.
  void begin(const FlowShape& shape) { flow_ = port::begin_flow(shape); }
  /// Without a flow.
  void end_at(double date_s) { ends_s_ = date_s; }

  bool has_begun() const { return own_flow_ != nullptr || flow_ != nullptr || ends_s_ >= 0; }
  /// Null: it is none of ours.
  NetworkFlow* own_flow() const { return own_flow_.get(); }
  /// Whether it is a flow of SimGrid.
  bool has_flow() const { return flow_ != nullptr; }
  const port::Flow& flow() const { return flow_; }
  /// At the simulated clock.
  bool has_ended() const;
  /// The rank is at its end, on the clock or, if that takes no flow, ahead of it. Blocks.
  void wait(RankClock& clock) const;
  /// Does not block: the bell rings then, unless what is returned is gone before.
  std::unique_ptr<Alarm> ring_at_end(const port::BellPtr& bell) const;

 private:
  std::shared_ptr<NetworkFlow> own_flow_;
  port::Flow flow_;
  double ends_s_ = -1;
};

}  // namespace hplcast::smpi_models
