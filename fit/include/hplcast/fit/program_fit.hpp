#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/fit/kernel_fit.hpp"

namespace hplcast::fit {

/// The middle one of repetitions of a run, of an even number the lower of both: what disturbs a run makes it longer,
/// and the mean of two runs would have half of that. At least one value.
double usual_of(std::vector<double> repetitions);

/// A sampled call of an observed program, or of one of its regions ("region:NAME").
struct ObservedCall {
  core::KernelShape shape;
  double duration_s = 0;
  double calls = 1;   ///< that it stands for
  double faults = 0;  ///< pages of memory that it touched for the first time
  bool cold = false;  ///< the core's vector units were
  int rank = -1;      ///< in ProgramObservation::rests; -1: unknown
};

/// Sums over the ranks of all observed runs.
struct ObservedSum {
  double calls = 0;
  double time_s = 0;
  double flop = 0;
};

/// The code between two calls of MPI (core::StretchLevel), of all ranks and runs.
struct ObservedStretches {
  /// Stretches of about the same size.
  struct Cell {
    double calls = 0;
    double size = 0, time_s = 0;  ///< sums; core::stretch_size()
    double least_size = 0, most_size = 0;
    std::vector<double> times_s = {};        ///< of each call
    double scattered_s = 0, compared_s = 0;  ///< sums over calls of repetitions: time times variance of it, and time
  };
  /// By the names of the two calls, a class of sizes, and the run.
  std::map<std::pair<std::string, std::string>, std::map<int, std::map<std::size_t, Cell>>> cells;
  std::vector<std::string> runs;  ///< CountedRun::name of each: the same for repetitions of a run
};

/// Records of one or more runs under `hplcast observe`.
struct ProgramObservation {
  std::map<std::string, std::vector<ObservedCall>> calls;  ///< by routine
  std::map<std::string, std::vector<ObservedCall>> reach;  ///< measured after the run, at sizes that it did not have
  std::map<std::string, ObservedSum> routines, regions, mpi;
  std::map<std::string, ObservedSum> inside;  ///< of regions: calls of MPI that they contain, time of routines
  /// One rank: its rest, the counts that this may grow with, and its times.
  struct RankRest {
    double rest_s = 0, calls = 0, elements = 0;
    double executed_s = 0, mpi_s = 0;                  ///< CPU time outside of MPI, and time in MPI
    double wall_s = 0;                                 ///< 0: unknown
    double mpi_calls = 0;                              ///< of all MPI functions
    std::map<std::string, double> exchanged_s = {};    ///< of mpi_s: exchanges_messages()
    std::map<std::string, ObservedSum> products = {};  ///< its routines of three sizes
    std::map<std::string, ObservedSum> sums = {};      ///< of all that has calls
    std::string name = {};                             ///< for messages: "small.zip:rank-0.times.csv"
  };
  std::vector<RankRest> rests;
  ObservedStretches stretches;
  double executed_s = 0;       ///< CPU time outside of MPI
  double rest_s = 0;           ///< of it: neither routines nor regions
  double other_threads_s = 0;  ///< CPU time of threads that were not observed
  double foreign_calls = 0;    ///< routines called by them
};

/// A file, and its name for messages.
struct NamedInput {
  std::istream& in;
  std::string name;
};

/// Adds one rank: its calls, columns routine,m,n,k,duration_s,calls and perhaps faults and cold, and its sums, columns
/// what,name,calls,time_s,flop.
/// @throws core::ParseError
void read_observed_rank(const NamedInput& calls, const NamedInput& times, ProgramObservation& observation);

/// Adds what a rank measured beyond the sizes of its calls: columns routine,m,n,k,duration_s,calls.
/// @throws core::ParseError
void read_reach(const NamedInput& file, ProgramObservation& observation);

/// Code that the ranks of a simulated run executed before each of their calls of MPI: `hplcast run --count`.
struct CountedRun {
  struct Call {
    std::string function, name;  ///< core::call_site_name()
  };
  struct Stretch {
    int call = 0;  ///< at its end
    double instructions = 0;
  };
  std::string name;  ///< for messages
  std::vector<Call> calls;
  std::vector<std::vector<Stretch>> ranks;
};

/// Columns rank,function,site,instructions. @throws core::ParseError; core::Error if there is no call.
CountedRun read_counts(const NamedInput& file);

/// Adds the times of one rank of the same run for real, the last one of observation.stretches.runs, columns
/// function,time_s: its calls of MPI are those that were counted, one by one. @throws core::Error if they are not;
/// core::ParseError
void read_stretches(const NamedInput& times, const CountedRun& counted, std::size_t rank,
                    ProgramObservation& observation);

/// Whether a function of MPI sends, receives or waits: neither MPI_Init, nor what makes communicators and types.
bool exchanges_messages(std::string_view function);

/// Times of all ranks in functions that exchange messages, of a run that was observed and simulated.
struct MessageTimes {
  /// One of them.
  struct Function {
    std::vector<double> real_s;            ///< of each repetition; waiting for the other side is in it
    double messages_s = 0, waiting_s = 0;  ///< simulated
  };
  std::string name;  ///< for messages
  std::map<std::string, Function> functions;
  double run_s = 0;  ///< simulated time of all ranks
};

/// By how much messages are to take longer, so that these runs are in them as long as for real: in each function of
/// each run real = waiting + factor messages. Of repetitions the usual one counts: simulated ranks scatter, too. The
/// factor is that of weighted least squares, because these equations are known differently well: waiting, the small
/// difference of what two ranks did before, to a third (seen in ScaLAPACK and HPL on two ranks: 27 and 40 %), and each
/// to 5 % of all functions' time, by which runs differ. So functions and runs in which nobody waits decide. It is the
/// first step of Newton's method, because who waits less or longer makes others wait, too; a step is at most 3, or a
/// third. Functions that ask (MPI_Iprobe, MPI_Test) tell nothing. Nothing where messages are less than 1 % of all runs.
/// @throws core::DomainError if the real time is beyond 10 times the simulated one, or below a tenth: another machine,
/// or another run.
std::optional<double> message_factor(const std::vector<MessageTimes>& runs);

/// Mean of |predicted / observed - 1| of the times of ranges of sizes (m, n, k by factors of 2) that were observed.
struct ModelError {
  double by_time = 0;  ///< a range counts by its time
  double by_size = 0;  ///< all ranges count alike
};

/// The models of a program and what was noticed.
struct ProgramFit {
  core::ProgramModel program;
  std::map<std::string, KernelFit> fits;     ///< by routine
  std::map<std::string, ModelError> errors;  ///< of what has a model: by routine, or "region:NAME"
  std::vector<std::string> warnings;
};

/// A model for each routine: terms are products of the sizes that it was called with, the simplest set that does
/// (hpl_kernels.hpp), by weighted least squares in which the time of the calls counts, or a time per product in pieces
/// by size. Of repetitions of a run (the same calls on the same rank) usual_of() each routine counts. Few calls
/// that touch memory for the first time are left out. In the choice ranges of sizes count as much as the time. Sizes
/// beyond those of all runs are as measured in `reach`, which does not change the others. Routines that took less than
/// `least_share` of the CPU time get the mean time per size. @throws core::Error if nothing was observed.
ProgramFit fit_program(const ProgramObservation& observation, double least_share = 1e-4);

/// A sentence about each model that is off by more than 15 % by time, of what took more than 1 % of the CPU time.
/// `errors` are of fit_program() for `observation`, or some of them.
std::vector<std::string> far_off(const ProgramObservation& observation,
                                 const std::map<std::string, ModelError>& errors);

/// A sentence about each routine that took more than 2 % of the CPU time and was called with less than 6 different
/// sizes. `fits` are of fit_program() for `observation`.
std::vector<std::string> few_sizes(const ProgramObservation& observation, const std::map<std::string, KernelFit>& fits);

/// A sentence about each region of `program` whose code is not executed in a simulation, with calls of routines or MPI
/// inside, which then are in no prediction.
std::vector<std::string> lost_inside(const ProgramObservation& observation, const core::ProgramModel& program);

}  // namespace hplcast::fit
