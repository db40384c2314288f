// Campaigns on hosts of 32 to 128 cores: recorded topologies of hwloc in the place of this machine's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "cli/campaign/campaign_yaml.hpp"
#include "hplcast/calibration/machine.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::cli {
namespace {

using ::testing::HasSubstr;

/// Lets hwloc see another machine: `HWLOC_XMLFILE`, `HWLOC_SYNTHETIC`.
class SeenMachine {
 public:
  SeenMachine(const char* variable, const std::string& value) : variable_(variable) {
    ::setenv(variable, value.c_str(), 1);
  }
  ~SeenMachine() { ::unsetenv(variable_); }
  SeenMachine(const SeenMachine&) = delete;
  SeenMachine& operator=(const SeenMachine&) = delete;

 private:
  const char* variable_;
};

SeenMachine recorded(const std::string& name) {
  return {"HWLOC_XMLFILE", HPLCAST_SOURCE_DIR "/tests/cli/campaign/hosts/" + name + ".xml"};
}

calibration::CampaignPlan plan(const std::string& keys) {
  return read_campaign("name: x\n" + keys + "steps:\n  - dgemm: {nb: 16, max_size: 100, count: 5}\n", "x.yaml", "/bin");
}

struct Launched {
  int ranks, threads;
  friend bool operator==(const Launched& a, const Launched& b) { return a.ranks == b.ranks && a.threads == b.threads; }
};

Launched launched(const std::string& keys) {
  const calibration::CampaignPlan read = plan(keys);
  return {read.launch.ranks, read.launch.threads};
}

/// Every rank has cores of one place of `threads` cores, and every core one rank: as the programs place themselves.
void expect_ranks_in_places(int threads) {
  const auto cores = calibration::Topology::of_this_machine().cores();
  std::set<int> used;
  for (int rank = 0; rank < static_cast<int>(cores.size()) / threads; ++rank) {
    const auto mine = calibration::choose_cores(cores, cores, rank, threads);
    ASSERT_EQ(mine.size(), static_cast<std::size_t>(threads));
    for (const calibration::CorePlace& one : mine) {
      EXPECT_EQ(one.cpu, mine.front().cpu) << "rank " << rank << " is on two CPUs";
      EXPECT_EQ(one.core / threads, mine.front().core / threads) << "rank " << rank << " is in two places";
      EXPECT_TRUE(used.insert(one.pu).second) << "hardware thread " << one.pu << " has two ranks";
    }
  }
  EXPECT_EQ(used.size(), cores.size());
}

TEST(RecordedHosts, OfTwoCpusWhoseHardwareThreadsAreNumberedInTurn) {
  const SeenMachine machine = recorded("alternating-32");
  EXPECT_EQ(launched(""), (Launched{32, 1}));
  EXPECT_EQ(launched("threads_per_rank: 16\n"), (Launched{2, 16}));
  EXPECT_EQ(launched("threads_per_rank: socket\nhosts: [a, b, c]\n"), (Launched{6, 16}));
  expect_ranks_in_places(16);
  // Local ranks are in the order of the CPUs, not in that of the numbers: 0, 2, 4 ... are on the first one.
  const auto cores = calibration::Topology::of_this_machine().cores();
  EXPECT_EQ(cores[1].pu, 2);
  EXPECT_EQ(cores[16].pu, 1);
  EXPECT_EQ(cores[16].cpu, 1);
}

TEST(RecordedHosts, OfManyPlacesAndCores) {
  struct Host {
    const char* description;
    int cores, l3, numa, socket;
  };
  for (const Host& host : {Host{"pack:2 numa:4 l3:2 core:8 pu:2", 128, 8, 16, 64},  // as of two EPYC of 64 cores
                           Host{"pack:2 numa:1 l3:12 core:4 pu:1", 96, 4, 48, 48},  // without hardware threads
                           Host{"pack:2 numa:2 l3:1 core:14 pu:2", 56, 14, 14, 28}}) {
    const SeenMachine machine("HWLOC_SYNTHETIC", host.description);
    for (const auto& [place, threads] :
         {std::pair("l3", host.l3), {"numa", host.numa}, {"socket", host.socket}, {"host", host.cores}}) {
      EXPECT_EQ(launched("threads_per_rank: " + std::string(place) + "\n"), (Launched{host.cores / threads, threads}))
          << host.description << " " << place;
      if (threads < host.cores) expect_ranks_in_places(threads);
    }
    const std::string more = "threads_per_rank: " + std::to_string(host.l3) +
                             "\nranks_per_host: " + std::to_string(host.cores / host.l3 + 1) + "\n";
    EXPECT_THAT(tests::error_in([&] { plan(more); }), HasSubstr("this machine has " + std::to_string(host.cores)));
  }
}

TEST(RecordedHosts, WithoutPlacesForThreadsSayWhy) {
  {
    const SeenMachine machine = recorded("offline-63");  // core 5 is switched off: its L3 has three
    EXPECT_EQ(launched(""), (Launched{63, 1}));
    EXPECT_THAT(tests::error_in([] { plan("threads_per_rank: l3\n"); }), HasSubstr("from 3 to 4 cores"));
    EXPECT_EQ(launched("threads_per_rank: 3\n"), (Launched{21, 3}));
  }
  const SeenMachine machine("HWLOC_SYNTHETIC", "pack:1 numa:4 core:12 pu:1");  // as of an A64FX: no L3
  EXPECT_THAT(tests::error_in([] { plan("threads_per_rank: l3\n"); }), HasSubstr("share its l3"));
  EXPECT_EQ(launched("threads_per_rank: numa\n"), (Launched{4, 12}));
  expect_ranks_in_places(12);
}

}  // namespace
}  // namespace hplcast::cli
