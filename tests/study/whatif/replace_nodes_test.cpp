// Hosts in place of those of another cluster become a kind of their own; hosts of other names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/study/transform.hpp"
#include "study/whatif/cluster_changes.hpp"
#include "tests/study/whatif/dahu_like.hpp"

namespace hplcast::study {
namespace {

/// Three hosts of 16 cores on one CPU, kernels twice as fast, half the bandwidth.
core::ClusterModel newer() {
  core::ClusterModel cluster = transformed(dahu_like(), {{"scale-kernels", "2"}, {"scale-bandwidth", "0.5"}});
  const auto law = [&](double factor) { return slowed(cluster.kernels.at("dgemm").cluster_law(), factor); };
  for (auto& [name, model] : cluster.kernels) {
    std::vector<core::CpuLaw> own;
    if (name == "dgemm") own = {{0, 0, law(1)}, {1, 0, law(1.1)}, {2, 0, law(1.2)}};
    model = core::KernelModel::make(model.level(), model.cluster_law(), own, core::ShapeRange{{2, 2, 2}, {5, 5, 5}});
  }
  cluster.kernels.erase("daxpy");
  cluster.hosts = core::Hosts::make({"new-[1-3]", 16, 1, {}, 5e10});
  cluster.name = "newer";
  return cluster;
}

class OfAnotherCluster : public ::testing::Test {
 protected:
  void write(const core::ClusterModel& cluster) const {
    core::write_file(file_, [&](std::ostream& out) { core::write_cluster(out, cluster); });
  }
  core::ClusterModel replaced(const std::string& which) const { return with("replace-nodes", which + file_.string()); }
  std::string error(const std::string& which = "8:") const {
    try {
      replaced(which);
    } catch (const core::Error& error) {
      return error.what();
    }
    return "";
  }

