#include "study/report/report_sections.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/factor_effects.hpp"
#include "hplcast/study/interval.hpp"
#include "hplcast/study/seed_means.hpp"
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
  constexpr double hardly = 0.005;
  if (factor == factors.end())
    return std::string("the effect of one ") + (row.share < hardly ? "hardly depends" : "depends") + " on the other";
  constexpr std::size_t most_levels = 12;
  if (factor->levels.size() > most_levels) return std::to_string(factor->levels.size()) + " levels";
  return core::joined(factor->levels, "; ", [&](const std::string& level) {
    return level + ": " + core::readable_change(row.effects.at(level));
  });
}

struct Sweep {
  const ReportData& data;
  const std::vector<SweepResult>& results = data.sweep;
  std::string title = {}, question = {};  ///< of the plan; may be empty
  std::vector<std::string> names = {};    ///< of the plan's factors
  std::vector<std::string> others = {};   ///< the same without N, if there are others
  std::vector<ViewFactor> factors = {};
  std::vector<const SweepResult*> by_rate = {};  ///< the configuration with the largest mean over seeds first
  std::vector<std::size_t> configuration = {};   ///< of each result
  std::optional<SeedMeans> rates = {};           ///< of the configurations

  std::size_t configuration_of(const SweepResult& result) const {
    return configuration[static_cast<std::size_t>(&result - results.data())];
  }
  /// "58.7 +- 1.2": mean over the seeds.
  std::string rate(const SweepResult& result) const { return mean_text(*rates, configuration_of(result)); }
};

/// Values of each configuration, one per seed.
template <typename Value>
SeedMeans means_of(const Sweep& sweep, Value value) {
  std::vector<std::vector<double>> values;
  for (const SweepResult& result : sweep.results) {
    const std::size_t at = sweep.configuration_of(result);
    if (at == values.size()) values.emplace_back();
    values[at].push_back(value(result.prediction));
  }
  return SeedMeans(values);
}

/// Tells seeds from configurations: numbers them in the order in which they come first.
void group_by_configuration(Sweep& sweep) {
  std::map<std::tuple<core::HplParameters, std::string, std::string>, std::size_t> numbers;
  for (const SweepResult& result : sweep.results) {
    const core::Prediction& p = result.prediction;
    const std::tuple key(p.parameters, to_string(result.factors), p.model_sha256);
    sweep.configuration.push_back(numbers.emplace(key, numbers.size()).first->second);
  }
  sweep.rates = means_of(sweep, [](const core::Prediction& p) { return p.gflops; });
}

Sweep sweep_of(const ReportData& data) {
  Sweep sweep{data};
  std::vector<std::string> listed;
  for (const std::string& text : data.plans) {
    try {
      const SweepPlan plan = read_plan(core::TextStream(text), "plan.yaml", "");
      if (sweep.title.empty()) sweep.title = plan.name;
      if (sweep.question.empty()) sweep.question = plan.question;
      for (const Configuration& row : plan.list)
        for (const Setting& setting : row) listed.push_back(setting.factor);
    } catch (const core::Error&) {
      // A plan of another version of hplcast: the results say enough.
    }
  }
  sweep.names = varied_names(sweep.results);
  sweep.factors = view_factors(sweep.results, listed);
  const bool several_orders = sweep.factors.size() > 1 && order_factor(sweep.factors) != nullptr;
  std::copy_if(sweep.names.begin(), sweep.names.end(), std::back_inserter(sweep.others),
               [&](const std::string& name) { return !several_orders || name != "N"; });
  for (const SweepResult& result : sweep.results) sweep.by_rate.push_back(&result);
  group_by_configuration(sweep);
  const auto key = [&](const SweepResult* one) {
    const std::size_t number = sweep.configuration_of(*one);
    return std::tuple(sweep.rates->mean(number), number, one->prediction.gflops);
  };
  std::stable_sort(sweep.by_rate.begin(), sweep.by_rate.end(), [&](const auto* a, const auto* b) {
    const auto [rate_a, number_a, gflops_a] = key(a);
    const auto [rate_b, number_b, gflops_b] = key(b);
    return std::tuple(-rate_a, number_a, -gflops_a) < std::tuple(-rate_b, number_b, -gflops_b);
  });
  return sweep;
}

