#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

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

/// A bar to the low end of the interval, a lighter one to its high end, a line at what is expected; the committed value
/// as a mark with a line down to what is still accepted.
Figure offers_figure(const OfferAnswer& answer) {
  double largest = 0;
  for (const OfferEstimate& one : answer.estimates)
    largest = std::max({largest, one.interval().high_gflops, one.offer.committed_gflops.value_or(0)});
  const auto [unit, name] = unit_of_rates(largest);
  const std::string level = core::short_percent(answer.question.level_percent / 100);
  std::vector<BarRow> rows;
  for (const OfferEstimate& one : answer.estimates)
    rows.push_back({one.offer.name + ": " + rate_of_gflops(one.gflops()), {}});
  constexpr double margin = 1.06;
  Figure figure = bar_figure("offers", "Gflop/s of each offer, with interval and committed value",
                             {std::string("HPL [") + name + "]", 0, margin * largest / unit}, rows);
  for (std::size_t i = 0; i < answer.estimates.size(); ++i) {
    const OfferEstimate& one = answer.estimates[i];
    constexpr double top = 0.46, middle = 0.67, bottom = 0.88;  // of a row, as bar_figure() has them
    const double row = static_cast<double>(i), expected = one.gflops() / unit;
    const double low = one.interval().low_gflops, high = one.interval().high_gflops;
    const bool is_best = i == 0 && OfferAnswer::is_credible(one);
    const std::string css_class = is_best ? "s2" : "s6";
    const std::string range = level + " of runs: " + rate_of_gflops(low) + " to " + rate_of_gflops(high);
    figure.bar({0, row + top}, {low / unit, row + bottom}, css_class, range, is_best ? 1 : 0.5);
    figure.bar({low / unit, row + top}, {high / unit, row + bottom}, css_class, range, is_best ? 0.4 : 0.2);
    figure.line({{expected, row + top}, {expected, row + bottom}}, "expected",
                "expected: " + rate_of_gflops(one.gflops()));
    if (!one.offer.committed_gflops) continue;
    const double committed = *one.offer.committed_gflops / unit;
    figure.line({{committed * (1 - answer.question.tolerance), row + middle}, {committed, row + middle}},
                "predicted-line", "tolerance");
    figure.marker({committed, row + middle}, Marker::diamond, "predicted",
                  "committed: " + rate_of_gflops(*one.offer.committed_gflops) + ", kept with a probability of " +
                      chance_text(*one.keeps));
  }
  figure.heading = "Linpack, expected and promised";
  figure.legend = {{"s2", Marker::square, "the offer to take"},
                   {"band", Marker::square, level + " of runs end in here"},
                   {"expected", Marker::line, "expected"}};
  if (std::any_of(answer.estimates.begin(), answer.estimates.end(),
                  [](const OfferEstimate& one) { return one.offer.committed_gflops.has_value(); }))
    figure.legend.push_back({"predicted", Marker::diamond,
                             "promised, with the tolerance of " + core::short_percent(answer.question.tolerance)});
  return figure;
}

std::string configuration_text(const core::HplParameters& p) {
  return "N " + std::to_string(p.N) + ", NB " + std::to_string(p.NB) + ", " + std::to_string(p.P) + " x " +
         std::to_string(p.Q) + ", " + core::find_hpl_field("BCAST")->names.at(static_cast<std::size_t>(p.BCAST));
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
  row(level + " of runs", [](const auto& one) {
    return rate_of_gflops(one.interval().low_gflops) + " to " + rate_of_gflops(one.interval().high_gflops);
  });
  row("promised", [](const auto& one) {
    return one.offer.committed_gflops ? rate_of_gflops(*one.offer.committed_gflops) : std::string();
  });
  row("kept within " + core::short_percent(question.tolerance),
      [](const auto& one) { return one.keeps ? chance_text(*one.keeps) : std::string(); });
  row("kept in full", [](const auto& one) { return one.keeps_fully ? chance_text(*one.keeps_fully) : std::string(); });
  row("price" + (question.currency.empty() ? "" : " [" + question.currency + "]"),
      [](const auto& one) { return one.offer.price ? core::with_decimals(*one.offer.price, 0) : std::string(); });
  row("cost", [&](const auto& one) { return price_text(question, one); });
  row("power in HPL",
      [](const auto& one) { return one.watts ? core::readable(*one.watts / 1e3, 3) + " kW" : std::string(); });
  row("Gflop/s per W",
      [](const auto& one) { return one.watts ? core::readable(one.gflops() / *one.watts, 3) : std::string(); });
  row("share of dgemm's rate", [](const auto& one) {
    return one.peak_gflops > 0 ? core::short_percent(one.gflops() / one.peak_gflops) : std::string();
  });
  row("HPL takes", [](const auto& one) { return core::duration_text(one.prediction.time_s); });
  row("configuration", [](const auto& one) { return configuration_text(one.prediction.parameters); });
  return table.html();
}

