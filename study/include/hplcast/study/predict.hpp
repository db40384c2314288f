#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/study/panel_windows.hpp"

namespace hplcast::study {

/// Observations of a simulation to keep besides its result (docs/use/traces.md). Empty paths: not kept.
struct Observation {
  std::filesystem::path trace;        ///< Chrome's JSON, for Perfetto
  std::string trace_ranks;            ///< first-last: only these are in the trace; empty: all
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

using core::SimulationProgress;

/// Time and memory of a simulation of HPL, estimated from the parameters (docs/measurements/scaling.md has the
/// measurements behind it).
struct SimulationNeeds {
  double messages = 0;            ///< sent by HPL
  double simulated_messages = 0;  ///< of these, message by message
  double wall_s = 0;              ///< on one core, nothing else running: right to a factor of two
  double memory_bytes = 0;        ///< proportional set size
  double address_bytes = 0;       ///< virtual
  long memory_maps = 0;           ///< with guard pages between the stacks of the ranks
  double block_bytes = 0;         ///< for smpi/shared-malloc-blocksize: the page that SMPI maps repeatedly for panels
};

/// `fast`: panel factorisations are not simulated message by message.
SimulationNeeds simulation_needs(const core::HplParameters& parameters, bool fast);
/// Messages that exact mode simulates for all panels, and fast mode does not.
double messages_saved_by_fast(const core::HplParameters& parameters);

/// Limits of this machine for one process. 0 means "no limit, or not known".
struct SimulationLimits {
  double available_bytes = 0;  ///< memory free without swapping
  double address_bytes = 0;    ///< RLIMIT_AS
  double commit_bytes = 0;     ///< rest of the commit limit, where vm.overcommit_memory is 2
  double stack_bytes = 0;      ///< RLIMIT_STACK
  double disk_bytes = 0;       ///< free where temporary files go
};

/// Those of this machine, for files in `folder`.
SimulationLimits simulation_limits(const std::filesystem::path& folder);

/// Options of smpirun for the stacks of the ranks: none, or where guard pages between them would take more memory maps
/// than there may be, no guard pages. HPL needs less than 64 KiB of a stack, where this leaves 256 KiB.
std::vector<std::string> stack_options(const SimulationNeeds& needs, long max_map_count);

/// The shortages, each with its remedy; empty: there is none.
std::vector<std::string> shortages(const SimulationNeeds& needs, const SimulationLimits& limits);

/// "about 4 min, 120 MB, 2.4 million messages".
std::string to_string(const SimulationNeeds& needs);

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
                            ///< time_s, as far as there is place; 0: none are added
  int window_jobs = 1;      ///< windows that are simulated at a time: the result does not depend on it
  std::optional<int>
      only_window;       ///< simulates this one of the windows, counted from 0, and leaves its result in `keep`
  double timeout_s = 0;  ///< 0: none
  int at_a_time = 1;     ///< simulations like this one that run together: all need memory
  std::filesystem::path
      keep;  ///< folder for HPL.dat, cluster.json, log ...; empty: a temporary one, removed at the end
  SimulatorPrograms programs;
  Observation observation;
  core::SimulationDiagnosis diagnosis;  ///< for tests, which compare ways of simulating; no command changes it
  std::function<void()> while_running;  ///< called about ten times per second; may be empty
  std::function<void(const SimulationProgress&)> on_progress;  ///< the same, once there is something to tell
};

/// Warnings for the user: properties of the request that could make its result misleading.
/// @throws core::DomainError for wrong parameters, more ranks than the cluster has cores, panels that HPL cannot count,
/// or a matrix that is larger than the memory of the cluster (where that is known); core::Error for a simulation that
/// this machine cannot hold (shortages()), or without the platform library if ranks share links of a network
/// whose flows do not fill them. The last three not if forced.
std::vector<std::string> check(const PredictionRequest& request);

/// Whether the programs are there, and of one SimGrid. @throws core::Error if not, as predict() does.
void check_programs(const SimulatorPrograms& programs);

/// Largest Sampling::deviation of a curve that is taken for smooth: near more of it windows are added, and people are
/// warned. Of 13 orders of dahu (2019, 1024 ranks) the largest was 4 %.
inline constexpr double smooth_deviation = 0.05;

/// True if the panels of a prediction that was made before are those that this request would simulate, or more for its
/// target_error or a change of regime.
bool is_sampled_as(const core::Prediction& prediction, const PredictionRequest& request);

/// The windows of this request; one of all panels where it is not sampled. @throws as plan_windows()
WindowPlan windows_of(const PredictionRequest& request);

/// exact or fast: the meaning of `automatic` for this request if all panels are simulated.
SimulationMode mode_of_all_panels(const PredictionRequest& request);

/// exact or fast: the meaning of `automatic` for this request. @throws as windows_of()
SimulationMode mode_of(const PredictionRequest& request);

/// Time, memory and messages of the simulation that predict() would run, estimated.
SimulationNeeds needs_of(const PredictionRequest& request);

/// What gives the simulation of a request room for its ranks and their panels on this machine.
struct MemorySettings {
  std::vector<std::string> options;  ///< of smpirun
  std::string glibc_tunables;        ///< GLIBC_TUNABLES, unless the user has set it
};
MemorySettings memory_settings(const PredictionRequest& request);

/// Runs HPL on the simulator. Its files lie in a folder of their own, so predictions can run side by side.
/// @throws what check() throws; core::program_failure() if the simulation fails (its folder is then kept), does not end
/// within `timeout_s`, or leaves no result; core::Error if a program is missing or a file cannot be written.
core::Prediction predict(const PredictionRequest& request);

/// Several predictions, up to `jobs` at a time. What each one gives does not depend on the others.
struct PredictionBatch {
  std::vector<PredictionRequest> requests;  ///< their callbacks are not used
  int jobs = 1;
  /// Called on the calling thread as soon as a prediction has ended; `index` of its request.
  std::function<void(std::size_t index, core::Prediction prediction)> ended;
  /// Called there, too, several times a second, with the progress of every request: 0 to 1.
  std::function<void(const std::vector<double>& fractions)> tick;
};

/// Makes them all. The first failure stops the others. @throws what predict() throws.
void predict_many(const PredictionBatch& batch);

/// The files of write_run_folder().
inline const std::vector<const char*> run_folder_files = {"platform.xml", "hostfile",      "model.h",
                                                          "HPL.dat",      "settings.json", "run.sh"};

/// Writes a folder in which `run.sh` runs HPL by plain smpirun, without hplcast: platform.xml with SMPI's settings,
/// hostfile, model.h, HPL.dat, settings.json. Of the request cluster, parameters, seed, noise and programs.smpirun
/// count. The time is that of `predict --mode exact` where platform.xml is its platform, too
/// (docs/formats/platform-xml.md says what that loses).
/// @throws what check() throws; core::Error if a file cannot be written.
void write_run_folder(const PredictionRequest& request, const std::filesystem::path& folder);

/// Folders of runs that earlier calls of write_run_folder() have left at `base` or in it, without those of `folders`,
/// which are about to be written: they would look like a part of the new ones.
std::vector<std::filesystem::path> other_run_folders(const std::filesystem::path& base,
                                                     const std::vector<std::filesystem::path>& folders);

}  // namespace hplcast::study
