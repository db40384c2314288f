#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hplcast/calibration/measure_dgemm.hpp"
#include "hplcast/calibration/mpi_design.hpp"

// Loads of a core while power is measured.
namespace hplcast::calibration {

/// A core at work in one state, until a moment of now_s().
using CoreLoad = std::function<void(double end_s)>;

/// Matrices of random numbers for all kernels of a rank, some 34 MB. Solves with the triangle leave what they solve as
/// it is: its numbers are that small.
struct KernelMatrices {
  explicit KernelMatrices(std::uint64_t seed);
  std::vector<double> matrix, other, panel, triangle;
};
/// Load of one kernel: the same call again and again, which does not change the matrices' contents noticeably.
/// @throws core::DomainError for a kernel that is not known.
CoreLoad kernel_load(const std::string& kernel, std::shared_ptr<KernelMatrices> matrices);
/// Asks MPI_Iprobe for a message that never comes.
void poll_until(double end_s);
/// Exchanges messages of 1 MiB with a rank. One of the two `leads`: it decides when they stop.
void exchange_until(double end_s, int partner, bool leads, std::uint64_t seed);

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
  std::function<void()> compute_;
};

}  // namespace hplcast::calibration
