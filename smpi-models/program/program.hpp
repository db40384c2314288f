#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "smpi-models/clock/kernels.hpp"
#include "smpi-models/clock/rank.hpp"
#include "smpi-models/observe/statistics.hpp"
#include "smpi-models/program/accelerators.hpp"
#include "smpi-models/program/program_times.hpp"
#include "smpi-models/program/stretches.hpp"
#include "smpi-models/session/session.hpp"

namespace hplcast::smpi_models {

/// The runtime of C++ keeps per thread which exceptions are handled (`__cxa_eh_globals`; Itanium C++ ABI,
/// Exception Handling, 2.2.2): all ranks are one thread, and each is in handlers of its own.
struct Exceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

/// Costs of a program's code between its MPI calls: routines by their free names, regions, and the rest.
class Program {
 public:
  /// The references must outlive this. No model: every routine is without one. `activity` says what is to be noted.
  Program(const Settings& settings, const std::optional<Model>& model, Activity& activity);

  /// Ranks come in the order of their numbers.
  void add_rank(Rank& rank, const Kernels::Place& place);

  /// As hplcast_routine().
  int routine(const std::string& name, const std::string& base);
  /// As hplcast_routine_call(). @throws DomainError for a number that routine() has not given.
  void call(Rank& rank, int routine, const core::KernelShape& shape, double flop, bool executed);
  /// @throws likewise.
  bool has_model(int routine) { return at(routine).model != nullptr; }

  /// As hplcast_lapack_begin(), hplcast_lapack_end(). @throws likewise.
  int begin_composed(Rank& rank, int routine, const core::KernelShape& shape, double flop);
  void end_composed(const Rank& rank) { --states_[rank.number].composed; }

  /// As hplcast_region_begins(), hplcast_region_ends(). @throws Error for a region that is not the last one entered, or
  /// is entered twice.
  bool enter(Rank& rank, const std::string& name, const core::KernelShape& shape);
  void leave(Rank& rank, const std::string& name);

  /// The rank has executed code until now, which is benched where it is to be; resume(): and does so again from now on.
  void pause(Rank& rank);
  void resume(const Rank& rank);

  /// Whether everything is executed, and takes the time that it would take if it were not.
  bool has_numerics() const { return settings_.program && settings_.program->numerics; }

  /// As hplcast_comes_to(). @throws core::Error if the program does not count, and should.
  void comes_to(Rank& rank, const char* function, const hplcast_frame& from, const std::uint64_t* instructions);
  /// The rank comes to an MPI function or a clock, whose name must live on; what it has pending is still to be spent.
  void enter_mpi(Rank& rank, const char* function);
  /// The function that a rank comes to next is this operation.
  void meet(const CollectiveWaits::Call& call) { next_meeting_ = call; }
  void leave_mpi(Rank& rank);

  /// Notes the message of the present function; `describe`: the core::TracedMessage, if there is a trace.
  template <typename Describe>
  void note_message(const Rank& rank, const Describe& describe) {
    const int number = static_cast<int>(rank.number);
    if (times_.measures() && times_.is_traced(number)) times_.note(number, describe());
  }

  Accelerators& accelerators() { return accelerators_; }
  ProgramPanels& panels() { return panels_; }

  /// When the rank was seen last, in its own time.
  double last_s(const Rank& rank) const { return states_[rank.number].last_s; }
  /// Ranks that are in an MPI function.
  std::vector<core::BlockedRank> blocked() const;
  /// @throws Error for a region that has not ended.
  core::ProgramCounts counts() const;
  /// When the last rank ended, in its own time.
  double end_s() const;
  /// Until then; empty if nobody asks.
  std::vector<NamedTimes> times() const {
    return times_.measures() ? times_.until(end_s()) : std::vector<NamedTimes>();
  }
  /// Tells the trace what it does not have yet.
  void finish_trace() {
    times_.finish();
    stretches_.finish();
  }

 private:
  /// Watts are known for kernels of HPL: other routines and code count as its dgemm.
  static constexpr core::KernelId other_work = core::KernelId::dgemm;
  struct Routine {
    std::string name;
    const core::KernelModel* model = nullptr;
    std::uint32_t stream = 0;
    bool is_strided = false;
    bool is_mpi = false;                   ///< MPI_Pack: no code of the program around it that belongs to it
    bool of_hpl = false;                   ///< the model is that of a kernel of HPL
    bool by_bytes = false;                 ///< of blocks (Packing) it knows the bytes only
    std::optional<core::KernelId> kernel;  // of HPL, whose watts and share of the clock it has
    core::RoutineUse count;
  };
  struct Entered {
    std::string name;
    const core::RegionModel* model = nullptr;
    core::KernelShape shape;
    double time_s = 0;
    double begin_s = 0;  ///< own time of the rank
  };
  /// State of one rank.
  struct State {
    Kernels::Place place;
    double benched_from_s = -1;        ///< CPU time of this thread; negative: nothing is benched
    std::vector<std::uint64_t> calls;  ///< draws taken, by routine
    std::uint64_t stretches = 0;       ///< the same
    std::unordered_map<std::string, std::uint64_t> region_calls;  ///< draws taken, by region
    std::vector<Entered> regions;                                 ///< entered and not left, the last one last
    struct Call {
      const char* function;
      double begin_s, blocked_s;
      bool meets = false;
      Exceptions exceptions = {};  ///< that its code handles meanwhile
    };
    std::vector<Call> mpi;   ///< functions that it is in
    int composed = 0;        ///< routines that it is in, and has paid for
    bool finalized = false;  ///< has come to MPI_Finalize
    double last_s = 0;
  };
  using Part = ProgramTimes::Part;
  /// Code or function in which a rank spends time: for ProgramTimes.
  struct Where {
    Part part;
    const std::string& name;
    core::KernelShape shape{};
  };

  /// @throws DomainError for a number that routine() has not given.
  Routine& at(int routine);
  const core::KernelModel* model_of(const std::string& name, const std::string& base, Routine& routine) const;
  double spend(Rank& rank, double duration_s, const Where& where, std::optional<core::KernelId> kernel = std::nullopt);
  core::RestMode rest() const { return settings_.program ? settings_.program->rest : core::RestMode::zero; }
  bool benches(const State& state) const;
  /// Tells the rank's state during a call that is over.
  void tell_state(Rank& rank, const State::Call& call);
  /// Whether the rank is in a region or routine whose model has the time of all that is in it.
  bool is_paid(const State& state) const;

  const Settings& settings_;
  const std::optional<Model>& model_;
  const core::ProgramModel* program_ = nullptr;
  std::unordered_map<std::string, int> numbers_;
  std::deque<Routine> routines_;  // stay where they are while a rank is blocked in one
  std::vector<State> states_;     // by rank
  core::ProgramCounts counts_;
  ClockIntervals intervals_;
  ProgramTimes times_;
  CollectiveWaits waits_;
  ProgramPanels panels_;
  Stretches stretches_;
  Accelerators accelerators_;
  std::optional<CollectiveWaits::Call> next_meeting_;
};

/// Replaces what SMPI chooses for collective operations where that fails: once, before the first operation.
void mend_collectives();

}  // namespace hplcast::smpi_models
