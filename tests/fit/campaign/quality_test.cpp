#include "fit/campaign/campaign_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/support/errors_in.hpp"

namespace hplcast::fit {
namespace {

using ::testing::HasSubstr;

/// 300 calls whose logarithms scatter, by 1 percent, around `centre(i)`.
template <typename Centre>
std::vector<RelativeCall> calls(Centre centre, double sd = 0.01) {
  std::mt19937 random(1);
  std::normal_distribution<> noise(0, sd);
  std::vector<RelativeCall> all;
  for (int i = 0; i < 300; ++i) all.push_back({0.1 * i, centre(i) * std::exp(noise(random))});
  return all;
}

TEST(ExpectedDuration, IsThatOfTheCpuOfACallAmongThoseWithRanks) {
  const auto law = [](double time_s) {
    return core::PiecewiseLaw(
        core::DurationLaw::make(core::Polynomial::make({{}}, {time_s}), {}, core::NoiseFamily::none));
  };
  core::ClusterModel cluster;
  cluster.kernels["dgemm"] = core::KernelModel::make("M0", law(5), {{0, 0, law(1)}, {0, 1, law(2)}});
  core::KernelMeasurement row;
  row.kernel = "dgemm";
  row.host = "h";
  for (const auto& [cpu, expected] : {std::pair(1, 1.), {6, 2.}}) {
    row.cpu = cpu;
    EXPECT_EQ(expected_s(cluster, {{"h", 0, {6, 1, 6}}}, row), expected) << cpu;
  }
  row.host = "another";
  EXPECT_EQ(expected_s(cluster, {{"h", 0, {6, 1, 6}}}, row), 5);
}

TEST(Quality, HasNothingToSayOfSteadyCalls) {
  EXPECT_TRUE(quality_flags("dgemm", calls([](int) { return 1.0; })).empty());
}

TEST(Quality, SeesAMachineThatGetsSlower) {
  auto drifting = calls([](int i) { return 1 + 0.1 * i / 300; });
  std::shuffle(drifting.begin(), drifting.end(),
               std::mt19937(2));  // the order of the rows does not matter, start_s does
  const auto flags = quality_flags("dgemm", drifting);
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(flags[0].subject, "dgemm");
  EXPECT_EQ(flags[0].flag, "drift");
  EXPECT_THAT(flags[0].detail,
              HasSubstr("+6."));  // from the middle of the first third to that of the last: 1.083 / 1.017
  EXPECT_NEAR(relative_drift(drifting), 1.083 / 1.017 - 1, 0.005);
  EXPECT_EQ(relative_drift(calls([](int) { return 1.0; })), 0);
}

TEST(Quality, DoesNotSpeakOfDriftsThatDoNotMatter) {
  EXPECT_TRUE(quality_flags("dgemm", calls([](int i) { return 1 + 0.02 * i / 300; })).empty());
}

TEST(Quality, SeesTwoModes) {
  std::mt19937 random(3);
  std::bernoulli_distribution slow(0.3);
  const auto flags = quality_flags("send local", calls([&](int) { return slow(random) ? 1.5 : 1.0; }));
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(flags[0].flag, "several_modes");
  EXPECT_THAT(flags[0].detail, HasSubstr("1.50 times as long"));
}

TEST(Quality, SeesTwoModesThatHardlyScatter) {
  std::mt19937 random(3);
  std::bernoulli_distribution slow(0.5);
  const auto flags = quality_flags("dgemm", calls([&](int) { return slow(random) ? 2.0 : 1.0; }, 0.002));
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(flags[0].flag, "several_modes");
}

TEST(Quality, WantsThirtyCalls) {
  auto few = calls([](int) { return 1.0; });
  few.resize(29);
  const auto flags = quality_flags("dgemm", few);
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(flags[0].flag, "too_few_repetitions");
}

TEST(Quality, RefusesDurationsThatCannotBe) {
  EXPECT_THAT(tests::error_in([] { quality_flags("dgemm", {{0, -1}}); }), HasSubstr("ratio of a call"));
}

}  // namespace
}  // namespace hplcast::fit
