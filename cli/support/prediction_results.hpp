#pragma once

#include <chrono>
#include <map>
#include <set>

#include "cli/support/command.hpp"
#include "hplcast/study/resolve.hpp"

namespace hplcast::cli {

/// The predictions of one command, in the order of its plans, and their file: it has those that are there, and is
/// whole at any moment.
class PredictionResults {
 public:
  /// `plans` must outlive this. `levels`: described() ones of all predictions. `file`: empty for none.
  PredictionResults(const std::vector<study::RunPlan>& plans, std::map<std::string, std::string> levels,
                    std::string file);

  /// Takes what the file has; a file that is not there has nothing. Predictions of simulations that are to be observed,
  /// or with a larger error than the target, stay until they are made again. @throws core::Error if it has predictions
  /// that are not among those asked for: they would be lost.
  void resume();

  /// Keeps a result. Several: the file is written at most once a second, and with each that took a minute.
  void add(std::size_t index, core::Prediction prediction);

  /// Before the command ends early: writes what there is, and says how to go on, if it `resumes`.
  void save_what_is_there(bool resumes);

  const std::set<std::size_t>& missing() const { return missing_; }  ///< indices of plans
  std::vector<core::Prediction> there() const;                       ///< also those that are made again

 private:
  using Clock = std::chrono::steady_clock;
  bool is_of(const core::Prediction& prediction, std::size_t index) const;
  std::string count_in_file() const;
  void save();

  const std::vector<study::RunPlan>& plans_;
  std::map<std::string, std::string> levels_;
  std::string file_;
  std::vector<std::optional<core::Prediction>> results_;
  std::set<std::size_t> missing_;
  Clock::time_point last_save_;
  bool saved_ = true;
};

/// The columns of a table that tell configurations apart: order, block size, grid, and all else that differs.
class ParameterColumns {
 public:
  /// `always`: parameters that are shown even if they do not differ.
  explicit ParameterColumns(const std::vector<core::HplParameters>& configurations,
                            const std::vector<std::string>& always = {});
  /// Their names before others.
  std::vector<std::string> with(const std::vector<std::string>& others) const;
  /// Their texts of a configuration before others.
  std::vector<std::string> with(const core::HplParameters& p, const std::vector<std::string>& others) const;
  /// "PMAP=0 L1=1": the parameters without a column.
  std::string rest_of(const core::HplParameters& p) const;

 private:
  std::vector<const core::HplField*> fields_, rest_;
};

/// Predictions as a table for people. Several: the fastest first, with columns for the parameters that vary; the others
/// are named once, and the best configuration (by its mean over the seeds) at the end. The share of the peak of dgemm
/// is shown where the cluster has a model of dgemm.
void write_prediction_table(std::ostream& out, const std::vector<core::Prediction>& predictions,
                            const core::ClusterModel& cluster);

/// Where the time of each prediction goes, phase by phase.
void write_phases(std::ostream& out, const std::vector<core::Prediction>& predictions);

/// The same of one run, predicted or real, named `of`.
void write_phases(std::ostream& out, const std::string& of, const std::vector<core::PhaseSummary>& phases);

/// Energy of a run of this title and time, by what cores do.
void write_energy(std::ostream& out, const std::string& of, const core::Energy& energy, double time_s);

/// Energy of a prediction that has it, by what cores do, and what Green500's levels would report.
void write_energy(std::ostream& out, const core::Prediction& prediction);

}  // namespace hplcast::cli
