#include "hplcast/fit/run_power.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/least_squares.hpp"

namespace hplcast::fit {

namespace {

/// Terms of the regression, in order of importance: of two that say the same the first stays.
enum RunTerm : std::size_t { idle_term, core_term, awake_term, waiting_term, start_terms };

struct RunRegression {
  std::vector<RunEnergy> runs;
  std::vector<std::string> campaigns;
  double setup_factor = 1;
  bool with_waiting = false;
  double usual_sd = 0;  // of runs of a configuration, over their energy
  LeastSquares solution;
  double scatter = 0;
  double misfit = 0;                  // - 2 ln likelihood, but for a constant
  std::vector<double> factor_errors;  // what the error of a fitted setup_factor does to the coefficients

  double duration_s(const RunEnergy& run) const { return run.time_s + setup_factor * run.setup_s; }

  std::vector<double> terms_of(const RunEnergy& run) const {
    const double hosts = run.hosts, active = run.ranks_per_host > 0 ? 1 : 0, ranks = run.ranks_per_host;
    const double seconds = duration_s(run), waiting_s = with_waiting ? std::max(0.0, run.waiting_s) : 0;
    std::vector<double> terms(start_terms + campaigns.size(), 0.0);
    terms[idle_term] = hosts * seconds;
    terms[core_term] = hosts * ranks * (seconds - waiting_s);
    terms[awake_term] = hosts * active * seconds;
    terms[waiting_term] = hosts * ranks * waiting_s;
    const auto campaign = std::find(campaigns.begin(), campaigns.end(), run.campaign);
    if (campaign != campaigns.end())
      terms[start_terms + static_cast<std::size_t>(campaign - campaigns.begin())] = hosts * active;
    return terms;
  }

  double predicted_j(const RunEnergy& run) const {
    const std::vector<double> terms = terms_of(run);
    return std::inner_product(terms.begin(), terms.end(), solution.coefficients.begin(), 0.0);
  }

