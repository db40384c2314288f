#include "hplcast/study/factor_effects.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/distributions.hpp"
#include "hplcast/fit/least_squares.hpp"

namespace hplcast::study {

namespace {

using Levels = std::vector<std::string>;  ///< of one factor, an entry an observation
using Columns = std::vector<std::pair<std::string, Levels>>;

struct Groups {
  std::map<std::string, std::pair<double, double>> sums;  ///< level to (sum, count)

  Groups(const Levels& levels, const std::vector<double>& y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      sums[levels[i]].first += y[i];
      sums[levels[i]].second += 1;
    }
  }
  double sum_of_squares(double mean) const {
    double sum = 0;
    for (const auto& [level, group] : sums) sum += group.second * std::pow(group.first / group.second - mean, 2);
    return sum;
  }
  bool equally_often() const {
    return std::all_of(sums.begin(), sums.end(),
                       [&](const auto& g) { return g.second.second == sums.begin()->second.second; });
  }
};

Levels joined(const Levels& a, const Levels& b) {
  Levels result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] + " | " + b[i]);
  return result;
}

/// Factors with two levels or more, in the order in which they come; absent ones have the level "".
Columns varied(const std::vector<Configuration>& factors) {
  std::vector<std::string> names;
  for (const Configuration& row : factors) {
    for (const Setting& setting : row)
      if (std::find(names.begin(), names.end(), setting.factor) == names.end()) names.push_back(setting.factor);
  }
  Columns result;
  for (const std::string& name : names) {
    Levels levels;
    for (const Configuration& row : factors) {
      const auto found = std::find_if(row.begin(), row.end(), [&](const Setting& s) { return s.factor == name; });
      levels.push_back(found == row.end() ? "" : found->value);
    }
    if (std::set<std::string>(levels.begin(), levels.end()).size() > 1) result.emplace_back(name, std::move(levels));
  }
  return result;
}

/// The logarithms of rates, and what is left of their sum of squares and of the degrees of freedom.
struct Analysis {
  std::vector<double> y;
  double mean = 0, total = 0;
  double rest = 0;
  int freedom = 0;

  explicit Analysis(const std::vector<double>& gflops) {
    for (const double rate : gflops) {
      if (!(rate > 0)) throw core::DomainError("gflops", rate, "a positive rate");
      y.push_back(std::log(rate));
      mean += y.back() / static_cast<double>(gflops.size());
    }
    for (const double value : y) total += (value - mean) * (value - mean);
    rest = total;
    freedom = static_cast<int>(y.size()) - 1;
  }

  /// A row that takes its part of what is left.
  AnovaRow row(const std::string& name, int its_freedom, double squares) {
    AnovaRow result;
    result.name = name;
    result.freedom = its_freedom;
    result.share = total > 0 ? std::max(0.0, squares) / total : 0;
    rest -= squares;
    freedom -= its_freedom;
    return result;
  }
};

std::vector<AnovaRow> main_effects(Analysis& analysis, const Columns& columns) {
  std::vector<AnovaRow> rows;
  for (const auto& [name, levels] : columns) {
    const Groups groups(levels, analysis.y);
    AnovaRow& row = rows.emplace_back(
        analysis.row(name, static_cast<int>(groups.sums.size()) - 1, groups.sum_of_squares(analysis.mean)));
    for (const auto& [level, group] : groups.sums)
      row.effects[level] = std::exp(group.first / group.second - analysis.mean) - 1;
  }
  return rows;
}

/// The effects of all factors but the one left out, fitted at once; the first level of each has the effect 0.
fit::LeastSquares fit_effects(const Analysis& analysis, const Columns& columns, const std::string& left_out) {
  fit::RegressionData data;
  data.y = analysis.y;
  data.columns.emplace_back(data.y.size(), 1.0);
  for (const auto& [name, levels] : columns) {
    if (name == left_out) continue;
    const std::set<std::string> distinct(levels.begin(), levels.end());
    for (auto level = std::next(distinct.begin()); level != distinct.end(); ++level) {
      std::vector<double>& column = data.columns.emplace_back();
      for (const std::string& one : levels) column.push_back(one == *level ? 1 : 0);
    }
  }
  return fit::solve_least_squares(data);
}

