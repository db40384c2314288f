#include "hplcast/core/cluster_model.hpp"

#include <gtest/gtest.h>

#include "hplcast/core/errors.hpp"

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
  for (const char* text : {"", "a,", "a[", "a]", "a[]", "a[3-1]", "a[x-2]", "a[1-]", "a[[1]]", "a[0-99999999999]"}) {
    EXPECT_THROW(expand_hosts(text), DomainError) << text;
  }
}

TEST(Hosts, MapsRanksToCpus) {
  const auto cpus = [](RankToCpu map) {
    const auto hosts = Hosts::make({"h", 4, 2, std::move(map), 0});
    std::vector<int> result;
    for (int rank = 0; rank < 8; ++rank) result.push_back(hosts.cpu_of(rank));
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
}

}  // namespace
}  // namespace hplcast::core