  void solve(const std::vector<double>& weights) {
    RegressionData data;
    data.columns.resize(start_terms + campaigns.size());
    for (const RunEnergy& run : runs) {
      const std::vector<double> terms = terms_of(run);
      for (std::size_t i = 0; i < terms.size(); ++i) data.columns[i].push_back(terms[i]);
      data.y.push_back(run.energy_j);
    }
    data.weights = weights;
    LeastSquaresOptions options;
    options.non_negative = true;
    solution = solve_least_squares(data, options);
  }
};

/// Means of the rows of each configuration, with the scatter of their runs.
std::vector<RunEnergy> merged(const std::vector<RunEnergy>& rows) {
  std::vector<RunEnergy> result;
  std::vector<double> freedoms;  // of energy_sd_j
  for (const RunEnergy& row : rows) {
    const auto same = std::find_if(result.begin(), result.end(), [&](const RunEnergy& one) {
      return !row.configuration.empty() && one.configuration == row.configuration && one.campaign == row.campaign &&
             one.hosts == row.hosts && one.ranks_per_host == row.ranks_per_host;
    });
    const double own = row.energy_sd_j > 0 ? row.runs - 1 : 0;
    if (same == result.end()) {
      result.push_back(row);
      freedoms.push_back(own);
      continue;
    }
    const double before = same->runs, share = row.runs / (before + row.runs);
    double& freedom = freedoms[static_cast<std::size_t>(same - result.begin())];
    const double squares = freedom * std::pow(same->energy_sd_j, 2) + own * std::pow(row.energy_sd_j, 2) +
                           before * share * std::pow(row.energy_j - same->energy_j, 2);
    same->energy_sd_j = std::sqrt(squares / (freedom += own + 1));
    same->time_s += share * (row.time_s - same->time_s);
    same->setup_s += share * (row.setup_s - same->setup_s);
    const bool known = std::min(same->waiting_s, row.waiting_s) >= 0;
    same->waiting_s = known ? same->waiting_s + share * (row.waiting_s - same->waiting_s) : -1;
    same->energy_j += share * (row.energy_j - same->energy_j);
    same->runs += row.runs;
    same->wraps += row.wraps;
  }
  return result;
}

/// The median over the configurations: one wrong run does not move it.
double usual_sd_of(const std::vector<RunEnergy>& runs) {
  std::vector<double> sds;
  for (const RunEnergy& run : runs)
    if (run.energy_sd_j > 0 && run.runs > 1)  // over the median of chi / sqrt(nu) (Wilson and Hilferty 1931)
      sds.push_back(run.energy_sd_j / run.energy_j / std::pow(1 - 2.0 / 9 / (run.runs - 1), 1.5));
  return sds.empty() ? 0 : core::median(std::move(sds));
}

/// The mean energy's. Two or three runs hardly tell their scatter: what is usual counts as so many more.
double own_variance(const RunEnergy& run, double usual_sd) {
  constexpr double nu_of_usual = 4;
  if (run.runs < 2) return std::pow(run.energy_sd_j, 2);
  if (!(run.energy_sd_j > 0)) return 0;
  const double own = std::pow(run.energy_sd_j, 2), usual = std::pow(usual_sd * run.energy_j, 2);
  return ((run.runs - 1) * own + nu_of_usual * usual) / (run.runs - 1 + nu_of_usual) / run.runs;
}

/// Least absolute relative residuals: rows that are wrong do not pull it. Leaves the residuals, relative to what the
/// model says.
std::vector<double> robust_residuals(RunRegression& regression) {
  const std::size_t n = regression.runs.size();
  std::vector<double> power_w, residuals(n, 0.0), scale(n);
  for (const RunEnergy& run : regression.runs)
    power_w.push_back(run.energy_j / (run.hosts * regression.duration_s(run)));
  const double typical_w = core::median(power_w);
  for (std::size_t i = 0; i < n; ++i) {
    const RunEnergy& run = regression.runs[i];
    scale[i] = std::max(run.energy_j, typical_w * run.hosts * regression.duration_s(run));
  }
  constexpr int rounds = 50;
  constexpr double least = 1e-4;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> weights(n);
    for (std::size_t i = 0; i < n; ++i)
      weights[i] = 1 / (scale[i] * scale[i] * std::max(least, std::abs(residuals[i])));
    regression.solve(weights);
    for (std::size_t i = 0; i < n; ++i)
      residuals[i] = (regression.runs[i].energy_j - regression.predicted_j(regression.runs[i])) / scale[i];
  }
  for (std::size_t i = 0; i < n; ++i) residuals[i] *= scale[i];
  return residuals;
}

/// Adds ranges of counters that energies lack, and takes out rows that no other agrees with, at most a tenth of them.
void mend(RunRegression& regression, RunPowerFit& fit) {
  constexpr double far = 6, least = 0.1;
  const std::vector<double> residuals = robust_residuals(regression);
  std::vector<double> relative, predicted(residuals.size());
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    predicted[i] = std::max(regression.runs[i].energy_j - residuals[i], 1e-9);
    relative.push_back(residuals[i] / predicted[i]);
  }
  const double tolerance = std::max(least, far * core::sd_of_median_distance * core::median_distance(relative, 0));
  std::size_t spare = regression.runs.size() / 10;
  std::vector<RunEnergy> kept;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    RunEnergy run = regression.runs[i];
    if (std::abs(relative[i]) > tolerance && run.wrap_j > 0) {
      const double wraps = std::round(-residuals[i] * run.runs / run.wrap_j);
      const double mended_j = run.energy_j + wraps * run.wrap_j / run.runs;
      if (wraps >= 1 && std::abs(mended_j / predicted[i] - 1) <= tolerance) {
        fit.flags.push_back({core::to_string(run.row), "wrapped",
                             core::printed("%.6g J lack %.0f times the range of a counter in %d runs: %.6g J",
                                           run.energy_j, wraps, run.runs, mended_j)});
        run.energy_j = mended_j;
        run.wraps += static_cast<int>(wraps);
        relative[i] = 0;
      }
    }
    const double own_sd = std::sqrt(own_variance(run, regression.usual_sd)) / predicted[i];
    if (std::abs(relative[i]) > std::max(tolerance, far * own_sd) && spare > 0) {
      --spare;
      fit.outliers.push_back({run, predicted[i]});
    } else {
      kept.push_back(run);
    }
  }
  regression.runs = std::move(kept);
}

/// Weights for one scatter; returns the sum of the squared residuals over their variances.
double solve_with_scatter(RunRegression& regression, double scatter) {
  std::vector<double> expected_j = core::mapped(regression.runs, &RunEnergy::energy_j);
  constexpr int rounds = 5;  // variances go with the expected energy: a row that is too low gets no greater weight
  double chi2 = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> weights;
    regression.misfit = 0;
    for (std::size_t i = 0; i < expected_j.size(); ++i) {
      const double variance =
          own_variance(regression.runs[i], regression.usual_sd) + std::pow(scatter * expected_j[i], 2);
      weights.push_back(1 / variance);
      regression.misfit += std::log(variance);
    }
    regression.solve(weights);
    chi2 = regression.solution.rss;
    regression.misfit += chi2;
    for (std::size_t i = 0; i < expected_j.size(); ++i)
      expected_j[i] = std::max(regression.predicted_j(regression.runs[i]), 1e-3 * regression.runs[i].energy_j);
  }
  regression.scatter = scatter;
  return chi2;
}