  core::TemporaryFolder folder_{"hplcast-kinds"};
  std::filesystem::path file_ = folder_.path() / "newer.json";
};

TEST_F(OfAnotherCluster, HostsBecomeAKindWithItsCoresMemoryLinksLawsAndWatts) {
  const core::ClusterModel other = newer(), old = dahu_like();
  write(other);
  const core::ClusterModel cluster = replaced("8:last:");
  ASSERT_EQ(cluster.hosts.values().kinds.size(), 1U);
  const core::HostKind& kind = cluster.hosts.values().kinds.front();
  EXPECT_EQ(kind.name, "newer");
  EXPECT_EQ(kind.hosts, "node-[25-32]");
  EXPECT_EQ(kind.cores, 16);
  EXPECT_EQ(kind.cpus, 1);
  EXPECT_EQ(kind.memory_bytes, 5e10);
  EXPECT_EQ(kind.link_share, 0.5);
  EXPECT_EQ(cluster.hosts.total_cores(), 24 * 32 + 8 * 16);
  EXPECT_EQ(dgemm_of(cluster, 23, 1).mean_s(shape), dgemm_of(old, 23, 1).mean_s(shape));
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(dgemm_of(cluster, 24 + i, 0).mean_s(shape), dgemm_of(other, i % 3, 0).mean_s(shape)) << i;
  EXPECT_EQ(cluster.kernels.at("daxpy").law(24, 0).at(shape).mean_s(shape), 0) << "the other has no model of it";
  EXPECT_GT(cluster.kernels.at("daxpy").law(23, 0).at(shape).mean_s(shape), 0);
  const auto watts = [](const core::ClusterModel& of, int host) {
    const core::HostPower power(*of.power, of.hosts, host);
    return power.watts({{0, core::state_of(core::KernelId::dgemm), 3}, {0, core::CoreState::polling, 2}});
  };
  EXPECT_DOUBLE_EQ(watts(cluster, 30), watts(other, 0));
  EXPECT_DOUBLE_EQ(watts(cluster, 3), watts(old, 3));
  std::stringstream text;
  core::write_cluster(text, cluster);
  EXPECT_EQ(core::cluster_sha256(core::read_cluster(text, "text")), core::cluster_sha256(cluster));
}

TEST_F(OfAnotherCluster, KindsGoWithTheirHosts) {
  write(newer());
  const core::ClusterModel cluster = replaced("8:first:");
  const auto kinds = [&](const char* name, const char* argument) {
    return transformed(cluster, {{name, argument}}).hosts.values().kinds;
  };
  EXPECT_EQ(kinds("add-nodes", "2:fastest").front().hosts, "node-[1-8,33-34]");
  EXPECT_EQ(kinds("remove-hosts", "node-[2,9]").front().hosts, "node-[1,3-8]");
  EXPECT_TRUE(kinds("remove-hosts", "node-[1-8]").empty());
  EXPECT_EQ(kinds("sort-nodes", "slowest").front().hosts, "node-[25-32]");
  EXPECT_EQ(core::expand_hosts(kinds("replace-nodes", "3:slowest:fastest").front().hosts).size(), 11U);
  const auto fewer = transformed(cluster, {{"ranks-per-node", "4"}}).hosts;
  EXPECT_EQ(fewer.total_cores(), 32 * 4);
  EXPECT_EQ(fewer.cpus_of(0), 1);
  EXPECT_EQ(fewer.cpus_of(8), 2);
  const auto threads = transformed(cluster, {{"threads-per-rank", "4"}}).hosts;
  EXPECT_EQ(threads.total_cores(), 24 * 8 + 8 * 4);
  EXPECT_THROW(transformed(cluster, {{"ranks-per-node", "20"}}), core::DomainError) << "more than one kind has";
  // A second time: another kind of another name.
  EXPECT_EQ(transformed(cluster, {{"replace-nodes", "2:last:" + file_.string()}}).hosts.values().kinds.back().name,
            "newer-2");
}

TEST_F(OfAnotherCluster, AcceleratorsGoWithTheKindAndHaveARankEach) {
  core::ClusterModel other = newer();
  core::AcceleratorModel its;
  its.per_host = 4;
  its.to_device = its.from_device = its.within_device = {0, 1e10, std::nullopt};
  its.memory_bytes = 1e9;
  its.kernels["dgemm"].model = other.kernels.at("dtrsm");
  other.accelerators = its;
  write(other);
  const core::ClusterModel mixed = replaced("8:last:");
  EXPECT_EQ(mixed.accelerators_of(23), nullptr);
  EXPECT_EQ(mixed.accelerators_of(24)->per_host, 4);
  EXPECT_THROW(transformed(mixed, {{"ranks-per-node", "accelerators"}}), core::DomainError) << "hosts without";
  core::ClusterModel old = dahu_like();
  old.accelerators = its;
  const auto in = [&](const core::ClusterModel& cluster) {
    return transformed(cluster, {{"replace-nodes", "8:last:" + file_.string()}});
  };
  EXPECT_FALSE(in(old).hosts.values().kinds.front().accelerators.has_value()) << "the same in both";
  old.accelerators->per_host = 2;
  const core::ClusterModel both = in(old);
  EXPECT_EQ(both.accelerators_of(31)->per_host, 4);
  EXPECT_EQ(transformed(both, {{"ranks-per-node", "accelerators"}}).hosts.total_cores(), 24 * 2 + 8 * 4);
  other.accelerators->power = core::AcceleratorPower{20, 40, 80};
  other.accelerators->kernels["dgemm"].power_w = 60;
  core::PowerModel::Values supply = other.power->values();
  supply.supply_efficiency = old.power->values().supply_efficiency / 2;
  other.power = core::PowerModel::make(supply);
  write(other);
  EXPECT_EQ(in(old).accelerators_of(31)->power->busy_w, 160) << "behind a better supply: as many at the wall";
  EXPECT_EQ(in(old).accelerators_of(31)->kernels.at("dgemm").power_w, 120);
  other.accelerators.reset();
  write(other);
  EXPECT_EQ(in(old).accelerators_of(31), nullptr);
  its.kernels["dgemm"].model = other.kernels.at("dgemm");
  other.accelerators = its;
  write(other);
  EXPECT_THAT(error(), testing::HasSubstr("overrides of dgemm"));
}

TEST_F(OfAnotherCluster, RefusesWhatDoesNotGoTogether) {
  using ::testing::HasSubstr;
  core::ClusterModel other = newer();
  write(other);
  EXPECT_THAT(error("33:"), HasSubstr("0 to 32"));
  EXPECT_THAT(error("8:largest:"), HasSubstr("replace-nodes"));
  other.power.reset();
  write(other);
  EXPECT_THAT(error(), HasSubstr("power of newer"));
  other = newer();
  other.kernels.erase("dgemm");
  write(other);
  EXPECT_THAT(error(), HasSubstr("dgemm of newer"));
  other = newer();
  core::Hosts::Values hosts = other.hosts.values();
  hosts.threads_per_rank = 2;
  other.hosts = core::Hosts::make(hosts);
  write(other);
  EXPECT_THAT(error(), HasSubstr("threads_per_rank of newer"));
  hosts.threads_per_rank = 1;
  hosts.kinds = {{"a", "new-1", 1, 1, {}, 0, 1}};
  other.hosts = core::Hosts::make(hosts);
  write(other);
  EXPECT_THAT(error(), HasSubstr("a cluster of one kind"));
  write(newer());
  core::ClusterModel tree = with("fat-tree", "8:4:2");
  EXPECT_THROW(transformed(tree, {{"replace-nodes", "8:" + file_.string()}}), core::DomainError)
      << "links of hosts in a tree";
}

TEST(TransformGenerate, RefusesHostsThatHaveNoPlaceAndLeavesOutTheWattsOfThoseThatAreGone) {
  const std::string model = HPLCAST_SOURCE_DIR "/examples/generative/generative.json;hosts=";
  ClusterModel cluster = with("fat-tree", "8:4:2");
  EXPECT_THROW(transformed(cluster, {{"generate", model + "node-[1-8]"}}), core::DomainError);
  EXPECT_EQ(transformed(cluster, {{"generate", model + "other-[1-32]"}}).hosts.names()[0], "other-1");
  cluster = dahu_like();
  core::PowerModel::Values power = cluster.power->values();
  for (const int host : {2, 20}) {
    power.overrides.emplace_back().host = host;
    power.overrides.back().idle = 70;
  }
  cluster.power = core::PowerModel::make(power);
  const ClusterModel small = transformed(cluster, {{"generate", model + "node-[1-8]"}});
  ASSERT_EQ(small.power->values().overrides.size(), 1U);
  EXPECT_EQ(small.power->idle(2).at({}), 70);
  core::check_power(*small.power, small.hosts);
  cluster = with("frequency-at", "60s:1.4GHz;on=node-20");
  EXPECT_THROW(with_host_names(cluster, "node-[1-8]"), core::DomainError);
}

}  // namespace
}  // namespace hplcast::study
