#include "probe_series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace hplcast::smpi_models {
namespace {

constexpr double probe_s = 0.25;  // sums of these are exact

/// A rank that begins to probe at `begin_s` and has something to find from `sent_s` on.
struct Poller {
  double begin_s;
  double sent_s;
};

/// Every probe one by one: when each of the ranks finds what was sent.
template <std::size_t count>
std::array<double, count> by_every_probe(const std::array<Poller, count>& pollers, bool grow) {
  std::array<double, count> end_s{};
  std::array<bool, count> probing{};
  std::array<double, count> found_s{};
  double factor = 1;
  for (std::size_t done = 0; done < count;) {
    // The next thing to happen: a rank begins, or a probe ends.
    std::size_t next = count;
    double next_s = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < count; ++i) {
      const double event_s = found_s[i] > 0 ? next_s : probing[i] ? end_s[i] : pollers[i].begin_s;
      if (event_s < next_s) next = i, next_s = event_s;
    }
    const bool ends = probing[next];
    const bool found = ends && pollers[next].sent_s <= next_s;
    if (ends) factor = found ? 1 : factor + (grow ? 1 : 0);
    if (found) {
      found_s[next] = next_s;
      ++done;
    } else {
      probing[next] = true;
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
    enum { begin, send, find } kind;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < count; ++i) {
    events.push_back({pollers[i].begin_s, i, Event::begin});
    events.push_back({pollers[i].sent_s, i, Event::send});
  }
  ProbeSeries series(probe_s, grow);
  std::array<double, count> found_s{};
  while (!events.empty()) {
    const auto next = std::min_element(events.begin(), events.end(),
                                       [](const Event& a, const Event& b) { return a.time_s < b.time_s; });
    const Event event = *next;
    events.erase(next);
    if (event.kind == Event::begin) {
      series.begin(event.id, event.time_s + series.cost_s(event.time_s));
    } else if (event.kind == Event::send) {
      found_s[event.id] = series.stop(event.id, event.time_s);
      events.push_back({found_s[event.id], event.id, Event::find});
    } else {
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
    series.begin(0, 1);
    EXPECT_EQ(series.stop(0, 5), 5);
  }
}

}  // namespace
}  // namespace hplcast::smpi_models
