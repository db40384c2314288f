#include "study/explain/timelines.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hplcast/core/text.hpp"
#include "study/activity/observed_ranks.hpp"
#include "study/plot/figure.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

// In the units of the viewBox.
constexpr double label_width = 130, strip_width = 900, row_height = 26, axis_height = 46;
constexpr double phase_end = 12 / row_height, work_end = 20 / row_height;  // in a row
constexpr std::size_t columns = 900;

// Of phases in the order of core::phase_names: other, factorisation, broadcast, swap, update, solve.
constexpr std::array<const char*, core::phase_names.size()> phase_classes = {"grid", "s4", "s1", "s3", "cell", "s5"};
constexpr const char* kernel_class = "s6";
constexpr const char* message_class = "s1";
constexpr const char* waiting_class = "band";

struct Window {
  double first_s = 0, last_s = 1;
  double column_s() const { return (last_s - first_s) / static_cast<double>(columns); }
};

/// How much of each column is of each class; the class with the most is drawn.
class Strip {
 public:
  explicit Strip(Window window) : window_(window), columns_(columns) {}

  void add(const char* css_class, double begin_s, double end_s) {
    const double first = std::max(0.0, (begin_s - window_.first_s) / window_.column_s());
    const double last = std::min(double{columns}, (end_s - window_.first_s) / window_.column_s());
    for (double at = first; at < last; at = std::floor(at) + 1) {
      const double part = std::min(last, std::floor(at) + 1) - at;
      add_to(columns_[static_cast<std::size_t>(at)], css_class, part);
    }
  }

  void draw(Figure& plot, double top, double bottom) const {
    const auto time_s = [&](std::size_t column) {
      return window_.first_s + static_cast<double>(column) * window_.column_s();
    };
    for (std::size_t i = 0; i < columns;) {
      const char* css_class = most(columns_[i]);
      std::size_t end = i + 1;
      while (end < columns && most(columns_[end]) == css_class) ++end;
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

}  // namespace

std::string timeline_picture(const std::vector<Timeline>& lines, const ExplainRequest& request) {
  const Window window = window_of(lines, request);
  const auto rows = static_cast<double>(lines.size());
  PlotAxis time{"time since the start of the factorisation [s]", window.first_s, window.last_s};
  PlotAxis ranks{"", rows, 0, {}, false, false};
  for (const Timeline& line : lines)
    ranks.ticks.push_back({static_cast<double>(ranks.ticks.size()) + phase_end,
                           line.kind == "real" ? "rank " + std::to_string(line.rank) + ", real" : line.kind});
  Figure figure("timelines", "timelines of ranks", time, ranks,
                {label_width + strip_width + 20, row_height * rows + axis_height, label_width, 20, 0, axis_height});
  for (std::size_t i = 0; i < lines.size(); ++i) draw_row(lines[i], window, static_cast<double>(i), figure);
  const core::HplParameters& p = request.prediction.parameters;
  figure.heading = "Real run and simulation, N=" + std::to_string(p.N) + " NB=" + std::to_string(p.NB) + ", " +
                   std::to_string(p.P) + " x " + std::to_string(p.Q);
  figure.legend = {{"s4", Marker::square, "above: factorisation"},
                   {"s1", Marker::square, "above: broadcast"},
                   {"s3", Marker::square, "above: swap"},
                   {"cell", Marker::square, "above: update"},
                   {"s5", Marker::square, "above: solve"},
                   {kernel_class, Marker::square, "below: kernels"},
                   {message_class, Marker::square, "below: messages"},
                   {waiting_class, Marker::square, "below: waiting"}};
  return figure_file({figure});
}

}  // namespace hplcast::study
