#include "study/report/report_sections.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/study/factor_effects.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

bool have_energy(const std::vector<SweepResult>& results) {
  return std::all_of(results.begin(), results.end(), [](const auto& one) { return one.prediction.energy.has_value(); });
}

std::string code(const std::string& text) {
  return "<code>" + core::xml_escaped(text) + "</code>";
}

/// Analysis of variance of the rates; where N is a factor, of the rates over their mean at the same N: N always
/// matters, and hides everything else.
Anova influence_of(const std::vector<SweepResult>& results, const std::vector<ViewFactor>& factors) {
  const ViewFactor* order = factors.size() > 1 ? order_factor(factors) : nullptr;
  std::vector<double> sum(order != nullptr ? order->levels.size() : 1), count = sum;
  const auto group = [&](std::size_t i) { return order != nullptr ? order->of[i] : 0; };
  for (std::size_t i = 0; i < results.size(); ++i) {
    sum[group(i)] += std::log(results[i].prediction.gflops);
    ++count[group(i)];
  }
  std::vector<Configuration> levels(results.size());
  std::vector<double> rates;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const ViewFactor& factor : factors) levels[i].push_back({factor.name, factor.levels[factor.of[i]]});
    rates.push_back(results[i].prediction.gflops / std::exp(sum[group(i)] / count[group(i)]));
  }
  Anova analysis = anova(levels, rates);
  const auto is_order = [&](const AnovaRow& row) { return order != nullptr && row.name == order->name; };
  analysis.rows.erase(std::remove_if(analysis.rows.begin(), analysis.rows.end(), is_order), analysis.rows.end());
  return analysis;
}

/// "128: +9.6 %, 256: -9.6 %" in the order of the levels.
std::string effects_text(const AnovaRow& row, const std::vector<ViewFactor>& factors) {
  const auto factor = std::find_if(factors.begin(), factors.end(), [&](const auto& f) { return f.name == row.name; });
  if (factor == factors.end()) return "the best level of one depends on the other";
  std::string text;
  constexpr std::size_t most_levels = 12;
  if (factor->levels.size() > most_levels) return std::to_string(factor->levels.size()) + " levels";
  for (const std::string& level : factor->levels) {
    text += (text.empty() ? "" : "; ") + level + ": " + core::readable_change(row.effects.at(level));
  }
  return text;
}

}  // namespace

SweepReport::SweepReport(const ReportData& data) : data_(data), results_(data.sweep) {
  std::vector<std::string> listed;
  for (const std::string& text : data.plans) {
    try {
      std::istringstream in(text);
      const SweepPlan plan = read_plan(in, "plan.yaml", "");
      if (title_.empty()) title_ = plan.name;
      if (question_.empty()) question_ = plan.question;
      for (const Configuration& row : plan.list) {
        for (const Setting& setting : row) listed.push_back(setting.factor);
      }
    } catch (const core::Error&) {
      // A plan of another version of hplcast: the results say enough.
    }
  }
  names_ = varied_names(results_);
  factors_ = view_factors(results_, listed);
  const bool several_orders = factors_.size() > 1 && order_factor(factors_) != nullptr;
  std::copy_if(names_.begin(), names_.end(), std::back_inserter(others_),
               [&](const std::string& name) { return !several_orders || name != "N"; });
  for (const SweepResult& result : results_) by_rate_.push_back(&result);
  std::stable_sort(by_rate_.begin(), by_rate_.end(),
                   [](const auto* a, const auto* b) { return a->prediction.gflops > b->prediction.gflops; });
}

