#include "study/explain/explain_parts.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/activity_trace.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::study {

namespace {

/// When the first rank began to factorise a panel; of runs whose phases were not kept, when the first one began.
double start_of(const std::vector<RankActivity>& ranks, const std::vector<HostClock>& clocks) {
  double first_s = -1;
  double begin_s = -1;
  const auto earlier = [](double& so_far, double time_s) {
    if (so_far < 0 || time_s < so_far) so_far = time_s;
  };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    earlier(begin_s, clocks[i].at_rank_0_s(ranks[i].begin_s));
    for (const ActivityEvent& event : ranks[i].events) {
      const bool factorises =
          event.kind == ActivityEvent::Kind::phase && core::phase_names[event.name] == std::string("factorisation");
      if (factorises) earlier(first_s, clocks[i].at_rank_0_s(ranks[i].begin_s + event.begin_s));
    }
  }
  return first_s < 0 ? begin_s : first_s;
}

/// The events of the chosen ranks, in seconds since the start of the factorisation.
std::vector<Timeline> timelines_of(const ObservedRanks& observed, const ExplainRequest& request,
                                   const std::string& kind) {
  const double start_s = start_of(observed.ranks, observed.clocks);
  std::vector<Timeline> lines;
  for (std::size_t i = 0; i < observed.ranks.size(); ++i) {
    const RankActivity& rank = observed.ranks[i];
    if (rank.rank < request.first_rank || rank.rank > request.last_rank) continue;
    Timeline line;
    line.rank = rank.rank;
    line.kind = kind;
    for (std::size_t j = 0; j < rank.events.size(); ++j) {
      ActivityEvent event = rank.events[j];
      event.begin_s = observed.clocks[i].at_rank_0_s(rank.begin_s + event.begin_s) - start_s;
      event.end_s = observed.clocks[i].at_rank_0_s(rank.begin_s + event.end_s) - start_s;
      line.events.push_back(event);
      line.waited_s.push_back(observed.waits.waited_s[i][j]);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Each rank is a process of the viewer with two threads: real above simulated.
void write_trace(const std::filesystem::path& path, const std::vector<Timeline>& lines) {
  core::TraceFile trace(path.string());
  for (const Timeline& line : lines) {
    const int row = 2 * line.rank + (line.kind == "real" ? 0 : 1);
    trace.name_row(row, line.rank, "rank " + std::to_string(line.rank), line.kind);
    for (std::size_t i = 0; i < line.events.size(); ++i)
      write_event(trace, row, line.events[i], {line.events[i].begin_s, line.events[i].end_s}, line.waited_s[i]);
  }
  trace.close();
}

// In the units of the viewBox.
constexpr double label_width = 130, strip_width = 900, strip_height = 26, axis_height = 46;
constexpr double phase_end = 12 / strip_height, work_end = 20 / strip_height;  // in a row
constexpr std::size_t strip_columns = 900;

// Classes of phases in the order of core::phase_names; `other`, the first, is not drawn.
constexpr std::array<const char*, core::phase_names.size()> phase_classes = {"grid", "s4", "s1", "s3", "cell", "s5"};
constexpr const char* kernel_class = "s6";
constexpr const char* message_class = "s7";
constexpr const char* waiting_class = "band";

struct Window {
  double first_s = 0, last_s = 1;
  double column_s() const { return (last_s - first_s) / static_cast<double>(strip_columns); }
};

/// How much of each column is of each class; the class with the most is drawn.
class Strip {
 public:
  explicit Strip(Window window) : window_(window), columns_(strip_columns) {}

  void add(const char* css_class, double begin_s, double end_s) {
    const double first = std::max(0.0, (begin_s - window_.first_s) / window_.column_s());
    const double last = std::min(double{strip_columns}, (end_s - window_.first_s) / window_.column_s());
    for (double at = first; at < last; at = std::floor(at) + 1) {
      const double part = std::min(last, std::floor(at) + 1) - at;
      add_to(columns_[static_cast<std::size_t>(at)], css_class, part);
    }
  }

  void draw(Figure& plot, double top, double bottom) const {
    const auto time_s = [&](std::size_t column) {
      return window_.first_s + static_cast<double>(column) * window_.column_s();
    };
    for (std::size_t i = 0; i < strip_columns;) {
      const char* css_class = most(columns_[i]);
      std::size_t end = i + 1;
      while (end < strip_columns && most(columns_[end]) == css_class) ++end;
      if (css_class != nullptr) plot.bar({time_s(i), top}, {time_s(end), bottom}, css_class);
      i = end;
    }
  }

 private:
  using Parts = std::vector<std::pair<const char*, double>>;

  static void add_to(Parts& parts, const char* css_class, double part) {
    for (auto& [known, so_far] : parts) {
      if (known != css_class) continue;
      so_far += part;
      return;
    }
    parts.emplace_back(css_class, part);
  }
  static const char* most(const Parts& parts) {
    constexpr double least = 0.05;  // of a column
    const char* found = nullptr;
    double so_far = least;
    for (const auto& [css_class, part] : parts) {
      if (part <= so_far) continue;
      so_far = part;
      found = css_class;
    }
    return found;
  }

  Window window_;
  std::vector<Parts> columns_;
};

void draw_row(const Timeline& line, const Window& window, double top, Figure& plot) {
  Strip phases(window);
  Strip work(window);
  double phase_end_s = window.first_s;
  for (std::size_t i = 0; i < line.events.size(); ++i) {
    const ActivityEvent& event = line.events[i];
    if (event.kind == ActivityEvent::Kind::phase) {
      // An outer phase comes after those in it, and has what they leave.
      if (core::phase_names[event.name] != std::string("other"))
        phases.add(phase_classes[event.name], std::max(event.begin_s, std::min(phase_end_s, event.end_s)), event.end_s);
      phase_end_s = std::max(phase_end_s, event.end_s);
    } else if (event.kind == ActivityEvent::Kind::kernel) {
      work.add(kernel_class, event.begin_s, event.end_s);
    } else {
      const double waited_s = is(event.name, "iprobe") ? event.end_s - event.begin_s : line.waited_s[i];
      work.add(waiting_class, event.begin_s, event.begin_s + waited_s);
      work.add(message_class, event.begin_s + waited_s, event.end_s);
    }
  }
  phases.draw(plot, top, top + phase_end);
  work.draw(plot, top + phase_end, top + work_end);
}

Window window_of(const std::vector<Timeline>& lines, const ExplainRequest& request) {
  const bool all = request.first_panel == 0 && request.last_panel >= (1 << 30);
  Window window{0, 0};
  bool found = false;
  for (const Timeline& line : lines) {
    for (const ActivityEvent& event : line.events) {
      const bool chosen =
          all ? event.end_s > 0
              : line.kind == "real" && event.panel >= request.first_panel && event.panel <= request.last_panel;
      if (!chosen) continue;
      window.first_s = found ? std::min(window.first_s, event.begin_s) : event.begin_s;
      window.last_s = found ? std::max(window.last_s, event.end_s) : event.end_s;
      found = true;
    }
  }
  if (!found || !(window.last_s > window.first_s)) return {0, 1};
  if (all) window.first_s = 0;
  return window;
}

/// Whether kernels of the real run were kept.
bool has_kernels(const std::vector<Timeline>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const Timeline& line) {
    return line.kind == "real" && std::any_of(line.events.begin(), line.events.end(), [](const ActivityEvent& event) {
             return event.kind == ActivityEvent::Kind::kernel;
           });
  });
}

/// The largest causes, the others as one, and what none explains.
std::vector<ExplanationSummary::Cause> waterfall_steps(const ExplanationSummary& explanation) {
  constexpr std::size_t most_causes = 8;
  const std::vector<ExplanationSummary::Cause>& causes = explanation.causes;
  std::vector<ExplanationSummary::Cause> steps;
  for (const ExplanationSummary::Cause& cause : causes) {
    if (steps.size() < most_causes) {
      steps.push_back(cause);
      continue;
    }
    ExplanationSummary::Cause& smaller = steps.back();
    smaller = {smaller.share + cause.share, smaller.seconds + cause.seconds, "",
               std::to_string(causes.size() - most_causes + 1) + " smaller differences"};
  }
  steps.push_back({explanation.rest_share, explanation.rest_share * explanation.predicted_s, "", "not explained"});
  return steps;
}

}  // namespace

