#include "fit/power/power_regression.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

namespace {

constexpr const char* awake_name = "awake";

double ghz_of(const PowerRow& row) {
  return row.frequency_hz / 1e9;
}

/// Which function of the frequency a column belongs to, and which power.
struct Term {
  std::string name;  ///< a state, or awake
  int power = 0;
};

/// Columns and degrees of one regression.
struct Plan {
  std::map<std::string, int> degrees;  ///< by state, and of awake; -1: left out
  std::set<std::string> sleeping;
};

std::vector<Term> terms_of(const Plan& plan) {
  std::vector<Term> terms;
  // Awake comes last: where rows cannot tell, its watts go to the cores.
  for (const auto& [name, degree] : plan.degrees)
    if (name != awake_name)
      for (int power = 0; power <= degree; ++power) terms.push_back({name, power});
  for (int power = 0; power <= plan.degrees.at(awake_name); ++power) terms.push_back({awake_name, power});
  return terms;
}

double value_of(const Term& term, const PowerRow& row, const Plan& plan) {
  if (row.active_cores == 0 || plan.sleeping.count(row.state) != 0) return 0;
  const double f = std::pow(ghz_of(row), term.power);
  if (term.name == awake_name) return f;
  return term.name == row.state ? row.active_cores * f : 0;
}

RegressionData data_of(const std::vector<PowerRow>& rows, const std::vector<Term>& terms, const Plan& plan) {
  RegressionData data;
  data.columns.emplace_back(rows.size(), 1.0);
  for (const Term& term : terms) {
    data.columns.emplace_back();
    for (const PowerRow& row : rows) data.columns.back().push_back(value_of(term, row, plan));
  }
  for (const PowerRow& row : rows) data.y.push_back(row.power_w);
  return data;
}

HostPowerFit fit_of(const std::vector<PowerRow>& rows, const std::vector<Term>& terms, const LeastSquares& solution,
                    const RegressionData& data) {
  HostPowerFit fit;
  fit.rows = rows.size();
  fit.terms = solution.rank;
  fit.idle_w = solution.coefficients[0];
  fit.idle_error_w = solution.standard_errors[0];
  for (std::size_t i = 0; i < terms.size(); ++i) {
    FittedWatts& watts = terms[i].name == awake_name ? fit.awake : fit.states[terms[i].name];
    watts.coefficients.push_back(solution.coefficients[i + 1]);
    watts.standard_errors.push_back(solution.standard_errors[i + 1]);
  }
  fit.r2 = solution.r2;
  fit.used_rows = rows;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    double predicted = 0;
    for (std::size_t i = 0; i < data.columns.size(); ++i) predicted += solution.coefficients[i] * data.columns[i][row];
    fit.residuals_w.push_back(rows[row].power_w - predicted);
    fit.max_residual_w = std::max(fit.max_residual_w, std::abs(fit.residuals_w.back()));
  }
  fit.rms_w = std::sqrt(solution.rss / static_cast<double>(rows.size()));
  return fit;
}

/// Rows that no other agrees with: far from the fit, by the median of all residuals and by 3 % of their power.
std::vector<bool> far_rows(const HostPowerFit& fit) {
  constexpr double far = 6, least_share = 0.03;
  const double limit_w = far * core::sd_of_median_distance * core::median_distance(fit.residuals_w, 0);
  std::vector<bool> is_far;
  for (std::size_t i = 0; i < fit.residuals_w.size(); ++i)
    is_far.push_back(std::abs(fit.residuals_w[i]) > std::max(limit_w, least_share * fit.used_rows[i].power_w));
  return is_far;
}

/// The first function that is below 0 at a frequency of its rows; empty: none.
std::string negative_function(const HostPowerFit& fit) {
  const auto is_negative = [&](const std::string& name, const FittedWatts& watts) {
    return std::any_of(fit.used_rows.begin(), fit.used_rows.end(), [&](const PowerRow& row) {
      const bool concerns = row.active_cores > 0 && (name == awake_name || name == row.state);
      return concerns && watts.at(ghz_of(row)) < 0;
    });
  };
  for (const auto& [name, watts] : fit.states)
    if (is_negative(name, watts)) return name;
  return is_negative(awake_name, fit.awake) ? awake_name : "";
}

Plan first_plan(const std::vector<PowerRow>& rows, int degree, const RegressionNotes& notes) {
  Plan plan;
  std::map<std::string, std::vector<PowerRow>> by_state;
  for (const PowerRow& row : rows)
    if (row.active_cores > 0) by_state[row.state].push_back(row);
  for (const auto& [state, of_state] : by_state)
    plan.degrees[state] = std::min(degree, std::max(0, static_cast<int>(distinct_ghz(of_state).size()) - 1));
  plan.degrees[awake_name] = notes.idle_unknown ? -1 : degree;
  return plan;
}

