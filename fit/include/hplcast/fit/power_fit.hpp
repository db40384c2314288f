#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hplcast/core/campaign.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/power_model.hpp"

namespace hplcast::fit {

/// The power of one host in one piece of a measurement: what its samples say together.
struct PowerRow {
  std::string host;
  std::string state;        ///< idle, polling, a kernel ...
  int active_cores = 0;     ///< in that state
  int cores = 1;            ///< of the host
  double frequency_hz = 0;  ///< 0: not known
  double power_w = 0;       ///< of the host: the sum of its sensors' means
  std::size_t samples = 0;  ///< of the sensor that has the fewest
  double limit_share = 0;   ///< the largest share of its limit that a sensor reaches; 0: no limit known
};

/// Rows, and what was left out on the way.
struct PowerRows {
  std::vector<PowerRow> rows;
  std::vector<std::string> sensors;  ///< that were added up, of all hosts
  std::size_t outliers = 0;          ///< samples far from the median of their piece
  std::size_t incomplete = 0;        ///< pieces in which a sensor was silent, or that have no used sample
  double limit_w = 0;                ///< the least limit of a package; 0: none is known
};

/// The samples of the steps `power` of a campaign; none if it has no such step. @throws core::ParseError
std::vector<core::PowerSample> power_samples(const core::CampaignArchive& archive);

/// Means of the used samples of every piece; samples without a piece are rows of their own. Of each host the sensors
/// are those of sensors_of_host(), or those asked for. A sample farther from the median of its piece than six standard
/// deviations (as its median deviation says them) and 5 % of it is left out: meters say 0 or 50 W now and then.
/// @throws core::Error (bad_input) if a host has none of the sensors.
PowerRows power_rows(const std::vector<core::PowerSample>& samples, const std::vector<std::string>& sensors = {});

// The power model of core/power.hpp from measured pieces: docs/use/power-measuring.md.

/// Watts as a polynomial in GHz, with their errors.
struct FittedWatts {
  std::vector<double> coefficients;     ///< c0 + c1 f + c2 f^2
  std::vector<double> standard_errors;  ///< of each
  double at(double ghz) const noexcept;
};

/// Power of all cores busy over the frequency, least squares of a quadratic.
struct AllCoresCurve {
  std::string state;
  FittedWatts watts;
  double r2 = 0, rms_w = 0, max_residual_w = 0;
};

/// Findings of the regression of a set of rows, besides numbers.
struct RegressionNotes {
  std::set<std::string> sleeping;        ///< states that add nothing
  std::set<std::string> degree_lowered;  ///< states, awake
  bool awake_unknown = false;            ///< in the watts of the cores
  bool idle_unknown = false;             ///< there is no idle row
  std::string failure;                   ///< why there is no fit; empty: there is one
};

/// The regression of one host, or of all together:
/// P = idle + awake [any core active] + sum over states of cores x watts of the state.
struct HostPowerFit {
  std::string host;  ///< empty: all
  double idle_w = 0, idle_error_w = 0;
  FittedWatts awake;
  std::map<std::string, FittedWatts> states;
  std::size_t rows = 0, terms = 0;
  double r2 = 0, rms_w = 0, max_residual_w = 0;
  std::vector<double> residuals_w;  ///< of the rows that were used, in their order
  std::vector<PowerRow> used_rows;
  std::vector<PowerRow> outliers;  ///< rows that no other agrees with
  std::vector<AllCoresCurve> all_cores;
  RegressionNotes notes;
};

struct PowerFitOptions {
  int degree = 2;                      ///< of the polynomials in GHz, if there are frequencies for it: 0, 1 or 2
  std::optional<double> frequency_hz;  ///< at which the cluster's kernels are; absent: the highest of the rows
  const core::Hosts* hosts = nullptr;  ///< for overrides of hosts; null: none are written
};

struct PowerFit {
  bool ok = false;
  std::string reason;  ///< if not ok
  HostPowerFit all;
  std::vector<HostPowerFit> hosts;  ///< if there are several, each on its own
  core::PowerModel model;
  std::vector<core::QualityFlag> flags;
};

/// Watts that a power cannot have (below 0 at a frequency of the rows) lower the degree of their polynomial, and then
/// are 0: a state in which a core adds nothing sleeps, and its rows count as idle. What the rows cannot tell apart is
/// said: without several counts of active cores, awake is in the watts of the cores.
/// Flags: cap_at_work, too_few_samples, meter_too_slow, nonlinear, outliers, incomplete, awake_unknown, idle_unknown,
/// no_default, sleeps, degree_lowered, hosts_differ, poor_fit.
/// @throws core::DomainError for states that core does not know, a degree outside 0 to 2.
PowerFit fit_power(const PowerRows& rows, const PowerFitOptions& options = {});

/// The `report` beside a power model: numbers of the fit, and its flags. A JSON object.
std::string power_report_json(const PowerFit& fit, const PowerRows& rows);

/// Makes the model the power of a cluster, with the report in its provenance.
void set_power(const PowerFit& fit, const PowerRows& rows, core::ClusterModel& cluster);

}  // namespace hplcast::fit