/// The best use of energy, which is rarely the fastest.
std::string most_per_watt_html(const Sweep& sweep) {
  if (!have_energy(sweep.results)) return "";
  const SeedMeans means = means_of(sweep, per_watt_response.of);
  const std::size_t number = means.best();
  const auto first = std::find(sweep.configuration.begin(), sweep.configuration.end(), number);
  const SweepResult& best = sweep.results[static_cast<std::size_t>(first - sweep.configuration.begin())];
  return "<p class=\"lead\">Most Gflop/s per W: " + mean_text(means, number) + " with " +
         code(described(best, sweep.names)) + ", at " + sweep.rate(best) + " Gflop/s (" +
         core::readable_change(
             sweep.rates->mean(number) / sweep.rates->mean(sweep.configuration_of(*sweep.by_rate.front())) - 1) +
         " of the fastest) and " + readable(best.prediction.energy->mean_power_w / 1e3) + " kW" +
         equals_text(means, number) + ".</p>\n";
}

/// How far the usual advice is from the best: a list item, or nothing.
std::string grid_finding(const Sweep& sweep) {
  const bool varied =
      std::any_of(sweep.factors.begin(), sweep.factors.end(), [](const auto& factor) { return factor.name == "grid"; });
  if (!varied) return "";
  const auto all = grid_rates(sweep.results);
  const auto best =
      *std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::map<ProcessGrid, double> grids;  // of as many ranks as the best
  for (const auto& one : all)
    if (one.first.first * one.first.second == best.first.first * best.first.second) grids.insert(one);
  if (grids.size() < 3) return "";
  const auto squareness = [](const auto& entry) {
    return std::abs(std::log(static_cast<double>(entry.first.first) / entry.first.second));
  };
  const auto square = *std::min_element(grids.begin(), grids.end(),
                                        [&](const auto& a, const auto& b) { return squareness(a) < squareness(b); });
  if (best == square) return "<li>The grid nearest to square is the fastest.</li>\n";
  return "<li>Grid " + grid_name(best.first, " x ") + " gives " + readable(best.second) +
         " Gflop/s; the one nearest to square, " + grid_name(square.first, " x ") + ", " + readable(square.second) +
         " (" + core::readable_change(square.second / best.second - 1) + ").</li>\n";
}

/// Factors of which no two levels, all others being equal, differ by more than chance. None without several seeds.
std::vector<std::string> equal_factors(const Sweep& sweep) {
  std::vector<std::string> names;
  if (!sweep.rates->half_width(0)) return names;
  for (const ViewFactor& factor : sweep.factors) {
    std::map<std::vector<std::size_t>, std::set<std::size_t>> alike;  // configurations by the levels of the others
    for (std::size_t i = 0; i < sweep.results.size(); ++i) {
      std::vector<std::size_t> others;
      for (const ViewFactor& other : sweep.factors)
        if (&other != &factor) others.push_back(other.of[i]);
      alike[others].insert(sweep.configuration[i]);
    }
    bool compared = false, apart = false;
    for (const auto& [levels, group] : alike) {
      compared = compared || group.size() > 1;
      for (const std::size_t a : group)
        for (const std::size_t b : group) apart = apart || (a < b && sweep.rates->ratio(a, b).is_apart());
    }
    if (compared && !apart) names.push_back(factor.full_name());
  }
  return names;
}

