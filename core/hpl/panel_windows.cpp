#include "hplcast/core/panel_windows.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace {

/// The rule with its defaults filled in.
struct Sizes {
  int width, piece;
  int warm_up;                ///< panels until process columns that begin in step are out of it
  int windows;                ///< beside the first and the last
  int inner;                  ///< panels of these that count; those of windows that are added: width
  int settling;               ///< panels within which HPL settles down: the last ones of a warm-up
  int before;                 ///< panels before those of a window that count, beside the first and the last
  int after;                  ///< panels that are simulated behind a window
  int of_first;               ///< panels of the first window
  int last_piece, untypical;  ///< panels at the end of the run
  bool out_of_step;           ///< the first window begins as others do
};

int panels_of(const HplParameters& p) {
  return static_cast<int>((p.N + p.NB - 1) / p.NB);
}

/// Windows are added where the error is too large.
bool is_stepwise(const WindowRule& rule) {
  return rule.kind == WindowRule::Kind::automatic && rule.target > 0;
}

Sizes sizes_of(const HplParameters& p, const WindowRule& rule) {
  const int longest = std::max(p.P, p.Q);
  // HPL looks ahead only beside other process columns (HPL_pdgesv); those of a program are its rounds.
  const int depth = p.Q > 1 || p.NB == 1 ? p.DEPTH : 0;
  Sizes sizes{};
  sizes.width = rule.width_for(p);
  // Transients vanish 4 to 6 panels after the begin, later if HPL looks ahead. Process columns that begin together get
  // out of step, and wait for each other's panels, within three quarters of a round (docs/models/sampled.md).
  sizes.settling = std::max(8, 6 + 4 * depth);
  sizes.warm_up = rule.warm_up > 0 ? rule.warm_up : std::max(sizes.settling, 3 * p.Q / 4);
  // Where HPL looks ahead, windows begin out of step (smpi-models/session/runtime.cpp).
  sizes.before = rule.warm_up > 0 || depth == 0 ? sizes.warm_up : sizes.settling;
  // The cost of panels goes round with the process columns, and a little with the rows.
  sizes.piece = sizes.last_piece = p.Q * std::max(1, (longest + 2 * p.Q - 1) / (2 * p.Q));
  // At the end there is not a block for every process any more.
  sizes.untypical = (3 * longest + 3) / 4;
  // A rank may be as many panels ahead as HPL looks ahead, and one.
  sizes.after = 1 + depth;
  // The first window has no warm-up beside its own panels, and they are the most expensive ones: it is longer, where
  // the run is long.
  const int steady = std::min(3 * sizes.width / 2, std::max(sizes.width, rule.panels / 5));
  sizes.of_first = std::max(sizes.width, std::min(sizes.warm_up + steady, panels_of(p) / 8));
  sizes.windows = rule.windows;
  if (rule.kind == WindowRule::Kind::automatic) {
    const int wanted = (rule.panels - steady) / sizes.width;
    const int have_place = (panels_of(p) - sizes.of_first) / (sizes.width + p.Q) - 1;
    sizes.windows = std::min(rule.windows, std::max(2, std::min(wanted, have_place)));
  }
  sizes.inner = sizes.width;
  if (is_stepwise(rule)) {
    constexpr int least = 8;  // enough to see their scatter on the smallest grids
    sizes.inner = std::max(least, longest / sizes.piece * sizes.piece);
    // In a run of 48 rounds next to nothing is spent in the last panels: a part of them tells what all of them take.
    // Nor does it matter that they begin in step, for three quarters of the first one.
    if (panels_of(p) >= 48 * longest) {
      sizes.untypical = (longest + 3) / 4;
      sizes.last_piece = std::min(sizes.piece, std::max(least, sizes.piece / 4));
      sizes.out_of_step = depth > 0;
      sizes.warm_up = sizes.before;
    }
    sizes.of_first = sizes.warm_up + sizes.inner;
    sizes.windows = std::min(rule.windows, 2);
  }
  return sizes;
}

/// The window that counts from `from` on, or a few panels later: it begins in the first process column.
PanelWindow window_at(int from, int width, const HplParameters& p, const Sizes& sizes, int panels) {
  const int first = std::max(0, (from - sizes.before + p.Q - 1) / p.Q * p.Q);
  const int counts_from = first + sizes.before, to = counts_from + width;
  const int exact_from = std::max(first, counts_from - sizes.settling);
  return {first, counts_from, to, std::min(panels, to + sizes.after), exact_from, first > 0};
}

