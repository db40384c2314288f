#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::core {

/// Which panels of a run a sampled prediction simulates (docs/models/sampled.md).
struct WindowRule {
  enum class Kind {
    automatic,  ///< sampled if that saves time: see resolve()
    off,        ///< all panels
    as_given    ///< as the numbers say
  };
  Kind kind = Kind::automatic;
  int windows = 5;  ///< beside those of the first and the last panels; automatic: at most
  /// Typical panels that count: a fifth in the first window and, if automatic, as many as fit in the inner ones, which
  /// are two at least. The scatter of panels averages out, whatever the width of the windows (docs/models/sampled.md).
  int panels = 416;
  /// Automatic: begins with two windows of once round the process grid, and adds windows until error_95_s is at most
  /// this share of the time, or there are as many panels as above. 0: all of them at once.
  double target = 0.006;
  int width = 0;    ///< panels of a window that count; 0: 2 max(P, Q)
  int warm_up = 0;  ///< panels before them; 0: 6 + 4 DEPTH, or (DEPTH 0, as with Q 1) at least 8 and 3 Q / 4

  /// `width` on this grid.
  int width_for(const HplParameters& p) const { return width > 0 ? width : 2 * std::max(p.P, p.Q); }
  /// "auto", "off", "K", "K:WIDTH" or "K:WIDTH:WARMUP". @throws DomainError
  static WindowRule from(const std::string& text);
};
std::string to_string(const WindowRule& rule);

/// Neighbouring panels, counted from 0, that are simulated in a process of their own.
struct PanelWindow {
  int first = 0;         ///< where the simulation begins: a panel of the first process column
  int counts_from = 0;   ///< after the warm-up
  int counts_to = 0;     ///< one after the last panel that counts
  int simulated_to = 0;  ///< one after the last panel that is simulated
  int exact_from = 0;    ///< panels before are simulated as in fast mode, in exact mode, too: far before counts_from
  bool out_of_step = false;  ///< its process columns are held up as it begins, if HPL looks ahead

  int simulated_panels() const { return simulated_to - first; }
};

/// The windows of one run, by ascending panels, that do not count a panel twice. The first begins with panel 0, the
/// last ends with the last panel.
struct WindowPlan {
  int panels = 0;
  int piece = 1;    ///< panels of the pieces that windows and gaps are divided into: a multiple of the process columns
  int warm_up = 0;  ///< panels at the begin of a simulation that are not typical of HPL
  int untypical = 0;    ///< panels at the end of the run that are not, either
  double target = 0;    ///< windows are added until error_95_s is at most this share of the time; 0: none are
  int most_panels = 0;  ///< simulated panels, if windows are added
  std::vector<PanelWindow> windows;

  /// Windows where a share of the remaining time is equally likely to be: their density is proportional to the
  /// remaining size. A plan of one window simulates all panels, as where automatic ones have no place.
  /// @throws DomainError for given ones that have no place in so few panels, or fewer pieces than a curve needs.
  static WindowPlan make(const HplParameters& parameters, const WindowRule& rule);
  /// For a program that marks its panels, and whose ranks take the same turns after `round` of them. Automatic: all
  /// panels of a run of fewer than 15 rounds, else windows all at once. @throws DomainError likewise
  static WindowPlan of_program(int panels, int round, WindowRule rule);

  /// Panels that are simulated, warm-up too, as a share of all; more than 1 if windows are close to each other.
  double simulated_share() const;
  /// The same with all the windows that may be added for the target.
  double largest_share() const { return std::max(simulated_share(), static_cast<double>(most_panels) / panels); }
  /// The panels that are simulated one after the other in one process: those of all windows.
  std::vector<int> simulated() const;
};

/// Neighbouring panels of a window.
struct PanelPiece {
  int first = 0;
  int panels = 0;
};

/// The pieces of a window where HPL costs what it costs in the long run: not while the simulation or the run begins,
/// nor in the last panels. May be empty for the first window.
std::vector<PanelPiece> steady_pieces(const WindowPlan& plan, const PanelWindow& window);

/// Windows of the same width in the middle of the gaps on both sides of the window that counts `panel`, where there is
/// place.
std::vector<PanelWindow> windows_beside(const WindowPlan& plan, const HplParameters& parameters, const WindowRule& rule,
                                        int panel);

/// A window of the rule's width in the middle of each gap between windows that has place for one, where the gap weighs
/// most first, at most `most`. Empty if no gap has.
std::vector<PanelWindow> windows_between(const WindowPlan& plan, const HplParameters& parameters,
                                         const WindowRule& rule, int most,
                                         const std::function<double(const PanelPiece& gap)>& weight);

}  // namespace hplcast::core
