#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/study/observation.hpp"
#include "hplcast/study/panel_windows.hpp"
#include "hplcast/study/simulation_needs.hpp"

namespace hplcast::study {

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
  std::function<void()> while_running;                         ///< called about ten times per second; may be empty
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

}  // namespace hplcast::study
