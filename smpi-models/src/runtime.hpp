#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "activity.hpp"
#include "column_meeting.hpp"
#include "messages.hpp"
#include "polling.hpp"
#include "settings.hpp"
#include "statistics.hpp"
#include "table_model.hpp"

namespace hplcast::smpi_models {

/// The kernels that a rank has called since its last probe, or since it left a polling loop, if they are few.
class PieceOfWork {
 public:
  struct Call {
    core::KernelId kernel;
    core::KernelShape shape;
  };
  void add(const Call& call) {
    if (count_ < calls_.size()) calls_[count_] = call;
    ++count_;
  }
  void clear() { count_ = 0; }
  bool empty() const { return count_ == 0; }
  bool is_known() const { return count_ > 0 && count_ <= calls_.size(); }
  /// Only if is_known().
  const Call* begin() const { return calls_.data(); }
  const Call* end() const { return calls_.data() + count_; }

 private:
  std::array<Call, 8> calls_;  // HPL has up to three between two probes
  std::size_t count_ = 0;
};

/// State of one rank.
struct RankState {
  std::size_t actor = 0;  ///< id of its actor
  double pending_s = 0;   ///< delay that is not yet spent in simulated time; negative: the rank is that far in the past
  std::uint32_t rank = 0;
  std::array<const core::PiecewiseLaw*, core::kernel_count>
      laws{};                                             ///< of this rank's CPU; null: the kernel costs nothing
  std::array<std::uint64_t, core::kernel_count> calls{};  ///< draws taken, per kernel
  std::uint64_t pivots = 0;                               ///< draws taken for pivots
  PieceOfWork piece;
  bool worked = false;  ///< kernels are pending, not only costs of messages
};

/// Spends the pending delay of the calling rank in simulated time. Blocks: not to be called inside guarded().
void flush(RankState& rank);

/// The state of the simulation: models, pending delays, streams and counts of all ranks. There is one, made at the
/// first call of an actor; SimGrid runs actors one at a time, so nothing is locked.
class Runtime {
 public:
  /// Hands over the tables of model.h before the runtime exists. @throws DomainError for a second, different model.
  static void register_model(const hplcast_model_table& table);

  /// The runtime; made on the first call. @throws Error for bad settings, an unreadable model, hosts that the model
  /// does not have.
  static Runtime& instance();

  /// State of the calling actor. @throws Error outside of a simulated rank.
  RankState& rank();

  /// Counts one call and draws its duration in s; 0 for a kernel that costs nothing. @throws Error without a model.
  double spend_kernel(RankState& rank, core::KernelId kernel, const core::KernelShape& shape);
  /// The expected duration in s of a call that is not made.
  double mean_kernel_s(const RankState& rank, core::KernelId kernel, const core::KernelShape& shape) const;
  /// What rank.piece will take in s in each of the next `times` times that the rank calls these kernels.
  std::vector<double> repeated_s(const RankState& rank, std::size_t times) const;
  /// spend_kernel(), added to the pending delay.
  void kernel_call(RankState& rank, core::KernelId kernel, const core::KernelShape& shape);

  /// u^(1/rows) and a row below `rows`, from the stream of pivots. @throws DomainError for rows < 1.
  double pivot(RankState& rank, int rows, int& row) const;

  Polling& polling() { return *polling_; }
  Activity& activity() { return activity_; }
  /// Null: messages go through SMPI, because the platform is not ours or HPLCAST_MESSAGES says so.
  Messages* messages() { return messages_ ? &*messages_ : nullptr; }
  /// Null in exact mode.
  ColumnMeetings* columns() { return columns_ ? &*columns_ : nullptr; }
  void count_message(hplcast_mpi operation, double bytes);
  void report_time(double time_s) { statistics_.times_s.push_back(time_s); }

 private:
  Runtime();
  void add_ranks();
  double duration_s(const RankState& rank, core::KernelId kernel, const core::KernelShape& shape,
                    std::uint64_t call) const;
  void assign_laws(RankState& rank, int host, int local_rank);
  void write();

  const Settings& settings_;
  std::optional<Model> model_;
  std::array<const core::ShapeRange*, core::kernel_count> ranges_{};
  std::vector<RankState> ranks_;  // by actor id; ids of actors that are not ranks stay unused
  std::optional<Polling> polling_;
  Activity activity_;
  std::optional<Messages> messages_;
  std::optional<ColumnMeetings> columns_;
  Statistics statistics_;
};

}  // namespace hplcast::smpi_models
