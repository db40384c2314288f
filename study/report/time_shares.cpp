#include <algorithm>
#include <array>

#include "hplcast/study/seed_means.hpp"
#include "study/plot/markup.hpp"
#include "study/report/report_sections.hpp"

namespace hplcast::study {

namespace {

// --- where the time goes

namespace part {
enum { dgemm, dtrsm, row_swaps, other_kernels, messages, waiting, both, between_calls, count };
}
struct PartLook {
  std::string name;
  const char* css_class;
};
const PartLook part_looks[] = {{"dgemm", "s2"},
                               {"dtrsm", "s4"},
                               {"row swaps", "s3"},
                               {"other kernels", "s5"},
                               {"messages", "s1"},
                               {"waiting", "s7"},
                               {"communication and waiting", "s1"},
                               {"between calls", "s6"}};  // in the order of part

/// Seconds of the time of a rank, on average.
using TimeParts = std::array<double, part::count>;

void add_kernel(TimeParts& parts, const std::string& name, double time_s) {
  parts[name == "dgemm"                     ? part::dgemm
        : name == "dtrsm"                   ? part::dtrsm
        : core::begins_with(name, "dlaswp") ? part::row_swaps
                                            : part::other_kernels] += time_s;
}

/// The rest: what is neither messages nor waiting, or both of them where they are not told apart.
void add_rest(TimeParts& parts, double time_s) {
  double rest_s = time_s;
  for (const double part_s : parts) rest_s -= part_s;
  parts[parts[part::messages] + parts[part::waiting] > 0 ? part::between_calls : part::both] += std::max(0.0, rest_s);
}

TimeParts parts_of_time(const core::Prediction& prediction) {
  TimeParts parts{};
  const int ranks = prediction.parameters.P * prediction.parameters.Q;
  for (const auto& [name, count] : prediction.kernels) add_kernel(parts, name, count.time_s / ranks);
  for (const core::PhaseSummary& phase : prediction.phases) {
    parts[part::messages] += phase.messages_s;
    parts[part::waiting] += phase.waiting_s;
  }
  add_rest(parts, prediction.time_s);
  return parts;
}

TimeParts parts_of_time(const ExplanationSummary& run) {
  TimeParts parts{};
  const int ranks = run.parameters.P * run.parameters.Q;
  for (const auto& [name, time_s] : run.real_kernels_s) add_kernel(parts, name, time_s / ranks);
  parts[part::messages] = run.real_messages_s;
  parts[part::waiting] = run.real_waiting_s;
  add_rest(parts, run.real_s);
  return parts;
}

/// One bar of all parts, as shares of `all_s`; marks those that it shows.
BarRow stacked(const std::string& name, const TimeParts& parts, double all_s, std::array<bool, part::count>& shown) {
  BarRow row{name, {}};
  constexpr double least = 1e-4;
  double at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double share = 100 * parts[i] / all_s;
    if (share < 100 * least) continue;
    shown[i] = true;
    row.parts.push_back(
        {at, at + share, part_looks[i].css_class,
         part_looks[i].name + ": " + readable(parts[i], 3) + " s, " + core::readable_percent(share / 100),
         with_decimals(share, 0) + " %"});
    at += share;
  }
  return row;
}

/// Shares of the time of all ranks by kind of work.
HtmlTable time_table(const std::vector<NamedPrediction>& predictions) {
  HtmlTable table({"configuration", "dgemm", "dtrsm", "row swaps", "other kernels", "communication and waiting"},
                  "sortable words stacked numbers");
  for (const auto& [title, prediction] : predictions) {
    const TimeParts parts = parts_of_time(*prediction);
    std::vector<std::string> row = {title};
    double kernels_s = 0;
    for (const auto kernel : {part::dgemm, part::dtrsm, part::row_swaps, part::other_kernels}) {
      kernels_s += parts[kernel];
      row.push_back(core::readable_percent(parts[kernel] / prediction->time_s));
    }
    row.push_back(core::readable_percent(std::max(0.0, 1 - kernels_s / prediction->time_s)));
    table.add(row);
  }
  return table;
}

}  // namespace

Figure time_figure(const std::vector<NamedPrediction>& predictions,
                   const std::vector<ExplanationSummary>& explanations) {
  constexpr std::size_t most = 8;
  std::vector<BarRow> rows;
  std::array<bool, part::count> shown{};
  double end = 100;
  for (std::size_t i = 0; i < std::min(most, predictions.size()); ++i) {
    const auto& [title, prediction] = predictions[i];
    rows.push_back(stacked(title, parts_of_time(*prediction), prediction->time_s, shown));
    const auto run = std::find_if(explanations.begin(), explanations.end(), [&, one = prediction](const auto& e) {
      return core::without_unused(e.parameters) == core::without_unused(one->parameters);
    });
    if (run == explanations.end()) continue;
    rows.push_back(stacked("the same, real", parts_of_time(*run), prediction->time_s, shown));
    end = std::max(end, 100 * run->real_s / prediction->time_s);
  }
  Figure figure = bar_figure("time", "Shares of the time of all ranks", {"% of the predicted time", 0, end}, rows);
  for (std::size_t i = 0; i < shown.size(); ++i)
    if (shown[i]) figure.legend.push_back({part_looks[i].css_class, Marker::square, part_looks[i].name});
  return figure;
}

