#include "smpi-models/messages/probe_series.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "smpi-models/session/invariants.hpp"

namespace hplcast::smpi_models {

void ProbeSeries::Prober::begin_piece() {
  const double piece_s = pieces_s_[pieces_++];
  works_ = true;
  work_s_ += piece_s;
  spend(Work::kernel, piece_s);
}

/// The next step after the end of a piece of work, or of a probe that fails.
void ProbeSeries::go_on(Prober& prober) {
  if (!prober.works_) {
    factor_ += 1;
    prober.failed_ = prober.pieces_;
    if (prober.pieces_ < prober.pieces_s_.size()) {
      prober.begin_piece();
      return;
    }
  }
  prober.works_ = false;
  prober.spend(Work::other, probe_s_ * factor_);
}

void ProbeSeries::fail_until(double now_s) {
  while (!ends_.empty() && ends_.front().end_s < now_s) {
    const End first = ends_.front();
    Prober& prober = *first.prober;
    if (!prober.active_ || prober.end_s_ != first.end_s) {  // stopped since
      std::pop_heap(ends_.begin(), ends_.end(), later);
      ends_.pop_back();
      continue;
    }
    if (first.end_s < visited_s_)
      end_for("rank", prober.number_, "its probe ends before one that was computed [s]", first.end_s - visited_s_);
    visited_s_ = first.end_s;
    go_on(prober);
    replace_first({prober.end_s_, &prober});
  }
}

/// As pop_heap() and push_heap(), in one go: most of what computing a probe costs.
void ProbeSeries::replace_first(const End& end) {
  std::size_t hole = 0;
  for (;;) {
    std::size_t child = 2 * hole + 1;
    if (child >= ends_.size()) break;
    if (child + 1 < ends_.size() && later(ends_[child], ends_[child + 1])) ++child;
    if (!later(end, ends_[child])) break;
    ends_[hole] = ends_[child];
    hole = child;
  }
  ends_[hole] = end;
}

double ProbeSeries::cost_s(double now_s) {
  fail_until(now_s);
  return probe_s_ * factor_;
}

void ProbeSeries::ended(double now_s, bool found) {
  if (!grow_) return;
  fail_until(now_s);
  factor_ = found ? 1 : factor_ + 1;
}

void ProbeSeries::begin_work(Prober& prober, double now_s, std::vector<double> pieces_s, RankDetours* detours) {
  const std::size_t number = prober.number_;
  prober = Prober(number);
  prober.active_ = true;
  if (detours != nullptr && detours->any()) prober.detours_ = detours;
  prober.end_s_ = now_s;
  prober.pieces_s_ = std::move(pieces_s);
  if (!prober.pieces_s_.empty()) prober.begin_piece();
  if (!grow_ || probe_s_ <= 0) return;
  ends_.push_back({prober.end_s_, &prober});
  std::push_heap(ends_.begin(), ends_.end(), later);
}

ProbeSeries::Stop ProbeSeries::stop(Prober& prober, double now_s) {
  fail_until(now_s);
  prober.active_ = false;
  Stop stop{prober.end_s_, !prober.works_, prober.work_s_, prober.failed_};
  if (stop.end_s >= now_s) return stop;
  if (prober.detours_ != nullptr) {
    const double done_s = prober.detours_->free_s(Work::other, stop.end_s, now_s);
    const double probes = probe_s_ > 0 ? std::ceil(done_s / probe_s_) : 0;
    const double left_s = std::max(0.0, probes * probe_s_ - done_s);
    stop.end_s = prober.detours_->after(Work::other, now_s, left_s);
    stop.detours_s = std::max(0.0, stop.end_s - now_s - left_s);
    return stop;
  }
  const double probes = probe_s_ > 0 ? std::ceil((now_s - stop.end_s) / probe_s_) : 0;
  stop.end_s = std::max(now_s, stop.end_s + probes * probe_s_);
  return stop;
}

}  // namespace hplcast::smpi_models
