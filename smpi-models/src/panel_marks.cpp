#include "panel_marks.hpp"

namespace hplcast::smpi_models {

void PanelMarks::mark(std::size_t ranks, std::size_t rank, const hplcast_window& window, int index, double now_s) {
  if (index < 0 && begun_++ % ranks == 0) {  // no rank begins the next factorisation before all have ended this one
    window_ = window;
    sums_s_.assign(static_cast<std::size_t>(window.count) + 2, 0);
    last_.assign(ranks, {});
  }
  const auto place = static_cast<std::size_t>(index + 1);
  Last& last = last_.at(rank);
  if (last.place == place) sums_s_.at(place) -= last.time_s;
  last = {place, now_s};
  sums_s_.at(place) += now_s;
}

std::vector<double> PanelMarks::means_s() const {
  std::vector<double> means = sums_s_;
  for (double& mean : means) mean /= static_cast<double>(last_.size());
  return means;
}

}  // namespace hplcast::smpi_models
