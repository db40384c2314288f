#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/power.hpp"
#include "hplcast/core/quality_flag.hpp"
#include "hplcast/fit/power_rows.hpp"

// The power model of core/power.hpp from measured pieces: docs/use/power-measuring.md.
namespace hplcast::fit {

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

}  // namespace hplcast::fit