/// One regression; terms that the rows cannot tell are left out of the plan and noted.
std::optional<HostPowerFit> solve(const std::vector<PowerRow>& rows, Plan& plan, RegressionNotes& notes) {
  for (;;) {
    const std::vector<Term> terms = terms_of(plan);
    const RegressionData data = data_of(rows, terms, plan);
    const LeastSquares solution = solve_least_squares(data);
    if (solution.rows < solution.rank + 1) {
      notes.failure = std::to_string(rows.size()) + " pieces for " + std::to_string(terms.size() + 1) +
                      " coefficients; expected more pieces than coefficients";
      return std::nullopt;
    }
    if (solution.collinear.empty()) return fit_of(rows, terms, solution, data);
    // The highest power of the function that cannot be told is the first to go.
    const Term& dropped = terms[solution.collinear.front() == 0 ? 0 : solution.collinear.front() - 1];
    const int degree = --plan.degrees[dropped.name];
    if (dropped.name == awake_name) {
      notes.awake_unknown = notes.awake_unknown || degree < 0;
    } else if (degree < 0) {
      plan.degrees.erase(dropped.name);
    }
    if (degree >= 0) notes.degree_lowered.insert(dropped.name);
  }
}

/// Rows without those that are far from a fit with all terms.
std::vector<PowerRow> without_outliers(const std::vector<PowerRow>& rows, int degree, const RegressionNotes& notes,
                                       std::vector<PowerRow>& outliers) {
  constexpr int rounds = 3;
  std::vector<PowerRow> used = rows;
  for (int round = 0; round < rounds; ++round) {
    RegressionNotes unused = notes;
    Plan plan = first_plan(used, degree, notes);
    const auto fit = solve(used, plan, unused);
    if (!fit) break;
    const std::vector<bool> far = far_rows(*fit);
    const auto count = static_cast<std::size_t>(std::count(far.begin(), far.end(), true));
    // A tenth of the rows and more are no outliers: then the model is wrong.
    if (count == 0 || 10 * (count + outliers.size()) > rows.size()) break;
    std::vector<PowerRow> left;
    for (std::size_t i = 0; i < used.size(); ++i) (far[i] ? outliers : left).push_back(used[i]);
    used = std::move(left);
  }
  return used;
}

/// Watts below 0 lower the degree of their function, and in the end make it 0.
void weaken(const std::string& name, Plan& plan, RegressionNotes& notes) {
  int& degree = plan.degrees[name];
  if (degree > 0) {
    --degree;
    notes.degree_lowered.insert(name);
    return;
  }
  if (name == awake_name) {
    degree = -1;
    return;
  }
  plan.degrees.erase(name);
  plan.sleeping.insert(name);
}

}  // namespace

double FittedWatts::at(double ghz) const noexcept {
  double sum = 0;
  for (std::size_t i = coefficients.size(); i-- > 0;) sum = sum * ghz + coefficients[i];
  return sum;
}

std::vector<double> distinct_ghz(const std::vector<PowerRow>& rows) {
  constexpr double apart = 1.01;
  std::vector<double> all, distinct;
  for (const PowerRow& row : rows) {
    if (row.active_cores == 0) continue;
    if (!(row.frequency_hz > 0)) return {};
    all.push_back(ghz_of(row));
  }
  std::sort(all.begin(), all.end());
  for (const double ghz : all)
    if (distinct.empty() || ghz > apart * distinct.back()) distinct.push_back(ghz);
  return distinct;
}

HostPowerFit regress_power(const std::vector<PowerRow>& rows, int degree) {
  RegressionNotes notes;
  notes.idle_unknown =
      std::none_of(rows.begin(), rows.end(), [](const PowerRow& row) { return row.active_cores == 0; });
  std::vector<PowerRow> outliers;
  const std::vector<PowerRow> used = without_outliers(rows, degree, notes, outliers);
  Plan plan = first_plan(used, degree, notes);
  std::optional<HostPowerFit> fit = solve(used, plan, notes);
  for (std::string negative; fit; fit = solve(used, plan, notes)) {
    negative = negative_function(*fit);
    if (negative.empty()) break;
    weaken(negative, plan, notes);
  }
  HostPowerFit result = fit.value_or(HostPowerFit());
  result.notes = std::move(notes);
  result.notes.sleeping = plan.sleeping;
  if (result.idle_w < 0)
    result.notes.failure = core::printed("idle hosts would draw %.4g W; expected idle pieces, too", result.idle_w);
  result.outliers = std::move(outliers);
  return result;
}

LeastSquares fit_quadratic(const std::vector<double>& x, const std::vector<double>& y) {
  RegressionData data;
  for (int power = 0; power <= 2; ++power)
    data.columns.push_back(core::mapped(x, [&](double value) { return std::pow(value, power); }));
  data.y = y;
  return solve_least_squares(data);
}

Curvature curvature_of(const HostPowerFit& fit, const std::string& state) {
  // Residuals of the rows of the state, regressed on cores and on their square.
  std::vector<double> cores, left_w;
  for (std::size_t i = 0; i < fit.used_rows.size(); ++i) {
    if (fit.used_rows[i].state != state) continue;
    cores.push_back(fit.used_rows[i].active_cores);
    left_w.push_back(fit.residuals_w[i]);
  }
  const std::set<double> counts(cores.begin(), cores.end());
  if (counts.size() < 3 || cores.size() < 6) return {};
  const LeastSquares solution = fit_quadratic(cores, left_w);
  const double most = *counts.rbegin();
  if (solution.rank < 3) return {};
  // The sag of a parabola below its chord.
  return {solution.t_values[2], std::abs(solution.coefficients[2]) * most * most / 4};
}

}  // namespace hplcast::fit
