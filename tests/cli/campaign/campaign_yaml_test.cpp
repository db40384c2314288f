// What a campaign file makes of the hosts, and of the time that its steps take.
#include "cli/campaign/campaign_yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors_in.hpp"
#include "tests/support/fake_programs.hpp"
#include "tests/support/variables.hpp"

namespace hplcast::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::error_in;

calibration::CampaignPlan plan_of(const std::string& keys, const std::string& step = "thresholds: {}") {
  return read_campaign("name: x\n" + keys + "steps:\n  - " + step + "\n", "x.yaml", "/bin");
}

TEST(CampaignYaml, TellsMpirunHowManyRanksEachNodeOfASlurmJobGets) {
  const study::testing::FakePrograms programs;
  programs.script("scontrol", "[ \"$*\" = 'show hostnames n[1-2]' ] && printf 'n1\\nn2\\n'");
  const tests::Variables job({{"SLURM_JOB_NUM_NODES", "2"},
                              {"SLURM_JOB_NODELIST", "n[1-2]"},
                              {"PATH", programs.folder().string() + ":" + std::getenv("PATH")}});
  const calibration::CampaignPlan plan = plan_of("ranks_per_host: 3\nallow_oversubscription: true\nlauncher: mpirun\n");
  EXPECT_EQ(plan.launch.ranks, 6);
  EXPECT_THAT(plan.launch.options, ElementsAre("--host", "n1:3,n2:3"));
  EXPECT_THAT(plan.each_host->options, ElementsAre("--host", "n1:1,n2:1"));
}

TEST(CampaignYaml, RefusesMoreRanksThanMpiCounts) {
  const std::string many = "ranks_per_host: 2000000000\nallow_oversubscription: true\nhosts: [a, b]\n";
  EXPECT_THAT(error_in([&] { plan_of(many); }), HasSubstr("fewer than 2^31 ranks"));
}

TEST(CampaignYaml, PowerTakesItsTimeForEachOfTheFrequencies) {
  const auto seconds = [](const std::string& frequencies) {
    return plan_of("", "power: {piece: 20s, frequencies: [" + frequencies + "]}").steps.at(0).estimated_s;
  };
  const double once_s = seconds("");
  EXPECT_DOUBLE_EQ(seconds("1GHz, 2GHz"), 2 * once_s);
  EXPECT_DOUBLE_EQ(seconds("three"), 3 * once_s) << "the least, a middle one and the most";
}

}  // namespace
}  // namespace hplcast::cli