Figure timeline_figure(const std::vector<Timeline>& lines, const ExplainRequest& request) {
  const Window window = window_of(lines, request);
  const auto rows = static_cast<double>(lines.size());
  PlotAxis time{"time since the start of the factorisation [s]", window.first_s, window.last_s};
  PlotAxis ranks{"", rows, 0, {}, false, false};
  for (const Timeline& line : lines)
    ranks.ticks.push_back({static_cast<double>(ranks.ticks.size()) + phase_end,
                           line.kind == "real" ? "rank " + std::to_string(line.rank) + ", real" : line.kind});
  Figure figure("timelines", "timelines of ranks", time, ranks,
                {label_width + strip_width + 20, strip_height * rows + axis_height, label_width, 20, 0, axis_height});
  for (std::size_t i = 0; i < lines.size(); ++i) draw_row(lines[i], window, static_cast<double>(i), figure);
  const core::HplParameters& p = request.prediction.parameters;
  figure.heading = core::printed("Real run and simulation, N=%lld NB=%d, %d x %d", p.N, p.NB, p.P, p.Q);
  for (std::size_t i = 1; i < phase_classes.size(); ++i)
    figure.legend.push_back({phase_classes[i], Marker::square, core::phase_names[i]});
  figure.legend.push_back({kernel_class, Marker::square, "kernels"});
  figure.legend.push_back({message_class, Marker::square, "messages"});
  figure.legend.push_back({waiting_class, Marker::square, "waiting"});
  figure.caption = "Upper strips: phases of HPL. Lower strips: kernels, messages and waiting for others.";
  if (!has_kernels(lines))
    figure.caption +=
        " The real strips are nearly empty because the run kept its messages only: hplcast run-real --trace keeps "
        "kernels and phases, too.";
  return figure;
}

