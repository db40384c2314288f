#include "hplcast/study/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/core/errors.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::error_in;

std::vector<CampaignRecord> import(const std::string& text, ImportedRuns* found = nullptr,
                                   const std::string& cluster = "") {
  std::istringstream in(text);
  std::vector<CampaignRecord> campaigns;
  const ImportedRuns runs =
      import_runs(in, "runs.csv", cluster, [&](const CampaignRecord& campaign) { campaigns.push_back(campaign); });
  if (found != nullptr) *found = runs;
  return campaigns;
}

TEST(ImportRuns, MakesACampaignOfEachJobInTheOrderOfTime) {
  ImportedRuns found;
  const auto campaigns = import(
      "cluster,node,cpu,jobid,start_time,mean_frequency,std_frequency,mean_power_cpu\n"
      "dahu,2,0,12,1600086400.75,2.1,0.1,\n"
      "dahu,1,1,11,1600000000,2.2,0.1,125\n",
      &found);
  ASSERT_EQ(campaigns.size(), 2U);
  EXPECT_EQ(campaigns[0].job, "11");
  EXPECT_EQ(campaigns[0].start_s, 1600000000);
  EXPECT_THAT(campaigns[0].hosts, ElementsAre("dahu-1"));
  ASSERT_EQ(campaigns[0].observations.size(), 2U);
  EXPECT_EQ(to_string(campaigns[0].observations[0].place), "dahu-1 CPU 1");
  EXPECT_EQ(campaigns[0].observations[0].factor, "frequency_ghz");
  EXPECT_EQ(campaigns[0].observations[0].value, 2.2);
  EXPECT_EQ(campaigns[1].observations.size(), 1U);  // its power is empty
  EXPECT_EQ(campaigns[1].start_s, 1600086400);
  EXPECT_THAT(found.factors, ElementsAre("frequency_ghz", "power_cpu_w"));
  EXPECT_THAT(found.unused, ElementsAre("std_frequency"));
}

TEST(ImportRuns, TakesOurOwnNamesAndAClusterFromOutside) {
  const auto campaigns = import("host,cpu,job,start_time,dgemm_gflops\nnode07,0,a-1,1600000000,20\n", nullptr, "c");
  ASSERT_EQ(campaigns.size(), 1U);
  EXPECT_EQ(campaigns[0].cluster, "c");
  EXPECT_EQ(campaigns[0].observations[0].place.host, "node07");
}

TEST(ImportRuns, RefusesFilesThatAreNone) {
  const std::string header = "cluster,node,cpu,jobid,start_time,mean_frequency\n";
  EXPECT_THAT(error_in([&] { import(header); }), HasSubstr("found no rows"));
  EXPECT_THAT(error_in([&] { import("node,cpu,jobid,start_time,mean_frequency\n1,0,1,1,1\n"); }),
              HasSubstr("--cluster"));
  EXPECT_THAT(error_in([&] { import("cluster,node,cpu,jobid,start_time,x\ndahu,1,0,1,1,1\n"); }),
              HasSubstr("no column of a factor"));
  EXPECT_THAT(error_in([&] { import(header + "dahu,1,0,11,1600000000,fast\n"); }), HasSubstr("runs.csv:2"));
  EXPECT_THAT(error_in([&] { import(header + "dahu,1,-3,11,1600000000,2\n"); }), HasSubstr("at most 4095"));
  EXPECT_THAT(error_in([&] { import(header + "dahu,,0,11,1600000000,2\n"); }), HasSubstr("found nothing"));
  EXPECT_THAT(error_in([&] { import(header + "dahu,1,0,11,1600000000,nan\n"); }), HasSubstr("mean_frequency"));
}

TEST(ImportRuns, RefusesSpeedsOfNothing) {
  // A job that failed: its day would be infinitely slower than the others.
  const std::string header = "cluster,node,cpu,jobid,start_time,dgemm_gflops,intercept\n";
  for (const char* speed : {"0", "-20"})
    EXPECT_THAT(error_in([&] { import(header + "dahu,1,0,11,1600000000," + speed + ",0\n"); }),
                AllOf(HasSubstr("runs.csv:2"), HasSubstr("dgemm_gflops")));
  const auto campaigns = import(header + "dahu,1,0,11,1600000000,20,0\ndahu,1,1,11,1600000000,,-1e-7\n");
  EXPECT_EQ(campaigns.at(0).observations.size(), 3U) << "coefficients may be 0, or less";
}

TEST(ReadLogs, TurnNodesIntoHosts) {
  std::istringstream changes(
      "date,cluster,node,type,description\n2020-05-18,dahu,13/14,G5K,power drain\n"
      "2020-05-05,all,all,protocol,stop\n2020-05-06,dahu/gros,1/2,G5K,fans\n");
  const auto found = read_changes(changes, "c");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].hosts, "dahu-13/dahu-14");
  EXPECT_EQ(found[0].time_s, parse_date("2020-05-18"));
  EXPECT_EQ(found[1].hosts, "all");
  EXPECT_EQ(found[2].cluster, "dahu/gros");
  EXPECT_EQ(found[2].hosts, "dahu-1/dahu-2/gros-1/gros-2");
  std::istringstream outliers("date,cluster,node,jobid,description\n2020-09-25,dahu,7,1949205,CPU power drop\n");
  const auto bad = read_outliers(outliers, "o");
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad[0].job, "1949205");
  EXPECT_EQ(bad[0].hosts, "dahu-7");
  std::istringstream wrong("date,cluster,node,type,description\nyesterday,dahu,1,a,b\n");
  EXPECT_THAT(error_in([&] { read_changes(wrong, "log.csv"); }), HasSubstr("log.csv:2"));
}

}  // namespace
}  // namespace hplcast::study