std::string findings_html(const Sweep& sweep) {
  constexpr double least_factor = 0.02, least_interaction = 0.05;
  constexpr std::size_t most = 4;
  std::string items = grid_finding(sweep);
  const bool several = sweep.factors.size() > 1;
  std::size_t told = 0;
  for (const AnovaRow& row : several ? influence_of(sweep.results, sweep.factors).rows : std::vector<AnovaRow>{}) {
    const bool interaction = row.effects.empty();
    if (row.share < (interaction ? least_interaction : least_factor) || ++told > most) continue;
    std::string text =
        row.name + ": " + core::readable_percent(row.share, row.share < 0.0995 ? 1 : 0) + " of the variance";
    if (interaction) {
      text += "; the effect of one depends on the other.";
    } else {
      const auto by_effect = [](const auto& a, const auto& b) { return a.second < b.second; };
      const auto [low, high] = std::minmax_element(row.effects.begin(), row.effects.end(), by_effect);
      text += ". Best on average: " + high->first + " (" + core::readable_change(high->second) +
              "), worst: " + low->first + " (" + core::readable_change(low->second) + ").";
    }
    items += "<li>" + core::xml_escaped(text) + "</li>\n";
  }
  if (const auto equal = equal_factors(sweep); !equal.empty())
    items += "<li>Levels that the scatter of seeds does not tell apart, whatever the other factors are: " +
             core::xml_escaped(core::comma_separated(equal)) + ".</li>\n";
  return items.empty() ? "" : "<ul class=\"findings\">\n" + items + "</ul>\n";
}

std::vector<NamedPrediction> extremes(const Sweep& sweep) {
  auto orders = core::mapped(sweep.results, [](const SweepResult& one) { return one.prediction.parameters.N; });
  std::sort(orders.begin(), orders.end(), std::greater<>());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  std::vector<NamedPrediction> list;
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(most, orders.size()); ++i) {
    const auto is_here = [&](const SweepResult* result) { return result->prediction.parameters.N == orders[i]; };
    const auto best = std::find_if(sweep.by_rate.begin(), sweep.by_rate.end(), is_here);
    const auto worst = std::find_if(sweep.by_rate.rbegin(), sweep.by_rate.rend(), is_here);
    list.emplace_back("fastest: " + described(**best, sweep.names), &(*best)->prediction);
    if (*worst != *best) list.emplace_back("slowest: " + described(**worst, sweep.names), &(*worst)->prediction);
  }
  return list;
}

/// The best configuration of each N, where there are several: it is often another one.
std::string orders_html(const Sweep& sweep) {
  const ViewFactor* order = order_factor(sweep.factors);
  constexpr std::size_t most_orders = 8;
  if (order == nullptr || sweep.factors.size() < 2 || order->levels.size() > most_orders) return "";
  HtmlTable table({"N", "Gflop/s", "fastest with"}, "sortable words");
  for (const std::string& level : order->levels) {
    const auto best = std::find_if(sweep.by_rate.begin(), sweep.by_rate.end(),
                                   [&](const SweepResult* result) { return level_of(*result, "N") == level; });
    table.add({level, sweep.rate(**best), described(**best, sweep.others)});
  }
  return table.html();
}

