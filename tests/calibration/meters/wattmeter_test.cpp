#include "hplcast/calibration/power_meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Meter = std::map<std::string, std::vector<core::PowerSample>>;

Meter read(const std::string& text, WattmeterDoubts& doubts) {
  std::istringstream in(text);
  return read_wattmeter(in, "meter.csv", doubts);
}

Meter read(const std::string& text) {
  WattmeterDoubts doubts;
  return read(text, doubts);
}

void expect_refused(const std::string& text, const std::string& words) {
  try {
    read(text);
    FAIL() << "expected an error that says " << words;
  } catch (const core::ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

TEST(IsoTime, IsUnixTimeWhateverTheZone) {
  const double expected_s = 1795363385.25;  // date -u -d '2026-11-22 16:03:05.25' +%s.%N
  for (const char* text : {"2026-11-22T16:03:05.25Z", "2026-11-22 16:03:05.25 +00:00", "2026-11-22T17:03:05.25+01:00",
                           "2026-11-22T17:03:05.25+0100", "2026-11-22T11:03:05.25-05", "2026-11-22T21:33:05.25+05:30",
                           "2026-11-22 16:03:05.25 z"})
    EXPECT_DOUBLE_EQ(parse_iso_time(text), expected_s) << text;
  EXPECT_THROW(parse_iso_time("2026-11-22T16:03:05"), core::DomainError) << "without a zone";
  EXPECT_THROW(parse_iso_time("2026-11-22T16:03:05+01:00:00"), core::DomainError);
  EXPECT_THROW(parse_iso_time("2026-11-22T16:03:05+15:00"), core::DomainError);
  EXPECT_THROW(parse_iso_time("22.11.2026 16:03"), core::DomainError);
}

TEST(Wattmeter, ReadsBothKindsOfTimes) {
  const Meter unix_times = read("time_s,power_w\n1795363385,200.125\n1795363386,201\n");
  const Meter iso = read("power_w,time\n200.125,2026-11-22T17:03:05+01:00\n201,2026-11-22T17:03:06+01:00\n");
  for (const Meter& meter : {unix_times, iso}) {
    ASSERT_EQ(meter.at("").size(), 2U);
    EXPECT_DOUBLE_EQ(meter.at("").front().time_s, 1795363385);
    EXPECT_DOUBLE_EQ(meter.at("").front().power_w, 200.125);
  }
}

TEST(Wattmeter, RefusesWhatNoMeterMaysay) {
  expect_refused("time_s,power_w\n1,200\n2,-3\n", "meter.csv:3");
  expect_refused("time_s,power_w\n1,200\n2,0\n", "above 0");
  expect_refused("time_s,power_w\n10,200\n5,200\n", "set back");
  expect_refused("time,power_w\n2026-11-22T17:03:05,200\n", "zone");
  expect_refused("when,power_w\n1,200\n", "time_s");
  expect_refused("time_s,watts\n1,200\n", "power_w");
  expect_refused("time_s,power_w\n1,200\n", "single row");
}

TEST(Wattmeter, TellsOfGaps) {
  std::string text = "time_s,power_w\n";
  for (int i = 0; i < 50; ++i)
    if (i < 20 || i > 29) text += std::to_string(1000 + i) + ",200\n";
  WattmeterDoubts doubts;
  read(text, doubts);
  EXPECT_DOUBLE_EQ(doubts.period_s, 1);
  EXPECT_THAT(doubts.notes, ElementsAre(HasSubstr("has 1 gaps, the longest of 11 s,")));
}

/// Pieces of different powers in an irregular order, and a meter of 1 Hz with noise, `ahead_s` ahead.
struct Scene {
  std::vector<PieceRun> pieces;
  Meter meter;
};

Scene make_scene(double ahead_s, std::uint64_t seed, const std::string& host = "node") {
  core::RandomStream random({seed, core::stream_generate, 17, 0, 0});
  const std::vector<std::pair<std::string, int>> kinds = {{"idle", 0}, {"dgemm", 1}, {"dgemm", 12}, {"polling", 12}};
  const auto watts_of = [](const std::string& state, int active) {
    return state == "idle" ? 93.0 : 105.0 + active * (state == "dgemm" ? 8.3 : 5.4);
  };
  Scene scene;
  double time_s = 1.7e9 + random.uniform();
  for (long number = 1; number <= 24; ++number) {
    const auto& [state, active] = kinds[random.below(kinds.size())];
    scene.pieces.push_back({"node", {number, state, active, 0, 20, 1}, 12, time_s, time_s + 20});
    time_s += 20.05;
  }
  for (double at_s = scene.pieces.front().begin_s - 60 + random.uniform(); at_s < time_s + 60; at_s += 1) {
    core::PowerSample sample;
    sample.sensor = "wattmeter";
    sample.domain = core::PowerDomain::host;
    sample.time_s = at_s + ahead_s;
    sample.power_w = 93;
    for (const PieceRun& run : scene.pieces)
      if (at_s >= run.begin_s && at_s < run.end_s) sample.power_w = watts_of(run.piece.state, run.piece.active_cores);
    sample.power_w += 0.5 * random.normal();
    scene.meter[host].push_back(sample);
  }
  return scene;
}

TEST(WattmeterClock, IsFoundWithinItsError) {
  for (const double ahead_s : {0.0, 7.3, -42.25, 255.5}) {
    const Scene scene = make_scene(ahead_s, static_cast<std::uint64_t>(100 + ahead_s));
    const ClockOffset clock = estimate_offset(scene.meter, scene.pieces, 300);
    // Begins and ends of 24 pieces at random phases of a meter of 1 Hz: some 1/24 s.
    EXPECT_NEAR(clock.offset_s, ahead_s, clock.error_s + 0.05);
    EXPECT_LT(clock.error_s, 0.5) << "half a period of the meter";
    EXPECT_GT(clock.explained, 0.99) << "noise of 0.5 W beside steps of 10 to 100 W";
    EXPECT_LT(clock.second_best, 0.9);
  }
}

TEST(WattmeterClock, AnHourOffIsFoundIfItIsLookedFor) {
  const Scene scene = make_scene(3600, 5);
  EXPECT_THROW(estimate_offset(scene.meter, scene.pieces, 300), core::Error);
  EXPECT_NEAR(estimate_offset(scene.meter, scene.pieces, 4000).offset_s, 3600, 0.5);
}

TEST(WattmeterClock, AnotherHostsMeterIsRefused) {
  const Scene pieces = make_scene(0, 1), other = make_scene(0, 2);
  Meter shifted = other.meter;
  const double to_the_same_time_s = pieces.pieces.front().begin_s - other.pieces.front().begin_s;
  for (core::PowerSample& sample : shifted["node"]) sample.time_s += to_the_same_time_s;
  EXPECT_THROW(estimate_offset(shifted, pieces.pieces, 300), core::Error);
}

TEST(WattmeterClock, PiecesAllAlikeTellNothing) {
  Scene scene = make_scene(0, 3);
  for (PieceRun& run : scene.pieces) {
    run.piece.state = "dgemm";
    run.piece.active_cores = 12;
  }
  EXPECT_THROW(estimate_offset(scene.meter, scene.pieces, 100), core::Error);
}

TEST(WattmeterClock, RowsAreOfThePiecesAfterTheShift) {
  const Scene scene = make_scene(7.3, 107);
  const ClockOffset clock = estimate_offset(scene.meter, scene.pieces, 300);
  const auto samples = place_wattmeter(scene.meter, scene.pieces, {3, 1}, clock, 1);
  std::size_t used = 0;
  for (const core::PowerSample& sample : samples) {
    if (!sample.used) continue;
    ++used;
    const double expected_w =
        sample.state == "idle" ? 93 : 105 + sample.active_cores * (sample.state == "dgemm" ? 8.3 : 5.4);
    EXPECT_NEAR(sample.power_w, expected_w, 0.5 * 5) << "five standard deviations of the meter's noise";
  }
  EXPECT_GT(used, 24U * 13) << "of 20 rows less 3, 1, a period and the offset's error";
}

TEST(WattmeterClock, AHostThatWasNotMeasuredIsRefused) {
  const Scene scene = make_scene(0, 4, "other");
  EXPECT_THROW(place_wattmeter(scene.meter, scene.pieces, {3, 1}, {}, 1), core::Error);
  const Scene nameless = make_scene(0, 4, "");
  EXPECT_FALSE(place_wattmeter(nameless.meter, nameless.pieces, {3, 1}, {}, 1).empty()) << "there is one host";
}

}  // namespace
}  // namespace hplcast::calibration
