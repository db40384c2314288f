#pragma once

#include <map>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/power_model.hpp"
#include "hplcast/core/run_energy.hpp"

/// The power model of core/power_model.hpp from the energy of whole runs (docs/use/power-measuring.md#whole-runs):
///   E = hosts (start + idle T + awake T + ranks_per_host (core (T - waiting_s) + waiting waiting_s)),
///   T = time_s + factor setup_s
/// and hosts idle T where nothing runs.
namespace hplcast::fit {

/// A number and its standard error.
struct Estimate {
  double value = 0, error = 0;
};

struct RunPowerOptions {
  bool fit_setup = false;  ///< setup_s is of other runs: a factor for all of it is fitted, too
};

/// A row that was used, or the mean of the rows of one configuration.
struct FittedRun {
  core::RunEnergy run;
  double predicted_j = 0;
};

struct RunPowerFit {
  bool ok = false;
  std::string reason;  ///< if not ok
  Estimate idle_w, awake_w, core_w, waiting_w;
  std::map<std::string, Estimate> start_j;  ///< of starting and ending a run, per host, by campaign
  Estimate setup_factor{1, 0};
  double scatter = 0;  ///< standard deviation of rows around the model beside that of their runs, as a ratio
  std::vector<FittedRun> runs;
  std::vector<FittedRun> outliers;  ///< rows that no other agrees with
  core::PowerModel model;
  std::vector<core::QualityFlag> flags;

  double predicted_j(const core::RunEnergy& run) const;
  double mean_abs_error() const;  ///< of the used rows: |predicted/measured - 1|
};

/// Weighted least squares, nothing below 0: the variance of a row is that of its runs, sd^2 / runs, and that of the
/// model, (scatter E)^2, with the scatter at which residuals are as large as these say (DerSimonian and Laird 1986).
/// What the rows cannot tell apart is said, as are energies that lack the range of a counter, and are mended.
/// Flags: idle_unknown, awake_unknown, waiting_as_computing, too_few_runs, too_short, wrapped, outliers, at_zero,
/// poor_fit.
RunPowerFit fit_run_power(const std::vector<core::RunEnergy>& runs, const RunPowerOptions& options = {});

/// The `report` beside the model: estimates, errors, rows, flags. A JSON object.
std::string run_power_report_json(const RunPowerFit& fit);

/// Makes the model the power of a cluster, with the report in its provenance.
void set_power(const RunPowerFit& fit, core::ClusterModel& cluster);

}  // namespace hplcast::fit