/// The scatter at which the residuals are as large as their variances say; 0, not known, with no row to spare.
void solve_runs(RunRegression& regression) {
  solve_with_scatter(regression, 1);
  if (regression.runs.size() <= regression.solution.rank) {
    regression.scatter = 0;
    return;
  }
  constexpr double least = 1e-4, most = 10;
  double low = std::log(least), high = std::log(most);
  for (int step = 0; step < 30; ++step) {
    const double middle = (low + high) / 2;
    const double chi2 = solve_with_scatter(regression, std::exp(middle));
    const double spare = static_cast<double>(regression.runs.size()) - static_cast<double>(regression.solution.rank);
    (chi2 > spare ? low : high) = middle;
  }
  solve_with_scatter(regression, std::exp(high));
}

/// The factor of all setup_s, by golden sections of the likelihood, and its error from the curvature.
Estimate fit_setup_factor(RunRegression& regression) {
  constexpr double golden = 0.6180339887498949, step = 0.02;
  const auto misfit_at = [&](double log_factor) {
    regression.setup_factor = std::exp(log_factor);
    solve_runs(regression);
    return regression.misfit;
  };
  double low = std::log(0.2), high = std::log(5.0);
  for (int round = 0; round < 18; ++round) {
    const double left = high - golden * (high - low), right = low + golden * (high - low);
    if (misfit_at(left) < misfit_at(right))
      high = right;
    else
      low = left;
  }
  const double best = (low + high) / 2;
  const double sides = misfit_at(best - step) + misfit_at(best + step);
  const std::vector<double> above = regression.solution.coefficients;
  const double curvature = (sides - 2 * misfit_at(best)) / (step * step);
  const double factor = std::exp(best), error = curvature > 0 ? std::sqrt(2 / curvature) : std::nan("");
  regression.factor_errors.clear();
  for (std::size_t i = 0; curvature > 0 && i < above.size(); ++i)
    regression.factor_errors.push_back(error * (above[i] - regression.solution.coefficients[i]) / step);
  return {factor, factor * error};
}

bool is_among(const std::vector<std::size_t>& terms, std::size_t term) {
  return std::find(terms.begin(), terms.end(), term) != terms.end();
}

Estimate estimate_of(const RunRegression& regression, std::size_t term) {
  const double error = std::sqrt(std::max(0.0, regression.solution.inverse_information[term][term]));
  return {regression.solution.coefficients[term],
          regression.factor_errors.empty() ? error : std::hypot(error, regression.factor_errors[term])};
}

/// Whether waiting and computing differ by more than two standard errors.
bool tells_waiting(const LeastSquares& solution) {
  if (is_among(solution.collinear, waiting_term) || is_among(solution.collinear, core_term)) return false;
  const auto& covariance = solution.inverse_information;
  const double variance = covariance[core_term][core_term] + covariance[waiting_term][waiting_term] -
                          2 * covariance[core_term][waiting_term];
  const double difference = solution.coefficients[core_term] - solution.coefficients[waiting_term];
  return variance > 0 && std::abs(difference) > 2 * std::sqrt(variance);
}

void flag_run_power(const RunRegression& regression, RunPowerFit& fit) {
  const auto flag = [&](const char* subject, const char* name, const std::string& detail) {
    fit.flags.push_back({subject, name, detail});
  };
  const auto any = [&](auto is) { return std::any_of(regression.runs.begin(), regression.runs.end(), is); };
  if (!any([](const RunEnergy& run) { return run.ranks_per_host == 0; }))
    flag("idle", "idle_unknown", "no row is of idle hosts (0 ranks): awake is in the idle watts");
  if (is_among(regression.solution.collinear, core_term))
    flag("core", "awake_unknown",
         "all runs have as many ranks per host, and none is idle: idle has the watts of a host with these ranks");
  else if (is_among(regression.solution.collinear, awake_term) &&
           any([](const RunEnergy& run) { return run.ranks_per_host == 0; }))
    flag("awake", "awake_unknown", "all runs have as many ranks per host: awake is in the watts of the cores");
  if (!regression.with_waiting)
    flag("waiting", "waiting_as_computing",
         any([](const RunEnergy& run) { return run.waiting_s >= 0; })
             ? "the rows do not tell waiting from computing: both have the same watts"
             : "no column waiting_s: waiting has the watts of computing");
  for (const auto& [term, name] : {std::pair{core_term, "core"}, std::pair{awake_term, "awake"}})
    if (is_among(regression.solution.at_zero, term)) flag(name, "at_zero", "would be below 0 W, and is 0");
  const std::size_t rows = regression.runs.size(), terms = regression.solution.rank;
  constexpr std::size_t spare = 3;
  if (rows < terms + spare)
    flag("runs", "too_few_runs",
         std::to_string(rows) + " configurations for " + std::to_string(terms) + " numbers: errors are hardly known");
  if (!fit.outliers.empty())
    flag("runs", "outliers",
         std::to_string(fit.outliers.size()) + " rows do not agree with the others, and are left out; first " +
             core::to_string(fit.outliers.front().run.row));
  constexpr double much = 0.1;
  if (fit.scatter > much)
    flag("fit", "poor_fit",
         "rows scatter by " + core::percent(fit.scatter) + " around the model: hosts or programs differ");
}

