#include "probe_series.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hplcast::smpi_models {

void ProbeSeries::begin_piece(Running& running) {
  const double piece_s = running.pieces_s[running.pieces++];
  running.works = true;
  running.work_s += piece_s;
  running.end_s += piece_s;
}

/// What comes after the end of a piece of work, or of a probe that fails.
void ProbeSeries::go_on(Running& running) {
  if (!running.works) {
    factor_ += 1;
    running.failed = running.pieces;
    if (running.pieces < running.pieces_s.size()) {
      begin_piece(running);
      return;
    }
  }
  running.works = false;
  running.end_s += probe_s_ * factor_;
}

void ProbeSeries::fail_until(double now_s) {
  while (!ends_.empty() && ends_.front().end_s < now_s) {
    const End first = ends_.front();
    Running& running = running_[first.id];
    if (!running.active || running.end_s != first.end_s) {  // stopped since
      std::pop_heap(ends_.begin(), ends_.end(), later);
      ends_.pop_back();
      continue;
    }
    go_on(running);
    replace_first({running.end_s, first.id});
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

void ProbeSeries::add(std::size_t id, Running running) {
  if (id >= running_.size()) running_.resize(id + 1);
  running_[id] = std::move(running);
  running_[id].active = true;
  if (!grow_ || probe_s_ <= 0) return;
  ends_.push_back({running_[id].end_s, id});
  std::push_heap(ends_.begin(), ends_.end(), later);
}

void ProbeSeries::begin(std::size_t id, double first_end_s) {
  Running running;
  running.end_s = first_end_s;
  add(id, std::move(running));
}

void ProbeSeries::begin_work(std::size_t id, double now_s, std::vector<double> pieces_s) {
  Running running;
  running.end_s = now_s;
  running.pieces_s = std::move(pieces_s);
  begin_piece(running);
  add(id, std::move(running));
}

ProbeSeries::Stop ProbeSeries::stop(std::size_t id, double now_s) {
  fail_until(now_s);
  Running& running = running_[id];
  running.active = false;
  Stop stop{running.end_s, !running.works, running.work_s, running.failed};
  if (stop.end_s >= now_s) return stop;
  const double probes = probe_s_ > 0 ? std::ceil((now_s - stop.end_s) / probe_s_) : 0;
  stop.end_s = std::max(now_s, stop.end_s + probes * probe_s_);
  return stop;
}

}  // namespace hplcast::smpi_models
