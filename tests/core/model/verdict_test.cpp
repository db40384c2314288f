#include "hplcast/core/doubts.hpp"

#include <gtest/gtest.h>

namespace hplcast::core {
namespace {

TEST(Verdict, IsThatOfTheWorstFlag) {
  EXPECT_EQ(to_string(verdict_on({})), "usable");
  EXPECT_EQ(to_string(verdict_on({{"remote", "capacity_unknown", ""}})), "usable");
  const QualityFlag drift = {"dgemm", "drift", "+5 %"}, slow = {"node-1", "throttling", "3 times"};
  const QualityFlag drift_of_send = {"send local", "drift", "+4 %"};
  EXPECT_EQ(to_string(verdict_on({drift, slow, drift_of_send})),
            "doubtful because of drift (dgemm, send local) and throttling (node-1)");
  const QualityFlag crowd = {"hosts", "oversubscribed", ""};
  EXPECT_EQ(to_string(verdict_on({drift, crowd, slow})), "unusable because of oversubscribed (hosts)");
}

TEST(Verdict, TooFewCallsMatterMostForDgemm) {
  EXPECT_EQ(usability_with({"dgemm", "too_few_repetitions", ""}), Usability::unusable);
  EXPECT_EQ(usability_with({"dscal", "too_few_repetitions", ""}), Usability::doubtful);
}

TEST(Verdict, OfAModelIsReadFromItsProvenance) {
  ClusterModel cluster;
  EXPECT_TRUE(recorded_flags(cluster).empty());
  cluster.provenance = R"({"quality_flags": [{"subject": "dgemm", "flag": "drift", "detail": "+5 %"},
    {"subject": "local", "flag": "capacity_unknown", "detail": "not measured"}, 7, {"flag": 3}]})";
  const auto flags = recorded_flags(cluster);
  ASSERT_EQ(flags.size(), 3U);
  EXPECT_EQ(flags[0].detail, "+5 %");
  EXPECT_EQ(flags[2].flag, "unknown") << "a file that was changed by hand";
  const auto lines = model_doubts(cluster);
  EXPECT_EQ(lines.front(), "dgemm: drift: +5 %");
  for (const std::string& line : lines) EXPECT_EQ(line.find("capacity_unknown"), std::string::npos);
}

TEST(ModelDoubts, SayIfAHostHasMoreRanksThanMeasuredItsKernels) {
  ClusterModel cluster;
  Hosts::Values hosts;
  hosts.names = "a";
  hosts.cores = 32;
  cluster.hosts = Hosts::make(hosts);
  const auto told = [&](const std::string& provenance) {
    cluster.provenance = provenance;
    for (const std::string& line : model_doubts(cluster))
      if (line.find("32: with more of them each may be slower") != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(told(R"({"ranks_per_host": 2})"));
  EXPECT_FALSE(told(R"({"ranks_per_host": 32})"));
  EXPECT_FALSE(told(R"({"ranks_per_host": "two"})"));
  EXPECT_FALSE(told("{}")) << "models of older campaigns do not say";
}

}  // namespace
}  // namespace hplcast::core
