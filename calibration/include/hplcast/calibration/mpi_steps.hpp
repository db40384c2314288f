#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/calibration/mpi_schedule.hpp"

namespace hplcast::calibration {

/// One turn of one row of a design, or of the warm-up.
struct MpiStep {
  const MpiTurn* turn = nullptr;
  std::size_t row = 0;
  bool warm_up = false;
  bool ends_row = false;  ///< the last turn of its row
};

/// Who does what in which order: each row of a design with the turns of the pattern, or of its own number of pairs; a
/// warm-up of each turn before. The same on all ranks.
class MpiSteps {
 public:
  /// `hosts` has the host of every rank. @throws core::Error (bad_input) if the pattern has no pairs, or there are too
  /// few ranks for every row.
  MpiSteps(const std::vector<std::string>& hosts, const MpiDesign& design, MpiPattern pattern, PeerChoice scope,
           int warm_up_calls);
  MpiSteps(const MpiSteps&) = delete;
  MpiSteps& operator=(const MpiSteps&) = delete;

  const std::vector<MpiStep>& steps() const noexcept { return steps_; }
  /// The initiator of the last turn of each row.
  int leader() const noexcept { return steps_.back().turn->front().initiator; }
  /// Whether rows have a number of pairs.
  bool is_series() const noexcept { return turns_.rbegin()->first > 0; }
  /// Of such rows: "remote 1, 2, 4; local 1, 2", and what there are too few ranks for.
  std::string summary() const;

 private:
  std::map<long, std::vector<MpiTurn>> turns_;  // by number of pairs; 0: of the pattern
  std::vector<MpiStep> steps_;
};

}  // namespace hplcast::calibration
