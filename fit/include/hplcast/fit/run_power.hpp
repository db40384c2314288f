#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/power_model.hpp"

/// The power model of core/power_model.hpp from the energy of whole runs (docs/use/power-measuring.md#whole-runs):
///   E = hosts (start + idle T + awake T + ranks_per_host (core (T - waiting_s) + waiting waiting_s)),
///   T = time_s + factor setup_s
/// and hosts idle T where nothing runs.
namespace hplcast::fit {

/// Energy of a whole run, or the mean of several, as counters read before and after it tell: a row of a table of runs
/// (docs/formats/measurements-csv.md). Hosts on which nothing ran have 0 ranks.
struct RunEnergy {
  core::Location row;
  std::string configuration;  ///< of runs that are repetitions of each other; empty: of none
  std::string campaign;       ///< in which starting and ending a run costs the same
  int hosts = 1;
  int ranks_per_host = 0;
  double time_s = 0;       ///< of the part that the program times
  double setup_s = 0;      ///< before that, with all ranks busy
  double waiting_s = -1;   ///< of time_s + setup_s, mean over the ranks; below 0: not known
  double energy_j = 0;     ///< of all hosts
  double energy_sd_j = 0;  ///< of single runs; 0: not known
  int runs = 1;            ///< that the row is the mean of
  double wrap_j = 0;       ///< energy after which a counter starts at 0 again; 0: not known
  int wraps = 0;           ///< that were added to energy_j
  double sample_s = 0;     ///< time between two readings of the meter; 0: none, the counters integrate

  double duration_s() const noexcept { return time_s + setup_s; }
};

/// Whether a header (the first line of a CSV) is that of a table of runs, not of samples of power.
bool is_run_table(const std::string& header);

/// All rows. Required: hosts, ranks_per_host, time_s, and energy_j, or NAME_start_j and NAME_end_j of each domain NAME,
/// which are added up: a counter that ends below its start has wrapped.
/// @throws core::ParseError for a missing column, a row without the reading of a domain that other rows have, a counter
/// that has wrapped where wrap_j is not known, one beyond its range, and numbers that cannot be.
std::vector<RunEnergy> read_run_energies(std::istream& in, const std::string& name);

/// A number and its standard error.
struct Estimate {
  double value = 0, error = 0;
};

struct RunPowerOptions {
  bool fit_setup = false;  ///< setup_s is of other runs: a factor for all of it is fitted, too
};

/// A row that was used, or the mean of the rows of one configuration.
struct FittedRun {
  RunEnergy run;
  double predicted_j = 0;
};

struct RunPowerFit {
  bool ok = false;
  std::string reason;  ///< if not ok
  Estimate idle_w, awake_w, core_w, waiting_w;
  std::map<std::string, Estimate> start_j;  ///< of starting and ending a run, per host, by campaign
  Estimate setup_factor{1, 0};
  double scatter = 0;  ///< standard deviation of rows around the model beside that of their runs, as a ratio; 0: not
                       ///< known, as there are no more rows than numbers
  std::vector<FittedRun> runs;
  std::vector<FittedRun> outliers;  ///< rows that no other agrees with
  core::PowerModel model;
  std::vector<core::QualityFlag> flags;

  double mean_abs_error() const;  ///< of the used rows: |predicted/measured - 1|
};

/// Weighted least squares, nothing below 0: the variance of a row is that of its runs, sd^2 / runs, and that of the
/// model, (scatter E)^2, with the scatter at which residuals are as large as these say (DerSimonian and Laird 1986).
/// What the rows cannot tell apart is said, as are energies that lack the range of a counter, and are mended.
/// Flags: idle_unknown, awake_unknown, waiting_as_computing, too_few_runs, too_short, wrapped, outliers, at_zero,
/// poor_fit.
RunPowerFit fit_run_power(const std::vector<RunEnergy>& runs, const RunPowerOptions& options = {});

/// The `report` beside the model: estimates, errors, rows, flags. A JSON object.
std::string run_power_report_json(const RunPowerFit& fit);

/// Makes the model the power of a cluster, with the report in its provenance.
void set_power(const RunPowerFit& fit, core::ClusterModel& cluster);

}  // namespace hplcast::fit
