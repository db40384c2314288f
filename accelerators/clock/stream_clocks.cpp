#include "accelerators/clock/stream_clocks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hplcast::accelerators {

int StreamClocks::make_stream(bool waits_for_null) {
  streams_.emplace_back().waits_for_null = waits_for_null;
  return static_cast<int>(streams_.size()) - 1;
}

bool StreamClocks::has_stream(int stream) const {
  return stream >= 0 && static_cast<std::size_t>(stream) < streams_.size() && at(stream).exists;
}

int StreamClocks::make_event() {
  events_.emplace_back();
  return static_cast<int>(events_.size()) - 1;
}

bool StreamClocks::has_event(int event) const {
  return event >= 0 && static_cast<std::size_t>(event) < events_.size() &&
         events_[static_cast<std::size_t>(event)].exists;
}

double StreamClocks::done_s(int stream) const {
  double done_s = at(stream).done_s;
  if (stream == null_stream) {
    for (const Stream& one : streams_)
      if (one.waits_for_null) done_s = std::max(done_s, one.done_s);
  } else if (at(stream).waits_for_null) {
    done_s = std::max(done_s, at(null_stream).done_s);
  }
  return done_s;
}

double StreamClocks::begin_s(double now_s, int stream) const {
  return std::max(now_s + costs_.start_s, done_s(stream) + costs_.gap_s);
}

void StreamClocks::runs(double begin_s, double end_s) {
  auto other = busy_s_.lower_bound(begin_s);
  if (other != busy_s_.begin() && std::prev(other)->second > begin_s) --other;
  std::pair<double, double> all_s{begin_s, end_s};
  for (; other != busy_s_.end() && other->first < end_s; other = busy_s_.erase(other)) {
    overlap_s_ += std::min(end_s, other->second) - std::max(begin_s, other->first);
    all_s = {std::min(all_s.first, other->first), std::max(all_s.second, other->second)};
  }
  busy_s_.insert(all_s);
}

double StreamClocks::take_overlap_s() {
  return std::exchange(overlap_s_, 0);
}

double StreamClocks::launch(double now_s, int stream, double duration_s) {
  now_s += costs_.launch_s;
  const double begin = begin_s(now_s, stream);
  at(stream).done_s = begin + duration_s;
  double from_s = now_s;  // none will begin before
  for (const Stream& one : streams_)
    if (one.column >= 0) from_s = std::min(from_s, one.begin_s);
  while (!busy_s_.empty() && busy_s_.begin()->second <= from_s) busy_s_.erase(busy_s_.begin());
  if (duration_s > 0) runs(begin, begin + duration_s);
  return now_s;
}

double StreamClocks::copy_s(hplcast_direction direction, double bytes, bool pageable) const {
  const hplcast_copy_costs& costs = costs_.copies[direction];
  return costs.latency_s + bytes / (pageable ? costs.pageable_bytes_per_s : costs.bytes_per_s);
}

double StreamClocks::copy(double now_s, int stream, hplcast_direction direction, double duration_s, bool waits) {
  now_s += costs_.launch_s;
  double begin = begin_s(now_s, stream);
  if (direction != HPLCAST_WITHIN_DEVICE) begin = std::max(begin, engines_s_[direction]);
  at(stream).done_s = engines_s_[direction] = begin + duration_s;
  return waits ? std::max(now_s, at(stream).done_s) + costs_.sync_s : now_s;
}

double StreamClocks::record(double now_s, int event, int stream) {
  now_s += costs_.record_s;
  events_[static_cast<std::size_t>(event)].done_s = std::max(done_s(stream), now_s);
  return now_s;
}

double StreamClocks::wait(double now_s, int stream, int event) {
  now_s += costs_.record_s;
  if (is_recorded(event))
    at(stream).done_s = std::max(done_s(stream), *events_[static_cast<std::size_t>(event)].done_s);
  return now_s;
}

double StreamClocks::synchronise(double now_s, int stream) {
  return std::max(now_s, own_s(stream)) + costs_.sync_s;
}

double StreamClocks::synchronise_event(double now_s, int event) {
  const std::optional<double>& done_s = events_[static_cast<std::size_t>(event)].done_s;
  return std::max(now_s, done_s.value_or(now_s)) + costs_.sync_s;
}

double StreamClocks::synchronise_all(double now_s) {
  for (const Stream& one : streams_) now_s = std::max(now_s, one.done_s);
  return now_s + costs_.sync_s;
}

bool StreamClocks::is_event_done(double now_s, int event) const {
  return events_[static_cast<std::size_t>(event)].done_s.value_or(now_s) <= now_s;
}

double StreamClocks::elapsed_s(int begin, int end) const {
  return *events_[static_cast<std::size_t>(end)].done_s - *events_[static_cast<std::size_t>(begin)].done_s;
}

double StreamClocks::launch_handshake(double now_s, int stream, const Handshake& handshake) {
  now_s += costs_.launch_s;
  const double begin = begin_s(now_s, stream);
  Stream& one = at(stream);
  one.handshake = handshake;
  one.column = 0;
  one.begin_s = begin;
  const hplcast_handshake& costs = handshake.costs;
  one.updated_s = begin + costs.column_s + costs.column_s_per_row * handshake.rows;
  one.shown_s = one.updated_s + costs_.flag_s;
  one.done_s = std::numeric_limits<double>::infinity();
  return now_s;
}

bool StreamClocks::clear(double now_s, int stream) {
  Stream& one = at(stream);
  const hplcast_handshake& costs = one.handshake.costs;
  const double goes_on_s = std::max(now_s + costs_.flag_s, one.updated_s);
  const double searched_s = goes_on_s + costs.column_s + costs.column_s_per_row * one.handshake.rows;
  if (++one.column == one.handshake.columns) {
    one.column = -1;
    one.done_s = searched_s;
    runs(one.begin_s, one.done_s);
    return true;
  }
  one.shown_s = searched_s + costs_.flag_s;
  const double columns_left = one.handshake.columns - one.column - 1;
  one.updated_s = searched_s + costs.update_s_per_element * one.handshake.rows * columns_left;
  return false;
}

double StreamClocks::handshake_s(int stream) const {
  return at(stream).done_s - at(stream).begin_s;
}

int StreamClocks::handshake_before(std::optional<int> stream) const {
  for (int i = 0; i < static_cast<int>(streams_.size()); ++i) {
    if (!has_handshake(i)) continue;
    const bool is_before = !stream || i == *stream || (*stream == null_stream && at(i).waits_for_null) ||
                           (i == null_stream && at(*stream).waits_for_null);
    if (is_before) return i;
  }
  return -1;
}

}  // namespace hplcast::accelerators
