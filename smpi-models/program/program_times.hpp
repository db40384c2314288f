#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hplcast/core/simulation.hpp"
#include "smpi-models/observe/activity.hpp"

namespace hplcast::smpi_models {

/// Who waits for whom in a collective operation: `all`: everybody for the last one that comes; `from`: all for the
/// root; `to`: the root for the last one. The rest of its time are messages.
enum class Meets { all, from, to };

/// How long ranks wait in collective operations until those are there whom they need, whatever messages SMPI makes of
/// them. The ranks of a communicator call its operations in one order: the n-th calls of all are one meeting. Without
/// SimGrid inside.
class CollectiveWaits {
 public:
  struct Call {
    int context = 0;  ///< of the communicator
    int size = 1;     ///< ranks in it
    Meets meets = Meets::all;
    bool is_root = false;
  };

  /// A rank comes to an operation. No rank is in two at a time.
  void enter(int rank, const Call& call, double now_s);
  /// It is over for the rank. @return for how long it has waited, from 0 to the time since enter()
  double leave(int rank, double now_s);

 private:
  struct Meeting {
    int entered = 0, left = 0;
    double last_s = 0;  ///< when the last of those that came until now did
    double root_s = 0;
  };
  using Key = std::pair<int, std::uint64_t>;  // context and number
  struct Entered {
    Key key;
    Call call;
    double begin_s;
  };
  std::map<Key, Meeting> meetings_;                     // until all have left
  std::map<std::pair<int, int>, std::uint64_t> calls_;  // by rank and context
  std::map<int, Entered> inside_;                       // by rank
};

/// Finds code that a program times and that takes no simulated time: a rank reads a clock, computes for a while on this
/// machine, and reads the clock again, and hardly any time has passed. Such times that it prints are meaningless.
class ClockIntervals {
 public:
  /// `rank` comes to a function of MPI (not to a clock): no rank's interval goes on, because others run meanwhile.
  void other_function() { ++functions_; }

  /// `rank` has read a clock, at its own time `now_s`; `cpu_s`: CPU time of this thread.
  void leaves_clock(std::uint32_t rank, double now_s, double cpu_s) {
    if (rank >= reads_.size()) reads_.resize(rank + 1);
    reads_[rank] = {now_s, cpu_s, ++functions_};
  }

  /// `rank` comes to a clock. @return CPU time since its last read, if there was one, no other function of MPI
  /// meanwhile, and less than 1 % of it has passed as simulated time; else 0. Short ones, below 2 us, count as 0: some
  /// code is between any two reads.
  double comes_to_clock(std::uint32_t rank, double now_s, double cpu_s) {
    constexpr double shortest_s = 2e-6, least_share = 0.01;
    const bool goes_on = rank < reads_.size() && reads_[rank].functions == functions_;
    ++functions_;
    if (!goes_on) return 0;
    const double spent_s = cpu_s - reads_[rank].cpu_s;
    const bool takes_time = now_s - reads_[rank].now_s > least_share * spent_s;
    return takes_time || spent_s < shortest_s ? 0 : spent_s;
  }

 private:
  struct Read {
    double now_s = 0, cpu_s = 0;
    std::uint64_t functions = 0;  ///< number of calls of all ranks when it was left; 0: none
  };
  std::vector<Read> reads_;  ///< by rank
  std::uint64_t functions_ = 0;
};

/// Where a program that marks its panels goes on, and when its ranks come to them. Without SimGrid inside.
class ProgramPanels {
 public:
  /// `rule`: ProgramSettings::windows; empty: all are simulated, and nothing is noted.
  explicit ProgramPanels(std::string rule) : rule_(std::move(rule)) {}
  void add_rank() { marks_.push_back(0), came_s_.push_back(0); }

  /// As hplcast_panel(). @throws InputError for another panel than the next one, or another run than that of other
  /// ranks. And what the rank has to spend, so that ranks begin a window as far apart as they were in the one before.
  std::pair<long, double> come(std::size_t rank, long panel, long panels, long round, double now_s);
  /// @throws InputError if a rank has not come to all that were to be simulated
  std::optional<core::MarkedPanels> result() const;

 private:
  std::string rule_;
  std::vector<int> panels_;         ///< that are simulated; empty: there was no mark yet
  core::MarkedPanels marked_;       ///< sums over the ranks
  std::vector<std::size_t> marks_;  ///< of each rank
  /// When each came to the second panel of its last round (none is three panels ahead); that of the window before.
  std::vector<double> came_s_, late_s_;
  std::size_t begin_ = 0;  ///< mark at which the window begins
};

/// Whether loops call this function of MPI, or clock, until there is something.
bool polls(std::string_view function);

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

  /// A call of a routine of that shape, or code of a region or the rest, that ends at `now` and began at `begin`.
  void code(int rank, Part part, const std::string& name, const core::KernelShape& shape, const Moment& begin,
            const Moment& now);
  /// All of a region is over, with what was inside it.
  void region_ends(int rank, const std::string& name, const TimeSpan& span);

  /// `function` must outlive the call. A function may be called inside another, by an operation of the program.
  void enter(int rank, const char* function, const Moment& now);
  /// Notes the message of the present function, for the trace.
  void note(int rank, const TracedMessage& message);
  bool is_traced(int rank) const { return activity_.trace_of(rank) != nullptr; }
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
    std::optional<TracedMessage> message = std::nullopt;
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