/// The last panels of the run: a piece that is typical, and those that are not. Little is spent there: the warm-up is
/// short.
PanelWindow last_window(const HplParameters& p, const Sizes& sizes, int panels) {
  const int first = std::max(0, panels - sizes.settling - sizes.last_piece - sizes.untypical) / p.Q * p.Q;
  return {first, first + sizes.settling, panels, panels, first, first > 0};
}

/// A gap between two windows that has place for another one.
struct GapPlace {
  const PanelWindow &before, &behind;
  int panels;          ///< of the gap
  PanelWindow window;  ///< in the middle
};

/// With its warm-up a window may not have place at the begin of the run.
std::vector<GapPlace> places_in(const WindowPlan& plan, const HplParameters& p, const WindowRule& rule) {
  const Sizes sizes = sizes_of(p, rule);
  std::vector<GapPlace> places;
  for (std::size_t i = 0; i + 1 < plan.windows.size(); ++i) {
    const PanelWindow &before = plan.windows[i], &behind = plan.windows[i + 1];
    const int panels = behind.counts_from - before.counts_to;
    if (panels < sizes.width + p.Q) continue;
    const int from = before.counts_to + (panels - sizes.width - p.Q + 1) / 2;
    const PanelWindow window = window_at(from, sizes.width, p, sizes, plan.panels);
    if (window.counts_from < before.counts_to || window.counts_to > behind.counts_from) continue;
    places.push_back({before, behind, panels, window});
  }
  return places;
}

[[noreturn]] void refuse(const HplParameters& p, const WindowRule& rule, const std::string& expected,
                         const std::string& hint) {
  throw DomainError("windows", to_string(rule),
                    expected + ", for the " + std::to_string(panels_of(p)) + " panels of " +
                        (p.NB > 1 ? to_string(p) : "the program, in rounds of " + std::to_string(p.Q)),
                    hint + ", or --windows off");
}

int whole(const std::string& text, const std::string& part) {
  int number = 0;
  constexpr int most = 1000000;
  if (!parse_integer(part, number) || number < 1 || number > most)
    throw DomainError("windows", text, "auto, off, K, K:WIDTH or K:WIDTH:WARMUP with numbers from 1 to 1000000");
  return number;
}

}  // namespace

WindowRule WindowRule::from(const std::string& text) {
  WindowRule rule;
  if (text == "auto") return rule;
  if (text == "off") {
    rule.kind = Kind::off;
    return rule;
  }
  rule.kind = Kind::as_given;
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  rule.windows = whole(text, text.substr(0, first));
  if (first != std::string::npos) rule.width = whole(text, text.substr(first + 1, second - first - 1));
  if (second != std::string::npos) rule.warm_up = whole(text, text.substr(second + 1));
  return rule;
}

std::string to_string(const WindowRule& rule) {
  if (rule.kind == WindowRule::Kind::automatic) return "auto";
  if (rule.kind == WindowRule::Kind::off) return "off";
  std::string text = std::to_string(rule.windows);
  if (rule.width > 0) text += ":" + std::to_string(rule.width);
  if (rule.warm_up > 0) text += ":" + std::to_string(rule.warm_up);
  return text;
}

double WindowPlan::simulated_share() const {
  double simulated = 0;
  for (const PanelWindow& one : windows) simulated += one.simulated_panels();
  return simulated / panels;
}

