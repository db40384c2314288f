#include "polling.hpp"

namespace hplcast::smpi_models {

void Polling::begin_probe(Rank& rank, const hplcast_channel& channel) {
  const bool wildcard = channel.source < 0 || channel.tag < 0;
  if (!may_sleep_ || wildcard || !rank.loop.only_probes() || !rank.loop.probe_failed) return;
  Traffic& traffic = traffic_[channel];
  if (traffic.under_way > 0) return;  // sent, but not yet to be seen
  traffic.waiting = &rank;
  rank.clock.sleep();
}

void Polling::sent(const hplcast_channel& channel) {
  Traffic& traffic = traffic_[channel];
  ++traffic.under_way;
  Rank* const waiting = traffic.waiting;
  if (waiting == nullptr) {
    if (traffic.under_way == 0) traffic_.erase(channel);
    return;
  }
  traffic.waiting = nullptr;
  waiting->clock.wake();
}

void Polling::taken(const hplcast_channel& channel) {
  Traffic& traffic = traffic_[channel];
  --traffic.under_way;
  if (traffic.under_way == 0 && traffic.waiting == nullptr) traffic_.erase(channel);
}

}  // namespace hplcast::smpi_models
