#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/example_cluster.hpp"

namespace hplcast::platforms {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using tests::error_in;
using tests::example_cluster;
using tests::with_network;

std::string xml(const core::ClusterModel& cluster) {
  std::ostringstream out;
  write_platform_xml(out, cluster);
  return out.str();
}

std::string model_h(const core::ClusterModel& cluster) {
  std::ostringstream out;
  write_model_h(out, cluster);
  return out.str();
}

std::string hostfile(int ranks) {
  std::ostringstream out;
  write_hostfile(out, example_cluster(true), ranks);
  return out.str();
}

/// Compares with tests/platforms/golden/NAME; HPLCAST_UPDATE_GOLDEN=1 writes it instead.
void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(HPLCAST_SOURCE_DIR) / "tests/platforms/golden" / name;
  if (std::getenv("HPLCAST_UPDATE_GOLDEN") != nullptr) {
    core::write_file(path, [&](std::ostream& out) { out << text; });
  }
  std::ifstream in(path);
  const std::string golden((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(text, golden) << "look at the difference, then HPLCAST_UPDATE_GOLDEN=1 accepts it";
}

core::ClusterModel fat_tree() {
  return with_network(example_cluster(true), [](auto& network) { network.topology = core::FatTree{{2}, {1}, {1}}; });
}

TEST(PlatformXml, EqualsTheGoldenFiles) {
  expect_golden("single_switch.xml", xml(example_cluster(true)));
  expect_golden("losses.xml", xml(example_cluster(false)));
  expect_golden("fat_tree.xml", xml(fat_tree()));
}

/// One rank per host: links are not shared.
core::ClusterModel one_core_per_host(core::ClusterModel cluster) {
  cluster.hosts = core::Hosts::make({"n-[1-2]", 1, 1, {}, 0});
  return cluster;
}

TEST(PlatformXml, LosesNothingWhenLocalMessagesCostWhatRemoteOnesDoAndLinksAreNotShared) {
  const auto cluster = one_core_per_host(example_cluster(true));
  EXPECT_THAT(platform_xml_losses(cluster), IsEmpty());
  EXPECT_THAT(xml(cluster), Not(HasSubstr("Not carried")));
}

TEST(PlatformXml, LosesNothingBySharingLinksThatEveryFlowFills) {
  const auto full = with_network(example_cluster(true), [](core::NetworkModel::Values& network) {
    network.remote->cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, 1e-6, 1 / 1.25e10}});
    network.local = *network.remote;
  });
  EXPECT_THAT(sharing_losses(full), IsEmpty());
  EXPECT_THAT(platform_xml_losses(full), IsEmpty());
}

TEST(PlatformXml, SaysHowMuchIsLostWhereFlowsThatDoNotFillALinkShareIt) {
  const auto losses = sharing_losses(example_cluster(true));
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_DOUBLE_EQ(losses.front().least_factor, 0.5);
  EXPECT_EQ(losses.front().least_from_bytes, 0);
  EXPECT_DOUBLE_EQ(losses.front().longest_factor, 1);
  EXPECT_EQ(losses.front().matters_from_ranks, 2);
  EXPECT_THAT(to_string(losses.front()), HasSubstr("f is 0.5 at least (messages from 0 bytes on), 1 for the longest"));
  EXPECT_THAT(xml(example_cluster(true)), HasSubstr("matters from 2 ranks per host on"));

  // Twice the capacity: every flow takes half of what it took.
  const auto wide = with_network(example_cluster(true), [](core::NetworkModel::Values& network) {
    network.remote->capacity = core::LinkCapacity{2.5e10};
    network.local.capacity = core::LinkCapacity{5e10};
  });
  ASSERT_EQ(sharing_losses(wide).size(), 2U);
  EXPECT_DOUBLE_EQ(sharing_losses(wide)[0].longest_factor, 0.5);
  EXPECT_DOUBLE_EQ(sharing_losses(wide)[1].least_factor, 0.125);
  EXPECT_EQ(sharing_losses(wide)[1].scope, core::Scope::local);
}

