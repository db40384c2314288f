#include "hplcast/calibration/power_design.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::ElementsAre;

PowerDesignOptions options_of(std::vector<std::string> states, int repetitions = 2) {
  PowerDesignOptions options;
  options.states = std::move(states);
  options.repetitions = repetitions;
  return options;
}

std::multiset<std::string> kinds(const std::vector<PowerPiece>& design, int repetition) {
  std::multiset<std::string> found;
  for (const PowerPiece& piece : design)
    if (piece.repetition == repetition) found.insert(piece.state + " " + std::to_string(piece.active_cores));
  return found;
}

TEST(PowerDesign, EveryRepetitionHasEveryStateAndCountOnceAndIdle) {
  const auto design = make_power_design(options_of({"dgemm", "polling"}), 8);
  const std::multiset<std::string> expected = {"idle 0",    "dgemm 1",   "dgemm 2",   "dgemm 4",  "dgemm 8",
                                               "polling 1", "polling 2", "polling 4", "polling 8"};
  EXPECT_EQ(kinds(design, 1), expected);
  EXPECT_EQ(kinds(design, 2), expected);
  EXPECT_EQ(kinds(design, 0), std::multiset<std::string>{"dgemm 8"}) << "the warm-up";
  EXPECT_EQ(design.front().number, 0);
  EXPECT_EQ(design.back().number, 18);
}

TEST(PowerDesign, RepetitionsHaveOrdersOfTheirOwn) {
  const auto order = [](const std::vector<PowerPiece>& design, int repetition) {
    std::string text;
    for (const PowerPiece& piece : design)
      if (piece.repetition == repetition) text += piece.state + std::to_string(piece.active_cores) + " ";
    return text;
  };
  const auto design = make_power_design(options_of({"dgemm", "polling"}), 8);
  EXPECT_NE(order(design, 1), order(design, 2));
  EXPECT_EQ(order(make_power_design(options_of({"dgemm", "polling"}), 8), 1), order(design, 1)) << "of the seed";
}

TEST(PowerDesign, SomebodyMustSendToBlockedCoresAndMessagesNeedPairs) {
  PowerDesignOptions options = options_of({"blocked", "messages"}, 1);
  EXPECT_EQ(kinds(make_power_design(options, 5), 1),
            (std::multiset<std::string>{"idle 0", "blocked 1", "blocked 2", "blocked 4", "messages 2", "messages 4"}));
  options.counts = {1};
  EXPECT_EQ(kinds(make_power_design(options, 1), 1), std::multiset<std::string>{"idle 0"});
}

TEST(PowerDesign, FrequenciesAreCrossedWithEverything) {
  PowerDesignOptions options = options_of({"dgemm"}, 1);
  options.frequencies_hz = {1.2e9, 2.3e9};
  options.counts = {4};
  options.warm_up_s = 0;
  const auto design = make_power_design(options, 4);
  EXPECT_EQ(design.size(), 4U);
  EXPECT_NEAR(estimated_s(design), 4 * 20, 1) << "and a moment between";
}

TEST(PowerDesign, RefusesWhatCannotBe) {
  EXPECT_THROW(make_power_design(options_of({"dgemm", "dgemm"}), 4), core::DomainError);
  EXPECT_THROW(make_power_design(options_of({"sleeping"}), 4), core::DomainError);
  EXPECT_THROW(make_power_design(options_of({"dgemm"}, 0), 4), core::DomainError);
  PowerDesignOptions options;
  options.counts = {5};
  EXPECT_THROW(make_power_design(options, 4), core::DomainError);
  options.counts = {};
  options.piece_s = 0.5;
  EXPECT_THROW(make_power_design(options, 4), core::DomainError);
}

std::vector<PieceRun> two_pieces() {
  PieceRun first{"node", {1, "idle", 0, 0, 10, 1}, 4, 100, 110};
  PieceRun second{"node", {2, "dgemm", 4, 2e9, 10, 1}, 4, 110.1, 120.1};
  return {first, second};
}

core::PowerSample sample_at(double time_s, double covered_s = 0) {
  core::PowerSample sample;
  sample.time_s = time_s;
  sample.covered_s = covered_s;
  sample.power_w = 100;
  return sample;
}

TEST(PlaceSamples, FirstAndLastOnesOfAPieceAreMarkedNotLost) {
  const auto placed = place_samples({sample_at(99), sample_at(101), sample_at(104), sample_at(109.5), sample_at(112),
                                     sample_at(115, 1), sample_at(115, 4), sample_at(125)},
                                    two_pieces(), {3, 1});
  std::vector<bool> used;
  std::vector<long> pieces;
  for (const core::PowerSample& sample : placed) {
    used.push_back(sample.used);
    pieces.push_back(sample.piece);
  }
  EXPECT_THAT(pieces, ElementsAre(1, 1, 1, 2, 2, 2)) << "before the first and after the last there is no piece";
  EXPECT_THAT(used, ElementsAre(false, true, false, false, true, false)) << "a mean from before 113.1 is not used";
  EXPECT_EQ(placed.back().state, "dgemm");
  EXPECT_EQ(placed.back().active_cores, 4);
  EXPECT_EQ(placed.back().frequency_hz, 2e9);
}

TEST(PiecesCsv, RoundTrip) {
  std::stringstream csv;
  write_pieces(csv, two_pieces());
  const auto read = read_pieces(csv, "pieces.csv");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].piece.state, "dgemm");
  EXPECT_DOUBLE_EQ(read[1].begin_s, 110.1);
  EXPECT_DOUBLE_EQ(read[1].piece.frequency_hz, 2e9);
  std::istringstream overlapping(
      "host,piece,state,active_cores,cores,begin_s,end_s\na,1,idle,0,4,0,10\na,2,idle,0,4,9,12\n");
  EXPECT_THROW(read_pieces(overlapping, "pieces.csv"), core::ParseError);
}

}  // namespace
}  // namespace hplcast::calibration
