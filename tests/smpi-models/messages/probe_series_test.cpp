#include "smpi-models/messages/probe_series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace hplcast::smpi_models {
namespace {

constexpr double probe_s = 0.25;  // sums of these are exact

/// A rank that begins at `begin_s` to work on some pieces, probes after each, goes on with only probes, and has
/// something to find from `sent_s` on.
struct Poller {
  double begin_s;
  double sent_s;
  double piece_s = 0;
  int pieces = 0;
};

/// Every probe one by one: when each of the ranks finds what was sent.
template <std::size_t count>
std::array<double, count> by_every_probe(const std::array<Poller, count>& pollers, bool grow) {
  enum Doing { nothing, work, probe };
  std::array<double, count> end_s{};
  std::array<Doing, count> doing{};
  std::array<int, count> pieces{};
  std::array<double, count> found_s{};
  double factor = 1;
  for (std::size_t done = 0; done < count;) {
    // The next thing to happen: a rank begins, or a probe ends.
    std::size_t next = count;
    double next_s = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < count; ++i) {
      const double event_s = found_s[i] > 0 ? next_s : doing[i] == nothing ? pollers[i].begin_s : end_s[i];
      if (event_s < next_s) next = i, next_s = event_s;
    }
    const bool found = doing[next] == probe && pollers[next].sent_s <= next_s;
    if (doing[next] == probe) factor = found ? 1 : factor + (grow ? 1 : 0);
    if (found) {
      found_s[next] = next_s;
      ++done;
    } else if (doing[next] != work && pieces[next] < pollers[next].pieces) {
      doing[next] = work;
      end_s[next] = next_s + pollers[next].piece_s;
      ++pieces[next];
    } else {
      doing[next] = probe;
      end_s[next] = next_s + probe_s * factor;
    }
  }
  return found_s;
}

/// The same by begin() and stop(), as the runtime calls them.
template <std::size_t count>
std::array<double, count> by_series(const std::array<Poller, count>& pollers, bool grow) {
  struct Event {
    double time_s;
    std::size_t id;
    enum { begin, send, end_work, find } kind;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < count; ++i) {
    events.push_back({pollers[i].begin_s, i, Event::begin});
    events.push_back({pollers[i].sent_s, i, Event::send});
  }
  ProbeSeries series(probe_s, grow);
  std::vector<ProbeSeries::Prober> probers;
  for (std::size_t i = 0; i < count; ++i) probers.emplace_back(i);
  std::array<double, count> found_s{};
  while (!events.empty()) {
    const auto next = std::min_element(events.begin(), events.end(),
                                       [](const Event& a, const Event& b) { return a.time_s < b.time_s; });
    const Event event = *next;
    events.erase(next);
    if (event.kind == Event::begin) {
      const Poller& poller = pollers[event.id];
      if (poller.pieces == 0) {
        series.begin(probers[event.id], event.time_s + series.cost_s(event.time_s));
      } else {
        series.begin_work(probers[event.id], event.time_s,
                          std::vector<double>(static_cast<std::size_t>(poller.pieces), poller.piece_s));
      }
    } else if (event.kind == Event::send) {
      const ProbeSeries::Stop stop = series.stop(probers[event.id], event.time_s);
      events.push_back({stop.end_s, event.id, stop.probes ? Event::find : Event::end_work});
    } else if (event.kind == Event::end_work) {
      events.push_back({event.time_s + series.cost_s(event.time_s), event.id, Event::find});
    } else {
      found_s[event.id] = event.time_s;
      series.ended(event.time_s, true);
    }
  }
  return found_s;
}

// Times that no probe ends at: what happens then at one instant is not defined.
constexpr std::array<Poller, 4> four = {{{0.0, 40.03}, {0.07, 71.5}, {3.01, 12.9}, {45.02, 45.9}}};

