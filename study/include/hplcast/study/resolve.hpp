#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/panel_windows.hpp"
#include "hplcast/core/simulation.hpp"

// A run of HPL on the simulator is described three times:
//
// - PredictionRequest, what the user asks: cluster, HPL's parameters, seed, mode, a rule for windows, traces, limits.
// - RunPlan, what will be done: exact or fast, the windows with their warm-up, needs, options of smpirun. resolve()
//   alone makes it, and it never changes. Whoever asks about a run, to tell the user, to put runs in an order, to name
//   a result or to start smpirun, asks its plan.
// - core::Prediction, what came out: a sampled one may have more windows than were planned, where the panels' curve is
//   not smooth or the target error was missed (sampling/sampled_prediction.cpp).
//
// resolve() decides in this order (run/resolve.cpp): the mode if all panels were simulated; whether windows are worth
// it, and which; the mode in them; what they need. It refuses what cannot be run, and warns.

namespace hplcast::study {

using core::PanelPiece;
using core::PanelWindow;
using core::WindowPlan;
using core::WindowRule;

/// Observations of a simulation to keep besides its result (docs/use/traces.md). Empty paths: not kept.
struct Observation {
  std::filesystem::path trace;        ///< Chrome's JSON, for Perfetto
  std::string trace_ranks;            ///< first-last: only these are in the trace; empty: all
  double trace_begin_s = 0;           ///< only events of this time are in the trace
  double trace_end_s = 0;             ///< 0: to the end
  std::filesystem::path paje;         ///< SMPI's own trace, for Paje viewers; messages then take SMPI's way
  bool phases = false;                ///< fills Prediction::phases
  std::filesystem::path phases_csv;   ///< phases of every rank
  bool energy = false;                ///< fills Prediction::energy; the cluster must have power
  std::filesystem::path power_trace;  ///< CSV of the power over time; with energy
  double bin_s = 1;                   ///< of that, and of what meters would read
  bool power_hosts = false;           ///< power_trace has columns of every host
  std::string log;                    ///< categories of SimGrid's log, such as hplcast_rank.thres:verbose
};

/// Whether something is asked for that is only whole in a simulation of all panels.
bool is_observed(const Observation& observation);

/// The programs that a prediction runs.
struct SimulatorPrograms {
  std::string smpirun;         ///< a path, or a name that PATH finds; empty: smpirun_to_run()
  std::filesystem::path xhpl;  ///< HPL built for the simulator (xhpl-smpi); empty: next to the running program,
                               ///< or what HPLCAST_XHPL_SMPI names
  std::filesystem::path
      platform_library;  ///< libhplcast-platform.so; empty: in
                         ///< ../lib beside the running program, or what HPLCAST_PLATFORM_LIBRARY names
};

/// How much of HPL's communication is simulated message by message (docs/models/modes.md).
enum class SimulationMode {
  automatic,  ///< fast if the exchanges of the panel factorisations are many (fast_from_messages, in the windows of
              ///< a sampled prediction fast_from_messages_in_windows) and no trace is asked for
  exact,      ///< every message
  fast        ///< samples the exchanges of a panel factorisation and computes the others
};
HPLCAST_ENUM_NAMES(SimulationMode, "mode", "auto", "exact", "fast");

/// Messages in panel factorisations from which on `automatic` means fast: exact mode takes some 10 s for this number.
inline constexpr double fast_from_messages = 1e6;

/// The same in all windows of a sampled prediction together. Exact mode takes about half a minute more for them: of
/// 1024 ranks at N = 500,000, NB = 128, windows had 11 million and took 107 s instead of 48 s (2026-11-22).
inline constexpr double fast_from_messages_in_windows = 6e6;

/// Everything that one prediction depends on, and how to make it.
struct PredictionRequest {
  core::ClusterModel cluster;
  core::HplParameters parameters;
  std::uint64_t seed = 1;  ///< names the random streams: equal requests give equal times
  SimulationMode mode = SimulationMode::automatic;
  bool noise = true;        ///< false: every call takes its expected time
  bool force = false;       ///< also simulate runs that do not fit the memory, or that platform.xml gets wrong
  WindowRule windows;       ///< which panels are simulated
  double target_error = 0;  ///< of a sampled prediction: windows are added until error_95_s is at most this share of
                            ///< time_s, as far as there is place; 0: as the rule of the windows says
  int window_jobs = 1;      ///< windows that are simulated at a time: the result does not depend on it; 0: as many as
                            ///< there are cores for each of `at_a_time`, and memory
  std::optional<int>
      only_window;       ///< simulates this one of the windows, counted from 0, and leaves its result in `keep`
  double timeout_s = 0;  ///< 0: none
  int at_a_time = 1;     ///< simulations like this one that run together: all need memory
  std::filesystem::path
      keep;  ///< folder for HPL.dat, cluster.json, log ...; empty: a temporary one, removed at the end
  std::filesystem::path
      shared_windows;  ///< where windows are left for the next run that has them, too; empty: in `keep`
  SimulatorPrograms programs;
  Observation observation;
  core::SimulationDiagnosis diagnosis = {};  ///< for tests, which compare ways of simulating; no command changes it
};

/// Time and memory of a simulation of HPL, estimated from the parameters (docs/measurements/scaling.md has the
/// measurements behind it).
struct SimulationNeeds {
  double simulated_messages = 0;  ///< those of HPL that are simulated message by message
  double trace_bytes = 0;         ///< of a trace of all ranks (docs/use/traces.md), right to a tenth
  double wall_s = 0;              ///< on one core, nothing else running: right to a factor of two
  double most_wall_s = 0;         ///< with all the windows that may be added; 0: none are
  double memory_bytes = 0;        ///< proportional set size
  double address_bytes = 0;       ///< virtual
  long memory_maps = 0;           ///< with guard pages between the stacks of the ranks
  double block_bytes = 0;         ///< for smpi/shared-malloc-blocksize: the page that SMPI maps repeatedly for panels

