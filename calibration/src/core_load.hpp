#pragma once

#include <cstdint>
#include <memory>
#include <string>

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

/// Of a kernel: the same call again and again, on matrices of random numbers that it does not change noticeably.
std::unique_ptr<CoreLoad> kernel_load(const std::string& kernel, std::uint64_t seed);
/// Asks MPI_Iprobe for a message that never comes.
std::unique_ptr<CoreLoad> polling_load();
/// Waits in MPI_Recv for the releaser.
std::unique_ptr<CoreLoad> blocked_load(int releaser);
/// Exchanges messages of 1 MiB with a partner.
std::unique_ptr<CoreLoad> messages_load(const LoadPartners& partners, std::uint64_t seed);

}  // namespace hplcast::calibration
