#pragma once

#include <cstddef>
#include <vector>

#include "hplcast/smpi_models/hplcast_smpi.h"

namespace hplcast::smpi_models {

/// When the ranks begin each panel of the last factorisation: means over all ranks, which scatter less than the first
/// or the last rank. What a sampled prediction is made of.
class PanelMarks {
 public:
  /// As hplcast_panel_begins(). @param ranks  of the simulation
  void mark(std::size_t ranks, std::size_t rank, const hplcast_window& window, int index, double now_s);

  const hplcast_window& window() const { return window_; }
  /// Simulated times: of the begin of the factorisation, of each panel of the window, and of the end. Empty if nothing
  /// was factored.
  std::vector<double> means_s() const;

 private:
  struct Last {
    std::size_t place = 0;
    double time_s = 0;
  };
  hplcast_window window_{0, 0};
  std::vector<double> sums_s_;
  std::vector<Last> last_;  // of each rank
  std::size_t begun_ = 0;   // by how many ranks
};

}  // namespace hplcast::smpi_models
