// The clocks of streams: their formulas against a slow and obvious simulation of discrete events, and by hand.
#include "accelerators/clock/stream_clocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hplcast::accelerators {
namespace {

hplcast_accelerator typical_costs() {
  hplcast_accelerator costs{};
  costs.launch_s = 4e-6;
  costs.start_s = 3e-6;
  costs.gap_s = 1e-6;
  costs.record_s = 5e-7;
  costs.sync_s = 2e-6;
  costs.flag_s = 1.2e-6;
  for (hplcast_copy_costs& copy : costs.copies) copy = {1e-5, 3.6e10, 9e9};
  return costs;
}

/// What the host of a random program does.
struct Step {
  enum Kind { launch, copy, record, wait, synchronise, synchronise_event, synchronise_all, compute, kinds } kind;
  int stream;
  int event;
  hplcast_direction direction;
  double duration_s;
  bool waits;
};

struct RandomProgram {
  std::vector<bool> waits_for_null = {true};  // by stream; the first is the null stream
  int events;
  std::vector<Step> steps;
};

RandomProgram random_program(std::mt19937_64& random) {
  const auto up_to = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most + 1)); };
  std::exponential_distribution<double> short_s(1 / 1e-5);
  RandomProgram program;
  for (int streams = up_to(4); streams > 0; --streams) program.waits_for_null.push_back(up_to(3) > 0);
  program.events = 1 + up_to(3);
  for (int steps = 5 + up_to(60); steps > 0; --steps) {
    const int stream = up_to(static_cast<int>(program.waits_for_null.size()) - 1);
    program.steps.push_back({static_cast<Step::Kind>(up_to(Step::kinds - 1)), stream, up_to(program.events - 1),
                             static_cast<hplcast_direction>(up_to(HPLCAST_DIRECTIONS - 1)), short_s(random),
                             up_to(3) == 0});
  }
  return program;
}

/// Each piece of work is an object that begins when all that it waits for has ended; time goes on from one end to the
/// next.
class SlowStreams {
 public:
  SlowStreams(const hplcast_accelerator& costs, const RandomProgram& program)
      : costs_(costs), program_(program), last_(program.waits_for_null.size(), -1), engine_(HPLCAST_DIRECTIONS, -1) {}

  /// The host's time after each step; last, how long kernels were beside each other.
  std::vector<double> run() {
    std::vector<double> times;
    for (const Step& step : program_.steps) {
      do_step(step);
      times.push_back(now_s_);
    }
    until_all();
    times.push_back(overlap_s());
    return times;
  }

 private:
  struct Work {
    std::set<int> after;    ///< in streams
    int engine_after = -1;  ///< the copy before it
    double from_s;          ///< not before
    double gap_s, duration_s;
    double end_s = -1;  ///< negative: not over
    bool is_kernel = false;
  };

  /// The last pieces of work of all streams that this one follows.
  std::set<int> before(int stream) const {
    std::set<int> works;
    for (int i = 0; i < static_cast<int>(last_.size()); ++i) {
      const bool follows = i == stream || (stream == 0 && program_.waits_for_null[static_cast<std::size_t>(i)]) ||
                           (i == 0 && program_.waits_for_null[static_cast<std::size_t>(stream)]);
      if (follows && last_[static_cast<std::size_t>(i)] >= 0) works.insert(last_[static_cast<std::size_t>(i)]);
    }
    return works;
  }

  int add(Work work) {
    works_.push_back(std::move(work));
    return static_cast<int>(works_.size()) - 1;
  }

  double begin_of(const Work& work) const {
    double begin_s = work.from_s;
    for (const int one : work.after) {
      const double end_s = works_[static_cast<std::size_t>(one)].end_s;
      if (end_s < 0) return -1;
      begin_s = std::max(begin_s, end_s + work.gap_s);
    }
    if (work.engine_after < 0) return begin_s;
    const double end_s = works_[static_cast<std::size_t>(work.engine_after)].end_s;
    return end_s < 0 ? -1 : std::max(begin_s, end_s);
  }

  /// Lets works end one by one, the earliest first, until these have ended.
  void until(const std::set<int>& wanted) {
    const auto is_over = [&](int one) { return works_[static_cast<std::size_t>(one)].end_s >= 0; };
    while (!std::all_of(wanted.begin(), wanted.end(), is_over)) {
      Work* next = nullptr;
      double next_end_s = std::numeric_limits<double>::infinity();
      for (Work& work : works_) {
        const double begin_s = work.end_s >= 0 ? -1 : begin_of(work);
        if (begin_s < 0 || begin_s + work.duration_s >= next_end_s) continue;
        next = &work;
        next_end_s = begin_s + work.duration_s;
      }
      next->end_s = next_end_s;
    }
    for (const int one : wanted) now_s_ = std::max(now_s_, works_[static_cast<std::size_t>(one)].end_s);
  }

