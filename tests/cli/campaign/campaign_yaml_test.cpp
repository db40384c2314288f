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

// The words of scontrol, where it failed or warned ("slurm_load_node error: Unable ..."), became hosts.
TEST(CampaignYaml, TellsMpirunHowManyRanksEachNodeOfASlurmJobGets) {
  const study::testing::FakePrograms programs;
  programs.script("scontrol", "echo 'error: Unable to contact slurm controller' >&2; exit 1");
  const tests::Variables job(
      {{"SLURM_JOB_NODELIST", "n[1-2]"}, {"PATH", programs.folder().string() + ":" + std::getenv("PATH")}});
  const calibration::CampaignPlan plan = plan_of("ranks_per_host: 3\nallow_oversubscription: true\nlauncher: mpirun\n");
  EXPECT_EQ(plan.launch.ranks, 6);
  EXPECT_THAT(plan.launch.options, ElementsAre("--host", "n1:3,n2:3"));
  EXPECT_THAT(plan.each_host->options, ElementsAre("--host", "n1:1,n2:1"));
}

TEST(CampaignYaml, ReadsHostsAsSlurmWritesThem) {
  const std::string keys = "ranks_per_host: 3\nhosts: ['n[01-02,7]', gpu]\n";
  const calibration::CampaignPlan plan = plan_of(keys);
  EXPECT_THAT(plan.hosts, ElementsAre("n01", "n02", "n7", "gpu"));
  EXPECT_EQ(plan.launch.ranks, 12);
  EXPECT_THAT(plan.launch.options, ElementsAre("--host", "n01:3,n02:3,n7:3,gpu:3"));
  EXPECT_THAT(error_in([] { plan_of("hosts: ['n[2-1]']\n"); }), HasSubstr("`2-1` goes down"));
  EXPECT_THAT(error_in([] { plan_of("hosts: ['n[1-2]', n2]\n"); }), HasSubstr("a name is there twice"));
}

// `srun --host n1:3` is no option of srun, and settings went to any nodes of the job.
TEST(CampaignYaml, TellsSrunWhichNodesItsRanksAreFor) {
  const std::string launch = "ranks_per_host: 3\nallow_oversubscription: true\nlauncher: srun\n";
  const tests::Variables job(std::map<std::string, std::string>{{"SLURM_JOB_NODELIST", "n[1-4]"}});
  const calibration::CampaignPlan some = plan_of(launch + "hosts: ['n[1-2]']\n"), all = plan_of(launch);
  EXPECT_THAT(some.launch.options, ElementsAre("--nodes=2", "--ntasks-per-node=3", "--nodelist=n[1-2]"));
  EXPECT_THAT(some.each_host->options,
              ElementsAre("--nodes=2", "--ntasks-per-node=1", "--nodelist=n[1-2]", "--overlap"));
  EXPECT_THAT(all.launch.options, ElementsAre("--nodes=4", "--ntasks-per-node=3", "--nodelist=n[1-4]"));
  EXPECT_EQ(all.launch.ranks, 12);
  EXPECT_THAT(all.hosts, ElementsAre());
}

TEST(CampaignYaml, RefusesTimesThatNobodyHas) {
  for (const char* keys : {"warm_up: 1e300\n", "warm_up: 1e10\n"})
    EXPECT_THAT(error_in([&] { plan_of(keys); }), HasSubstr("more than 30 years"));
  EXPECT_THAT(error_in([] { plan_of("", "own: {name: x, command: [/bin/sh], seconds: 1e300}"); }),
              HasSubstr("more than 30 years"));
  const std::string power = "power: {states: [dgemm], repetitions: ", detours = "detours: {runs: ";
  EXPECT_THAT(error_in([&] { plan_of("", power + "2147483647}"); }), HasSubstr("at most 100000"));
  EXPECT_THAT(error_in([&] { plan_of("ranks_per_host: 2\nallow_oversubscription: true\n", detours + "2147483647}"); }),
              HasSubstr("at most 100000"));
}

// The number of pieces was that of a cast that overflowed: 0, and nothing was measured.
TEST(CampaignYaml, HasAPieceForEachRowOfAShortChunk) {
  const calibration::CampaignPlan plan =
      plan_of("chunk: 1e-300\nranks_per_host: 2\nallow_oversubscription: true\n", "mpi: {count: 3, repetitions: 1}");
  ASSERT_EQ(plan.steps.size(), 1U);
  EXPECT_EQ(calibration::chunks_of(plan).size(), plan.steps.front().rows);
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
