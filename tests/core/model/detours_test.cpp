#include "hplcast/core/detours.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

std::vector<DetourSource> one_of_each() {
  return {
      DetourSource::make({"agent", PeriodicDetours{0.1, 0.2}, 1, ConstantDuration{0.01}, DetoursPer::cluster}),
      DetourSource::make({"tick", PeriodicDetours(), 0.004, UniformDuration{1e-6, 9e-6}, DetoursPer::core, true}),
      DetourSource::make({"daemon", PoissonDetours(), 0.1, ExponentialDuration{1e-3}, DetoursPer::host, false, {0, 3}}),
      DetourSource::make({"rest", PoissonDetours(), 0.05, QuantileDuration{{0, 1e-5, 1e-3}}})};
}

TEST(Detours, AreWrittenAsTheyAreRead) {
  const std::string text = detours_json(one_of_each());
  std::istringstream in(text);
  const std::vector<DetourSource> back = read_detours(in, "d.json");
  EXPECT_EQ(detours_json(back), text);
  ASSERT_EQ(back.size(), 4U);
  EXPECT_EQ(std::get<PeriodicDetours>(back[0].values().times).phase_s, 0.2);
  EXPECT_FALSE(back[0].values().in_kernels);
  EXPECT_TRUE(back[1].values().in_kernels);
  EXPECT_EQ(back[2].values().per, DetoursPer::host);
  EXPECT_EQ(back[2].values().cores, (std::vector<int>{0, 3}));
  EXPECT_TRUE(back[3].values().cores.empty());
  EXPECT_EQ(std::get<QuantileDuration>(back[3].values().duration).quantiles_s.size(), 3U);
}

TEST(Detours, LawsHaveTheMeansThatTheyTell) {
  for (const DetourSource& source : one_of_each()) {
    const DetourDuration& duration = source.values().duration;
    constexpr int cells = 100000;
    double sum_s = 0;
    for (int i = 0; i < cells; ++i) sum_s += sample_s(duration, (i + 0.5) / cells);
    // The tail of the exponential law beyond the last cell: ln(cells) / cells of the mean, about 1e-4.
    EXPECT_NEAR(sum_s / cells / mean_s(duration), 1, 1e-4) << source.values().name;
    EXPECT_NEAR(mean_s(scaled(duration, 3)), 3 * mean_s(duration), 1e-15) << source.values().name;
    if (const auto longest = longest_s(duration)) {
      EXPECT_LE(sample_s(duration, 1 - 1e-16), *longest);
    }
  }
}

TEST(Detours, AMissingOptionalFieldHasItsDefault) {
  std::istringstream in(
      R"({"detours": [{"name": "a", "kind": "periodic", "period_s": 1, "duration": {"law": "constant", "mean_s": 0.01},
                       "per": "core"}], "report": {"cores": 2}})");
  const DetourSource::Values values = read_detours(in, "d.json").at(0).values();
  EXPECT_EQ(std::get<PeriodicDetours>(values.times).jitter_s, 0);
  EXPECT_EQ(std::get<PeriodicDetours>(values.times).phase_s, std::nullopt);
  EXPECT_FALSE(values.in_kernels);
}

