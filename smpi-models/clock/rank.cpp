#include "smpi-models/clock/rank.hpp"

#include <algorithm>
#include <cmath>

#include "smpi-models/session/invariants.hpp"
#include "smpi-models/simgrid_port/log.hpp"

HPLCAST_LOG_CATEGORY(rank, "Own times of ranks, sleeping and catching up");

namespace hplcast::smpi_models {

bool Mail::has(const hplcast_channel& channel, double until_s) const {
  const auto& sent = open.messages();
  return std::any_of(sent.begin(), sent.end(), [&](const std::shared_ptr<SentMessage>& message) {
    return matches(channel_of(*message), channel) && message->sent_s <= until_s;
  });
}

const double* DrawnCalls::find(core::KernelId of, const core::KernelShape& size, std::uint64_t call) const {
  if (of != kernel || call < first || !(size == shape) || (call - first) % step != 0) return nullptr;
  const std::uint64_t place = (call - first) / step;
  return place < durations_s.size() ? &durations_s[place] : nullptr;
}

void RankClock::add_seen(Work what, double duration_s, core::CoreState state) {
  require(duration_s >= 0, rank_, "it spends a negative time [s]", duration_s);
  tell(between_kernels_);
  const double ahead_s = ahead_s_;
  const bool is_slowed = detours_.any() && (state_ == State::running || state_ == State::catching_up);
  ahead_s_ = is_slowed ? after(what, now_s(), duration_s) - port::clock_s() : ahead_s + duration_s;
  if (pieces_) pieces_->push_back({what, ahead_s_ - ahead_s});
  if (state_ == State::noting) (what == Work::kernel ? noted_.kernels_s : noted_.other_s) += duration_s;
  if (is_watched()) told_s_ = now_s();
  if (meter_ != nullptr) meter_->spent(state, duration_s, now_s());
  if (state_ == State::catching_up && ahead_s_ >= 0) state_ = State::running;
}

/// Work that is left when the frequency changes is done at the new one.
double RankClock::work_at_frequencies(core::KernelId kernel, double duration_s, bool clocked) {
  require(state_ == State::running, rank_, "it works in its own past, at a frequency that changes [s]", duration_s);
  CpuFrequency& frequency = *meter_->frequency();
  const std::size_t code = clocked ? static_cast<std::size_t>(kernel) : CpuFrequency::other_code;
  double left_s = duration_s, spent_s = 0;  // of the duration; at the frequencies
  for (double date_s = now_s();;) {
    while (frequency.known_until_s() <= date_s) {
      flush();
      frequency.learn_until(date_s);
      worked_ = true;
    }
    const CpuFrequency::Span span = frequency.at(date_s);
    const double slower = span.level.slower[code], part_s = left_s * slower;
    double free_s = span.until_s - date_s;
    if (detours_.any() && std::isfinite(free_s) && part_s > 0)
      free_s = RankDetours(detours_).free_s(Work::kernel, date_s, span.until_s);
    if (part_s <= free_s) {
      add(Work::kernel, part_s, core::state_of(kernel));
      return spent_s + part_s;
    }
    add(Work::kernel, free_s, core::state_of(kernel));
    spent_s += free_s;
    left_s -= free_s / slower;
    date_s = std::max(now_s(), span.until_s);
  }
}

double RankClock::after(Work what, double begin_s, double work_s) {
  if (!detours_.any()) return begin_s + work_s;
  const double end_s = detours_.after(what, begin_s, work_s);
  constexpr double rounding_s = 1e-11;  // of dates up to 10^4 s
  const double taken_s = end_s - begin_s - work_s;
  if (taken_s > rounding_s) taken_s_ += taken_s;
  return end_s;
}

void RankClock::enter(State from, State to) {
  require(state_ == from, rank_, "it cannot change its state so: states are",
          10 * static_cast<int>(state_) + static_cast<int>(to));
  state_ = to;
}

void RankClock::resume() {
  if (detours_.any()) add(Work::other, 0, between_kernels_);
}

RankClock::Noted RankClock::take_note() {
  Noted note = noted_;
  noted_ = {};
  if (meter_ != nullptr) meter_->note();
  note.elapsed_s = take_ahead_s();
  if (detours_.any() && state_ != State::noting) enter(State::running, State::noting);
  return note;
}

void RankClock::go_on_noted(double date_s) {
  StateMeter* const meter = std::exchange(meter_, nullptr);  // it is told at the end
  const double on_s = std::max(date_s, port::clock_s());
  spend_noted(date_s);
  meter_ = meter;
  if (meter_ != nullptr) meter_->settle(date_s, on_s, now_s());
}

void RankClock::spend_noted(double date_s) {
  const double left_s = std::max(0.0, date_s - port::clock_s());
  if (state_ != State::noting) {
    spend(left_s);
    return;
  }
  const Noted since = noted_;
  noted_ = {};
  enter(State::noting, State::running);
  ahead_s_ = left_s;
  add(Work::kernel, since.kernels_s, between_kernels_);
  add(Work::other, since.other_s, between_kernels_);
}

void RankClock::catch_up_probing(double probe_s) {
  if (!detours_.any()) {
    spend(probe_s > 0 ? std::ceil(-ahead_s_ / probe_s) * probe_s : -ahead_s_);
    return;
  }
  const double done_s = detours_.free_s(Work::other, now_s(), port::clock_s());
  ahead_s_ = 0;
  spend(probe_s > 0 ? std::max(0.0, std::ceil(done_s / probe_s) * probe_s - done_s) : 0);
}

void RankClock::flush() {
  if (!is_on_time())
    end_simulation_of(rank_,
                      "sends or receives in its own past; expected that it leaves a loop with work between its probes "
                      "(hplcast_polling_loop) only when it has found a message");
  if (ahead_s_ <= 0) return;
  worked_ = false;
  LOG(rank, "spends %g s", ahead_s_);
  if (pieces_) return spend_pieces();
  waits_for_.date_s = now_s();
  ahead_s_ += port::spend(take_ahead_s(), *bell_);
}

/// In their order: when a host has work matters to its power.
void RankClock::spend_pieces() {
  ahead_s_ = 0;
  for (const Piece& piece : std::exchange(*pieces_, {})) {
    if (piece.what == Work::kernel && piece.duration_s > 0)
      port::work(piece.duration_s);
    else
      ahead_s_ += port::spend(piece.duration_s, *bell_);
  }
}

double RankClock::take_ahead_s() {
  const double ahead_s = ahead_s_;
  ahead_s_ = 0;
  if (pieces_) pieces_->clear();
  return ahead_s;
}

void RankClock::wait_for(NetworkFlow& flow) {
  const EndOfWait end{*this};
  begin_wait(flow);
  bell_->wait();
}

void RankClock::begin_wait(NetworkFlow& flow) {
  flow.bells.push_back(bell_);
  waits_for_.flow = &flow;
}

/// If the rank is killed meanwhile, too.
RankClock::EndOfWait::~EndOfWait() {
  clock.waits_for_.other = -1;
  NetworkFlow* const flow = std::exchange(clock.waits_for_.flow, nullptr);
  if (flow == nullptr) return;
  flow->bells.erase(std::remove(flow->bells.begin(), flow->bells.end(), clock.bell_), flow->bells.end());
}

bool RankClock::sleep(int other) {
  enter(State::running, State::asleep);
  slept_at_s_ = now_s();
  LOG(rank, "falls asleep at %.12g s", slept_at_s_);
  const EndOfWait end{*this};
  waits_for_.other = other;
  bell_->wait();
  LOG(rank, "wakes up after %g s", now_s() - slept_at_s_);
  enter(State::asleep, State::running);
  if (waits_for_.flow == nullptr) return false;
  go_on_from(goes_on_s_);
  return true;
}

void RankClock::wake_at_end(NetworkFlow& flow, double date_s) {
  go_on_from(date_s);
  tell(core::CoreState::blocked);
  goes_on_s_ = now_s();
  pause();
  begin_wait(flow);
}

void RankClock::go_on_from(double date_s) {
  ahead_s_ = std::max(0.0, date_s - port::clock_s());
  if (ahead_s_ == 0) worked_ = false;
}

void RankClock::go_on_at(double date_s) {
  ahead_s_ = date_s - port::clock_s();
  require(ahead_s_ >= 0, rank_, "it goes on before it was woken [s]", ahead_s_);
}

void RankClock::fall_behind(double ahead_s, bool replays) {
  ahead_s_ = ahead_s;
  const double younger_s = slept_at_s_ - now_s();
  constexpr double rounding_s = 1e-9;  // of dates
  require(younger_s <= rounding_s, rank_, "it goes on before it fell asleep [s]", younger_s);
  if (replays || ahead_s < 0) enter(State::running, replays ? State::replaying : State::catching_up);
  LOG(rank, "goes on %g s before the clock", -ahead_s);
}

void RankClock::catch_up(double ahead_s) {
  ahead_s_ = ahead_s;
  enter(State::replaying, State::running);
}

void PollingLoop::announce(hplcast_loop loop, std::size_t pieces_left) {
  if (loop == HPLCAST_LOOP_ONLY_PROBES && std::exchange(empty_calls, false)) loop = HPLCAST_LOOP_WORKS_BETWEEN;
  if (kind != loop) probe_failed = false;
  if (loop == HPLCAST_LOOP_NONE) piece.clear();
  kind = loop;
  pieces = loop == HPLCAST_LOOP_WORKS_BETWEEN ? pieces_left : 0;
}

}  // namespace hplcast::smpi_models
