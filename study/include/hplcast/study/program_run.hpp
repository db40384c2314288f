#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/study/predict.hpp"

namespace hplcast::study {

using core::RestMode;
using core::RoutineUse;

/// A program that hplcast-cc has compiled, to be run on the simulator.
struct ProgramRunRequest {
  core::ClusterModel cluster;
  int ranks = 1;
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::uint64_t seed = 1;
  bool noise = true;
  RestMode rest = RestMode::zero;
  bool direct_messages = true;       ///< false: all messages take SMPI's way
  bool fast = false;                 ///< short messages leave the links alone; programs that probe are refused
  std::string collectives = "ompi";  ///< whose algorithms for collective operations: a selector of SMPI
  bool numerics = false;             ///< routines and regions are executed, too, and take the same time
  double share_above_bytes = 0;      ///< allocations of at least that many bytes share their memory; 0: none
  std::filesystem::path counts;      ///< CSV of what each rank executes between calls of MPI; empty: none
  double timeout_s = 0;              ///< 0: none
  std::string smpirun;               ///< empty: that of the SimGrid hplcast was built with
  std::filesystem::path keep;        ///< folder for the files of the simulation; empty: a temporary one
  bool phases_by_group = false;      ///< times of routines, regions, MPI in place of those by name
  Observation observation;           ///< without `paje` and `log`
  /// Which panels are simulated of a program that marks them.
  WindowRule windows{WindowRule::Kind::off};
  std::function<void()> while_running = {};
  std::function<void(const SimulationProgress&)> on_progress = {};
};

/// For a program that is to run on real MPI. @throws core::Error if it is linked for the simulator.
void require_real_program(const std::filesystem::path& program);

/// Results and counts of a simulated program.
struct ProgramRun : core::ProgramCounts {
  std::string command;
  std::string cluster;
  std::string model_sha256;
  std::string simulator;
  int ranks = 1;
  std::uint64_t seed = 1;
  RestMode rest = RestMode::zero;
  double time_s = 0;       ///< from the start of the ranks to the end of the last one
  double simulated_s = 0;  ///< likewise, without panels that were left out, as all times and counts beside it
  double wall_s = 0;
  double peak_pss_bytes = 0;
  double detours_s = 0;                    ///< by which they stretched all of these, of all ranks
  std::vector<core::PhaseSummary> phases;  ///< by routine, region, MPI function ...; if asked for
  std::optional<core::Energy> energy;      ///< if asked for
  double error_95_s = 0;                   ///< of time_s, by panels that were left out
  std::optional<core::Sampling> sampling;  ///< if some were
  std::string output;                      ///< what it printed

  double routines_s() const { return sum(routines, &RoutineUse::time_s); }
  double regions_s() const { return sum(regions, &RoutineUse::time_s); }
  double flop() const { return sum(routines, &RoutineUse::flop); }

 private:
  static double sum(const std::map<std::string, RoutineUse>& uses, double RoutineUse::*member) {
    double result = 0;
    for (const auto& [name, use] : uses) result += use.*member;
    return result;
  }
};

/// Checks before the run. @throws core::Error for a program that hplcast-cc did not link, that needs a shared
/// BLAS, LAPACK or MPI of the system, or that is not there; core::DomainError for ranks that the cluster has no cores
/// for. @return warnings.
std::vector<std::string> check(const ProgramRunRequest& request);

/// check(), then simulates. @throws core::ExternalError if the program or the simulator fails, or its ranks deadlock.
ProgramRun run_program(const ProgramRunRequest& request);

/// Reasons to doubt the result: unmodelled routines and code, sizes that were not observed, a run in
/// which nothing takes time.
std::vector<std::string> doubts(const ProgramRun& run, const core::ClusterModel& cluster);

/// Uses that are right, but may not be meant: models of a program of another name, times of HPL's kernels for routines
/// that the observed program did not call.
std::vector<std::string> notes(const ProgramRun& run, const core::ClusterModel& cluster);

/// As JSON, `hplcast run --json` (docs/use/any-program.md).
void write_program_run(std::ostream& out, const ProgramRun& run, const std::vector<std::string>& warnings);

/// SVG file: shares of the time of all ranks, and of their accelerators, the largest above.
std::string time_picture(const ProgramRun& run);

}  // namespace hplcast::study