TEST(PlatformXml, HostsOfATreeShareItsLinksWithOneRankEach) {
  EXPECT_THAT(sharing_losses(one_core_per_host(example_cluster(true))), IsEmpty());
  const auto tree = one_core_per_host(fat_tree());
  ASSERT_EQ(sharing_losses(tree).size(), 1U);
  EXPECT_THAT(to_string(sharing_losses(tree).front()), HasSubstr("from 1 rank per host on"));
}

TEST(PlatformXml, SaysThatASingleMessageIsFasterThanItsLink) {
  const auto narrow = with_network(example_cluster(true), [](core::NetworkModel::Values& network) {
    network.remote->capacity = core::LinkCapacity{1e10};
    network.local = *network.remote;
    network.local.capacity.reset();
  });
  EXPECT_THAT(platform_xml_losses(narrow),
              Contains(HasSubstr("remote transfer from 64000 bytes: a single message is faster than its link "
                                 "(bandwidth factor 1.25)")));
}

TEST(PlatformXml, AMachineOfOneHostHasItsLocalCosts) {
  auto cluster = with_network(example_cluster(false), [](auto& network) { network.remote.reset(); });
  cluster.hosts = core::Hosts::make({"localhost", 2, 1, {}, 0});
  EXPECT_THAT(platform_xml_losses(cluster), IsEmpty());
  EXPECT_THAT(xml(cluster), HasSubstr("<host id=\"localhost\""));
  EXPECT_THAT(xml(cluster), HasSubstr("value=\"0:1.2e-07:1e-10;8000:1.6e-06:1.1e-10;63999:0:0\""));
}

TEST(PlatformXml, SaysThatLocalCostsNoiseLargeBoundsAndNegativeStartsAreLost) {
  EXPECT_THAT(
      platform_xml_losses(example_cluster(false)),
      ElementsAre(HasSubstr("remote messages that share a link"), HasSubstr("local send"), HasSubstr("local isend"),
                  HasSubstr("local recv"), HasSubstr("local bandwidth and latency factors")));
  const auto lossy = with_network(example_cluster(true), [](core::NetworkModel::Values& network) {
    auto& scope = *network.remote;
    scope.cost(core::MessageCost::recv) =
        core::SegmentedLaw::make({{0, 0, 0, 0, {{0.5, 1e-6, 0}, {0.5, 3e-6, 0}}}, {3e9, 1e-6, 0}});
    scope.cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, 1e-6, 1e-10}, {1000, -1e-7, 2e-10}});
    network.local = scope;
    scope.half_duplex = true;
  });
  EXPECT_THAT(
      platform_xml_losses(lossy),
      ElementsAre(HasSubstr("remote messages that share a link"), HasSubstr("remote half_duplex"),
                  HasSubstr("remote recv from 0 bytes: noise"),
                  HasSubstr("remote recv from 3e+09 bytes: SimGrid's bounds"),
                  HasSubstr("remote transfer from 1000 bytes: a line that starts below zero"),
                  HasSubstr("local recv from 0"), HasSubstr("local recv from 3e+09"), HasSubstr("local transfer")));
  EXPECT_THAT(xml(lossy), HasSubstr("\"smpi/or\" value=\"0:2e-06:0\""));
}

TEST(PlatformXml, SaysThatDetoursDoNotHoldUpMessages) {
  auto cluster = with_network(example_cluster(false), [](auto& network) { network.remote.reset(); });
  cluster.hosts = core::Hosts::make({"localhost", 2, 1, {}, 0});
  cluster.detours = {core::DetourSource::make({"agent", core::PeriodicDetours(), 1, core::ConstantDuration{0.01}})};
  EXPECT_THAT(platform_xml_losses(cluster), ElementsAre(HasSubstr("detours")));
}

