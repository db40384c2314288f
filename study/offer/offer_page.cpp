#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/offer.hpp"
#include "study/plot/figure.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

/// For the axis: people read Tflop/s of a large machine.
std::pair<double, const char*> unit_of_rates(double largest_gflops) {
  constexpr double many = 5000;
  if (largest_gflops < many) return {1, "Gflop/s"};
  if (largest_gflops < 1000 * many) return {1e3, "Tflop/s"};
  return {1e6, "Pflop/s"};
}

/// A row of bars: what is expected, as a bar, and where the result will be, as a line with ends.
struct OfferBars {
  std::string id, heading;
  std::string axis;
  double unit = 1;  ///< of the axis
  double largest = 0;
};

constexpr double bar_top = 0.4, bar_middle = 0.6, bar_bottom = 0.8;  // of a row

/// `value`: expected, low and high of an offer, in what bars.unit divides; `text`: one of them for people.
template <typename Value, typename Text>
Figure interval_bars(const OfferAnswer& answer, const OfferBars& bars, const Value& value, const Text& text) {
  std::vector<BarRow> rows;
  for (const OfferEstimate& one : answer.estimates)
    rows.push_back(
        {one.offer.name + ": " + text(value(one)[0]) + (OfferAnswer::is_credible(one) ? "" : " (left out)"), {}});
  constexpr double margin = 1.06;
  Figure figure = bar_figure(bars.id, bars.heading, {bars.axis, 0, margin * bars.largest / bars.unit}, rows);
  const std::string level = core::short_percent(answer.question.level_percent / 100);
  for (std::size_t i = 0; i < answer.estimates.size(); ++i) {
    const OfferEstimate& one = answer.estimates[i];
    const auto [expected, low, high] = value(one);
    const double row = static_cast<double>(i), end = 0.07;
    const bool is_best = i == 0 && OfferAnswer::is_credible(one);
    figure.bar({0, row + bar_top}, {expected / bars.unit, row + bar_bottom}, is_best ? "s2" : "s6",
               "expected: " + text(expected), is_best ? 1 : 0.5);
    const std::string range = "with " + level + " between " + text(low) + " and " + text(high);
    figure.line({{low / bars.unit, row + bar_middle}, {high / bars.unit, row + bar_middle}}, "expected", range);
    for (const double at : {low, high})
      figure.line({{at / bars.unit, row + bar_middle - end}, {at / bars.unit, row + bar_middle + end}}, "expected",
                  range);
  }
  figure.heading = bars.heading;
  const bool is_told_apart =
      core::begins_with(answer.verdict, "Take ") || core::begins_with(answer.verdict, "Probably ");
  figure.legend = {{"s2", Marker::square, is_told_apart ? "the offer to take" : "ahead, but not surely"},
                   {"expected", Marker::line, "the result is in here with " + level}};
  return figure;
}

/// Gflop/s; the committed value is a mark with a line down to what is still accepted.
Figure offers_figure(const OfferAnswer& answer) {
  double largest = 0;
  for (const OfferEstimate& one : answer.estimates)
    largest = std::max({largest, one.interval().high_gflops, one.offer.committed_gflops.value_or(0)});
  const auto [unit, name] = unit_of_rates(largest);
  Figure figure = interval_bars(
      answer, {"offers", "Linpack, expected and promised", std::string("HPL [") + name + "]", unit, largest},
      [](const OfferEstimate& one) {
        return std::array{one.gflops(), one.interval().low_gflops, one.interval().high_gflops};
      },
      rate_of_gflops);
  for (std::size_t i = 0; i < answer.estimates.size(); ++i) {
    const OfferEstimate& one = answer.estimates[i];
    if (!one.offer.committed_gflops) continue;
    const double row = static_cast<double>(i), below = 0.9;  // under the bar, where nothing else is
    const double committed = *one.offer.committed_gflops / unit;
    figure.line({{committed * (1 - answer.question.tolerance), row + below}, {committed, row + below}},
                "predicted-line", "tolerance");
    figure.marker({committed, row + below}, Marker::diamond, "predicted",
                  "committed: " + rate_of_gflops(*one.offer.committed_gflops) + ", kept with a probability of " +
                      chance_text(*one.keeps));
  }
  if (std::any_of(answer.estimates.begin(), answer.estimates.end(),
                  [](const OfferEstimate& one) { return one.offer.committed_gflops.has_value(); }))
    figure.legend.push_back({"predicted", Marker::diamond,
                             "promised, with the tolerance of " + core::short_percent(answer.question.tolerance)});
  return figure;
}

Figure costs_figure(const OfferAnswer& answer) {
  const auto cost = [](const OfferEstimate& one) {
    const auto of = [&](double gflops) { return *one.offer.price / (gflops / 1e3); };
    return std::array{of(one.gflops()), of(one.interval().high_gflops), of(one.interval().low_gflops)};
  };
  double largest = 0;
  for (const OfferEstimate& one : answer.estimates) largest = std::max(largest, cost(one)[2]);
  const std::string currency = answer.question.currency.empty() ? "price" : answer.question.currency;
  return interval_bars(answer, {"costs", "Cost, less is better", currency + " per Tflop/s", 1, largest}, cost,
                       [](double value) { return core::readable(value, 3); });
}