  void do_step(const Step& step) {
    int& last = last_[static_cast<std::size_t>(step.stream)];
    switch (step.kind) {
      case Step::compute:
        now_s_ += step.duration_s;
        break;
      case Step::launch:
        now_s_ += costs_.launch_s;
        last = add({before(step.stream), -1, now_s_ + costs_.start_s, costs_.gap_s, step.duration_s, -1, true});
        break;
      case Step::copy: {
        now_s_ += costs_.launch_s;
        int& engine = engine_[step.direction];
        const int engine_before = step.direction == HPLCAST_WITHIN_DEVICE ? -1 : engine;
        engine = last =
            add({before(step.stream), engine_before, now_s_ + costs_.start_s, costs_.gap_s, step.duration_s});
        if (step.waits) {
          until({last});
          now_s_ += costs_.sync_s;
        }
        break;
      }
      case Step::record:
        now_s_ += costs_.record_s;
        events_[step.event] = add({before(step.stream), -1, now_s_, 0, 0});
        break;
      case Step::wait: {
        now_s_ += costs_.record_s;
        if (events_.count(step.event) == 0) break;
        std::set<int> after = before(step.stream);
        after.insert(events_[step.event]);
        last = add({after, -1, 0, 0, 0});
        break;
      }
      case Step::synchronise:
        until(step.stream == 0 ? before(0) : last < 0 ? std::set<int>() : std::set<int>{last});
        now_s_ += costs_.sync_s;
        break;
      case Step::synchronise_event:
        if (events_.count(step.event) > 0) until({events_[step.event]});
        now_s_ += costs_.sync_s;
        break;
      default:
        until_all();
        now_s_ += costs_.sync_s;
    }
  }

  void until_all() {
    std::set<int> all;
    for (const int one : last_)
      if (one >= 0) all.insert(one);
    until(all);
  }

  /// Of all kernels in the order of their begins the part before the latest end of those before.
  double overlap_s() const {
    std::vector<std::pair<double, double>> kernels;
    for (const Work& work : works_)
      if (work.is_kernel) kernels.emplace_back(work.end_s - work.duration_s, work.end_s);
    std::sort(kernels.begin(), kernels.end());
    double sum_s = 0, until_s = 0;
    for (const auto& [begin_s, end_s] : kernels) {
      sum_s += std::max(0.0, std::min(end_s, until_s) - begin_s);
      until_s = std::max(until_s, end_s);
    }
    return sum_s;
  }

  const hplcast_accelerator& costs_;
  const RandomProgram& program_;
  std::vector<Work> works_;
  std::vector<int> last_, engine_;
  std::map<int, int> events_;
  double now_s_ = 0;
};

std::vector<double> by_clocks(const hplcast_accelerator& costs, const RandomProgram& program) {
  StreamClocks clocks(costs);
  for (std::size_t i = 1; i < program.waits_for_null.size(); ++i) clocks.make_stream(program.waits_for_null[i]);
  for (int i = 0; i < program.events; ++i) clocks.make_event();
  double now_s = 0;
  std::vector<double> times;
  for (const Step& step : program.steps) {
    switch (step.kind) {
      case Step::compute:
        now_s += step.duration_s;
        break;
      case Step::launch:
        now_s = clocks.launch(now_s, step.stream, step.duration_s);
        break;
      case Step::copy:
        now_s = clocks.copy(now_s, step.stream, step.direction, step.duration_s, step.waits);
        break;
      case Step::record:
        now_s = clocks.record(now_s, step.event, step.stream);
        break;
      case Step::wait:
        now_s = clocks.wait(now_s, step.stream, step.event);
        break;
      case Step::synchronise:
        now_s = clocks.synchronise(now_s, step.stream);
        break;
      case Step::synchronise_event:
        now_s = clocks.synchronise_event(now_s, step.event);
        break;
      default:
        now_s = clocks.synchronise_all(now_s);
    }
    times.push_back(now_s);
  }
  times.push_back(clocks.take_overlap_s());
  return times;
}

TEST(StreamClocks, AreThoseOfDiscreteEventsInRandomPrograms) {
  std::mt19937_64 random(47);
  for (int program = 0; program < 1000; ++program) {
    const RandomProgram one = random_program(random);
    hplcast_accelerator costs = typical_costs();
    if (program % 5 == 0) costs.launch_s = costs.start_s = costs.gap_s = costs.record_s = costs.sync_s = 0;
    const std::vector<double> expected = SlowStreams(costs, one).run();
    const std::vector<double> found = by_clocks(costs, one);
    // Both add the same numbers in other orders: some hundred roundings of 1e-3 s.
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 1e-12) << "program " << program << ", step " << i;
  }
}

