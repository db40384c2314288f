#include "collective_waits.hpp"

#include <algorithm>

namespace hplcast::smpi_models {

void CollectiveWaits::enter(int rank, const Call& call, double now_s) {
  const Key key{call.context, calls_[{rank, call.context}]++};
  Meeting& meeting = meetings_[key];
  meeting.last_s = meeting.entered == 0 ? now_s : std::max(meeting.last_s, now_s);
  ++meeting.entered;
  if (call.is_root) meeting.root_s = now_s;
  inside_[rank] = {key, call, now_s};
}

double CollectiveWaits::leave(int rank, double now_s) {
  const auto found = inside_.find(rank);
  if (found == inside_.end()) return 0;
  const Entered entered = found->second;
  inside_.erase(found);
  Meeting& meeting = meetings_[entered.key];
  const bool for_all = entered.call.meets == Meets::all || (entered.call.meets == Meets::to && entered.call.is_root);
  const bool for_root = entered.call.meets == Meets::from && !entered.call.is_root;
  const double until_s = for_all ? meeting.last_s : for_root ? meeting.root_s : entered.begin_s;
  if (++meeting.left == entered.call.size) meetings_.erase(entered.key);
  return std::clamp(until_s - entered.begin_s, 0.0, std::max(0.0, now_s - entered.begin_s));
}

}  // namespace hplcast::smpi_models