std::string configuration_text(const core::HplParameters& p) {
  return "N " + std::to_string(p.N) + ", NB " + std::to_string(p.NB) + ", " + std::to_string(p.P) + " x " +
         std::to_string(p.Q) + ", " + core::find_hpl_field("BCAST")->names.at(static_cast<std::size_t>(p.BCAST));
}

std::string machine_text(const core::ClusterModel& cluster) {
  return std::to_string(cluster.hosts.count()) + " nodes of " +
         core::readable(cluster.hosts.values().memory_bytes / 1024 / 1024 / 1024, 3) + " GiB";
}

/// A row per question, a column per offer: that is how people read two or three machines.
std::string comparison_of_offers(const OfferAnswer& answer) {
  std::vector<std::string> header = {""};
  for (const OfferEstimate& one : answer.estimates) header.push_back(one.offer.name);
  HtmlTable table(header, "offers");
  const auto row = [&](const std::string& name, auto cell) {
    std::vector<std::string> cells = {name};
    for (const OfferEstimate& one : answer.estimates) cells.push_back(cell(one));
    if (std::any_of(cells.begin() + 1, cells.end(), [](const std::string& text) { return !text.empty(); }))
      table.add(cells);
  };
  const OfferQuestion& question = answer.question;
  const std::string level = core::short_percent(question.level_percent / 100);
  row("expected", [](const auto& one) { return rate_of_gflops(one.gflops()); });
  row("with " + level + " between", [](const auto& one) {
    return rate_of_gflops(one.interval().low_gflops) + " to " + rate_of_gflops(one.interval().high_gflops);
  });
  row("promised", [](const auto& one) {
    return one.offer.committed_gflops ? rate_of_gflops(*one.offer.committed_gflops) : std::string();
  });
  row("kept, less " + core::short_percent(question.tolerance),
      [](const auto& one) { return one.keeps ? chance_text(*one.keeps) : std::string(); });
  row("kept in full", [](const auto& one) { return one.keeps_fully ? chance_text(*one.keeps_fully) : std::string(); });
  row("price" + (question.currency.empty() ? "" : " [" + question.currency + "]"),
      [](const auto& one) { return one.offer.price ? core::with_decimals(*one.offer.price, 0) : std::string(); });
  row("cost", [&](const auto& one) { return price_text(question, one); });
  row("power in HPL",
      [](const auto& one) { return one.watts ? core::readable(*one.watts / 1e3, 3) + " kW" : std::string(); });
  row("Gflop/s per W",
      [](const auto& one) { return one.watts ? core::readable(one.gflops() / *one.watts, 3) : std::string(); });
  row("machine", [](const auto& one) { return machine_text(one.cluster); });
  row("HPL.dat", [](const auto& one) { return configuration_text(one.prediction.parameters); });
  row("of the matrix products' rate", [](const auto& one) {
    return one.peak_gflops > 0 ? core::short_percent(one.gflops() / one.peak_gflops) : std::string();
  });
  row("length of the run", [](const auto& one) { return core::duration_text(one.prediction.time_s); });
  return table.html();
}

std::string escaped_list(const std::vector<std::string>& texts, const std::string& css_class = "findings") {
  return list(core::mapped(texts, core::xml_escaped), css_class);
}

/// The bases of the offers, once if all have the same.
std::string bases_html(const OfferAnswer& answer) {
  const auto& all = answer.estimates;
  const bool same = std::all_of(all.begin(), all.end(),
                                [&](const OfferEstimate& one) { return one.rests_on == all.front().rests_on; });
  if (same) return escaped_list(all.front().rests_on);
  std::string html;
  for (const OfferEstimate& one : all)
    html += "<h3>" + core::xml_escaped(one.offer.name) + "</h3>\n" + escaped_list(one.rests_on);
  return html;
}

/// The largest errors: a row for each, a column per offer.
std::string doubts_table(const OfferAnswer& answer) {
  constexpr std::size_t most = 4;
  std::vector<std::string> header = {"error"};
  for (const OfferEstimate& one : answer.estimates) header.push_back(one.offer.name);
  header.emplace_back("source");
  std::vector<core::ErrorTerm> terms;  // each once, in the order of their largest
  for (const OfferEstimate& one : answer.estimates)
    for (std::size_t i = 0; i < std::min(most, one.doubts.size()); ++i) terms.push_back(one.doubts[i]);
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.sd > b.sd; });
  HtmlTable table(header, "offers sources stacked");
  std::set<std::string> told;
  for (const core::ErrorTerm& term : terms) {
    if (!told.insert(term.name).second) continue;
    std::string name = term.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    std::vector<std::string> cells = {name};
    for (const OfferEstimate& one : answer.estimates) {
      const auto found = std::find_if(one.doubts.begin(), one.doubts.end(),
                                      [&](const core::ErrorTerm& of) { return of.name == term.name; });
      cells.push_back(found == one.doubts.end() ? "" : core::short_percent(found->sd));
    }
    cells.push_back(term.source);
    table.add(cells);
  }
  return table.html();
}

