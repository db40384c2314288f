#include "hplcast/core/detours.hpp"

#include <algorithm>
#include <cmath>

namespace hplcast::core {

namespace {

/// Length of a cell of Poisson's detours.
constexpr double periods_per_cell = 8;

/// Draws of a stream that are not those of its detours; no simulation has as many of them.
constexpr std::uint64_t phase_draw = ~0ULL;

std::uint32_t key_of(const DetourSource::Values& source, const DetourPlace& place) {
  switch (source.per) {
    case DetoursPer::core:
      return place.core;
    case DetoursPer::host:
      return place.host;
    case DetoursPer::cluster:
      break;
  }
  return 0;
}

/// Whether each detour has ended before the next begins, at the latest.
bool never_queue(const DetourSource::Values& source) {
  const auto* times = std::get_if<PeriodicDetours>(&source.times);
  const std::optional<double> longest = longest_s(source.duration);
  return times != nullptr && longest && *longest + times->jitter_s < source.period_s;
}

}  // namespace

DetourClock::DetourClock(const std::vector<DetourSource>& sources, const DetourPlace& place, Which which) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const DetourSource::Values& source = sources[i].values();
    if (which == Which::not_in_kernels && source.in_kernels) continue;
    if (!sources[i].hits(place.core_of_host)) continue;
    Stream& stream = streams_.emplace_back();
    stream.source = &source;
    stream.name = {place.seed, stream_detour, key_of(source, place), static_cast<std::uint32_t>(i), 0};
    stream.start(place);
  }
  if (streams_.empty()) return;
  may_skip_ = streams_.size() == 1 && never_queue(*streams_.front().source);
  quiet_until_s_ = first().begin_s;
}

/// To the last detour that has surely begun at time 0.
void DetourClock::Stream::start(const DetourPlace& place) {
  const double period_s = source->period_s;
  if (const auto* times = std::get_if<PeriodicDetours>(&source->times)) {
    const double drawn_s = times->phase_s ? 0 : period_s * uniforms(name, phase_draw)[0];
    phase_s = times->phase_s.value_or(drawn_s) - place.origin_s;
    next = static_cast<std::int64_t>(std::floor(-(phase_s + times->jitter_s) / period_s));
  } else {
    phase_s = -place.origin_s;
    cell = static_cast<std::int64_t>(std::floor(place.origin_s / (periods_per_cell * period_s))) - 1;
  }
  find();
}

/// The two draws of a detour; four come at once.
const double* DetourClock::Stream::pair(std::int64_t number) {
  const auto which = static_cast<std::uint64_t>(number);
  if (which / 2 != drawn) {
    drawn = which / 2;
    draws = uniforms(name, drawn);
  }
  return draws.data() + 2 * (which % 2);
}

void DetourClock::Stream::find() {
  std::visit([this](const auto& times) { find(times); }, source->times);
}

void DetourClock::Stream::find(const PeriodicDetours& times) {
  begin_s = phase_s + static_cast<double>(next) * source->period_s;
  if (const auto* constant = std::get_if<ConstantDuration>(&source->duration)) {
    if (times.jitter_s > 0) begin_s += times.jitter_s * pair(next)[0];
    duration_s = constant->constant_s;
    return;
  }
  const double* const two = pair(next);
  begin_s += times.jitter_s * two[0];
  duration_s = sample_s(source->duration, two[1]);
}

void DetourClock::Stream::find(const PoissonDetours&) {
  const double period_s = source->period_s;
  for (;;) {
    name.detail = static_cast<std::uint64_t>(cell);
    const double* const two = pair(next);
    in_cell_s -= period_s * std::log(two[0]);
    if (in_cell_s < periods_per_cell * period_s) {
      begin_s = phase_s + static_cast<double>(cell) * periods_per_cell * period_s + in_cell_s;
      duration_s = sample_s(source->duration, two[1]);
      return;
    }
    ++cell;
    next = 0;
    in_cell_s = 0;
    drawn = std::numeric_limits<std::uint64_t>::max();
  }
}

DetourClock::Stream& DetourClock::first() {
  return *std::min_element(streams_.begin(), streams_.end(),
                           [](const Stream& a, const Stream& b) { return a.begin_s < b.begin_s; });
}

/// The busy time that begins where the quiet one ends, and the quiet one after it.
void DetourClock::next_busy_time() {
  Stream* stream = &first();
  double busy_until_s = stream->begin_s;
  while (stream->begin_s <= busy_until_s) {
    busy_until_s += stream->duration_s;
    ++stream->next;
    stream->find();
    if (streams_.size() > 1) stream = &first();
  }
  quiet_from_s_ = busy_until_s;
  quiet_until_s_ = stream->begin_s;
}

/// Until the quiet time ends after `time_s`.
void DetourClock::skip_to(double time_s) {
  if (may_skip_) {
    Stream& stream = streams_.front();
    const double periods = (time_s - stream.phase_s) / stream.source->period_s;
    constexpr double some = 4;  // a few are found faster one by one
    if (periods - static_cast<double>(stream.next) > some) {
      stream.next = static_cast<std::int64_t>(std::floor(periods)) - 1;
      stream.find();
      quiet_until_s_ = stream.begin_s;
    }
  }
  while (time_s >= quiet_until_s_) next_busy_time();
}

double DetourClock::after_detours(double begin_s, double work_s) {
  skip_to(begin_s);
  double now_s = std::max(begin_s, quiet_from_s_);
  double left_s = work_s;
  // Work that ends in the instant in which a detour begins ends after it.
  while (left_s >= quiet_until_s_ - now_s) {
    left_s = std::max(0.0, left_s - (quiet_until_s_ - now_s));
    next_busy_time();
    now_s = quiet_from_s_;
  }
  return now_s + left_s;
}

double DetourClock::free_s(double begin_s, double end_s) {
  skip_to(begin_s);
  double now_s = std::max(begin_s, quiet_from_s_);
  double free_s = 0;
  while (end_s >= quiet_until_s_) {
    free_s += quiet_until_s_ - now_s;
    next_busy_time();
    now_s = quiet_from_s_;
  }
  return free_s + std::max(0.0, end_s - now_s);
}

}  // namespace hplcast::core