std::string SweepReport::summary_html() const {
  const ViewFactor* order = factors_.size() > 1 ? order_factor(factors_) : nullptr;
  long long largest = 0;
  for (const SweepResult& result : results_) largest = std::max(largest, result.prediction.parameters.N);
  const auto counts = [&](const SweepResult* result) {
    return order == nullptr || result->prediction.parameters.N == largest;
  };
  const SweepResult& best = **std::find_if(by_rate_.begin(), by_rate_.end(), counts);
  const SweepResult& worst = **std::find_if(by_rate_.rbegin(), by_rate_.rend(), counts);
  const std::string where = order == nullptr ? " of " + std::to_string(results_.size()) + " predictions"
                                             : " at the largest N, " + std::to_string(largest);
  std::string html;
  if (!question_.empty()) html += "<p class=\"note\">" + core::xml_escaped(question_) + "</p>\n";
  html += "<p class=\"lead\">Fastest" + where + ": " + readable(best.prediction.gflops) + " Gflop/s with " +
          code(described(best, others_)) + ". Slowest: " + readable(worst.prediction.gflops) + " (" +
          core::readable_change(worst.prediction.gflops / best.prediction.gflops - 1) + ") with " +
          code(described(worst, others_)) + ".</p>\n";
  return html + most_per_watt_html() + findings_html() + orders_html() + gaps_html();
}

/// How many others are as good, of factors that make no difference.
std::string SweepReport::ties_with(const SweepResult& best) const {
  constexpr double rounding = 1e-9;
  const double most = per_watt_response.of(best.prediction);
  const auto ties = std::count_if(results_.begin(), results_.end(), [&](const SweepResult& one) {
    return per_watt_response.of(one.prediction) >= most * (1 - rounding);
  });
  return ties > 1 ? "; " + std::to_string(ties - 1) + (ties == 2 ? " other is" : " others are") + " as good" : "";
}

/// The best use of energy, which is rarely the fastest.
std::string SweepReport::most_per_watt_html() const {
  if (!have_energy(results_)) return "";
  const SweepResult& best = *std::max_element(results_.begin(), results_.end(), [&](const auto& a, const auto& b) {
    return per_watt_response.of(a.prediction) < per_watt_response.of(b.prediction);
  });
  return "<p class=\"lead\">Most Gflop/s per W: " + readable(per_watt_response.of(best.prediction)) + " with " +
         code(described(best, names_)) + ", at " + readable(best.prediction.gflops) + " Gflop/s (" +
         core::readable_change(best.prediction.gflops / by_rate_.front()->prediction.gflops - 1) +
         " of the fastest) and " + readable(best.prediction.energy->mean_power_w / 1e3) + " kW" + ties_with(best) +
         ".</p>\n";
}

std::string SweepReport::findings_html() const {
  constexpr double least_factor = 0.02, least_interaction = 0.05;
  constexpr std::size_t most = 4;
  std::string items = grid_finding();
  const bool several = factors_.size() > 1;
  std::size_t told = 0;
  for (const AnovaRow& row : several ? influence_of(results_, factors_).rows : std::vector<AnovaRow>{}) {
    const bool interaction = row.effects.empty();
    if (row.share < (interaction ? least_interaction : least_factor) || ++told > most) continue;
    std::string text =
        row.name + ": " + core::readable_percent(row.share, row.share < 0.0995 ? 1 : 0) + " of the variance";
    if (interaction) {
      text += "; the best level of one depends on the other.";
    } else {
      const auto by_effect = [](const auto& a, const auto& b) { return a.second < b.second; };
      const auto [low, high] = std::minmax_element(row.effects.begin(), row.effects.end(), by_effect);
      text += ". Best on average: " + high->first + " (" + core::readable_change(high->second) +
              "), worst: " + low->first + " (" + core::readable_change(low->second) + ").";
    }
    items += "<li>" + core::xml_escaped(text) + "</li>\n";
  }
  return items.empty() ? "" : "<ul class=\"findings\">\n" + items + "</ul>\n";
}