Figure write_timelines(const ExplainRequest& request, const ObservedRanks& real,
                       const std::vector<RankActivity>& simulated) {
  std::vector<Timeline> lines = timelines_of(real, request, "real");
  core::append(lines, timelines_of(observed_ranks(simulated), request, "simulated"));
  std::stable_sort(lines.begin(), lines.end(), [](const Timeline& a, const Timeline& b) { return a.rank < b.rank; });
  if (!request.trace.empty()) write_trace(request.trace, lines);
  return timeline_figure(lines, request);
}

Figure waterfall(const ExplanationSummary& explanation, const std::string& id) {
  const double predicted_s = explanation.predicted_s, real_s = explanation.real_s;
  const std::vector<ExplanationSummary::Cause> steps = waterfall_steps(explanation);
  std::vector<BarRow> rows(1);
  double at_s = predicted_s, low_s = std::min(at_s, real_s), high_s = std::max(at_s, real_s);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const char* css_class = i + 1 == steps.size() ? "untested" : steps[i].seconds > 0 ? "s4" : "s3";
    rows.push_back({steps[i].name,
                    {{at_s, at_s + steps[i].seconds, css_class, steps[i].text}},
                    core::printed("%+.3g s, ", steps[i].seconds) + core::readable_change(steps[i].share)});
    at_s += steps[i].seconds;
    low_s = std::min(low_s, at_s);
    high_s = std::max(high_s, at_s);
  }
  // Small differences of long times would not be seen on an axis from 0.
  constexpr double far = 0.4, before = 0.5, after = 0.1, least = 0.002;
  const double range_s = std::max(high_s - low_s, least * high_s);
  const double begin_s = range_s > far * high_s ? std::min(0.0, low_s) : low_s - before * range_s;
  rows.front() = {"predicted", {{begin_s, predicted_s, "predicted"}}, core::printed("%.4g s", predicted_s)};
  rows.push_back({"real", {{begin_s, real_s, "measured"}}, core::printed("%.4g s", real_s)});
  Figure figure = bar_figure(id, "From the predicted time to the real one",
                             {"time [s]", begin_s, high_s + after * range_s}, rows, true);
  figure.legend = {{"s4", Marker::square, "takes longer than predicted"}, {"s3", Marker::square, "takes less"}};
  figure.caption = std::string("Percent of the predicted time, ") +
                   (explanation.simulated ? "by simulations with one part after the other as the run measured it."
                                          : "estimated from sums.") +
                   (begin_s > 0 ? " The axis does not begin at 0." : "");
  return figure;
}

}  // namespace hplcast::study
