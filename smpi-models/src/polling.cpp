#include "polling.hpp"

namespace hplcast::smpi_models {

void Polling::begin_probe(std::size_t id, const hplcast_channel& channel) {
  Poller& poller = pollers_[id];
  const bool wildcard = channel.source < 0 || channel.tag < 0;
  if (may_sleep(id) && !wildcard) wait(poller, channel);
}

void Polling::sleep(Poller& poller) {
  if (!poller.wake_up) poller.wake_up = simgrid::s4u::Semaphore::create(0);
  poller.wake_up->acquire();
}

void Polling::wait(Poller& poller, const hplcast_channel& channel) {
  Traffic& traffic = traffic_[channel];
  if (traffic.under_way > 0) return;  // sent, but not yet to be seen
  traffic.waiting = &poller;
  sleep(poller);
}

void Polling::sent(const hplcast_channel& channel) {
  Traffic& traffic = traffic_[channel];
  ++traffic.under_way;
  Poller* const waiting = traffic.waiting;
  if (waiting == nullptr) {
    if (traffic.under_way == 0) traffic_.erase(channel);
    return;
  }
  traffic.waiting = nullptr;
  waiting->wake_up->release();
}

void Polling::taken(const hplcast_channel& channel) {
  Traffic& traffic = traffic_[channel];
  --traffic.under_way;
  if (traffic.under_way == 0 && traffic.waiting == nullptr) traffic_.erase(channel);
}

}  // namespace hplcast::smpi_models
