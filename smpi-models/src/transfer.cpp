#include "transfer.hpp"

#include <algorithm>

#include "rank.hpp"

namespace hplcast::smpi_models {

bool Transfer::has_ended() const {
  if (own_flow_ != nullptr) return own_flow_->has_ended;
  if (has_flow()) return flow_->test();
  return has_begun() && simgrid::s4u::Engine::get_clock() >= ends_s_ - port::resolution_s;
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

std::shared_ptr<const void> Transfer::ring_at_end(const simgrid::s4u::SemaphorePtr& bell) const {
  if (own_flow_ != nullptr) {
    own_flow_->bells.push_back(bell);
    return nullptr;
  }
  if (!has_flow()) return port::call_at(ends_s_, [bell] { bell->release(); });
  port::release_at_end(flow_, bell);
  return nullptr;
}

}  // namespace hplcast::smpi_models