/// How far the usual advice is from the best: a list item, or nothing.
std::string SweepReport::grid_finding() const {
  const bool varied =
      std::any_of(factors_.begin(), factors_.end(), [](const auto& factor) { return factor.name == "grid"; });
  if (!varied) return "";
  const auto grids = grid_rates(results_);
  if (grids.size() < 3) return "";
  const auto squareness = [](const auto& entry) {
    return std::abs(std::log(static_cast<double>(entry.first.first) / entry.first.second));
  };
  const auto square = *std::min_element(grids.begin(), grids.end(),
                                        [&](const auto& a, const auto& b) { return squareness(a) < squareness(b); });
  const auto best =
      *std::max_element(grids.begin(), grids.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == square) return "<li>The grid nearest to square is the fastest.</li>\n";
  const auto name = [](const auto& entry) {
    return std::to_string(entry.first.first) + " x " + std::to_string(entry.first.second);
  };
  return "<li>Grid " + name(best) + " gives " + readable(best.second) + " Gflop/s; the one nearest to square, " +
         name(square) + ", " + readable(square.second) + " (" + core::readable_change(square.second / best.second - 1) +
         ").</li>\n";
}

std::vector<std::pair<std::string, const core::Prediction*>> SweepReport::extremes() const {
  std::vector<long long> orders;
  for (const SweepResult& result : results_) orders.push_back(result.prediction.parameters.N);
  std::sort(orders.begin(), orders.end(), std::greater<>());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  std::vector<std::pair<std::string, const core::Prediction*>> list;
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(most, orders.size()); ++i) {
    const auto is_here = [&](const SweepResult* result) { return result->prediction.parameters.N == orders[i]; };
    const auto best = std::find_if(by_rate_.begin(), by_rate_.end(), is_here);
    const auto worst = std::find_if(by_rate_.rbegin(), by_rate_.rend(), is_here);
    list.emplace_back("fastest: " + described(**best, names_), &(*best)->prediction);
    if (*worst != *best) list.emplace_back("slowest: " + described(**worst, names_), &(*worst)->prediction);
  }
  return list;
}

/// The best configuration of each N, where there are several: it is often another one.
std::string SweepReport::orders_html() const {
  const ViewFactor* order = order_factor(factors_);
  constexpr std::size_t most_orders = 8;
  if (order == nullptr || factors_.size() < 2 || order->levels.size() > most_orders) return "";
  HtmlTable table({"N", "Gflop/s", "fastest with"}, "sortable words");
  for (const std::string& level : order->levels) {
    const auto best = std::find_if(by_rate_.begin(), by_rate_.end(),
                                   [&](const SweepResult* result) { return level_of(*result, "N") == level; });
    table.add({level, readable((*best)->prediction.gflops), described(**best, others_)});
  }
  return table.html();
}