  /// Needs of a simulation of all panels, in exact or fast mode.
  static SimulationNeeds of_all_panels(const core::HplParameters& parameters, SimulationMode mode);
};

/// "about 4 min, 120 MB, 2.4 million messages".
std::string to_string(const SimulationNeeds& needs);

/// Limits of this machine for one process. 0 means "no limit, or not known".
struct SimulationLimits {
  double available_bytes = 0;  ///< memory free without swapping
  double address_bytes = 0;    ///< RLIMIT_AS
  double commit_bytes = 0;     ///< rest of the commit limit, where vm.overcommit_memory is 2
  double stack_bytes = 0;      ///< RLIMIT_STACK
  double disk_bytes = 0;       ///< free where temporary files go
};

/// Limits of this machine, for files in `folder`.
SimulationLimits simulation_limits(const std::filesystem::path& folder);

/// The shortages, each with its remedy; empty: there is none.
std::vector<std::string> shortages(const SimulationNeeds& needs, const SimulationLimits& limits);

/// Settings that give a simulation room for its ranks and their panels on this machine.
struct MemorySettings {
  std::vector<std::string> options;  ///< of smpirun
  std::string glibc_tunables;        ///< GLIBC_TUNABLES, unless the user has set it

  /// Where guard pages between the stacks of the ranks would take more memory maps than there may be, there are none.
  /// HPL needs less than 64 KiB of a stack, where this leaves 256 KiB. `max_map_count`: 0 if it is not known.
  static MemorySettings make(const SimulationNeeds& needs, long max_map_count);
};

/// One run on the simulator as it will be: see the top of this file.
class RunPlan {
 public:
  RunPlan(const RunPlan&) = default;
  RunPlan(RunPlan&&) = default;
  RunPlan& operator=(const RunPlan&) = delete;

  const PredictionRequest& request() const noexcept { return *request_; }
  const core::ClusterModel& cluster() const noexcept { return request_->cluster; }
  /// The same, as fast as it is with the ranks per host of this run (with_busy_ranks()).
  const core::ClusterModel& simulated_cluster() const noexcept { return simulated_ ? *simulated_ : cluster(); }
  const core::HplParameters& parameters() const noexcept { return request_->parameters; }
  int ranks() const noexcept { return parameters().P * parameters().Q; }

  /// exact or fast, in the windows that are simulated.
  SimulationMode mode() const noexcept { return mode_; }
  /// exact or fast, if all panels were simulated. Windows change with NB and more: what a sweep compares has this mode.
  SimulationMode unsampled_mode() const noexcept { return unsampled_mode_; }

  /// One window of all panels if the run is not sampled.
  const WindowPlan& windows() const noexcept { return windows_; }
  bool is_sampled() const noexcept { return windows_.windows.size() > 1; }

  /// The plan of one window: one simulation, with a seed of its own. Windows of the same seed would draw the same
  /// numbers, and be off in the same direction. That of the begin of the run has the seed of the whole run.
  RunPlan of_window(const PanelWindow& window) const;
  const std::optional<PanelWindow>& window() const noexcept { return window_; }  ///< nothing: all that are planned
  std::uint64_t seed() const noexcept { return seed_; }                          ///< of the run, or of the window

  /// Windows that are simulated at a time.
  int window_jobs() const noexcept { return window_jobs_; }
  /// Time, memory and messages of all windows, estimated.
  const SimulationNeeds& needs() const noexcept { return needs_; }
  /// For this machine: reads its limit of memory maps.
  MemorySettings memory() const;

  /// Properties of the run that could make its result misleading, for the user.
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  friend RunPlan resolve(PredictionRequest request);
  friend RunPlan resolve_unchecked(PredictionRequest request);
  explicit RunPlan(PredictionRequest request);

  std::shared_ptr<const PredictionRequest> request_;
  std::shared_ptr<const core::ClusterModel> simulated_;  ///< null: the cluster as it is
  std::uint64_t seed_;
  SimulationMode unsampled_mode_;
  WindowPlan windows_;
  SimulationMode mode_;
  SimulationNeeds needs_;
  int window_jobs_ = 1;
  std::optional<PanelWindow> window_;
  std::vector<std::string> warnings_;
};

/// The plan of a run that can be made.
/// @throws core::DomainError for wrong parameters, more ranks than the cluster has cores, panels that HPL cannot count,
/// a matrix that is larger than the memory of the cluster (where that is known), or windows that the run has no place
/// for; core::Error for a simulation that this machine cannot hold (shortages()), or without the platform library if
/// ranks share links of a network whose flows do not fill them (memory, machine and network not if forced);
/// core::UsageError for observations that the mode or the windows do not have.
RunPlan resolve(PredictionRequest request);

/// The plan of a run that may not be possible, to estimate what it would take: nothing is looked at but the parameters,
/// and, for the automatic mode, whether the platform library is there. No warnings. @throws as WindowPlan::make()
RunPlan resolve_unchecked(PredictionRequest request);

}  // namespace hplcast::study