TEST(Detours, RefuseWhatNoMachineDoes) {
  const auto error = [](DetourSource::Values values) { return error_in([&] { DetourSource::make(values); }); };
  EXPECT_THAT(error({"a", PeriodicDetours(), 0, ConstantDuration{0.01}}), HasSubstr("`period_s of detours a` is 0"));
  EXPECT_THAT(error({"a", PeriodicDetours(), 1, ConstantDuration{1}}), HasSubstr("shorter than the period"));
  EXPECT_THAT(error({"a", PoissonDetours(), 1, ExponentialDuration{2}}), HasSubstr("shorter than the period"));
  EXPECT_THAT(error({"a", PeriodicDetours(), 1, ConstantDuration{-1}}), HasSubstr("`mean_s of detours a` is -1"));
  EXPECT_THAT(error({"a", PeriodicDetours(), 1, UniformDuration{0.2, 0.1}}), HasSubstr("at least least_s"));
  EXPECT_THAT(error({"a", PeriodicDetours(), 1, QuantileDuration{{0.1}}}), HasSubstr("two or more"));
  EXPECT_THAT(error({"a", PeriodicDetours(), 1, QuantileDuration{{0.1, 0.05}}}), HasSubstr("never fall"));
  EXPECT_THAT(error({"a", PeriodicDetours{2, {}}, 1, ConstantDuration{0.01}}), HasSubstr("at most the period"));
  EXPECT_THAT(error({"a", PeriodicDetours{0, -0.1}, 1, ConstantDuration{0.01}}), HasSubstr("phase_s of detours a"));
  EXPECT_THAT(error({"a", PeriodicDetours(), 1, ConstantDuration{0.01}, DetoursPer::core, false, {-1}}),
              HasSubstr("`cores of detours a` is -1"));
  EXPECT_THAT(error({"a", PeriodicDetours(), 1, ConstantDuration{0.01}, DetoursPer::core, false, {3, 3}}),
              HasSubstr("each once"));
  EXPECT_THAT(error({"", PeriodicDetours(), 1, ConstantDuration{0.01}}), HasSubstr("a name"));
  EXPECT_THAT(error_in([] { from_name<DetoursPer>("rack"); }), HasSubstr("core, host or cluster"));
}

TEST(Detours, TogetherLeaveTimeForWork) {
  const auto half = [](const char* name) {
    return DetourSource::make({name, PeriodicDetours(), 1, ConstantDuration{0.5}});
  };
  EXPECT_THAT(error_in([&] { check_detours({half("a"), half("b")}); }), HasSubstr("100 %"));
  EXPECT_THAT(error_in([&] { check_detours({one_of_each()[0], one_of_each()[0]}); }), HasSubstr("agent twice"));
}

TEST(Detours, OfDifferentCoresDoNotAddUp) {
  const auto half = [](const char* name, std::vector<int> cores) {
    return DetourSource::make(
        {name, PeriodicDetours(), 1, ConstantDuration{0.5}, DetoursPer::core, false, std::move(cores)});
  };
  const std::vector<DetourSource> apart = {half("a", {0}), half("b", {1, 2})};
  EXPECT_NO_THROW(check_detours(apart));
  EXPECT_EQ(most_share(apart), 0.5);
  EXPECT_TRUE(apart[1].hits(2));
  EXPECT_FALSE(apart[1].hits(0));
  EXPECT_EQ(apart[1].mean_share(4), 0.25);
  EXPECT_THAT(error_in([&] { check_detours({half("a", {0, 1}), half("b", {1, 2})}); }), HasSubstr("100 %"));
  EXPECT_THAT(error_in([&] { check_detours({half("a", {}), half("b", {1, 2})}); }), HasSubstr("100 %"));
  EXPECT_NO_THROW(check_detour_cores(apart, 3));
  EXPECT_THAT(error_in([&] { check_detour_cores(apart, 2); }), HasSubstr("below 2"));
}

TEST(Detours, SayWhichFieldOfAFileIsWrong) {
  const auto error = [](const std::string& source) {
    return error_in([&] {
      std::istringstream in(R"({"detours": [)" + source + "]}");
      read_detours(in, "d.json");
    });
  };
  const std::string duration = R"("duration": {"law": "constant", "mean_s": 0.01})";
  EXPECT_THAT(
      error(R"({"name": "a", "kind": "poisson", "period_s": 1, "phase_s": 0, "per": "core", )" + duration + "}"),
      HasSubstr("/detours/0/phase_s"));
  EXPECT_THAT(error(R"({"name": "a", "kind": "often", "period_s": 1, "per": "core", )" + duration + "}"),
              HasSubstr("periodic or poisson"));
  EXPECT_THAT(error(R"({"name": "a", "kind": "poisson", "period_s": 1, "per": "core", "duration": {"law": "normal"}})"),
              HasSubstr("constant, exponential, uniform or quantiles"));
  EXPECT_THAT(error(R"({"name": "a", "kind": "poisson", "period_s": 1, "per": "core",
                        "duration": {"law": "constant", "mean_s": 1e-3, "most_s": 1}})"),
              HasSubstr("not a parameter of the law constant"));
  EXPECT_THAT(error(R"({"name": "a", "kind": "poisson", "period": 1, "per": "core", )" + duration + "}"),
              HasSubstr("unknown key"));
}

}  // namespace
}  // namespace hplcast::core
