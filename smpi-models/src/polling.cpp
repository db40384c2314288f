#include "polling.hpp"

#include <xbt/config.hpp>

#include <algorithm>
#include <cstdint>

namespace hplcast::smpi_models {

namespace {

/// Failures in a row before a rank is taken to be in a polling loop. HPL probes at most twice without a kernel in
/// between while it has other work.
constexpr int failures_of_a_loop = 4;

/// A first wait is as long as this many probes, every further one on the same channel four times as long, up to an
/// hour.
constexpr double first_limit_probes = 1000;
constexpr double limit_growth = 4;
constexpr double longest_limit_s = 3600;
constexpr double no_limit = -1;

double first_limit_s() {
  static const double limit = first_limit_probes * std::max(1e-7, simgrid::config::get_value<double>("smpi/iprobe"));
  return limit;
}

}  // namespace

std::size_t Polling::Hash::operator()(const hplcast_channel& channel) const noexcept {
  // Knuth's multiplicative hashing, field by field.
  std::uint64_t hash = 0;
  for (const int field : {channel.source, channel.destination, channel.tag}) {
    hash = (hash ^ static_cast<std::uint32_t>(field)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

bool Polling::Equal::operator()(const hplcast_channel& a, const hplcast_channel& b) const noexcept {
  return a.source == b.source && a.destination == b.destination && a.tag == b.tag;
}

void Polling::begin_probe(std::size_t id, const hplcast_channel& channel) {
  Poller& poller = pollers_[id];
  if (poller.failures == 0 || !Equal()(poller.channel, channel)) {
    poller.channel = channel;
    poller.failures = 0;
    poller.limit_s = first_limit_s();
  } else if (waits_ && poller.failures >= failures_of_a_loop && channel.source >= 0 && channel.tag >= 0) {
    wait(poller);
  }
}

void Polling::wait(Poller& poller) {
  Traffic& traffic = traffic_[poller.channel];
  if (traffic.under_way > 0) return;  // sent, but not yet to be seen
  if (!poller.wake_up) poller.wake_up = simgrid::s4u::Semaphore::create(0);
  traffic.waiting = &poller;
  const bool timed_out = poller.wake_up->acquire_timeout(poller.limit_s);
  // Found again: the map may have grown in the meantime.
  const auto found = traffic_.find(poller.channel);
  if (found != traffic_.end()) {
    found->second.waiting = nullptr;
    if (found->second.under_way == 0) traffic_.erase(found);
  }
  if (timed_out) poller.limit_s = poller.limit_s < longest_limit_s ? limit_growth * poller.limit_s : no_limit;
}

void Polling::end_probe(std::size_t id, bool found) {
  Poller& poller = pollers_[id];
  poller.failures = found ? 0 : poller.failures + 1;
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