std::string SweepReport::gaps_html() const {
  const SweepCounts& counts = data_.counts;
  const std::size_t missing = counts.runs - std::min(counts.runs, counts.done + counts.failed);
  std::string text;
  const auto add = [&](std::size_t count, const std::string& what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  add(missing, "runs not made yet");
  add(counts.failed, "runs failed");
  add(counts.skipped, "configurations skipped because they cannot be run");
  if (text.empty()) return "";
  return "<p class=\"note\">Not in this report: " + text + " (<code>hplcast sweep status</code> tells more).</p>\n";
}

std::vector<Figure> SweepReport::figures() const {
  // A figure over a factor shows apart what its effect depends on most.
  constexpr double least_interaction = 0.05;
  const Anova analysis = influence_of(results_, factors_);
  std::map<std::string, std::string> partners;
  for (const AnovaRow& row : analysis.rows) {
    const std::size_t times = row.name.find(" x ");
    if (!row.effects.empty() || times == std::string::npos || row.share < least_interaction) continue;
    const std::string a = row.name.substr(0, times), b = row.name.substr(times + 3);
    partners.emplace(a, b);  // the largest share comes first
    partners.emplace(b, a);
  }
  std::vector<Figure> list = factor_figures(results_, factors_, partners);
  if (have_energy(results_))
    for (Figure& figure : factor_figures(results_, factors_, partners, per_watt_response))
      list.push_back(std::move(figure));
  for (Figure& figure : grid_figures(results_, factors_)) list.push_back(std::move(figure));
  return list;
}

std::string SweepReport::influence_html() const {
  if (factors_.size() < 2) return "";
  const Anova analysis = influence_of(results_, factors_);
  const bool tested =
      std::any_of(analysis.rows.begin(), analysis.rows.end(), [](const auto& row) { return row.f > 0; });
  std::vector<std::string> header = {"factor", "share of the variance"};
  if (tested) header.push_back("p");
  header.push_back("effect of each level");
  HtmlTable table(header, "sortable words");
  for (const AnovaRow& row : analysis.rows) {
    std::vector<std::string> cells = {row.name, core::readable_percent(row.share)};
    if (tested) cells.push_back(row.f <= 0 ? "" : row.p_value < 1e-4 ? "< 0.0001" : with_decimals(row.p_value, 4));
    cells.push_back(effects_text(row, factors_));
    table.add(cells);
  }
  std::string note = "Analysis of variance of log Gflop/s";
  if (order_factor(factors_) != nullptr) note += " at the same N";
  if (!analysis.balanced) note += "; not every combination of levels is there equally often: shares overlap";
  note += ". Effect: mean at this level over the mean of all.";
  if (tested) {
    note += " p: probability of such a share by chance. " + core::readable_percent(analysis.residual_share) +
            " of the variance is not explained (" + std::to_string(analysis.residual_freedom) + " degrees of freedom).";
  }
  for (const ViewFactor& factor : factors_) {
    if (!factor.with.empty()) note += " " + factor.name + " always changes together with " + factor.with + ".";
  }
  return "<h2>Influence of the factors</h2>\n<p class=\"note\">" + note + "</p>\n" + table.html();
}

std::string SweepReport::results_html() const {
  std::vector<std::string> header = {"Gflop/s"};
  header.insert(header.end(), names_.begin(), names_.end());
  const bool energies = have_energy(results_);
  if (energies) append(header, {"Gflop/s per W", "power [kW]", "energy [MJ]"});
  append(header, {"HPL's time [s]", "seed", "simulation took [s]"});
  const bool sampled = std::any_of(results_.begin(), results_.end(),
                                   [](const auto& one) { return one.prediction.sampling.has_value(); });
  if (sampled) append(header, sampled_columns());
  HtmlTable table(header);
  constexpr std::size_t most_rows = 2000;  // more make a page slow; the database has them
  for (std::size_t i = 0; i < std::min(most_rows, by_rate_.size()); ++i) {
    const core::Prediction& p = by_rate_[i]->prediction;
    std::vector<std::string> row = {readable(p.gflops)};
    for (const std::string& name : names_) row.push_back(level_of(*by_rate_[i], name));
    if (energies)
      append(row, {readable(p.energy->gflops_per_w), readable(p.energy->mean_power_w / 1e3),
                   readable(p.energy->energy_j / 1e6)});
    row.insert(row.end(), {readable(p.time_s), std::to_string(p.seed), readable(p.wall_s, 3)});
    if (sampled) append(row, sampled_cells(p));
    table.add(row);
  }
  const std::string cut = by_rate_.size() > most_rows
                              ? "The " + std::to_string(most_rows) + " fastest of " + std::to_string(by_rate_.size()) +
                                    "; <code>hplcast sweep export</code> has all. "
                              : "";
  return "<h2>All results</h2>\n<p class=\"note\">" + cut + "The fastest first; a click on a header sorts.</p>\n" +
         table.html();
}

std::string SweepReport::body_html() const {
  std::string html;
  const auto list = figures();
  if (!list.empty()) {
    html =
        "<h2>Gflop/s over each factor</h2>\n<p class=\"note\">Marks: predictions; lines and bars: their median. The "
        "axes of rates do not start at 0.</p>\n" +
        figures_html(list);
  }
  return html + influence_html() + results_html();
}

}  // namespace hplcast::study
