#include "study/activity/observed_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {

namespace {

/// When both sides came, by the clock of rank 0.
struct BothSides {
  double sent_s = std::numeric_limits<double>::quiet_NaN();
  double wanted_s = std::numeric_limits<double>::quiet_NaN();
};

using Messages = std::unordered_map<MessageKey, BothSides, MessageHash>;

Messages both_sides(const std::vector<RankActivity>& ranks, const std::vector<HostClock>& clocks) {
  Messages messages;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const ActivityEvent& event : ranks[i].events) {
      if (!is_known(event) || is(event.name, "wait") || is(event.name, "iprobe")) continue;
      BothSides& sides = messages[key_of(ranks[i].rank, event)];
      (event.sends ? sides.sent_s : sides.wanted_s) = clocks[i].at_rank_0_s(ranks[i].begin_s + event.begin_s);
    }
  }
  return messages;
}

}  // namespace

bool may_wait(std::uint8_t operation) {
  return is(operation, "send") || is(operation, "ssend") || is(operation, "recv") || is(operation, "wait");
}

std::vector<HostClock> clocks_of(const std::vector<RankActivity>& ranks) {
  std::unordered_map<int, std::vector<ClockComparison>> comparisons;
  for (const ClockComparison& one : ranks.front().clocks) comparisons[one.rank].push_back(one);
  std::vector<HostClock> clocks;
  for (const RankActivity& rank : ranks) {
    const auto found = comparisons.find(rank.first_rank_of_host);
    if (rank.first_rank_of_host == 0) {
      clocks.emplace_back();
    } else if (found != comparisons.end()) {
      clocks.emplace_back(found->second);
    } else {
      throw core::Error(core::ExitCode::bad_input, "rank 0 did not compare its clock with that of rank " +
                                                       std::to_string(rank.first_rank_of_host) + " on host " +
                                                       rank.host +
                                                       "; expected one comparison "
                                                       "before and one after the run\n  hint: repeat the run");
    }
  }
  return clocks;
}

MessageWaits message_waits(const std::vector<RankActivity>& ranks, const std::vector<HostClock>& clocks) {
  const Messages messages = both_sides(ranks, clocks);
  constexpr double rounding_s = 2e-9;  // times in files have 9 decimals
  double clock_error_s = rounding_s;   // of both sides
  for (const HostClock& clock : clocks) clock_error_s = std::max(clock_error_s, 2 * clock.error_s() + rounding_s);
  MessageWaits result;
  result.known.resize(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::vector<double>& waited = result.waited_s.emplace_back(ranks[i].events.size(), 0.0);
    for (std::size_t j = 0; j < waited.size(); ++j) {
      const ActivityEvent& event = ranks[i].events[j];
      if (!is_known(event) || !may_wait(event.name)) continue;
      const auto found = messages.find(key_of(ranks[i].rank, event));
      const double begin_s = clocks[i].at_rank_0_s(ranks[i].begin_s + event.begin_s);
      const double end_s = clocks[i].at_rank_0_s(ranks[i].begin_s + event.end_s);
      const double other_s = found == messages.end() ? std::numeric_limits<double>::quiet_NaN()
                             : event.sends           ? found->second.wanted_s
                                                     : found->second.sent_s;
      if (std::isnan(other_s)) continue;
      // A sender may be done before the receiver comes; a receiver never is before the sender comes.
      if (!event.sends && other_s > end_s + clock_error_s) {
        ++result.too_early;
        result.most_early_s = std::max(result.most_early_s, other_s - end_s);
      }
      if (other_s > begin_s && (other_s <= end_s || !event.sends)) waited[j] = std::min(other_s, end_s) - begin_s;
      KnownTime& known = result.known[i][event.phase];
      known.calls_s += event.end_s - event.begin_s;
      known.waited_s += waited[j];
    }
  }
  return result;
}

}  // namespace hplcast::study
