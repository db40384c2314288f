#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/calibration/measure_dgemm.hpp"
#include "hplcast/calibration/mpi_design.hpp"

// What a core does while power is measured.
namespace hplcast::calibration {

/// Whom a rank works with in a piece; ranks of MPI_COMM_WORLD.
struct LoadPartners {
  int releaser = -1;   ///< of blocked ranks: a rank that sleeps, and sends when the time is over
  int partner = -1;    ///< of messages
  bool leads = false;  ///< of the two of a pair: decides when they stop
};

/// A core at work in one state.
class CoreLoad {
 public:
  virtual ~CoreLoad() = default;
  /// Works until this moment of now_s().
  virtual void run_until(double end_s) = 0;
};

/// Matrices of random numbers for all kernels of a rank, some 34 MB. Solves with the triangle leave what they solve as
/// it is: its numbers are that small.
struct KernelMatrices {
  explicit KernelMatrices(std::uint64_t seed);
  std::vector<double> matrix, other, panel, triangle;
};
/// Of a kernel: the same call again and again, which does not change the content of the matrices noticeably.
std::unique_ptr<CoreLoad> kernel_load(const std::string& kernel, std::shared_ptr<KernelMatrices> matrices);
/// Asks MPI_Iprobe for a message that never comes.
std::unique_ptr<CoreLoad> polling_load();
/// Waits in MPI_Recv for the releaser.
std::unique_ptr<CoreLoad> blocked_load(int releaser);
/// Exchanges messages of 1 MiB with a partner.
std::unique_ptr<CoreLoad> messages_load(const LoadPartners& partners, std::uint64_t seed);

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