/// The same of rows that are not balanced: what each factor explains beyond all others (Yates 1934, now called type
/// II), and effects that are not those of others. What no factor explains is left.
std::vector<AnovaRow> adjusted_effects(Analysis& analysis, const Columns& columns) {
  const fit::LeastSquares all = fit_effects(analysis, columns, "");
  std::vector<AnovaRow> rows;
  std::size_t term = 1;
  for (const auto& [name, levels] : columns) {
    const fit::LeastSquares others = fit_effects(analysis, columns, name);
    AnovaRow& row =
        rows.emplace_back(analysis.row(name, static_cast<int>(all.rank - others.rank), others.rss - all.rss));
    std::map<std::string, double> effects;
    for (const std::string& level : levels) effects[level] = 0;
    for (auto one = std::next(effects.begin()); one != effects.end(); ++one) one->second = all.coefficients[term++];
    double mean = 0;
    for (const std::string& level : levels) mean += effects.at(level) / static_cast<double>(levels.size());
    for (const auto& [level, effect] : effects) row.effects[level] = std::exp(effect - mean) - 1;
  }
  analysis.rest = all.rss;
  analysis.freedom = static_cast<int>(analysis.y.size()) - static_cast<int>(all.rank);
  return rows;
}

/// Interactions of two factors; `rows` are the main effects, in the order of `columns`.
void add_interactions(std::vector<AnovaRow>& rows, Analysis& analysis, const Columns& columns) {
  for (std::size_t a = 0; a < columns.size(); ++a) {
    for (std::size_t b = a + 1; b < columns.size(); ++b) {
      const Groups groups(joined(columns[a].second, columns[b].second), analysis.y);
      rows.push_back(
          analysis.row(columns[a].first + " x " + columns[b].first, rows[a].freedom * rows[b].freedom,
                       groups.sum_of_squares(analysis.mean) - (rows[a].share + rows[b].share) * analysis.total));
    }
  }
}

/// Whether all combinations of levels are there, equally often.
bool is_balanced(const Columns& columns, const std::vector<double>& y) {
  Levels cells(y.size());
  double combinations = 1;
  for (const auto& [name, levels] : columns) {
    cells = joined(cells, levels);
    combinations *= static_cast<double>(std::set<std::string>(levels.begin(), levels.end()).size());
  }
  const Groups groups(cells, y);
  return static_cast<double>(groups.sums.size()) == combinations && groups.equally_often();
}

void test_rows(Anova& result, const Analysis& analysis) {
  result.residual_freedom = std::max(0, analysis.freedom);
  result.residual_share = analysis.total > 0 ? std::max(0.0, analysis.rest) / analysis.total : 0;
  // Less is rounding: nothing was left to compare with.
  constexpr double least_share = 1e-12;
  if (result.residual_freedom < 1 || result.residual_share < least_share) return;
  for (AnovaRow& row : result.rows) {
    if (row.freedom < 1) continue;
    row.f = row.share * analysis.total / row.freedom / (analysis.rest / result.residual_freedom);
    row.p_value = fit::fisher_f_tail(row.freedom, result.residual_freedom, row.f);
  }
}

}  // namespace

Anova anova(const std::vector<Configuration>& factors, const std::vector<double>& gflops) {
  core::require(factors.size() == gflops.size(), "observations", "lists of different lengths", "a rate for each row");
  Anova result;
  result.observations = gflops.size();
  if (gflops.empty()) return result;
  Analysis analysis(gflops);
  const Columns columns = varied(factors);
  result.balanced = is_balanced(columns, analysis.y);
  result.rows = result.balanced ? main_effects(analysis, columns) : adjusted_effects(analysis, columns);
  if (result.balanced && columns.size() > 2) add_interactions(result.rows, analysis, columns);
  test_rows(result, analysis);
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [](const AnovaRow& x, const AnovaRow& z) { return x.share > z.share; });
  return result;
}

AdditiveModel::AdditiveModel(const std::vector<Configuration>& configurations, const std::vector<double>& values) {
  if (values.empty()) return;
  for (const double value : values) mean_ += value / static_cast<double>(values.size());
  effects_.resize(configurations.front().size());
  constexpr int iterations = 50;  // far more than balanced or random designs need
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (std::size_t f = 0; f < effects_.size(); ++f) {
      std::map<std::string, std::pair<double, double>> rests;  // sum and count
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string& level = configurations[i][f].value;
        auto& [sum, count] = rests[level];
        const auto known = effects_[f].find(level);
        sum += values[i] - at(configurations[i]) + (known == effects_[f].end() ? 0 : known->second);
        ++count;
      }
      for (const auto& [level, rest] : rests) effects_[f][level] = rest.first / (rest.second + 1);
    }
  }
}

double AdditiveModel::at(const Configuration& configuration) const {
  double value = mean_;
  for (std::size_t f = 0; f < effects_.size(); ++f) {
    const auto effect = effects_[f].find(configuration[f].value);
    if (effect != effects_[f].end()) value += effect->second;
  }
  return value;
}

}  // namespace hplcast::study
