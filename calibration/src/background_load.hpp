#pragma once

#include <functional>
#include <optional>

#include "hplcast/calibration/dgemm_arena.hpp"
#include "hplcast/calibration/mpi_schedule.hpp"

namespace hplcast::calibration {

/// Activity of a rank while it has no message to exchange.
class BackgroundLoad {
 public:
  /// `seed` of the matrices, if there is anything to compute.
  BackgroundLoad(Background background, std::uint64_t seed);

  /// Does what this background does until `arrived` is true; asks at least once, and between any two things it does.
  /// With Background::none a rank sleeps between the questions if it `may_sleep`: a bystander must not disturb, but a
  /// rank that is needed at once must not have to wake up.
  void until(const std::function<bool()>& arrived, bool may_sleep);

  /// One dgemm, if this background computes.
  void compute();

 private:
  Background background_;
  DgemmDesign call_;
  std::optional<DgemmArena> arena_;
};

}  // namespace hplcast::calibration
