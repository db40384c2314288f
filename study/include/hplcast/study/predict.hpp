#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hplcast/study/resolve.hpp"

namespace hplcast::study {

using core::SimulationProgress;

/// Who looks on while something is simulated. Both may be empty.
struct SimulationWatch {
  std::function<void()> while_running = {};                         ///< called about ten times per second
  std::function<void(const SimulationProgress&)> on_progress = {};  ///< the same, once there is something to tell
};

/// Whether the programs are there, and of one SimGrid. @throws core::Error if not, as predict() does.
void check_programs(const SimulatorPrograms& programs);

/// Largest Sampling::deviation of a curve that is taken for smooth: near more of it windows are added, and people are
/// warned. Of 13 orders of dahu (2019, 1024 ranks) the largest was 4 %.
inline constexpr double smooth_deviation = 0.05;

/// True if the panels of a prediction that was made before are those that this plan would simulate, or more for its
/// target_error or a change of regime.
bool is_sampled_as(const core::Prediction& prediction, const RunPlan& plan);

/// Runs HPL on the simulator. Its files lie in a folder of their own, so predictions can run side by side.
/// @throws core::program_failure() if the simulation fails (its folder is then kept), does not end within `timeout_s`,
/// or leaves no result; core::Error if a program is missing or a file cannot be written.
core::Prediction predict(const RunPlan& plan, const SimulationWatch& watch = {});

/// The same of resolve(request). @throws what that throws, too.
core::Prediction predict(const PredictionRequest& request, const SimulationWatch& watch = {});

/// Several predictions, up to `jobs` at a time. What each one gives does not depend on the others.
struct PredictionBatch {
  std::vector<RunPlan> plans;
  int jobs = 1;
  /// Called on the calling thread as soon as a prediction has ended; `index` of its plan.
  std::function<void(std::size_t index, core::Prediction prediction)> ended;
  /// Called there, too, several times a second, with the progress of every plan: 0 to 1.
  std::function<void(const std::vector<double>& fractions)> tick;
};

/// Makes them all. The first failure stops the others. @throws what predict() throws.
void predict_many(const PredictionBatch& batch);

// --- rates of kernels

/// Gflop/s of `ranks` ranks (hosts are filled in order) that do nothing but dgemm at the best shape of its model: the
/// largest rate over m = n from 256 to 262144 and k from 32 to 1024. 0 if the cluster has no model of dgemm.
double dgemm_peak_gflops(const core::ClusterModel& cluster, int ranks);

/// A kernel that HPL called although the cluster has no model of it: its calls took no time.
struct FreeKernel {
  std::string name;
  std::uint64_t calls = 0;
  double share = 0;  ///< of the predicted time that the calls would have taken at a typical rate, on average over ranks
};

/// The kernels that were free in a prediction, the dearest first. Typical rates: 10 Gflop/s per core (dgemm, dtrsm),
/// 5 GB/s per core where matrices are copied or rows swapped, 1 us for each call of others.
std::vector<FreeKernel> free_kernels(const core::Prediction& prediction, const core::ClusterModel& cluster);

/// Messages about the free kernels of several predictions with one model, each kernel once, for the prediction where
/// it matters most: lines that begin with "warning: ", and one with "note: " for those that take less than 1 %.
std::vector<std::string> free_kernel_lines(const std::vector<core::Prediction>& predictions,
                                           const core::ClusterModel& cluster);

/// "dtrsm has no model: its 120 calls were free; at a typical rate they take about 12 % of the predicted time"
std::string to_string(const FreeKernel& kernel);

// --- runs by plain smpirun

/// The files of write_run_folder().
inline const std::vector<const char*> run_folder_files = {"platform.xml", "hostfile",      "model.h",
                                                          "HPL.dat",      "settings.json", "run.sh"};

/// Writes a folder in which `run.sh` runs HPL by plain smpirun, without hplcast: platform.xml with SMPI's settings,
/// hostfile, model.h, HPL.dat, settings.json. Cluster, parameters, seed, noise and programs.smpirun of the plan count.
/// The time is that of `predict --mode exact` where platform.xml is its platform, too (docs/formats/platform-xml.md
/// says what that loses).
/// @throws core::Error if a file cannot be written.
void write_run_folder(const RunPlan& plan, const std::filesystem::path& folder);

/// Folders of runs that earlier calls of write_run_folder() have left at `base` or in it, without those of `folders`,
/// which are about to be written: they would look like a part of the new ones.
std::vector<std::filesystem::path> other_run_folders(const std::filesystem::path& base,
                                                     const std::vector<std::filesystem::path>& folders);

}  // namespace hplcast::study