std::string time_html(const std::vector<NamedPrediction>& predictions, const Figure& figure) {
  const bool sampled = std::any_of(predictions.begin(), predictions.end(),
                                   [](const auto& one) { return one.second->sampling.has_value(); });
  return section("Where the time goes",
                 sampled ? "As simulated; of sampled predictions extrapolated." : "As simulated.") +
         figures_html({figure}) + "<details><summary>The same as numbers</summary>\n" + time_table(predictions).html() +
         "</details>\n";
}

// --- a report of one configuration

/// Parts of the variance, the largest above.
static Figure interval_figure(const core::PredictiveInterval& interval) {
  constexpr double least_percent = 3;
  std::vector<BarRow> rows;
  for (const core::ErrorTerm& term : interval.terms) {
    const double percent = 100 * term.sd * term.sd / (interval.sd * interval.sd);
    if (percent < least_percent) continue;
    rows.push_back({core::printed("%s, %.2g %%: ", term.name.c_str(), 100 * term.sd) + term.source,
                    {{0, percent, "s2"}},
                    with_decimals(percent, 0) + " %"});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const BarRow& a, const BarRow& b) { return a.parts.front().to > b.parts.front().to; });
  Figure figure = bar_figure("interval", "What the interval is made of", {"% of its variance", 0, 100}, rows);
  figure.caption =
      "With each term of 3 % and more: its standard deviation, of the time, and its source. The largest is worth "
      "measuring first.";
  return figure;
}

std::optional<OneConfiguration> one_configuration(const ReportData& data) {
  const core::Prediction& first = data.predictions.front();
  std::vector<double> gflops, time_s;
  for (const core::Prediction& one : data.predictions) {
    if (!(one.parameters == first.parameters) || one.model_sha256 != first.model_sha256) return std::nullopt;
    gflops.push_back(one.gflops);
    time_s.push_back(one.time_s);
  }
  OneConfiguration result{mean_text(SeedMeans({gflops}), 0), "", "", std::nullopt};
  if (first.interval && first.interval->sd > 0) result.doubts = interval_figure(*first.interval);
  std::string tiles;
  const auto tile = [&](const std::string& value, const std::string& name) {
    tiles += "<div class=\"tile\"><b>" + core::xml_escaped(value) + "</b><span>" + name + "</span></div>\n";
  };
  tile(result.rate, gflops.size() == 1 ? "Gflop/s predicted"
                                       : "Gflop/s predicted, mean of " + std::to_string(gflops.size()) + " seeds");
  if (const auto& interval = first.interval)
    tile(readable(interval->low_gflops, 3) + " to " + readable(interval->high_gflops, 3),
         "Gflop/s in " + readable(interval->level_percent, 2) + " % of real runs" +
             (gflops.size() == 1 ? "" : ", by seed " + std::to_string(first.seed)));
  constexpr double hour_s = 3600, minute_s = 60, j_per_kwh = 3.6e6;
  const double mean_s = SeedMeans({time_s}).mean(0);
  tile(mean_s < minute_s ? readable(mean_s, 3) + " s"
       : mean_s < hour_s ? readable(mean_s / minute_s, 3) + " min"
                         : readable(mean_s / hour_s, 3) + " h",
       "time of HPL");
  if (first.energy) {
    const core::Energy& energy = *first.energy;
    tile(energy.mean_power_w < 1e3 ? readable(energy.mean_power_w, 3) + " W"
                                   : readable(energy.mean_power_w / 1e3, 3) + " kW",
         "mean power");
    tile(energy.energy_j < j_per_kwh ? readable(energy.energy_j / 1e3, 3) + " kJ"
                                     : readable(energy.energy_j / j_per_kwh, 3) + " kWh",
         "energy");
    tile(readable(energy.gflops_per_w, 3), "Gflop/s per W");
  }
  const core::HplParameters& p = first.parameters;
  result.machine = (first.hosts == 0 ? "" : core::counted(first.hosts, "host") + ", ") +
                   core::counted(p.P * p.Q, "rank") +
                   (first.threads_per_rank == 1 ? "" : " of " + std::to_string(first.threads_per_rank) + " threads");
  result.html = "<p class=\"lead\">" + core::xml_escaped(first.cluster) + ", " + result.machine +
                " (P x Q = " + grid_name(grid_of(p), " x ") + "), N = " + with_decimals(static_cast<double>(p.N), 0) +
                ", NB = " + std::to_string(p.NB) + "</p>\n<div class=\"tiles\">\n" + tiles + "</div>\n";
  return result;
}

}  // namespace hplcast::study
