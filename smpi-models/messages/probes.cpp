#include "smpi-models/messages/probes.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "smpi-models/session/invariants.hpp"
#include "smpi-models/simgrid_port/log.hpp"

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

HPLCAST_LOG_CATEGORY(probes, "MPI_Iprobe, made and skipped");

namespace hplcast::smpi_models {

Probes::Probes(const Kernels& kernels, const Messages& messages, bool may_sleep, bool may_work_later)
    : kernels_(kernels),
      messages_(messages),
      may_sleep_(may_sleep),
      may_work_later_(may_sleep && may_work_later),
      grow_(port::setting<bool>("smpi/grow-injected-times") && port::setting<double>("smpi/iprobe") > 0),
      late_(kernels.has_late_probes()),
      series_(port::setting<double>("smpi/iprobe"), grow_) {}

bool Probes::probe(Rank& rank, const hplcast_channel& channel) {
  PollingLoop& loop = rank.loop;
  bool found = false;
  rank.clock.is_between_kernels(core::CoreState::polling);
  Broadcast& broadcast = rank.mail.broadcast;
  if (!(broadcast.probed == channel)) {
    broadcast.probed = channel;
    broadcast.is_posted = false;
    broadcast.nothing_until_s = 0;
  }
  if (spend_if_known(rank, channel)) {
    found = rank.mail.has(channel) && is_let_in(rank, channel);
    rank.let_in_s = rank.clock.now_s();
    loop.probe_failed = !found;
  } else if (reach_end(rank, channel)) {
    const bool is_there = rank.mail.has(channel);
    found = is_there && is_let_in(rank, channel);
    rank.let_in_s = clock_s();
    loop.probe_failed = !found;
    series_.ended(clock_s(), found);
    if (!is_there && may_work_later_ && loop.kind == HPLCAST_LOOP_WORKS_BETWEEN) work_later(rank, channel);
  } else {
    rank.let_in_s = rank.clock.now_s();
  }
  if (found && messages_.checks()) {
    const double now_s = rank.clock.now_s();
    require(rank.mail.has(channel, now_s + rounding_of_dates_s(now_s)), rank.number, "a probe finds what is sent after",
            now_s);
  }
  loop.piece.clear();
  rank.clock.is_between_kernels(core::CoreState::messages);
  LOG(probes, "probes rank %d, tag %d: %s", channel.source, channel.tag, found ? "found" : "nothing");
  return found;
}

void Probes::wake(Rank& rank, const hplcast_channel& channel) {
  if (rank.mail.probed == nullptr || !matches(channel, *rank.mail.probed)) return;
  rank.mail.probed = nullptr;
  rank.clock.wake();
}

void Probes::sleep_until_sent(Rank& rank, const hplcast_channel& channel) {
  rank.mail.probed = &channel;
  rank.clock.sleep(channel.source);
}

bool Probes::is_let_in(const Rank& rank, const hplcast_channel& channel) const {
  // Where a rank does nothing else, the next probe follows at once.
  return !late_ || rank.loop.only_probes() || rank.mail.has(channel, rank.let_in_s);
}

/// Spends a probe ahead of the clock, if it is already known what it will find: something is there, or who would send
/// it waits for what comes later.
bool Probes::spend_if_known(Rank& rank, const hplcast_channel& channel) {
  RankClock& clock = rank.clock;
  const PollingLoop& loop = rank.loop;
  if (grow_ || !may_sleep_ || !clock.may_run_ahead()) return false;
  const double cost_s = series_.cost_s(clock_s());
  if (!rank.mail.has(channel)) {
    // Then it would sleep.
    if (loop.kind == HPLCAST_LOOP_WORKS_BETWEEN || (loop.only_probes() && loop.probe_failed)) return false;
    if (clock.detours().any() || !messages_.forwards_nothing_until(rank, clock.now_s() + cost_s)) return false;
  }
  clock.spend(cost_s);
  return true;
}

/// Goes on to the end of this probe. False: that is in the past, and it failed.
bool Probes::reach_end(Rank& rank, const hplcast_channel& channel) {
  RankClock& clock = rank.clock;
  if (clock.state() == RankClock::State::replaying) {
    if (end_replayed(rank)) return false;
    if (rank.replay.probes) {
      clock.flush();
      return true;
    }
  } else if (clock.state() == RankClock::State::catching_up) {
    if (!end_in_the_past(rank)) return false;
    clock.flush();
    return true;
  }
  if (may_sleep_ && rank.loop.only_probes() && rank.loop.probe_failed && !rank.mail.has(channel)) {
    skip_probes(rank, channel);
    // The sleep took most of it; only where probes grow does it matter to others when this one ends.
    if (grow_) clock.flush();
    return true;
  }
  // The probe's cost is known when it begins; the cost of messages before it is too short to matter.
  if (grow_ && clock.has_worked()) clock.flush();
  clock.spend(series_.cost_s(clock_s()));
  clock.flush();
  return true;
}

/// A probe that costs what any other does. True if the rank has caught up with it.
bool Probes::end_in_the_past(Rank& rank) {
  RankClock& clock = rank.clock;
  const double probe_s = series_.cost_s(clock_s());
  clock.spend(probe_s);
  if (clock.ahead_s() < 0 && rank.loop.only_probes()) {
    // Empty calls may come after the first one.
    if (rank.loop.probe_failed || !kernels_.has_empty_calls()) clock.catch_up_probing(probe_s);
    rank.loop.probe_failed = true;
  }
  return clock.state() == RankClock::State::running;
}

/// True if the probe was one of those that failed while the rank slept.
bool Probes::end_replayed(Rank& rank) {
  Replay& replay = rank.replay;
  if (replay.failed_probes > 0) {
    --replay.failed_probes;
    return true;
  }
  const double left_s = replay.done_s - clock_s();
  // Sums of the same durations in another order are closer than that, and a kernel takes longer.
  constexpr double rounding_s = 1e-9;
  if (const double too_much_s = rank.clock.ahead_s() - left_s; std::abs(too_much_s) > rounding_s) {
    std::ostringstream text;
    text << "worked " << too_much_s
         << " s longer than announced; expected the kernels that it had called before its last probe "
            "(hplcast_polling_loop)";
    end_simulation_of(rank.number, text.str());
  }
  rank.clock.catch_up(std::max(0.0, left_s));
  return false;
}

void Probes::skip_probes(Rank& rank, const hplcast_channel& channel) {
  const double began_s = clock_s();
  RankClock& clock = rank.clock;
  const double first_end_s = clock.detours().after(Work::other, began_s + clock.ahead_s(), series_.cost_s(began_s));
  series_.begin(rank.prober, first_end_s, &clock.detours());
  sleep_until_sent(rank, channel);
  const ProbeSeries::Stop stop = series_.stop(rank.prober, clock_s());
  clock.go_on_at(stop.end_s);
  clock.count_detours(stop.detours_s);
}

/// Sleeps until there is something to find.
void Probes::work_later(Rank& rank, const hplcast_channel& channel) {
  const double began_s = clock_s();
  if (!grow_) {
    sleep_until_sent(rank, channel);
    rank.clock.fall_behind(rank.clock.ahead_s() - (clock_s() - began_s), false);
    return;
  }
  // Its probes concern all others: they must be known as they come. Calls without work are none of a piece.
  if (kernels_.has_empty_calls() || rank.loop.pieces == 0 || !rank.loop.knows_piece()) return;
  series_.begin_work(rank.prober, began_s, kernels_.repeated_s(rank, rank.loop.pieces), &rank.clock.detours());
  sleep_until_sent(rank, channel);
  const double now_s = clock_s();
  const ProbeSeries::Stop stop = series_.stop(rank.prober, now_s);
  rank.replay = {stop.failed, stop.end_s, stop.probes};
  rank.clock.fall_behind(stop.end_s - now_s - stop.work_s, true);
}

}  // namespace hplcast::smpi_models