TEST(PlatformXml, SaysThatProbesFindMessagesAtOnce) {
  auto cluster = with_network(example_cluster(false), [](auto& network) {
    network.remote.reset();
    network.late_probes = true;
  });
  cluster.hosts = core::Hosts::make({"localhost", 2, 1, {}, 0});
  EXPECT_THAT(platform_xml_losses(cluster), ElementsAre(HasSubstr("late_probes")));
}

TEST(PlatformXml, SaysThatNewMemoryAndExchangesCostNothing) {
  auto cluster = with_network(example_cluster(false), [](auto& network) {
    network.remote.reset();
    network.local.first_use_s_per_byte = 1e-9;
    network.local.exchange_s = 1e-6;
  });
  cluster.hosts = core::Hosts::make({"localhost", 2, 1, {}, 0});
  EXPECT_THAT(platform_xml_losses(cluster),
              ElementsAre(HasSubstr("first_use_s_per_byte"), HasSubstr("local exchange_s")));
}

/// Two cores at 2 and 1 GHz; a core adds f^2 W, a host 100 + 30 W.
core::PowerModel two_states() {
  core::PowerModel::Values values;
  values.idle = 100;
  values.awake = 30;
  values.states["default"] = core::Watts::polynomial({0, 0, 1});
  values.frequency = core::FrequencyModel{1e9, {1e9, 2e9}, {}, {}, {}};
  return core::PowerModel::make(values);
}

TEST(PlatformXml, HasTheWattsOfAllStatesTheOneOfTheClusterFirst) {
  core::ClusterModel cluster = example_cluster(true);
  cluster.power = two_states();
  const int cores = cluster.hosts.values().cores;
  EXPECT_THAT(xml(cluster), HasSubstr("speed=\"1Gf,2Gf\""));
  EXPECT_THAT(xml(cluster), HasSubstr("value=\"100:130:" + std::to_string(130 + cores) +
                                      ",100:130:" + std::to_string(130 + 4 * cores) + "\""));
}

TEST(PlatformXml, SaysThatTheHostsOfATreeCannotDifferInWatts) {
  core::ClusterModel cluster = fat_tree();
  cluster.power = two_states();
  EXPECT_THAT(platform_xml_losses(cluster), Not(Contains(HasSubstr("power"))));
  core::PowerModel::Values values = cluster.power->values();
  core::PowerOverride one;
  one.host = 1;
  one.idle = 105;
  values.overrides = {one};
  cluster.power = core::PowerModel::make(values);
  EXPECT_THAT(platform_xml_losses(cluster), Contains(HasSubstr("power")));
}

TEST(PlatformXml, SaysThatATreeWithPlacesLeftIsASingleSwitch) {
  EXPECT_THAT(platform_xml_losses(fat_tree()), Not(Contains(HasSubstr("topology"))));
  const auto tree = with_network(example_cluster(true), [](auto& network) {
    network.topology = core::FatTree{{3}, {1}, {1}};
  });
  EXPECT_THAT(platform_xml_losses(tree), Contains(HasSubstr("topology")));
  EXPECT_THAT(xml(tree), HasSubstr("<host id=\"n-2\""));
}

TEST(PlatformXml, PaddedNamesNeedASingleSwitch) {
  auto cluster = example_cluster(true);
  cluster.hosts = core::Hosts::make({"n-[01-02]", 4, 2, {}, 0});
  EXPECT_THAT(xml(cluster), HasSubstr("<host id=\"n-02\""));
  const auto tree = with_network(cluster, [](auto& network) { network.topology = core::FatTree{{2}, {1}, {1}}; });
  EXPECT_THAT(error_in([&] { xml(tree); }), HasSubstr("without padding"));
}

TEST(Hostfile, FillsHostsInOrder) {
  EXPECT_EQ(hostfile(1), "n-1\n");
  EXPECT_EQ(hostfile(6), "n-1\nn-1\nn-1\nn-1\nn-2\nn-2\n");
}

core::ClusterModel cluster_of_kinds() {
  core::ClusterModel cluster = example_cluster(true);
  core::Hosts::Values hosts = cluster.hosts.values();
  hosts.kinds = {{"small", "n-1", 2, 2, {core::RankToCpu::Kind::list, {1, 0}}, 0, 0.5}};
  cluster.hosts = core::Hosts::make(hosts);
  return cluster;
}

