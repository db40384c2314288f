#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "activity.hpp"

namespace hplcast::smpi_models {

/// Whether loops call this function of MPI, or clock, until there is something.
bool polls(std::string_view function);

/// Times of all ranks in a part of a program, by rank.
struct NamedTimes {
  std::string name;
  std::vector<PhaseTime> ranks;
};

/// Where the time of each rank of a program goes: routines, regions, the rest, MPI functions; and its events for the
/// trace. Times are those of the ranks, as in Activity; those of one rank add up to its time, because each of them
/// begins where the last one ended. Without SimGrid inside.
class ProgramTimes {
 public:
  enum class Part { routine, region, rest, mpi, other, ended };

  /// Asks `activity`, which must outlive this, whether anybody wants to know, and for the trace.
  explicit ProgramTimes(Activity& activity) : activity_(activity) {}

  /// If not, nothing below needs to be called.
  bool measures() const { return activity_.measures(); }
  /// Ranks come in the order of their numbers.
  void add_rank() { ranks_.emplace_back(); }

  /// A call of a routine, or code of a region or the rest, that ends at `now` and began at `begin`.
  void routine(int rank, const std::string& name, const core::KernelShape& shape, const Moment& begin,
               const Moment& now);
  void code(int rank, Part part, const std::string& name, const Moment& begin, const Moment& now);
  /// All of a region is over, with what was inside it.
  void region_ends(int rank, const std::string& name, const TimeSpan& span);

  /// `function` must outlive the call. A function may be called inside another, by an operation of the program.
  void enter(int rank, const char* function, const Moment& now);
  /// The last one that was entered. `waited_s`: since then, for others.
  void leave(int rank, double waited_s, const Moment& now);

  /// All ranks until `end_s`, those that ended before as part `ended`. In order of the parts.
  std::vector<NamedTimes> until(double end_s) const;
  /// Writes events that are held back.
  void finish();

 private:
  struct Call {
    const char* function;
    double begin_s;
  };
  /// A loop that asks again and again is one event.
  struct HeldCall {
    std::string function;
    double waited_s = 0;
    TimeSpan span;
  };
  struct Rank {
    Moment last{0};
    std::vector<Call> calls;
    HeldCall held;
    std::vector<PhaseTime> times;  // by number of the part
  };
  using Name = std::pair<Part, std::string>;

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  PhaseTime& time_of(Rank& rank, Part part, const std::string& name);
  void pass(int rank, Part part, const std::string& name, double waited_s, const Moment& now);
  void pass_until(int rank, const Moment& begin);
  void release(int number);

  Activity& activity_;
  std::map<Name, std::size_t> numbers_;
  std::vector<Rank> ranks_;
};

}  // namespace hplcast::smpi_models