TEST(StreamClocks, KernelsOfAStreamFollowEachOtherAndThoseOfOthersDoNot) {
  const hplcast_accelerator costs = typical_costs();
  StreamClocks clocks(costs);
  const int one = clocks.make_stream(false), other = clocks.make_stream(false);
  double now_s = clocks.launch(0, one, 1e-3);
  now_s = clocks.launch(now_s, one, 1e-3);
  now_s = clocks.launch(now_s, other, 1e-3);
  EXPECT_DOUBLE_EQ(now_s, 3 * costs.launch_s);
  EXPECT_DOUBLE_EQ(clocks.synchronise(now_s, other), 3 * costs.launch_s + costs.start_s + 1e-3 + costs.sync_s);
  EXPECT_DOUBLE_EQ(clocks.synchronise(now_s, one), costs.launch_s + costs.start_s + costs.gap_s + 2e-3 + costs.sync_s);
  // The second stream's kernel runs beside the first two for all of its time but the gap between them.
  EXPECT_NEAR(clocks.take_overlap_s(), 1e-3 - costs.gap_s, 1e-15);
}

// More kernels that are still to come than were remembered once (1000): a fifth of the overlap was left.
TEST(StreamClocks, AllKernelsThatAreNotOverCountBesideAnother) {
  const hplcast_accelerator costs = typical_costs();
  StreamClocks clocks(costs);
  const int one = clocks.make_stream(false), other = clocks.make_stream(false);
  constexpr int kernels = 5000;
  constexpr double each_s = 1e-3, all_s = kernels * each_s;
  double now_s = 0;
  for (int i = 0; i < kernels; ++i) now_s = clocks.launch(now_s, one, each_s);
  clocks.launch(now_s, other, 2 * all_s);
  // But for those that began before the other one, 4 us after each other, and a part of one.
  EXPECT_NEAR(clocks.take_overlap_s(), all_s - now_s, 2 * each_s);
}

TEST(StreamClocks, PageableMemoryIsSlowerAndTheHostWaits) {
  const hplcast_accelerator costs = typical_costs();
  StreamClocks clocks(costs);
  EXPECT_DOUBLE_EQ(clocks.copy_s(HPLCAST_TO_DEVICE, 3.6e7, false), 1e-5 + 1e-3);
  EXPECT_DOUBLE_EQ(clocks.copy_s(HPLCAST_TO_DEVICE, 3.6e7, true), 1e-5 + 4e-3);
}

TEST(StreamClocks, AHandshakeTakesWhatItsColumnsAndTheHostTake) {
  const hplcast_accelerator costs = typical_costs();
  const double rows = 1e4, column_s = 2e-6, row_s = 2.5e-11, element_s = 1.25e-11;
  StreamClocks clocks(costs);
  const StreamClocks::Handshake three{rows, 3, {0, 0, -1, column_s, row_s, element_s}};
  const double now_s = clocks.launch_handshake(0, 0, three);
  const double search_s = column_s + row_s * rows;
  const double begin_s = costs.launch_s + costs.start_s;
  EXPECT_DOUBLE_EQ(now_s, costs.launch_s);
  EXPECT_DOUBLE_EQ(clocks.shown_s(0), begin_s + search_s + costs.flag_s);
  // The host answers late: the kernel waits for it.
  EXPECT_FALSE(clocks.clear(1e-3, 0));
  EXPECT_DOUBLE_EQ(clocks.shown_s(0), 1e-3 + costs.flag_s + search_s + costs.flag_s);
  // The host answers at once: it waits for the update of the one column that is left.
  const double updated_s = 1e-3 + costs.flag_s + search_s + element_s * rows;
  EXPECT_FALSE(clocks.clear(1e-3 + 1e-9, 0));
  EXPECT_DOUBLE_EQ(clocks.shown_s(0), updated_s + search_s + costs.flag_s);
  EXPECT_TRUE(clocks.has_handshake(0));
  EXPECT_EQ(clocks.handshake_before(0), 0);
  const double last_s = clocks.shown_s(0) + 5e-6;
  EXPECT_TRUE(clocks.clear(last_s, 0));
  EXPECT_FALSE(clocks.has_handshake(0));
  EXPECT_EQ(clocks.handshake_before(std::nullopt), -1);
  EXPECT_DOUBLE_EQ(clocks.synchronise(last_s, 0), last_s + costs.flag_s + search_s + costs.sync_s);
  EXPECT_DOUBLE_EQ(clocks.handshake_s(0), last_s + costs.flag_s + search_s - begin_s);
}

}  // namespace
}  // namespace hplcast::accelerators
