// Which panels of a run are simulated.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/panel_windows.hpp"

namespace hplcast::core {
namespace {

HplParameters parameters(long long N, int NB, int P, int Q) {
  HplParameters p;
  p.N = N;
  p.NB = NB;
  p.P = P;
  p.Q = Q;
  return p;
}

TEST(PanelWindows, CountEveryPanelOnceAndBeginInTheFirstProcessColumn) {
  for (const auto& [P, Q] :
       {std::pair(8, 8), std::pair(2, 32), std::pair(16, 4), std::pair(7, 9), std::pair(1, 5), std::pair(6, 1)}) {
    for (const int depth : {0, 1, 2}) {
      HplParameters p = parameters(100030, 64, P, Q);  // the last panel is narrow
      p.DEPTH = depth;
      const WindowPlan plan = WindowPlan::make(p, WindowRule::from("5"));
      SCOPED_TRACE(to_string(p));
      ASSERT_EQ(plan.windows.size(), 7u);
      EXPECT_EQ(plan.panels, 1563);
      EXPECT_EQ(plan.piece % Q, 0);
      EXPECT_EQ(plan.windows.front().counts_from, 0);
      EXPECT_EQ(plan.windows.front().exact_from, 0);
      EXPECT_EQ(plan.windows.back().counts_to, plan.panels);
      EXPECT_EQ(plan.windows.back().simulated_to, plan.panels);
      for (std::size_t i = 0; i < plan.windows.size(); ++i) {
        const PanelWindow& one = plan.windows[i];
        const bool last = i + 1 == plan.windows.size();
        const int settling = std::max(8, 6 + 4 * (Q > 1 ? depth : 0));
        EXPECT_EQ(one.first % Q, 0);
        EXPECT_GE(one.counts_to - one.counts_from, last ? plan.piece + plan.untypical : 2 * std::max(P, Q));
        EXPECT_LE(one.simulated_to, plan.panels);
        if (i == 0) continue;
        EXPECT_GE(one.counts_from - one.first, last || depth > 0 ? settling : std::max(settling, 3 * Q / 4));
        EXPECT_EQ(one.exact_from, one.counts_from - settling);
        EXPECT_GE(one.counts_from, plan.windows[i - 1].counts_to);
        EXPECT_TRUE(one.simulated_to > one.counts_to || one.counts_to == plan.panels);
      }
      EXPECT_LT(plan.simulated_share(), 1);
    }
  }
}

// The curve of the remaining panels hangs on the last piece: without one the error of N=500,000 was twice as large.
TEST(PanelWindows, HaveTypicalPiecesAtBothEndsOfTheRun) {
  for (const auto& [P, Q] : {std::pair(8, 8), std::pair(2, 32), std::pair(16, 4), std::pair(32, 32), std::pair(1, 5)}) {
    for (int panels = 1000; panels < 1000 + 2 * Q; ++panels) {
      const WindowPlan plan = WindowPlan::make(parameters(64LL * panels, 64, P, Q), WindowRule::from("5"));
      SCOPED_TRACE(std::to_string(P) + "x" + std::to_string(Q) + ", " + std::to_string(panels) + " panels");
      const std::vector<PanelPiece> begin = steady_pieces(plan, plan.windows.front());
      const std::vector<PanelPiece> end = steady_pieces(plan, plan.windows.back());
      ASSERT_FALSE(begin.empty());
      ASSERT_FALSE(end.empty());
      EXPECT_GE(begin.front().first, plan.warm_up);
      EXPECT_EQ(end.front().first, plan.windows.back().counts_from);
      const int behind = panels - end.back().first - end.back().panels;
      EXPECT_GE(behind, std::max(P, Q) * 3 / 4);
      EXPECT_LT(behind, plan.untypical + plan.piece);
    }
  }
}

TEST(PanelWindows, AreFewerWhereTheyAreWide) {
  WindowRule at_once;
  at_once.target = 0;
  const auto windows = [&](int P, int Q) {
    return WindowPlan::make(parameters(64LL * 20000, 64, P, Q), at_once).windows.size() - 2;
  };
  EXPECT_EQ(windows(8, 8), 5U);
  EXPECT_EQ(windows(32, 32), 5U);
  EXPECT_EQ(windows(40, 20), 4U);
  EXPECT_EQ(windows(64, 64), 2U);
  EXPECT_EQ(windows(128, 160), 2U);
  // The shortest runs that are sampled at all have place for them.
  for (const auto& [P, Q] : {std::pair(8, 8), std::pair(2, 32), std::pair(32, 2), std::pair(1, 64), std::pair(64, 64)})
    for (int depth = 0; depth < 3; ++depth) {
      HplParameters p = parameters(64LL * (15 * std::max(P, Q) + 1), 64, P, Q);
      p.DEPTH = depth;
      EXPECT_NO_THROW(WindowPlan::make(p, at_once)) << to_string(p);
      EXPECT_NO_THROW(WindowPlan::make(p, WindowRule())) << to_string(p);
    }
  const WindowPlan as_given = WindowPlan::make(parameters(64LL * 20000, 64, 64, 64), WindowRule::from("4"));
  EXPECT_EQ(as_given.windows.size() - 2, 4U);
}

TEST(PanelWindows, MoreOfThemGoWhereTheGapsWeighMost) {
  const HplParameters p = parameters(100000, 64, 4, 8);
  const WindowRule rule = WindowRule::from("2");
  const WindowPlan plan = WindowPlan::make(p, rule);
  const auto width = [](const PanelPiece& gap) { return static_cast<double>(gap.panels); };
  const std::vector<PanelWindow> more = windows_between(plan, p, rule, 2, width);
  ASSERT_EQ(more.size(), 2u);
  const auto begin = [](const PanelPiece& gap) { return -static_cast<double>(gap.first); };
  EXPECT_LT(windows_between(plan, p, rule, 1, begin).at(0).counts_from, plan.windows.at(1).counts_from);
  for (const PanelWindow& one : more) {
    for (const PanelWindow& other : plan.windows)
      EXPECT_TRUE(one.counts_to <= other.counts_from || one.counts_from >= other.counts_to);
  }
}

// HPL_pdgesv looks ahead only beside other process columns.
TEST(PanelWindows, OfOneProcessColumnDoNotLookAhead) {
  HplParameters p = parameters(40000, 128, 4, 1);
  for (const char* rule : {"auto", "5"}) {
    p.DEPTH = 0;
    const WindowPlan plan = WindowPlan::make(p, WindowRule::from(rule));
    p.DEPTH = 2;
    const WindowPlan deep = WindowPlan::make(p, WindowRule::from(rule));
    ASSERT_EQ(deep.windows.size(), plan.windows.size());
    for (std::size_t i = 0; i < plan.windows.size(); ++i) {
      EXPECT_EQ(deep.windows[i].first, plan.windows[i].first);
      EXPECT_EQ(deep.windows[i].counts_from, plan.windows[i].counts_from);
      EXPECT_EQ(deep.windows[i].simulated_to, plan.windows[i].simulated_to);
    }
    EXPECT_FALSE(deep.windows.front().out_of_step);
  }
}

// At the begin of the run a warm-up may leave no place where a gap has enough panels.
TEST(PanelWindows, OfGapsStayInThem) {
  for (const auto& [P, Q, panels, depth, windows] :
       {std::tuple(4, 1, 59, 2, "1"), std::tuple(1, 1, 137, 0, "2:2:48"), std::tuple(4, 8, 1000, 1, "2")}) {
    HplParameters p = parameters(64LL * panels, 64, P, Q);
    p.DEPTH = depth;
    const WindowRule rule = WindowRule::from(windows);
    const WindowPlan plan = WindowPlan::make(p, rule);
    std::vector<PanelWindow> more = windows_between(plan, p, rule, 10, [](const PanelPiece&) { return 1.0; });
    for (const PanelWindow& one : plan.windows)
      for (const PanelWindow& beside : windows_beside(plan, p, rule, one.counts_from)) more.push_back(beside);
    for (const PanelWindow& one : more)
      for (const PanelWindow& other : plan.windows)
        EXPECT_TRUE(one.counts_to <= other.counts_from || one.counts_from >= other.counts_to)
            << to_string(p) << ": " << one.counts_from << " to " << one.counts_to;
  }
}

TEST(PanelWindows, GoOnBothSidesOfAChange) {
  const HplParameters p = parameters(100000, 64, 4, 8);
  const WindowRule rule = WindowRule::from("3");
  const WindowPlan plan = WindowPlan::make(p, rule);
  const PanelWindow& middle = plan.windows.at(2);
  const std::vector<PanelWindow> more = windows_beside(plan, p, rule, middle.counts_from);
  ASSERT_EQ(more.size(), 2u);
  EXPECT_GE(more[0].counts_from, plan.windows.at(1).counts_to);
  EXPECT_LE(more[0].counts_to, middle.counts_from);
  EXPECT_GE(more[1].counts_from, middle.counts_to);
  EXPECT_LE(more[1].counts_to, plan.windows.at(3).counts_from);
  EXPECT_EQ(windows_beside(plan, p, rule, 0).size(), 1u);  // nothing is before the first window
}

/// 206 panels before those that count.
TEST(PanelWindows, AreTheWholeRunWhereAutomaticOnesHaveNoPlace) {
  HplParameters p = parameters(99840, 384, 16, 16);
  p.DEPTH = 50;
  EXPECT_EQ(WindowPlan::make(p, WindowRule()).windows.size(), 1U);
  EXPECT_THROW(WindowPlan::make(p, WindowRule::from("2")), DomainError);
}

TEST(PanelWindows, ThatARunHasNoPlaceForAreRefused) {
  EXPECT_THROW(WindowPlan::make(parameters(6400, 64, 4, 8), WindowRule::from("6")), DomainError);
  EXPECT_THROW(WindowPlan::make(parameters(100000, 64, 4, 8), WindowRule::from("2:3")), DomainError);
  EXPECT_THROW(WindowPlan::make(parameters(100000, 64, 4, 8), WindowRule::from("2:1000")), DomainError);
  EXPECT_THROW(WindowPlan::make(parameters(100000, 64, 4, 8), WindowRule::from("1:8")), DomainError);  // 3 pieces
  // As many as 2^31 panels, and as 10^12.
  EXPECT_THROW(WindowPlan::make(parameters(100000, 64, 2, 2), WindowRule::from("2147:1000000")), DomainError);
  EXPECT_THROW(WindowPlan::make(parameters(100000, 64, 1, 1), WindowRule::from("1000000:1000000")), DomainError);
  // The last window needs 6 + 4 DEPTH panels before those that count, at least 8.
  EXPECT_THROW(WindowPlan::make(parameters(5 * 64, 64, 1, 1), WindowRule::from("5:1:1")), DomainError);
}

TEST(WindowRule, IsWhatItSays) {
  EXPECT_EQ(WindowRule::from("auto").kind, WindowRule::Kind::automatic);
  EXPECT_EQ(WindowRule::from("off").kind, WindowRule::Kind::off);
  const WindowRule rule = WindowRule::from("3:40:12");
  EXPECT_EQ(rule.windows, 3);
  EXPECT_EQ(rule.width, 40);
  EXPECT_EQ(rule.warm_up, 12);
  EXPECT_EQ(to_string(rule), "3:40:12");
  for (const char* wrong : {"", "0", "-1", "3:", "3:x", "3:40:", "3:40:12:1", "1e3", "on", "3:0"})
    EXPECT_THROW(WindowRule::from(wrong), DomainError) << wrong;
}

TEST(PanelWindows, OfProgramsAreSimulatedOneAfterTheOther) {
  const WindowRule rule = WindowRule::from("auto");
  EXPECT_EQ(WindowPlan::of_program(120, 8, rule).windows.size(), 1u) << "15 rounds: windows would not be shorter";
  const WindowPlan plan = WindowPlan::of_program(1000, 8, rule);
  ASSERT_EQ(plan.windows.size(), 1u + 7 + 1);
  for (std::size_t i = 1; i < 8; ++i) EXPECT_EQ(plan.windows[i].counts_to - plan.windows[i].counts_from, 8) << i;
  EXPECT_EQ(plan.target, 0) << "nothing is added";
  for (int round = 1; round <= 40; ++round)
    for (int all = round; all <= 1000; all += 1 + all / 10) EXPECT_NO_THROW(WindowPlan::of_program(all, round, rule));
  const std::vector<int> panels = plan.simulated();
  EXPECT_EQ(std::adjacent_find(panels.begin(), panels.end(), std::greater_equal<>()), panels.end());
  for (const PanelWindow& window : plan.windows)
    for (int panel = window.first; panel < window.simulated_to; ++panel)
      EXPECT_TRUE(std::binary_search(panels.begin(), panels.end(), panel)) << panel;
  EXPECT_LE(static_cast<double>(panels.size()), 1000 * plan.simulated_share());
  const PanelWindow wide = WindowPlan::of_program(1000, 32, rule).windows.at(1);
  EXPECT_EQ(wide.counts_from - wide.first, 3 * 32 / 4) << "they begin in step";
  for (const auto& [all, round] : {std::pair(0, 1), std::pair(10, 0), std::pair(2000000000, 1)})
    EXPECT_THROW(WindowPlan::of_program(all, round, rule), DomainError) << all << ", " << round;
  EXPECT_EQ(WindowPlan::of_program(10, 16, rule).simulated().size(), 10U) << "not once round: all panels";
  EXPECT_THROW(WindowPlan::of_program(10, 16, WindowRule::from("2")), DomainError);
}

}  // namespace
}  // namespace hplcast::core
