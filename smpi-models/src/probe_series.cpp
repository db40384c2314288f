#include "probe_series.hpp"

#include <algorithm>
#include <cmath>

namespace hplcast::smpi_models {

void ProbeSeries::fail_until(double now_s) {
  while (!ends_.empty() && ends_.front().end_s < now_s) {
    std::pop_heap(ends_.begin(), ends_.end(), later);
    End& end = ends_.back();
    Running& running = running_[end.id];
    if (!running.probing || running.end_s != end.end_s) {
      ends_.pop_back();  // stopped since
      continue;
    }
    factor_ += 1;
    running.end_s += probe_s_ * factor_;
    end.end_s = running.end_s;
    std::push_heap(ends_.begin(), ends_.end(), later);
  }
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

void ProbeSeries::begin(std::size_t id, double first_end_s) {
  if (id >= running_.size()) running_.resize(id + 1);
  running_[id] = {first_end_s, true};
  if (!grow_ || probe_s_ <= 0) return;
  ends_.push_back({first_end_s, id});
  std::push_heap(ends_.begin(), ends_.end(), later);
}

double ProbeSeries::stop(std::size_t id, double now_s) {
  fail_until(now_s);
  Running& running = running_[id];
  running.probing = false;
  if (running.end_s >= now_s) return running.end_s;
  if (probe_s_ <= 0) return now_s;
  return std::max(now_s, running.end_s + std::ceil((now_s - running.end_s) / probe_s_) * probe_s_);
}

}  // namespace hplcast::smpi_models
