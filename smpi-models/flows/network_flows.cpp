#include "smpi-models/flows/network_flows.hpp"

#include <algorithm>
#include <limits>

#include "smpi-models/clock/rank.hpp"
#include "smpi-models/platform/network_costs.hpp"
#include "smpi-models/platform/platform.hpp"
#include "smpi-models/session/c_boundary.hpp"

namespace hplcast::smpi_models {

namespace s4u = simgrid::s4u;

FairFlows::Link NetworkFlows::link(const s4u::Link& of) {
  const auto [found, is_new] = links_.try_emplace(&of, 0);
  if (is_new) found->second = flows_.add_link(of.get_bandwidth());
  return found->second;
}

const NetworkFlows::Route& NetworkFlows::route(const Ends& ends) {
  const auto [found, is_new] = routes_.try_emplace(ends);
  Route& route = found->second;
  if (!is_new) return route;
  std::vector<s4u::Link*> links;
  ends.first->route_to(ends.second, links, &route.latency_s);
  route.links = links.size();
  route.least_bytes_per_s = std::numeric_limits<double>::infinity();
  std::vector<FairFlows::Link> shared;
  for (const s4u::Link* const each : links) {
    route.least_bytes_per_s = std::min(route.least_bytes_per_s, each->get_bandwidth());
    if (each->get_sharing_policy() != s4u::Link::SharingPolicy::FATPIPE) shared.push_back(link(*each));
  }
  route.number = flows_.add_route(std::move(shared), route.latency_s > 0 ? route.latency_s : 1);
  return route;
}

std::shared_ptr<NetworkFlow> NetworkFlows::begin(const FlowShape& shape) {
  const Route& way = route({shape.source, shape.destination});
  const core::Scope scope = shape.source == shape.destination ? core::Scope::local : core::Scope::remote;
  const double gain = costs_.bandwidth_factor(scope, shape.as);
  const double limit_bytes_per_s = std::min(shape.as.bandwidth_bytes_per_s, gain * way.least_bytes_per_s);
  const double latency_s = latency_factor(costs_.topology(), shape.as, way.links) * way.latency_s;
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
  flows_.begin(port::clock_s() + (shape.delay_s + latency_s),
               {way.number, static_cast<double>(shape.wire_bytes), limit_bytes_per_s, gain, name});
  set_timer();
  return flow;
}

double NetworkFlows::earliest_end_s(const NetworkFlow& flow) const {
  if (flow.is_due) return port::clock_s();
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
    if (moving_[name]->bells.empty()) {
      end(name);
      continue;
    }
    moving_[name]->is_due = true;
    due_.push_back(name);
  }
  if (!due_.empty() && !due_now_.is_set()) due_now_.set_in_place_of(timer_);
  set_timer();
}

void NetworkFlows::end(std::uint32_t name) {
  free_names_.push_back(name);  // for another flow, once nobody looks at this one any more
  moving_[name]->has_ended = true;
}

void NetworkFlows::ring() {
  for (const std::uint32_t name : due_) {
    end(name);
    for (const port::BellPtr& bell : moving_[name]->bells) bell->ring();
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

std::unique_ptr<port::Alarm> Transfer::ring_at_end(const port::BellPtr& bell) const {
  if (own_flow_ != nullptr) {
    own_flow_->bells.push_back(bell);
    return nullptr;
  }
  if (!has_flow()) {
    auto alarm = std::make_unique<port::Alarm>([bell] { bell->ring(); });
    alarm->set(ends_s_);
    return alarm;
  }
  port::ring_at_end(flow_, bell);
  return nullptr;
}

}  // namespace hplcast::smpi_models