/// Runs of at least a sample of the meter.
std::vector<RunEnergy> long_enough(const std::vector<RunEnergy>& rows, RunPowerFit& fit) {
  std::vector<RunEnergy> runs;
  for (const RunEnergy& run : rows)
    if (run.sample_s <= run.duration_s()) runs.push_back(run);
  if (runs.size() < rows.size())
    fit.flags.push_back(
        {"runs", "too_short",
         std::to_string(rows.size() - runs.size()) + " runs are shorter than a sample of the meter, and are left out"});
  return runs;
}

core::PowerModel model_of(const RunPowerFit& fit) {
  const core::Watts computing(fit.core_w.value), waiting(fit.waiting_w.value);
  core::PowerModel::Values values;
  values.idle = core::Watts(fit.idle_w.value);
  values.awake = core::Watts(fit.awake_w.value);
  values.states = {
      {core::default_state, computing}, {"messages", computing}, {"polling", waiting}, {"blocked", waiting}};
  return core::PowerModel::make(values);
}

}  // namespace

double RunPowerFit::mean_abs_error() const {
  double sum = 0;
  for (const FittedRun& one : runs) sum += std::abs(one.predicted_j / one.run.energy_j - 1);
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

RunPowerFit fit_run_power(const std::vector<RunEnergy>& rows, const RunPowerOptions& options) {
  RunPowerFit fit;
  RunRegression regression;
  regression.runs = merged(long_enough(rows, fit));
  regression.usual_sd = usual_sd_of(regression.runs);
  bool all_wait = true, any_setup = false;
  for (const RunEnergy& run : regression.runs) {
    any_setup = any_setup || run.setup_s > 0;
    if (run.ranks_per_host == 0) continue;
    all_wait = all_wait && run.waiting_s >= 0;
    if (std::find(regression.campaigns.begin(), regression.campaigns.end(), run.campaign) == regression.campaigns.end())
      regression.campaigns.push_back(run.campaign);
  }
  if (regression.campaigns.empty() || regression.runs.size() < 2) {
    fit.reason = "expected two configurations with ranks, of different length";
    for (const core::QualityFlag& flag : fit.flags) fit.reason += "; " + flag.detail;
    return fit;
  }
  const auto solve = [&] {
    if (options.fit_setup && any_setup)
      fit.setup_factor = fit_setup_factor(regression);
    else
      solve_runs(regression);
  };
  solve();  // with the factor of the set-up: without it all its rows would be outliers
  mend(regression, fit);
  regression.with_waiting = all_wait;
  solve();
  const RunRegression apart = regression;
  if (regression.with_waiting && !tells_waiting(regression.solution)) {
    regression.with_waiting = false;
    solve();
  }
  fit.scatter = regression.scatter;
  fit.idle_w = estimate_of(regression, idle_term);
  fit.core_w = estimate_of(regression, core_term);
  fit.awake_w = estimate_of(regression, awake_term);
  fit.waiting_w = regression.with_waiting ? estimate_of(regression, waiting_term) : fit.core_w;
  if (apart.with_waiting != regression.with_waiting)  // alike is what the rows do not deny, not what they say
    for (const auto& [estimate, term] : {std::pair{&fit.core_w, core_term}, std::pair{&fit.waiting_w, waiting_term}}) {
      const Estimate own = estimate_of(apart, term);
      estimate->error = std::max(estimate->error, own.error);
      if (!is_among(apart.solution.collinear, term))
        estimate->error = std::max(estimate->error, std::abs(own.value - estimate->value) / 2);
    }
  for (std::size_t i = 0; i < regression.campaigns.size(); ++i)
    fit.start_j[regression.campaigns[i]] = estimate_of(regression, start_terms + i);
  for (const RunEnergy& run : regression.runs) fit.runs.push_back({run, regression.predicted_j(run)});
  flag_run_power(regression, fit);
  fit.model = model_of(fit);
  fit.ok = true;
  return fit;
}

}  // namespace hplcast::fit