std::string pairs_table(const OfferAnswer& answer, const std::vector<std::vector<double>>& probabilities) {
  std::vector<std::string> header = {"... than"};
  for (const OfferEstimate& one : answer.estimates) header.push_back(one.offer.name);
  HtmlTable table(header, "offers");
  for (std::size_t i = 0; i < answer.estimates.size(); ++i) {
    std::vector<std::string> cells = {answer.estimates[i].offer.name};
    for (std::size_t j = 0; j < answer.estimates.size(); ++j)
      cells.push_back(i == j ? "" : chance_text(probabilities[i][j]));
    table.add(cells);
  }
  return table.html();
}

}  // namespace

void write_offer_page(std::ostream& out, const OfferAnswer& answer) {
  const OfferQuestion& question = answer.question;
  const std::string title = question.title.empty() ? "Which offer gives the most Linpack?" : question.title;
  const auto is_data_sheet = [](const OfferEstimate& one) { return one.offer.basis == OfferBasis::numbers; };
  std::vector<Figure> figures = {offers_figure(answer)};
  if (answer.by_price) figures.push_back(costs_figure(answer));
  std::string html = "<p class=\"lead\"><b>" + core::xml_escaped(answer.verdict) + "</b></p>\n";
  if (std::all_of(answer.estimates.begin(), answer.estimates.end(), is_data_sheet))
    html +=
        "<p class=\"note\">Estimated from data sheets: nothing was measured. Linpack (HPL) solves a dense system of "
        "equations; other programs may rank the machines differently.</p>\n";
  html +=
      "<p class=\"note\">Probabilities take the errors of the offers as independent. What they have in common, such as "
      "the same assumptions, is wrong for all alike: which offer is better is surer than is said here.</p>\n";
  html += figures_html(figures) + escaped_list(answer.reasons) + comparison_of_offers(answer);
  html +=
      section("Which is faster", "Probability that the offer of the row has more Gflop/s than that of the column.") +
      pairs_table(answer, answer.faster);
  if (answer.by_price)
    html += section("Which is cheaper per Tflop/s", "The same for the cost per Tflop/s.") +
            pairs_table(answer, answer.better);
  html += section("What the numbers rest on",
                  "Every offer gets the largest matrix for " + core::short_percent(question.memory_fraction) +
                      " of its memory, and the best of some block sizes, grids and broadcasts.") +
          bases_html(answer) +
          "<p class=\"note\">Largest errors, as standard deviations of the time of the run:</p>\n" +
          doubts_table(answer);
  // A line never ends before a percent sign.
  out << html_page(title, core::all_replaced(html, " %", "&#160;%"), Script::none);
}

std::string offer_picture(const OfferAnswer& answer) {
  return figure_file({offers_figure(answer)});
}

void write_offer_json(std::ostream& out, const OfferAnswer& answer) {
  const OfferQuestion& question = answer.question;
  Json json = HPLCAST_JSON(answer, verdict, reasons);
  json.update(HPLCAST_JSON(question, tolerance, level_percent));
  if (!question.currency.empty()) json["currency"] = question.currency;
  for (std::size_t i = 0; i < answer.estimates.size(); ++i) {
    const OfferEstimate& one = answer.estimates[i];
    Json row;
    row["name"] = one.offer.name;
    for (const core::HplField& field : core::hpl_fields())
      row["parameters"][field.name] = field.get(one.prediction.parameters);
    row["time_s"] = one.prediction.time_s;
    row["gflops"] = one.gflops();
    row["gflops_interval"] = {one.interval().low_gflops, one.interval().high_gflops};
    row.update(HPLCAST_JSON(one, peak_gflops, memory_share, simulated));
    if (one.keeps) {
      row["committed_gflops"] = *one.offer.committed_gflops;
      row["probability_within_tolerance"] = *one.keeps;
      row["probability_in_full"] = *one.keeps_fully;
    }
    if (one.offer.price) {
      row["price"] = *one.offer.price;
      row["price_per_tflops"] = one.price_per_tflops();
    }
    if (one.watts) {
      row["watts"] = *one.watts;
      row["gflops_per_w"] = one.gflops() / *one.watts;
    }
    row["rests_on"] = one.rests_on;
    for (const core::ErrorTerm& term : one.doubts) row["terms"].push_back(HPLCAST_JSON(term, name, sd, source));
    for (std::size_t j = 0; j < answer.estimates.size(); ++j) {
      if (i == j) continue;
      const std::string& other = answer.estimates[j].offer.name;
      row["probability_faster"][other] = answer.faster[i][j];
      if (answer.by_price) row["probability_cheaper"][other] = answer.better[i][j];
    }
    json["offers"].push_back(std::move(row));
  }
  out << core::json_text(json, 2) << '\n';
}

}  // namespace hplcast::study
