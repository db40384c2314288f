#include "hplcast/calibration/measure_detours.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "hplcast/core/detour_trace.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {
namespace {

GapOptions on_first_core(GapMethod method, double for_s) {
  GapOptions options;
  options.method = method;
  options.for_s = for_s;
  options.cores = {Topology::of_this_machine().cores().front()};
  options.host = "here";
  return options;
}

core::DetourTrace read(const std::string& text) {
  std::istringstream in(text);
  return core::read_detour_trace(in, "gaps.csv");
}

/// Passes of 60 us that scatter by up to 1 us and become a tenth longer meanwhile, as of a core whose frequency falls.
std::vector<WatchRecord> passes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<WatchRecord> result;
  std::int64_t now = 1000;
  for (std::size_t i = 0; i < count; ++i) {
    const auto scatter = static_cast<std::int64_t>(random() % 2001) - 1000;
    result.push_back({now, 60000 + static_cast<std::int64_t>(6000 * i / count) + scatter, 0});
    now += result.back().duration;
  }
  return result;
}

TEST(GapsOfPasses, HaveTheirDurationWithWhatTheyMakeSlowerAfterThem) {
  std::vector<WatchRecord> series = passes(20000);
  for (std::size_t i = 100; i < series.size(); i += 500) {
    series[i].duration += 80000;
    series[i + 1].duration += 10000;
    series[i + 2].duration += 6000;
  }
  const std::vector<WatchRecord> gaps = gaps_of_passes(series, 1000);
  ASSERT_EQ(gaps.size(), 40U);
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    EXPECT_EQ(gaps[i].start, series[100 + 500 * i].start);
    EXPECT_NEAR(static_cast<double>(gaps[i].duration), 96000, 3 * 1000 + 1000)
        << i;  // three passes scatter, and the median does
  }
}

TEST(GapsOfPasses, AreSeveralIfALongerOneFollowsAnother) {
  std::vector<WatchRecord> series = passes(100);
  series[50].duration += 30000;
  series[51].duration += 500000;
  const std::vector<WatchRecord> gaps = gaps_of_passes(series, 1000);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_NEAR(static_cast<double>(gaps[0].duration), 30000, 3000);  // of the pass and of the median
  EXPECT_NEAR(static_cast<double>(gaps[1].duration), 500000, 3000);
}

TEST(GapsOfPasses, AreNotMadeOfScatter) {
  EXPECT_TRUE(gaps_of_passes(passes(20000), 1000).empty());
  EXPECT_TRUE(gaps_of_passes({}, 1000).empty());
  std::vector<WatchRecord> few = passes(30);
  few[7].duration *= 10;
  EXPECT_TRUE(gaps_of_passes(few, 1000).empty());  // not enough to say what is usual
  std::vector<WatchRecord> equal(31, WatchRecord{0, 60000, 0});
  EXPECT_TRUE(gaps_of_passes(equal, 1000).empty());
  equal[0].duration += 1001;  // scatter is nothing, the threshold decides
  EXPECT_EQ(gaps_of_passes(equal, 1000).size(), 1U);
}

// However busy the machine is: what the system says that the thread has waited is lost. More may be: what a hypervisor
// takes is processor time of the thread, and quanta also lose what makes them slower than the quickest of them, such as
// a neighbour on the other hardware thread.
TEST(MeasureGaps, FindsTheTimeThatTheThreadDidNotRun) {
  const std::function<std::function<void()>()> multiply = [] {
    return [chain = std::uint64_t{1}]() mutable { chain = compute(chain, 20000); };
  };
  for (const auto& [method, make_pass] :
       {std::pair{GapMethod::gaps, decltype(multiply)()}, std::pair{GapMethod::gaps, multiply},
        std::pair{GapMethod::fwq, decltype(multiply)()}, std::pair{GapMethod::ftq, decltype(multiply)()}}) {
    std::ostringstream out;
    GapOptions options = on_first_core(method, 1);
    options.make_pass = make_pass;
    const GapReport report = measure_gaps(options, out);
    ASSERT_EQ(report.rows.size(), 1U);
    const GapRow& row = report.rows[0];
    // Waiting for less than the threshold, and before the first and after the last loop, is not seen.
    EXPECT_GE(row.lost_s, row.waited_s - 0.02 * row.watched_s) << static_cast<int>(method);
    EXPECT_LE(row.lost_s, row.watched_s) << static_cast<int>(method);
    if (method == GapMethod::gaps) {
      EXPECT_NEAR(read(out.str()).cores.at(0).lost_s(), row.lost_s, 1e-6);
    }
  }
}