TEST(ProbeSeries, FindsWhatEveryProbeWouldFindWhenItWouldFindIt) {
  EXPECT_EQ(by_series(four, false), by_every_probe(four, false));
  EXPECT_EQ(by_series(four, true), by_every_probe(four, true));
  EXPECT_NE(by_series(four, true), by_series(four, false));
}

// The second finds it after some of its pieces of work, in the midst of one; the third at the end of a probe between
// two; the last after all of them.
constexpr std::array<Poller, 4> workers = {
    {{0.0, 40.03}, {0.07, 31.5, 9.01, 7}, {3.01, 12.3, 4.03, 8}, {5.02, 45.9, 1.13, 3}}};

TEST(ProbeSeries, ProbesBetweenPiecesOfWorkFindItWhenTheyWouldHaveFoundIt) {
  EXPECT_EQ(by_series(workers, true), by_every_probe(workers, true));
}

TEST(ProbeSeries, SaysHowFarTheWorkIsAndHowManyProbesHaveFailed) {
  const auto expect_at = [](double now_s, const ProbeSeries::Stop& expected) {
    ProbeSeries series(probe_s, true);
    ProbeSeries::Prober prober(3);
    series.begin_work(prober, 0, {10, 20});
    const ProbeSeries::Stop stop = series.stop(prober, now_s);
    EXPECT_EQ(stop.end_s, expected.end_s) << now_s;
    EXPECT_EQ(stop.probes, expected.probes) << now_s;
    EXPECT_EQ(stop.work_s, expected.work_s) << now_s;
    EXPECT_EQ(stop.failed, expected.failed) << now_s;
  };
  // Work until 10, a probe until 10.25, work until 30.25, a probe of twice that until 30.75, then only probes.
  expect_at(4, {10, false, 10, 0});
  expect_at(10.1, {10.25, true, 10, 0});
  expect_at(10.3, {30.25, false, 30, 1});
  expect_at(33, {30.75 + 0.75 + 1 + 1.25, true, 30, 2});
}

TEST(ProbeSeries, AProbeThatFailsMakesTheNextLonger) {
  ProbeSeries series(probe_s, true);
  EXPECT_EQ(series.cost_s(0), probe_s);
  series.ended(1, false);
  series.ended(2, false);
  EXPECT_EQ(series.cost_s(2), 3 * probe_s);
  series.ended(3, true);
  EXPECT_EQ(series.cost_s(3), probe_s);
}

TEST(ProbeSeries, ProbesWithoutCostFindAtOnce) {
  for (const bool grow : {false, true}) {
    ProbeSeries series(0, grow);
    ProbeSeries::Prober prober(0);
    series.begin(prober, 1);
    EXPECT_EQ(series.stop(prober, 5).end_s, 5);
  }
}

TEST(ProbeSeries, DetoursStretchProbesAndWorkOneByOne) {
  const std::vector<core::DetourSource> sources = {
      core::DetourSource::make({"d", core::PoissonDetours(), 4, core::ExponentialDuration{1}})};
  RankDetours every(sources, {1, 2, 0, 0});
  RankDetours skipped = every;
  double now_s = 0;
  for (int i = 0; i < 200; ++i) {
    const double sent_s = now_s + 0.1 * i;  // within the first probe, and after many
    ProbeSeries series(probe_s, i % 2 == 1);
    ProbeSeries::Prober prober(0);
    series.begin(prober, skipped.after(Work::other, now_s, probe_s), &skipped);
    const double found_s = series.stop(prober, sent_s).end_s;
    double factor = 1;
    double end_s = every.after(Work::other, now_s, probe_s);
    while (end_s < sent_s) end_s = every.after(Work::other, end_s, probe_s * (i % 2 == 1 ? ++factor : 1));
    // Some 80 probes are added up one by one, in times of up to 2500 s.
    EXPECT_NEAR(found_s, end_s, 1e-9) << i;
    now_s = std::max(found_s, end_s) + 1e-6;
  }
}

}  // namespace
}  // namespace hplcast::smpi_models