std::string escaped_list(const std::vector<std::string>& texts, const std::string& css_class = "findings") {
  std::vector<std::string> items;
  for (const std::string& one : texts) items.push_back(core::xml_escaped(one));
  return list(items, css_class);
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
  std::string html = "<p class=\"lead\"><b>" + core::xml_escaped(answer.verdict) + "</b></p>\n" +
                     "<div class=\"one\">" + figures_html({offers_figure(answer)}) + "</div>\n" +
                     escaped_list(answer.reasons) + comparison_of_offers(answer);
  html +=
      section("Which is faster", "Probability that the offer of the row has more Gflop/s than that of the column.") +
      pairs_table(answer, answer.faster);
  if (answer.by_price)
    html += section("Which is cheaper per Tflop/s", "The same for the cost per Tflop/s.") +
            pairs_table(answer, answer.better);
  html += section("What the numbers rest on",
                  "Every offer gets the largest matrix for " + core::short_percent(question.memory_fraction) +
                      " of its memory, and the best of some block sizes, grids and broadcasts. Errors of different "
                      "offers are taken as independent: what they have in common makes the order surer than it is "
                      "told here.");
  for (const OfferEstimate& one : answer.estimates) {
    constexpr std::size_t most = 4;
    std::vector<std::string> doubts;
    for (std::size_t i = 0; i < std::min(most, one.doubts.size()); ++i)
      doubts.push_back(one.doubts[i].name + ": " + core::short_percent(one.doubts[i].sd) + " (" + one.doubts[i].source +
                       ")");
    html += "<h3>" + core::xml_escaped(one.offer.name) + "</h3>\n" + escaped_list(one.rests_on) +
            "<p class=\"note\">Largest errors, as standard deviations of the time:</p>\n" +
            escaped_list(doubts, "note");
  }
  out << html_page(title, html, Script::none);
}

std::string offer_picture(const OfferAnswer& answer) {
  return figure_file({offers_figure(answer)});
}

void write_offer_json(std::ostream& out, const OfferAnswer& answer) {
  nlohmann::ordered_json json;
  const OfferQuestion& question = answer.question;
  json["verdict"] = answer.verdict;
  json["reasons"] = answer.reasons;
  json["tolerance"] = question.tolerance;
  json["level_percent"] = question.level_percent;
  if (!question.currency.empty()) json["currency"] = question.currency;
  for (std::size_t i = 0; i < answer.estimates.size(); ++i) {
    const OfferEstimate& one = answer.estimates[i];
    nlohmann::ordered_json row;
    row["name"] = one.offer.name;
    for (const core::HplField& field : core::hpl_fields())
      row["parameters"][field.name] = field.get(one.prediction.parameters);
    row["time_s"] = one.prediction.time_s;
    row["gflops"] = one.gflops();
    row["gflops_interval"] = {one.interval().low_gflops, one.interval().high_gflops};
    row["peak_gflops"] = one.peak_gflops;
    row["memory_share"] = one.memory_share;
    row["simulated"] = one.simulated;
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
    for (const core::ErrorTerm& term : one.doubts)
      row["terms"].push_back({{"name", term.name}, {"sd", term.sd}, {"source", term.source}});
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
