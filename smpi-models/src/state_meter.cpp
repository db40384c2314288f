#include "state_meter.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace hplcast::smpi_models {

namespace {

double sum(const ByState& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), 0.0);
}

void add(ByState& to, const ByState& amounts) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += amounts[i];
}

std::size_t index(core::CoreState state) {
  return static_cast<std::size_t>(state);
}

}  // namespace

void StateMeter::begin(double now_s, double origin_s) {
  seconds_ = noted_ = since_note_ = {};
  origin_s_ = origin_s;
  begun_s_ = ended_s_ = since_s_ = now_s;
  active_begin_s_ = active_end_s_ = 0;
  runs_ = true;
}

void StateMeter::end(core::CoreState state, double now_s) {
  until(state, now_s);
  ended_s_ = now_s;
  runs_ = false;
}

/// Where the time is still known: 0 or less than that by rounding.
void StateMeter::pass(core::CoreState state, double now_s) {
  const double duration_s = now_s - since_s_;
  if (duration_s == 0) return;
  seconds_[index(state)] += duration_s;
  const double begin_s = since_s_ - origin_s_, end_s = now_s - origin_s_;
  since_s_ = now_s;
  const double w = watts_[index(state)];
  if (w <= 0) return;
  if (host_->has_bins()) host_->add_watts(begin_s, end_s, w);
  if (host_->sleeps()) active_until(begin_s, end_s);
}

void StateMeter::active_until(double begin_s, double end_s) {
  if (begin_s > active_end_s_) {
    host_->add_active(active_begin_s_, active_end_s_);
    active_begin_s_ = begin_s;
  }
  active_end_s_ = end_s;
}

void StateMeter::note() {
  if (!runs_) return;
  add(noted_, since_note_);
  since_note_ = {};
  notes_ = true;
}

/// Each state has its share of every moment up to `end_s`. Of a host that may sleep, those that keep it awake come
/// first.
void StateMeter::spread(const ByState& amounts, double end_s) {
  const double all_s = sum(amounts), duration_s = end_s - since_s_;
  if (!(all_s > 0)) return pass(core::CoreState::messages, end_s);
  double energy_j = 0, active_s = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const double state_s = amounts[i] / all_s * duration_s;
    seconds_[i] += state_s;
    energy_j += state_s * watts_[i];
    if (watts_[i] > 0) active_s += state_s;
  }
  const double begin_s = since_s_ - origin_s_;
  since_s_ = end_s;
  if (!(duration_s > 0) || energy_j <= 0) return;
  if (host_->has_bins()) host_->add_watts(begin_s, begin_s + duration_s, energy_j / duration_s);
  if (host_->sleeps()) active_until(begin_s, begin_s + active_s);
}

void StateMeter::settle(double done_s, double on_s, double now_s) {
  if (!notes_) return;
  notes_ = false;
  double kernels_s = 0;
  for (int i = 0; i < core::kernel_count; ++i) kernels_s += noted_[static_cast<std::size_t>(i)];
  if (kernels_s > 0)
    for (int i = 0; i < core::kernel_count; ++i) noted_[static_cast<std::size_t>(i)] *= 1 + stretched_s_ / kernels_s;
  const double messages_s = done_s - since_s_ - sum(noted_);
  noted_[index(core::CoreState::messages)] += std::max(0.0, messages_s);
  noted_[index(core::CoreState::blocked)] += on_s - done_s;
  spread(noted_, on_s);
  spread(since_note_, now_s);
  noted_ = since_note_ = {};
  stretched_s_ = 0;
}

double StateMeter::total_s() const {
  return sum(seconds_);
}

ByState StateMeter::joules() const {
  ByState joules;
  for (std::size_t i = 0; i < joules.size(); ++i) joules[i] = host_->power().at_wall_w(seconds_[i] * watts_[i]);
  return joules;
}

void StateMeter::fill(double time_s) {
  pass(core::CoreState::blocked, begun_s_ + time_s);
  if (host_->sleeps()) host_->add_active(active_begin_s_, active_end_s_);
}

void HostMeter::begin() {
  active_ = ActiveTime();
  awake_s_ = 0;
}

void HostMeter::add_active(double begin_s, double end_s) {
  active_.add(begin_s, end_s);
  constexpr std::size_t many = 256;
  if (active_.parts() < many) return;
  double settled_s = std::numeric_limits<double>::infinity();
  for (const StateMeter* rank : ranks_) settled_s = std::min(settled_s, rank->held_from_s());
  active_.take_until(settled_s, [this](double from_s, double to_s) { add_awake(from_s, to_s); });
}

void HostMeter::add_awake(double begin_s, double end_s) {
  awake_s_ += end_s - begin_s;
  if (bins_ != nullptr) bins_->add(begin_s, end_s, power_.at_wall_w(power_.awake_w()));
}

double HostMeter::end(double time_s) {
  if (sleeps_)
    active_.take_until(std::numeric_limits<double>::infinity(),
                       [this](double from_s, double to_s) { add_awake(from_s, to_s); });
  else
    add_awake(0, time_s);
  if (bins_ != nullptr) bins_->add(0, time_s, power_.at_wall_w(power_.idle_w()));
  // Ranks begin at slightly different times: the last of them may end a little after the time of the run.
  return std::min(awake_s_, time_s);
}

}  // namespace hplcast::smpi_models
