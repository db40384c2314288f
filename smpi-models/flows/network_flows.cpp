#include "smpi-models/flows/network_flows.hpp"

#include <algorithm>
#include <limits>

#include "smpi-models/clock/rank.hpp"
#include "smpi-models/platform/network_costs.hpp"
#include "smpi-models/platform/platform.hpp"
#include "smpi-models/session/session.hpp"

namespace hplcast::smpi_models {

namespace s4u = simgrid::s4u;

NetworkFlows::NetworkFlows(const PlatformCosts& platform, bool checks)
    : costs_(platform.costs), flows_(port::resolution_s, checks), places_(platform.places) {
  if (core::has_static_routes(costs_.topology())) return;
  is_adaptive_ = core::routing_of(costs_.topology())->adaptive;
  for (std::size_t i = 0; i < places_.size(); ++i) place_of_.emplace(places_[i], i);
}

double NetworkFlows::bytes_per_s(const s4u::Link& of, int card) const {
  return of.get_bandwidth() * (card == FlowShape::no_card ? 1 : costs_.rails()->share_of(card));
}

FairFlows::Link NetworkFlows::link(const s4u::Link& of, int card) {
  const auto [found, is_new] = links_.try_emplace({&of, card}, 0);
  if (!is_new) return found->second;
  bytes_per_s_.push_back(bytes_per_s(of, card));
  load_bytes_.push_back(0);
  return found->second = flows_.add_link(bytes_per_s_.back());
}

const NetworkFlows::Route& NetworkFlows::route(const Ends& ends) {
  const auto [found, is_new] = routes_.try_emplace(ends);
  if (!is_new) return found->second;
  double latency_s = 0;
  std::vector<s4u::Link*> links;
  ends.first->route_to(ends.second, links, &latency_s);
  return found->second = made_route(links, latency_s, ends);
}

NetworkFlows::Route NetworkFlows::made_route(const std::vector<s4u::Link*>& links, double latency_s, const Ends& ends) {
  Route route;
  route.latency_s = latency_s;
  route.links = links.size();
  route.least_bytes_per_s = std::numeric_limits<double>::infinity();
  std::vector<FairFlows::Link> shared;
  for (const s4u::Link* const each : links) {
    const int card = each == links.front()  ? ends.first_card
                     : each == links.back() ? ends.second_card
                                            : FlowShape::no_card;
    route.least_bytes_per_s = std::min(route.least_bytes_per_s, bytes_per_s(*each, card));
    if (each->get_sharing_policy() != s4u::Link::SharingPolicy::FATPIPE) shared.push_back(link(*each, card));
  }
  if (!place_of_.empty() && shared.size() > 2) route.between.assign(shared.begin() + 1, shared.end() - 1);
  route.number = flows_.add_route(std::move(shared), latency_s > 0 ? latency_s : 1);
  return route;
}

/// Links of SimGrid's route.
static std::vector<s4u::Link*> links_between(const s4u::Host* from, const s4u::Host* to) {
  std::vector<s4u::Link*> links;
  from->route_to(to, links, nullptr);
  return links;
}

std::vector<NetworkFlows::Route> NetworkFlows::made_ways(const Ends& ends) {
  std::vector<Route> ways;
  for (const std::size_t by :
       core::ways_between(costs_.topology(), place_of_.at(ends.first), place_of_.at(ends.second))) {
    std::vector<s4u::Link*> links = links_between(ends.first, places_[by]);
    if (places_[by] != ends.second) {
      const std::vector<s4u::Link*> rest = links_between(places_[by], ends.second);
      links.pop_back();
      links.insert(links.end(), rest.begin() + 1, rest.end());
    }
    ways.push_back(made_route(links, route_latency_s, ends));
  }
  return ways;
}

const NetworkFlows::Route& NetworkFlows::way(const Ends& ends, double bytes) {
  if (place_of_.empty() || ends.first == ends.second) return route(ends);
  const auto [found, is_new] = ways_.try_emplace(ends);
  if (is_new) found->second = made_ways(ends);
  const std::vector<Route>& ways = found->second;
  if (ways.size() == 1 || !is_adaptive_) return ways.front();
  const auto cost = [&](const Route& one) {
    double most_s = 0;
    for (const FairFlows::Link each : one.between)
      most_s = std::max(most_s, (load_bytes_[each] + bytes) / bytes_per_s_[each]);
    return most_s * static_cast<double>(one.between.size());
  };
  const Route* best = &ways.front();
  double least = cost(*best);
  for (auto one = ways.begin() + 1; one != ways.end(); ++one)
    if (const double other = cost(*one); other < least) least = other, best = &*one;
  return *best;
}

double NetworkFlows::latency_ratio(const s4u::Host* source, const s4u::Host* destination) {
  if (source == destination || !core::has_shared_links(costs_.topology())) return 1;
  const Route& usual = way({source, destination}, 0);
  return latency_factor(costs_.topology(), {1, 1}, usual.links) * usual.latency_s;
}

/// One flow per card, each with its part of the bytes and of the rate.
std::shared_ptr<NetworkFlow> NetworkFlows::begin_parts(const FlowShape& shape) {
  const core::Rails& rails = *costs_.rails();
  const auto whole = std::make_shared<NetworkFlow>();
  const auto cards = static_cast<int>(rails.cards.size());
  std::uint64_t left_bytes = shape.wire_bytes;
  for (int card = 0; card < cards; ++card) {
    FlowShape part = shape;
    part.source_card = part.destination_card = card;
    part.as.bandwidth_bytes_per_s *= rails.part_of(card);
    if (card + 1 < cards)
      part.wire_bytes = static_cast<std::uint64_t>(static_cast<double>(shape.wire_bytes) * rails.part_of(card));
    else
      part.wire_bytes = left_bytes;
    if (part.wire_bytes == 0) continue;
    left_bytes -= part.wire_bytes;
    ++whole->open_parts;
    whole->parts.push_back(begin(part));
    whole->parts.back()->whole = whole;
  }
  return whole;
}

std::shared_ptr<NetworkFlow> NetworkFlows::begin(const FlowShape& shape) {
  if (shape.source_card == FlowShape::striped) return begin_parts(shape);
  const std::shared_ptr<NetworkFlow> flow = new_flow();
  if (!is_adaptive_ || shape.delay_s <= port::resolution_s) {
    start(*flow, shape);
    return flow;
  }
  const double date_s = port::clock_s() + shape.delay_s;
  flow->earliest_end_s = date_s + static_cast<double>(shape.wire_bytes) / shape.as.bandwidth_bytes_per_s;
  flow->start = std::make_unique<Alarm>([this, name = flow->name, shape] {
    FlowShape now = shape;
    now.delay_s = 0;
    start(*moving_[name], now);
  });
  flow->start->set(date_s);
  return flow;
}

std::shared_ptr<NetworkFlow> NetworkFlows::new_flow() {
  if (free_names_.empty()) {
    free_names_.push_back(static_cast<std::uint32_t>(moving_.size()));
    moving_.emplace_back();
  }
  const std::uint32_t name = free_names_.back();
  free_names_.pop_back();
  std::shared_ptr<NetworkFlow>& flow = moving_[name];
  if (flow == nullptr || flow.use_count() > 1) flow = std::make_shared<NetworkFlow>();
  flow->name = name;
  flow->has_ended = flow->is_due = false;
  flow->bells.clear();
  flow->loads = nullptr;
  flow->start = nullptr;
  return flow;
}

/// The way is chosen now, even if it begins later.
void NetworkFlows::start(NetworkFlow& flow, const FlowShape& shape) {
  const Route& way = this->way({shape.source, shape.destination, shape.source_card, shape.destination_card},
                               static_cast<double>(shape.wire_bytes));
  const core::Scope scope = shape.source == shape.destination ? core::Scope::local : core::Scope::remote;
  const double gain = costs_.bandwidth_factor(scope, shape.as, shape.source_card, shape.destination_card);
  const double limit_bytes_per_s = std::min(shape.as.bandwidth_bytes_per_s, gain * way.least_bytes_per_s);
  const double latency_s = latency_factor(costs_.topology(), shape.as, way.links) * way.latency_s;
  if (!way.between.empty()) {
    flow.wire_bytes = static_cast<double>(shape.wire_bytes);
    flow.loads = &way.between;
    for (const FairFlows::Link each : way.between) load_bytes_[each] += flow.wire_bytes;
  }
  flows_.begin(port::clock_s() + (shape.delay_s + latency_s),
               {way.number, static_cast<double>(shape.wire_bytes), limit_bytes_per_s, gain, flow.name});
  set_timer();
}

double NetworkFlows::earliest_end_s(const NetworkFlow& flow) const {
  if (flow.is_due) return port::clock_s();
  if (!flow.parts.empty()) {
    double last_s = 0;
    for (const auto& part : flow.parts)
      if (!part->has_ended) last_s = std::max(last_s, earliest_end_s(*part));
    return last_s;
  }
  if (flow.start != nullptr && flow.start->is_set()) return flow.earliest_end_s;
  return flows_.earliest_end_s(flow.name, port::clock_s());
}

/// A timer that comes too early stays: the next one is set then.
void NetworkFlows::set_timer() {
  const double date_s = std::max(flows_.next_s(), port::clock_s());
  if (timer_.is_set() && timer_.date_s() <= date_s) return;
  if (date_s == std::numeric_limits<double>::infinity())
    timer_.cancel();
  else
    timer_.set(date_s);
}

/// To the next begin or end of a flow, perhaps before the clock is there. Whoever waits for a flow is told at its end.
void NetworkFlows::advance() {
  ended_.clear();
  flows_.advance(timer_.date_s(), ended_);
  for (const std::uint32_t name : ended_) {
    NetworkFlow& flow = *moving_[name];
    if (flow.loads != nullptr)
      for (const FairFlows::Link each : *flow.loads) load_bytes_[each] -= flow.wire_bytes;
    NetworkFlow& waited = waited_for(flow);
    if (waited.open_parts > 1 || waited.bells.empty()) {
      end(name);
      continue;
    }
    flow.is_due = waited.is_due = true;
    due_.push_back(name);
  }
  if (!due_.empty() && !due_now_.is_set()) due_now_.set_in_place_of(timer_);
  set_timer();
}

void NetworkFlows::end(std::uint32_t name) {
  free_names_.push_back(name);  // for another flow, once nobody looks at this one any more
  NetworkFlow& flow = *moving_[name];
  flow.has_ended = true;
  if (flow.whole == nullptr) return;
  if (--flow.whole->open_parts == 0) flow.whole->has_ended = true;
  flow.whole = nullptr;
}

void NetworkFlows::ring() {
  for (const std::uint32_t name : due_) {
    const std::shared_ptr<NetworkFlow> whole = moving_[name]->whole;
    end(name);
    for (const port::BellPtr& bell : (whole ? *whole : *moving_[name]).bells) bell->ring_in_kernel();
  }
  due_.clear();
}

bool Transfer::has_ended() const {
  if (own_flow_ != nullptr) return own_flow_->has_ended;
  if (has_flow()) return flow_->test();
  return has_begun() && port::clock_s() >= ends_s_ - port::resolution_s;
}

void Transfer::wait(RankClock& clock) const {
  const double from_s = clock.now_s();
  if (own_flow_ != nullptr) {
    clock.pause();
    if (!own_flow_->has_ended) clock.wait_for(*own_flow_);
  } else if (has_flow()) {
    clock.pause();
    port::wait_for_end(flow_);
  }
  clock.go_on_from(std::max(from_s, ends_s_));
}

/// An actor that rings at the end of a flow and then waits for the next one: SMPI gives each new actor mailboxes that
/// it keeps to the end.
struct Ringer {
  port::Flow flow;
  port::BellPtr bell;
  port::Bell next;
};

std::unique_ptr<Alarm> Transfer::ring_at_end(const port::BellPtr& bell) const {
  if (own_flow_ != nullptr) {
    own_flow_->bells.push_back(bell);
    return nullptr;
  }
  if (!has_flow()) {
    auto alarm = std::make_unique<Alarm>([bell] { bell->ring_in_kernel(); });
    alarm->set(ends_s_);
    return alarm;
  }
  std::vector<std::shared_ptr<Ringer>>& idle = session().idle_ringers;
  const bool is_new = idle.empty();
  const auto ringer = is_new ? std::make_shared<Ringer>() : idle.back();
  ringer->flow = flow_;
  ringer->bell = bell;
  if (!is_new) {
    idle.pop_back();
    ringer->next.ring();
    return nullptr;
  }
  port::start_daemon("waits for a message", [ringer] {
    for (;; ringer->next.wait()) {
      port::wait_for_end(ringer->flow);
      ringer->bell->ring();
      session().idle_ringers.push_back(ringer);
    }
  });
  return nullptr;
}

}  // namespace hplcast::smpi_models