TEST(Hostfile, HasAsManyRanksOfAHostAsItsKindHasCores) {
  std::ostringstream out;
  write_hostfile(out, cluster_of_kinds(), 5);
  EXPECT_EQ(out.str(), "n-1\nn-1\nn-2\nn-2\nn-2\n");
  EXPECT_THAT(error_in([&] { write_hostfile(out, cluster_of_kinds(), 7); }),
              HasSubstr("1 host (others) of 4 cores, 1 host (small) of 2 cores"));
}

TEST(PlatformXml, HasCoresAndLinksOfKindsOfHostsOnASwitch) {
  const std::string text = xml(cluster_of_kinds());
  EXPECT_THAT(text, HasSubstr("<host id=\"n-1\" speed=\"1Gf\" core=\"2\""));
  EXPECT_THAT(text, HasSubstr("<host id=\"n-2\" speed=\"1Gf\" core=\"4\""));
  EXPECT_THAT(text, HasSubstr("<link id=\"n-1_link\" bandwidth=\"6.25e+09Bps\""));
  EXPECT_THAT(text, HasSubstr("<link id=\"n-2_link\" bandwidth=\"1.25e+10Bps\""));
  core::ClusterModel tree = fat_tree();
  tree.hosts = cluster_of_kinds().hosts;
  EXPECT_THAT(platform_xml_losses(tree), Contains(HasSubstr("kinds of hosts")));
}

TEST(Hostfile, RefusesMoreRanksThanCores) {
  EXPECT_THAT(error_in([] { hostfile(9); }), HasSubstr("at most the 8 cores"));
  EXPECT_THAT(error_in([] { hostfile(0); }), HasSubstr("at least 1"));
}

TEST(ModelH, EqualsTheGoldenFile) {
  expect_golden("model.h", model_h(example_cluster(false)));
}

TEST(ModelH, IsC99AndItsMacrosCallTheRuntime) {
  const std::filesystem::path folder = std::filesystem::path(HPLCAST_BINARY_DIR) / "tests/model_h";
  core::write_file(folder / "model.h", [](std::ostream& out) { write_model_h(out, example_cluster(false)); });
  core::write_file(folder / "use.c", [](std::ostream& out) {
    out << "#include \"model.h\"\nvoid use(void);\nvoid use(void) { HPLCAST_DGEMM(1, 2, 3); HPLCAST_DTRSM(1, 2, 1);\n"
           "HPLCAST_DAXPY(4); HPLCAST_DLASWP06T(5, 6); hplcast_register_model(&hplcast_model); }\n";
  });
  const core::CommandResult result =
      core::run({"cc",
                 {"-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only",
                  "-I" HPLCAST_SOURCE_DIR "/smpi-models/include", "-I" HPLCAST_SOURCE_DIR "/core/include", "use.c"},
                 {},
                 folder,
                 {},
                 0,
                 {}});
  EXPECT_EQ(result.status, 0) << result.output;
}

TEST(ModelH, RefusesAKernelThatTheRuntimeDoesNotKnow) {
  auto cluster = example_cluster(false);
  cluster.kernels["zgemm"] = core::KernelModel();
  EXPECT_THAT(error_in([&] { model_h(cluster); }), HasSubstr("zgemm"));
}

TEST(ExampleCluster, IsWrittenAsTheWriterWritesIt) {
  const std::filesystem::path path = std::filesystem::path(HPLCAST_SOURCE_DIR) / "examples/dahu-like.json";
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  std::istringstream stream(text);
  const core::ClusterModel cluster = core::read_cluster(stream, path);
  EXPECT_EQ(cluster.hosts.total_cores(), 1024);
  std::ostringstream out;
  core::write_cluster(out, cluster);
  EXPECT_EQ(out.str(), text);
}

}  // namespace
}  // namespace hplcast::platforms