std::string gaps_html(const Sweep& sweep) {
  const SweepCounts& counts = sweep.data.counts;
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

/// How sure it is that the fastest of those with `counts` is faster than the next on the real machine, too.
std::string faster_than_next(const Sweep& sweep, std::size_t fastest, const std::function<bool(std::size_t)>& counts) {
  const auto is_next = [&](const SweepResult* one) {
    const std::size_t number = sweep.configuration_of(*one);
    return number != fastest && counts(number);
  };
  const auto next = std::find_if(sweep.by_rate.begin(), sweep.by_rate.end(), is_next);
  if (next == sweep.by_rate.end()) return "";
  std::vector<core::Prediction> of_fastest, of_next;
  for (const SweepResult& result : sweep.results) {
    const std::size_t number = sweep.configuration_of(result);
    if (!result.prediction.interval) return "";  // of an older hplcast
    if (number == fastest) of_fastest.push_back(result.prediction);
    if (number == sweep.configuration_of(**next)) of_next.push_back(result.prediction);
  }
  return "; on the real machine faster than the next, " + code(described(**next, sweep.others)) +
         ", with probability " + with_decimals(probability_faster(of_fastest, of_next), 2);
}

std::string summary_html(const Sweep& sweep) {
  const ViewFactor* order = sweep.factors.size() > 1 ? order_factor(sweep.factors) : nullptr;
  long long largest = 0;
  for (const SweepResult& result : sweep.results) largest = std::max(largest, result.prediction.parameters.N);
  const auto counts = [&](const SweepResult* result) {
    return order == nullptr || result->prediction.parameters.N == largest;
  };
  const SweepResult& best = **std::find_if(sweep.by_rate.begin(), sweep.by_rate.end(), counts);
  const SweepResult& worst = **std::find_if(sweep.by_rate.rbegin(), sweep.by_rate.rend(), counts);
  const SeedMeans& rates = *sweep.rates;
  const std::size_t first = sweep.configuration_of(best), last = sweep.configuration_of(worst);
  const bool seeds = rates.half_width(first).has_value();
  const std::string where = order != nullptr ? " at the largest N, " + std::to_string(largest)
                            : seeds          ? " of " + std::to_string(rates.size()) + " configurations"
                                             : " of " + std::to_string(rates.size()) + " predictions";
  const SeedRatio ratio = rates.ratio(last, first);
  std::vector<bool> here(rates.size());
  for (const SweepResult& result : sweep.results) here[sweep.configuration_of(result)] = counts(&result);
  const auto at_this_N = [&](std::size_t number) { return static_cast<bool>(here[number]); };
  std::string html;
  if (!sweep.question.empty()) html += "<p class=\"note\">" + core::xml_escaped(sweep.question) + "</p>\n";
  html += "<p class=\"lead\">Fastest" + where + ": " + sweep.rate(best) + " Gflop/s with " +
          code(described(best, sweep.others)) + equals_text(rates, first, at_this_N) +
          faster_than_next(sweep, first, at_this_N) + ". Slowest: " + sweep.rate(worst) + " (" +
          (seeds ? to_string(ratio) : core::readable_change(ratio.ratio - 1)) + ") with " +
          code(described(worst, sweep.others)) + ".</p>\n<p class=\"note\">" +
          (seeds ? "Means over seeds; +-: 95 % interval by the scatter of all seeds, which says nothing of the model."
                 : "One seed each: how much of the differences is chance is not known.") +
          "</p>\n";
  return html + most_per_watt_html(sweep) + findings_html(sweep) + orders_html(sweep) + gaps_html(sweep);
}

std::vector<Figure> figures_of(const Sweep& sweep) {
  // A figure over a factor shows apart what its effect depends on most.
  constexpr double least_interaction = 0.05;
  const Anova analysis = influence_of(sweep.results, sweep.factors);
  std::map<std::string, std::string> partners;
  for (const AnovaRow& row : analysis.rows) {
    const std::size_t times = row.name.find(" x ");
    if (!row.effects.empty() || times == std::string::npos || row.share < least_interaction) continue;
    const std::string a = row.name.substr(0, times), b = row.name.substr(times + 3);
    partners.emplace(a, b);  // the largest share comes first
    partners.emplace(b, a);
  }
  std::vector<Figure> list = factor_figures(sweep.results, sweep.factors, partners);
  if (have_energy(sweep.results))
    core::append(list, factor_figures(sweep.results, sweep.factors, partners, per_watt_response));
  core::append(list, grid_figures(sweep.results, sweep.factors));
  return list;
}

std::string influence_html(const Sweep& sweep) {
  if (sweep.factors.size() < 2) return "";
  const Anova analysis = influence_of(sweep.results, sweep.factors);
  const bool tested =
      std::any_of(analysis.rows.begin(), analysis.rows.end(), [](const auto& row) { return row.f > 0; });
  std::vector<std::string> header = {"factor", "share of the variance"};
  if (tested) header.push_back("p");
  header.push_back("effect of each level");
  HtmlTable table(header, "sortable words stacked");
  for (const AnovaRow& row : analysis.rows) {
    std::vector<std::string> cells = {row.name, core::readable_percent(row.share)};
    if (tested) cells.push_back(row.f <= 0 ? "" : row.p_value < 1e-4 ? "< 0.0001" : with_decimals(row.p_value, 4));
    cells.push_back(effects_text(row, sweep.factors));
    table.add(cells);
  }
  std::string note = "Analysis of variance of log Gflop/s";
  if (order_factor(sweep.factors) != nullptr) note += " at the same N";
  if (!analysis.balanced)
    note += "; not every combination of levels is there equally often: shares are beyond all other factors";
  note += ". Effect: mean at this level over the mean of all.";
  if (tested)
    note += " p: probability of such a share by chance. " + core::readable_percent(analysis.residual_share) +
            " of the variance is not explained (" + core::counted(analysis.residual_freedom, "degree") +
            " of freedom).";
  for (const ViewFactor& factor : sweep.factors)
    if (!factor.with.empty()) note += " " + factor.name + " always changes together with " + factor.with + ".";
  return section("Influence of the factors", note) + table.html();
}

std::string results_html(const Sweep& sweep) {
  std::vector<std::string> header = {"Gflop/s"};
  append(header, sweep.names);
  const bool energies = have_energy(sweep.results);
  if (energies) append(header, {"Gflop/s per W", "power [kW]", "energy [MJ]"});
  append(header, {"HPL's time [s]", "seed", "simulation took [s]"});
  const bool sampled = std::any_of(sweep.results.begin(), sweep.results.end(),
                                   [](const auto& one) { return one.prediction.sampling.has_value(); });
  if (sampled) append(header, sampled_columns);
  HtmlTable table(header, "sortable stacked numbers");
  constexpr std::size_t most_rows = 2000;  // more make a page slow; the database has them
  for (std::size_t i = 0; i < std::min(most_rows, sweep.by_rate.size()); ++i) {
    const core::Prediction& p = sweep.by_rate[i]->prediction;
    std::vector<std::string> row = {readable(p.gflops)};
    for (const std::string& name : sweep.names) row.push_back(level_of(*sweep.by_rate[i], name));
    if (energies)
      append(row, {readable(p.energy->gflops_per_w), readable(p.energy->mean_power_w / 1e3),
                   readable(p.energy->energy_j / 1e6)});
    append(row, {readable(p.time_s), std::to_string(p.seed), readable(p.wall_s, 3)});
    if (sampled) append(row, sampled_cells(p));
    table.add(row);
  }
  const std::string cut = sweep.by_rate.size() > most_rows ? "The " + std::to_string(most_rows) + " fastest of " +
                                                                 std::to_string(sweep.by_rate.size()) +
                                                                 "; <code>hplcast sweep export</code> has all. "
                                                           : "";
  return section("All results", cut + "The fastest first; a click on a header sorts.") + table.html();
}

std::string body_html(const Sweep& sweep, const std::vector<Figure>& figures) {
  std::string html;
  if (!figures.empty())
    html = section("Gflop/s over each factor",
                   "Marks: predictions; lines and bars: their median. The axes of rates do not start at 0.") +
           figures_html(figures);
  return html + influence_html(sweep) + results_html(sweep);
}

}  // namespace

SweepSections sweep_sections(const ReportData& data) {
  const Sweep sweep = sweep_of(data);
  const std::vector<Figure> figures = figures_of(sweep);
  return {sweep.title, summary_html(sweep), body_html(sweep, figures), figures, extremes(sweep)};
}

}  // namespace hplcast::study
