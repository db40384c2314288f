#include "hplcast/core/cluster_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/topology.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using Names = std::vector<std::string>;

TEST(ExpandHosts, ReadsRadicals) {
  EXPECT_EQ(expand_hosts("dahu-[1-3]"), (Names{"dahu-1", "dahu-2", "dahu-3"}));
  EXPECT_EQ(expand_hosts("n[08-10,2].site"), (Names{"n08.site", "n09.site", "n10.site", "n2.site"}));
  EXPECT_EQ(expand_hosts("a,b[1-2]"), (Names{"a", "b1", "b2"}));
  EXPECT_EQ(expand_hosts("r[1-2]n[1-2]"), (Names{"r1n1", "r1n2", "r2n1", "r2n2"}));
}

TEST(ExpandHosts, RefusesWhatItCannotRead) {
  for (const char* text : {"", "a,", "a[", "a]", "a[]", "a[3-1]", "a[x-2]", "a[1-]", "a[[1]]", "a[0-99999999999]",
                           "a b", "a,\tb", "a\"[1-2]", "a\\b", "a\nb", "a\x01"}) {
    EXPECT_THROW(expand_hosts(text), DomainError) << text;
  }
}

TEST(Hosts, MapsRanksToCpus) {
  const auto cpus = [](RankToCpu map) {
    const auto hosts = Hosts::make({"h", 4, 2, std::move(map), 0});
    std::vector<int> result;
    for (int rank = 0; rank < 8; ++rank) result.push_back(hosts.cpu_of(0, rank));
    return result;
  };
  using Kind = RankToCpu::Kind;
  EXPECT_EQ(cpus({Kind::block, {}}), (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(cpus({Kind::cyclic, {}}), (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(cpus({Kind::list, {1, 0, 0, 1}}), (std::vector<int>{1, 0, 0, 1, 1, 0, 0, 1}));
}

TEST(Hosts, RefusesImpossibleOnes) {
  EXPECT_THROW(Hosts::make({"h", 0, 1, {}, 0}), DomainError);
  EXPECT_THROW(Hosts::make({"h", 3, 2, {}, 0}), DomainError);
  EXPECT_THROW(Hosts::make({"h", 1, 2, {}, 0}), DomainError);
  EXPECT_THROW(Hosts::make({"h,h", 1, 1, {}, 0}), DomainError);
  EXPECT_THROW(Hosts::make({"h", 2, 2, {RankToCpu::Kind::list, {0}}, 0}), DomainError);
  EXPECT_THROW(Hosts::make({"h", 2, 2, {RankToCpu::Kind::list, {0, 2}}, 0}), DomainError);
  EXPECT_THROW(Hosts::make({"n-[1-3000]", 1000000, 1, {}, 0}), DomainError) << "cores are counted in 32 bits";
}

HostKind host_kind(const std::string& name, const std::string& hosts, int cores, int cpus = 1) {
  HostKind result;
  result.name = name;
  result.hosts = hosts;
  result.cores = cores;
  result.cpus = cpus;
  return result;
}

Hosts hosts_with(std::vector<HostKind> kinds) {
  Hosts::Values values{"n-[0-4]", 2, 1, {}, 1e9};
  values.kinds = std::move(kinds);
  return Hosts::make(std::move(values));
}

/// n-0 has 2 cores, n-1 and n-3 have 4 on 2 CPUs, n-2 has 1, n-4 has 2.
TEST(HostKinds, AreFilledHostByHost) {
  HostKind big = host_kind("big", "n-[3,1]", 4, 2);
  big.memory_bytes = 5e9;
  big.link_share = 0.5;
  const Hosts hosts = hosts_with({big, host_kind("small", "n-2", 1)});
  EXPECT_EQ(hosts.total_cores(), 13);
  EXPECT_EQ(hosts.most_cores(), 4);
  EXPECT_EQ(hosts.most_cpus(), 2);
  std::vector<int> host, local, cpu;
  for (int rank = 0; rank < 13; ++rank) {
    const auto [h, l] = hosts.place_of(rank);
    host.push_back(h);
    local.push_back(l);
    cpu.push_back(hosts.cpu_of(h, l));
  }
  EXPECT_EQ(host, (std::vector<int>{0, 0, 1, 1, 1, 1, 2, 3, 3, 3, 3, 4, 4}));
  EXPECT_EQ(local, (std::vector<int>{0, 1, 0, 1, 2, 3, 0, 0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(cpu, (std::vector<int>{0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(hosts.hosts_of(6), 2);
  EXPECT_EQ(hosts.hosts_of(7), 3);
  EXPECT_EQ(hosts.ranks_on(1, 5), 3);
  EXPECT_EQ(hosts.ranks_on(3, 5), 0);
  EXPECT_EQ(hosts.memory_bytes_of(0), 1e9);
  EXPECT_EQ(hosts.memory_bytes_of(1), 5e9);
  EXPECT_EQ(hosts.link_share_of(3), 0.5);
  EXPECT_EQ(hosts.link_share_of(4), 1);
  EXPECT_EQ(hosts.kind_name(hosts.kind_of(3)), "big");
  EXPECT_EQ(hosts.text(), "2 hosts (others) of 2 cores, 2 hosts (big) of 4 cores, 1 host (small) of 1 core");
}

TEST(HostKinds, ThatAreAlikeFillHostsAsOneKindDoes) {
  const Hosts one = hosts_with({}), two = hosts_with({host_kind("a", "n-[0-1]", 2), host_kind("b", "n-4", 2)});
  EXPECT_FALSE(one.has_kinds());
  EXPECT_EQ(one.total_cores(), two.total_cores());
  for (int rank = 0; rank < one.total_cores(); ++rank) {
    EXPECT_EQ(one.place_of(rank).host, two.place_of(rank).host);
    EXPECT_EQ(one.place_of(rank).local, two.place_of(rank).local);
    EXPECT_EQ(one.hosts_of(rank), two.hosts_of(rank));
  }
}

TEST(HostKinds, RefuseWhatCannotBe) {
  const auto error = [](const std::vector<HostKind>& kinds) { return tests::error_in([&] { hosts_with(kinds); }); };
  using ::testing::HasSubstr;
  EXPECT_THAT(error({host_kind("a", "n-[0-2]", 2), host_kind("b", "n-[2-3]", 2)}),
              HasSubstr("`kinds of host n-2` is \"a\" and \"b\"; expected one kind"));
  EXPECT_THAT(error({host_kind("a", "n-[3-7]", 2)}), HasSubstr("`a host of kind \"a\"` is n-5; expected hosts among"));
  EXPECT_THAT(error({host_kind("a", "", 2)}), HasSubstr("an empty name"));
  EXPECT_THAT(error({host_kind("a", "n-0", 2), host_kind("a", "n-1", 2)}), HasSubstr("each kind once"));
  EXPECT_THAT(error({host_kind("others", "n-0", 2)}), HasSubstr("a name other than others"));
  EXPECT_THAT(error({host_kind("a", "n-0", 3, 2)}), HasSubstr("a multiple of cpus"));
  HostKind fast = host_kind("a", "n-0", 2);
  fast.link_share = 1.5;
  EXPECT_THAT(error({fast}), HasSubstr("at most 1"));
  ClusterModel cluster;
  fast.link_share = 0.5;
  cluster.hosts = hosts_with({fast});
  check_links(cluster);
  NetworkModel::Values network;
  network.local.bandwidth_bytes_per_s = 1e10;
  network.local.latency_s = 1e-6;
  network.topology = Torus{{5}};
  cluster.network = NetworkModel::make(network);
  EXPECT_THROW(check_links(cluster), DomainError);
}

}  // namespace
}  // namespace hplcast::core