TEST(MeasureGaps, KeepsNoMoreRowsThanAskedForAndGoesOnInTheNextSlice) {
  GapOptions options = on_first_core(GapMethod::fwq, 0.4);
  options.quantum_s = 1e-4;
  options.slice_s = 0.1;
  options.most_rows = 50;
  std::ostringstream out;
  const GapReport report = measure_gaps(options, out);
  EXPECT_LE(report.rows[0].events, 4 * 50);
  ASSERT_EQ(read(out.str()).cores.size(), 1U);
  EXPECT_EQ(read(out.str()).cores[0].windows.size(), 4U);
  EXPECT_NEAR(read(out.str()).cores[0].watched_s(), report.rows[0].watched_s, 1e-6);
}

TEST(MeasureGaps, RefusesWhatItCannotMeasure) {
  std::ostringstream out;
  GapOptions options = on_first_core(GapMethod::gaps, 1);
  options.cores.clear();
  EXPECT_THROW(measure_gaps(options, out), core::DomainError);
  options = on_first_core(GapMethod::gaps, 0);
  EXPECT_THROW(measure_gaps(options, out), core::DomainError);
  options = on_first_core(GapMethod::gaps, 0.1);
  options.cores[0].pu = 1000000;
  EXPECT_THROW(measure_gaps(options, out), core::Error);
  options = on_first_core(GapMethod::gaps, 0.1);
  options.threshold_s = 1e-9;  // no clock is read that often
  EXPECT_THROW(measure_gaps(options, out), core::Error);
  EXPECT_EQ(out.str(), "");
}

TEST(NoiseSource, EndsWhenItIsToldTo) {
  NoiseSourceOptions options;
  options.cores = {Topology::of_this_machine().cores().front()};
  options.for_s = 1000;
  const std::atomic<bool> stop{true};
  const auto rows = run_noise_source(options, stop);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].events, 0);
  EXPECT_EQ(rows[0].periods, 0);  // one in which it had no chance is no duty that was not kept
  EXPECT_TRUE(noise_source_warnings(options, rows).empty());
}

TEST(NoiseSource, SaysAtOnceThatACoreCannotBeHad) {
  NoiseSourceOptions options;
  options.cores = {Topology::of_this_machine().cores().front(), CorePlace{}};
  options.cores[1].pu = 1000000;
  options.for_s = 1000;  // or this test takes as long
  const std::atomic<bool> stop{false};
  EXPECT_THROW(run_noise_source(options, stop), core::Error);
}

TEST(NoiseSource, WarnsOfADutyThatWasNotKept) {
  NoiseSourceOptions options;
  options.period_s = 1;
  options.duration_s = 0.01;
  NoiseSourceRow row;
  row.periods = row.events = 100;
  row.duty = 0.0099;
  EXPECT_TRUE(noise_source_warnings(options, {row}).empty());
  row.duty = 0.008;
  ASSERT_EQ(noise_source_warnings(options, {row}).size(), 1U);
  EXPECT_NE(noise_source_warnings(options, {row})[0].find("0.8 % of the time, not 1 %"), std::string::npos);
  row.duty = 0.01;
  row.late = 11;
  EXPECT_EQ(noise_source_warnings(options, {row}).size(), 1U);
}

TEST(NoiseSource, RefusesWhatIsNoSource) {
  NoiseSourceOptions good;
  good.cores = {CorePlace{}};
  EXPECT_NO_THROW(validate(good));
  for (const auto& [period_s, duration_s] : std::vector<std::pair<double, double>>{
           {0, 0.01}, {-1, 0.01}, {1, 0}, {1, 1}, {1, 2}, {1, -1}, {1, 1e-6}, {NAN, 0.01}, {1, NAN}}) {
    NoiseSourceOptions bad = good;
    bad.period_s = period_s;
    bad.duration_s = duration_s;
    EXPECT_THROW(validate(bad), core::DomainError) << period_s << " " << duration_s;
  }
  good.for_s = 0.5;
  EXPECT_THROW(validate(good), core::DomainError);
  good.for_s = 60;
  good.cores.clear();
  EXPECT_THROW(validate(good), core::DomainError);
}

}  // namespace
}  // namespace hplcast::calibration