WindowPlan WindowPlan::make(const HplParameters& p, const WindowRule& rule) {
  const Sizes sizes = sizes_of(p, rule);
  WindowPlan plan;
  plan.panels = panels_of(p);
  plan.piece = sizes.piece;
  plan.warm_up = sizes.warm_up;
  plan.untypical = sizes.untypical;
  if (rule.kind == WindowRule::Kind::off) {
    plan.windows = {{0, 0, plan.panels, plan.panels}};
    return plan;
  }
  if (sizes.inner < sizes.piece)
    refuse(p, rule, "windows of at least " + std::to_string(sizes.piece) + " panels (once round the process grid)",
           "wider windows");
  // The first window has its warm-up, which does not count; the last one has one piece.
  const int inner = sizes.inner / sizes.piece, of_first = std::max(0, sizes.of_first - sizes.warm_up) / sizes.piece;
  const int least_pieces = is_stepwise(rule) ? 4 : 5;
  if (1LL * sizes.windows * inner + of_first + 1 < least_pieces)
    refuse(p, rule, "windows of at least " + std::to_string(least_pieces) + " times round the process grid in all",
           "more or wider windows");
  const PanelWindow last = last_window(p, sizes, plan.panels);
  plan.windows.push_back(
      {0, 0, sizes.of_first, std::min(plan.panels, sizes.of_first + sizes.after), 0, sizes.out_of_step});
  for (int i = 0; i < sizes.windows && plan.windows.back().counts_to <= plan.panels; ++i) {
    // The square of the remaining size falls evenly from window to window.
    const double begin = plan.panels - sizes.of_first, end = plan.panels - last.counts_from;  // remaining panels
    const double share = (i + 0.5) / sizes.windows;
    const double remaining = std::sqrt(begin * begin + (end * end - begin * begin) * share);
    const int from =
        std::max(static_cast<int>(plan.panels - remaining) - sizes.inner / 2, plan.windows.back().counts_to);
    plan.windows.push_back(window_at(from, sizes.inner, p, sizes, plan.panels));
  }
  const bool have_place = plan.windows.back().counts_to <= last.counts_from &&
                          last.counts_from + sizes.last_piece + plan.untypical <= plan.panels;
  if (!have_place && rule.kind == WindowRule::Kind::automatic) return make(p, WindowRule::from("off"));
  if (!have_place)
    refuse(p, rule,
           "windows that have place beside each other: these are " + std::to_string(sizes.windows) + " of " +
               std::to_string(sizes.inner) + " panels, and those of the first and of the last panels",
           "fewer or narrower windows");
  plan.windows.push_back(last);
  if (is_stepwise(rule)) plan.target = rule.target;
  return plan;
}

WindowPlan WindowPlan::of_program(int panels, int round, WindowRule rule) {
  constexpr int most = 10000000, least_rounds = 15;
  if (panels < 1 || panels > most) throw DomainError("marked panels", panels, "1 to 10000000");
  const bool is_automatic = rule.kind == WindowRule::Kind::automatic;  // takes all panels of such a short run
  if (round < 1 || (round > panels && !is_automatic))
    throw DomainError("round of marked panels", round, "1 to the number of panels");
  HplParameters p;
  p.N = panels;
  p.NB = 1;
  p.Q = round;
  if (is_automatic) {  // more and narrower: none are added where the curve bends
    rule.windows = 7;
    rule.width = std::max(4, round);
    if (panels <= least_rounds * rule.width) rule.kind = WindowRule::Kind::off;
  }
  rule.target = 0;
  if (rule.warm_up == 0) rule.warm_up = sizes_of(p, rule).warm_up;  // its process columns are not held up
  return make(p, rule);
}

std::vector<int> WindowPlan::simulated() const {
  std::vector<int> all;
  for (const PanelWindow& window : windows)
    for (int panel = std::max(window.first, all.empty() ? 0 : all.back() + 1); panel < window.simulated_to; ++panel)
      all.push_back(panel);
  return all;
}

std::vector<PanelPiece> steady_pieces(const WindowPlan& plan, const PanelWindow& window) {
  std::vector<PanelPiece> pieces;
  const bool last = window.counts_to == plan.panels;
  const int end = last ? plan.panels - plan.untypical : window.counts_to;
  const int least = last ? std::min(plan.piece, end - window.counts_from) : plan.piece;
  for (int from = window.counts_from == 0 ? plan.warm_up : window.counts_from; from < end && from + least <= end;) {
    const int left = end - from;
    const int panels = left < 2 * plan.piece && !last ? left : least;
    pieces.push_back({from, panels});
    from += panels;
  }
  return pieces;
}

std::vector<PanelWindow> windows_beside(const WindowPlan& plan, const HplParameters& p, const WindowRule& rule,
                                        int panel) {
  const auto counts_it = [&](const PanelWindow& one) { return one.counts_from <= panel && panel < one.counts_to; };
  std::vector<PanelWindow> result;
  for (const GapPlace& place : places_in(plan, p, rule))
    if (counts_it(place.before) || counts_it(place.behind)) result.push_back(place.window);
  return result;
}

std::vector<PanelWindow> windows_between(const WindowPlan& plan, const HplParameters& p, const WindowRule& rule,
                                         int most, const std::function<double(const PanelPiece& gap)>& weight) {
  std::map<std::pair<double, int>, PanelWindow, std::greater<>> by_gap;  // the heaviest, then the last one first
  for (const GapPlace& place : places_in(plan, p, rule)) {
    const int first = place.before.counts_to;
    by_gap[{weight({first, place.panels}), first}] = place.window;
  }
  std::vector<PanelWindow> result;
  for (const auto& [gap, window] : by_gap)
    if (static_cast<int>(result.size()) < most) result.push_back(window);
  return result;
}

}  // namespace hplcast::core
