#include "panel_counts.hpp"

#include <algorithm>

namespace hplcast::smpi_models {

CallCounts& CallCounts::operator+=(const CallCounts& other) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].calls += other.kernels[i].calls;
    kernels[i].outside_range += other.kernels[i].outside_range;
    kernels[i].time_s += other.kernels[i].time_s;
    kernels[i].flop += other.kernels[i].flop;
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].calls += other.messages[i].calls;
    messages[i].outside_range += other.messages[i].outside_range;
    messages[i].bytes += other.messages[i].bytes;
  }
  detours_s += other.detours_s;
  return *this;
}

void PanelCounts::add_message(std::size_t place, hplcast_mpi operation, double bytes) {
  core::MessageCount& count = places_[place].messages.at(static_cast<std::size_t>(operation));
  ++count.calls;
  count.bytes += bytes;
  if (measured_bytes_ > 0 && bytes > measured_bytes_) ++count.outside_range;
}

std::size_t PanelCounts::begin_panel(int index) {
  constexpr int begin_of_factorisation = -1;
  const auto place = static_cast<std::size_t>(index - begin_of_factorisation + 1);
  if (places_.size() <= place) places_.resize(place + 1);
  return place;
}

CallCounts PanelCounts::total() const {
  CallCounts sum;
  for (const CallCounts& one : places_) sum += one;
  return sum;
}

std::vector<CallCounts> PanelCounts::until_marks() const {
  std::vector<CallCounts> sums;
  CallCounts sum;
  for (std::size_t mark = 0; mark + 1 < places_.size(); ++mark) sums.push_back(sum += places_[mark]);
  return sums;
}

}  // namespace hplcast::smpi_models
