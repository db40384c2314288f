// From measurements to a cluster. That `fit kernel`, `fit network` and `assemble` give the same:
// tests/cli/one_road_test.cpp.
#include "hplcast/fit/campaign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/fit/hpl_kernels.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::fit {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// 64 calls at 2e10 flop/s and 1 us each, times a factor.
std::string dgemm_csv(const std::string& kernel = "dgemm", double times = 1) {
  std::string text = "kernel,m,n,k,duration_s,start_s,host,cpu,content\n";
  for (const double m : {100., 200., 300., 400.})
    for (const double n : {100., 250., 350., 600.})
      for (const double k : {16., 32., 64., 128.})
        text += kernel + "," + core::shortest(m) + "," + core::shortest(n) + "," + core::shortest(k) + "," +
                core::shortest(times * (1e-6 + 1e-10 * m * n * k)) + ",0,h,0,random\n";
  return text;
}

Campaign one_rank() {
  Campaign campaign;
  campaign.hosts = {{"h", 1e9, {0}}};
  campaign.measurements["measurements/01-dgemm.csv"] = dgemm_csv();
  return campaign;
}

std::vector<std::string> names(const std::vector<QualityFlag>& flags) {
  std::vector<std::string> names;
  for (const QualityFlag& flag : flags) names.push_back(flag.subject + " " + flag.flag);
  return names;
}

/// The error of a campaign that cannot be fitted.
std::string error_of(const Campaign& campaign, core::ExitCode code) {
  try {
    fit_campaign(campaign);
  } catch (const core::Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "no error";
}

// A rank of -1 in hosts.json was a segmentation fault, and one of 2e9 took 8 GB.
TEST(CampaignOfAnArchive, HasNoRanksBeyondThoseOfItsHosts) {
  core::CampaignArchive archive;
  archive.context.machines.emplace_back().host = "h";
  for (const int rank : {-1, 2, 2000000000}) {
    archive.context.ranks = {{0, "h", 0, 0}, {rank, "h", 0, 1}};
    EXPECT_THAT(tests::error_in([&] { campaign_of(archive); }),
                HasSubstr("a rank in hosts.json` is " + std::to_string(rank)));
  }
}

/// 64 calls that take 0.9 times as long: the model does not see them, its user does.
TEST(FitCampaign, CallsOfOneRankPerHostSayHowMuchFasterItIs) {
  Campaign campaign = one_rank();
  const CampaignFit without = fit_campaign(campaign);
  campaign.measurements["measurements/01-dgemm-alone.csv"] = dgemm_csv("dgemm_alone", 0.9);
  campaign.origin = R"({"ranks_per_host": 2})";
  const CampaignFit fit = fit_campaign(campaign);
  const auto alone = nlohmann::json::parse(fit.cluster.provenance).at("alone");
  EXPECT_NEAR(alone.at("dgemm").get<double>(), 0.9, 1e-6) << "the model is exact but for its choice of terms";
  EXPECT_LT(alone.at("standard_error").get<double>(), 1e-6);
  EXPECT_EQ(alone.at("calls"), 64);
  EXPECT_EQ(fit.cluster.kernels.count("dgemm_alone"), 0U);
  EXPECT_EQ(core::kernel_model_json(fit.cluster.kernels.at("dgemm")),
            core::kernel_model_json(without.cluster.kernels.at("dgemm")));
  EXPECT_THAT(fit.notes, Contains(HasSubstr("takes 0.900 (standard error 0.000) times as long")));
}

/// The machine was slower by a quarter while these calls were made, by itself: calls beside others tell.
TEST(FitCampaign, CallsAloneAreComparedWithThoseBesideOthersInTheSameMinute) {
  Campaign campaign = one_rank();
  campaign.origin = R"({"ranks_per_host": 2})";
  const std::string beside = dgemm_csv("dgemm_beside", 1.25);
  campaign.measurements["measurements/01-dgemm-alone.csv"] =
      dgemm_csv("dgemm_alone", 0.9 * 1.25) + beside.substr(beside.find('\n') + 1);
  campaign.controls = std::string(core::control_csv_header) + "\n0,h,0,0,640x640x640,18,0.012,0.012,1e-5,0\n" +
                      "0,h,0,10,640x640x640,18,0.013,0.013,1e-5,0\n";
  const CampaignFit fit = fit_campaign(campaign);
  const auto alone = nlohmann::json::parse(fit.cluster.provenance).at("alone");
  EXPECT_NEAR(alone.at("dgemm").get<double>(), 0.9, 1e-12);
  EXPECT_LT(alone.at("standard_error").get<double>(), 1e-12);
  EXPECT_EQ(alone.at("calls"), 64);
  EXPECT_EQ(fit.cluster.kernels.size(), 1U);
}

/// Runs of HPL with one and with two ranks of a host of two, while the machine's speed changes from run to run. In them
/// dgemm takes 0.9 times as long on one rank, and 0.95 times in calls by themselves: runs are what is predicted.
TEST(FitCampaign, HplsCallsOnOneRankSayHowMuchFasterEachKernelIs) {
  Campaign campaign = one_rank();
  campaign.hosts = {{"h", 1e9, {0, 0}}};
  std::string messages = "operation,scope,size_bytes,duration_s,start_s,host,peer,background\n";
  for (int i = 0; i < 40; ++i)
    messages += "pingpong,local," + std::to_string(1000 * i) + "," + core::shortest(2e-6 + 2e-7 * i) + ",0,h,h,none\n";
  campaign.measurements["measurements/04-mpi.csv"] = messages;
  const std::string beside = dgemm_csv("dgemm_beside");
  campaign.measurements["measurements/01-dgemm-alone.csv"] =
      dgemm_csv("dgemm_alone", 0.95) + beside.substr(beside.find('\n') + 1);
  std::string text = "kernel,m,n,k,duration_s,start_s,host,content,busy_ranks\n";
  for (int run = 0; run < 12; ++run) {
    const bool one = run % 2 == 0;
    const double slower = one ? 1 + 0.02 * (run - 5) : 1;
    for (double m = one ? 40 : 20; m <= (one ? 800 : 400); m += one ? 40 : 20)
      for (const char* kernel : {"dgemm", "dtrsm"}) {
        const bool is_dgemm = kernel == std::string("dgemm");
        const double alone = !one ? 1 : is_dgemm ? 0.9 : 0.7;
        text += kernel + ("," + core::shortest(m)) + ",64,64," +
                core::shortest(alone * slower * ((is_dgemm ? 1e-6 : 0) + 1e-10 * m * 64 * 64)) + "," +
                std::to_string(10 * run) + ",h,hpl," + (one ? "1" : "2") + "\n";
      }
  }
  campaign.measurements["measurements/02-kernels.csv"] = text;
  const CampaignFit fit = fit_campaign(campaign);
  const auto alone = nlohmann::json::parse(fit.cluster.provenance).at("alone");
  EXPECT_NEAR(alone.at("dgemm").get<double>(), 0.9, 1e-6);
  EXPECT_EQ(alone.at("pieces_of_runs"), 6);
  // Six runs, 0.9 to 1.1 times as long as in the mean: sqrt(0.028 6 / 5) / 6.
  constexpr double error = 0.03055;
  EXPECT_NEAR(alone.at("standard_error").get<double>(), 0.9 * error, 1e-4);
  const auto dtrsm = alone.at("kernels").at("dtrsm");
  EXPECT_NEAR(dtrsm.at("ratio").get<double>(), 0.7, 1e-6) << "0.7 / 0.9 of dgemm in the same runs, times 0.9";
  EXPECT_NEAR(dtrsm.at("standard_error").get<double>(), 0.7 * error, 1e-4);
  const core::KernelModel& model = fit.cluster.kernels.at("dtrsm");
  EXPECT_NEAR(model.cluster_law().at({}).mean_s({100, 64, 64}), 1e-10 * 100 * 64 * 64, 1e-12) << "of two ranks";
  EXPECT_EQ(model.range()->max.m, 800) << "of both";
  EXPECT_THAT(fit.notes, Contains(HasSubstr("times as long while the other ranks of the host wait")));
  // A kernel that only runs of one rank called has these.
  campaign.measurements["measurements/03-kernels.csv"] =
      "kernel,m,n,k,duration_s,start_s,host,content,busy_ranks\ndaxpy,10,1,1,1e-7,1,h,hpl,1\n"
      "daxpy,100,1,1,1e-6,1,h,hpl,1\ndaxpy,1000,1,1,1e-5,1,h,hpl,1\n";
  const CampaignFit more = fit_campaign(campaign);
  EXPECT_EQ(more.cluster.kernels.count("daxpy"), 1U);
  EXPECT_THAT(more.notes, Contains("daxpy: measured in runs with fewer ranks on the host than the campaign has"));
}

/// Runs of HPL in turn on columns of both kinds, while the machine's speed changes from run to run.
TEST(FitCampaign, RunsOnAliasedColumnsSayHowMuchSlowerEachKernelIs) {
  Campaign campaign = one_rank();
  std::string text = "kernel,m,n,k,duration_s,start_s,host,content,busy_ranks,leading_dimension\n";
  for (int run = 0; run < 24; ++run) {
    const bool aliased = run % 2 == 0;
    for (int i = 1; i <= 20; ++i)
      for (const std::string kernel : {"dgemm", "dtrsm", "dlaswp00N"}) {
        const double times = !aliased || kernel == "dgemm" ? 1 : kernel == "dtrsm" ? 1.5 : 0.8;
        // One run more slow than the one before: two around it are as slow in the mean.
        const double duration_s =
            times * (1 + 0.01 * run) * ((kernel == "dgemm" ? 1e-6 : 0) + 1e-10 * 20 * i * 64 * 64);
        text += kernel + "," + std::to_string(20 * i) + ",64,64," + core::shortest(duration_s) + "," +
                std::to_string(3 * run) + ",h,hpl,1," + (aliased ? run % 4 == 0 ? "2560" : "3072" : "2568") + "\n";
      }
  }
  campaign.measurements["measurements/02-kernels.csv"] = text;
  const CampaignFit fit = fit_campaign(campaign);
  ASSERT_EQ(fit.cluster.aliased.size(), 2U) << "no run of 16384 bytes";
  for (const core::AliasedColumns& aliased : fit.cluster.aliased) {
    EXPECT_EQ(aliased.kernels.count("dgemm"), 0U) << "within a standard error of 1";
    EXPECT_NEAR(aliased.kernels.at("dtrsm").ratio, 1.5, 0.01);
    EXPECT_EQ(aliased.kernels.count("dlaswp00N"), 0U) << "nothing is faster for that";
  }
  EXPECT_EQ(fit.cluster.aliased.back().bytes, 8192);
  EXPECT_NEAR(fit.cluster.kernels.at("dtrsm").cluster_law().at({}).mean_s({400, 64, 64}) / (1e-10 * 400 * 64 * 64),
              1.12, 0.02)
      << "of the other runs, the mean of which is 1.12 times as slow as the first";
  EXPECT_THAT(fit.notes, Contains(HasSubstr("aliased: on columns that are a multiple of 4096 bytes apart")));
  // dgemm in pairs, which of the two comes first in turn; every fourth call on aliased columns was interrupted.
  std::string pairs = "kernel,m,n,k,duration_s,start_s,host,content,leading_dimension\n";
  for (int i = 0; i < 200; ++i) {
    const bool aliased = i % 4 == 0 || i % 4 == 3;
    const double times = !aliased ? 1 : i % 16 == 0 ? 30 : i % 16 == 3 ? 1.07 : i % 16 == 8 ? 1.09 : 1.08;
    pairs += "dgemm_columns," + std::to_string(100 + i / 2) + ",64,64," +
             core::shortest(times * 1e-4 * (1 + 0.01 * (i / 2))) + "," + std::to_string(i) + ",h,random," +
             (aliased ? "3072" : "3080") + "\n";
  }
  campaign.measurements["measurements/03-dgemm.csv"] = pairs;
  const CampaignFit paired = fit_campaign(campaign);
  EXPECT_EQ(paired.cluster.aliased.front().kernels.count("dgemm"), 0U) << "no pair of 4096 bytes";
  EXPECT_EQ(paired.cluster.aliased.back().kernels.at("dgemm").ratio, 1.08);
  EXPECT_LT(paired.cluster.aliased.back().kernels.at("dgemm").standard_error, 0.02);
  EXPECT_EQ(core::kernel_model_json(paired.cluster.kernels.at("dgemm")),
            core::kernel_model_json(fit.cluster.kernels.at("dgemm")))
      << "pairs tell ratios only";
}

TEST(FitCampaign, CallsWithoutWorkAreNoKernelOfTheirOwn) {
  Campaign campaign = one_rank();
  std::string text = "kernel,m,n,k,duration_s,start_s,host,content\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string rest = "," + std::to_string(i) + ",h,hpl\n";
    text += "dgemm_empty,1,1,1," + core::shortest(i % 2 == 0 ? 1e-4 : 1.6e-4) + rest + "dtrsm_empty,1,1,1,5e-8" + rest;
    if (i <= 10) text += "dgemv_empty,1,1,1,1e-4" + rest;
  }
  campaign.measurements["measurements/02-kernels.csv"] = text;
  campaign.measurements["measurements/03-kernels.csv"] =
      "kernel,m,n,k,duration_s,start_s,host,content,error\ndgemm_empty,1,1,1,,50,h,hpl,killed\n";
  const CampaignFit fit = fit_campaign(campaign);
  ASSERT_EQ(fit.cluster.empty_call_s.size(), 1U) << "dtrsm returns at once, dgemv has too few";
  EXPECT_NEAR(fit.cluster.empty_call_s.at("dgemm"), 1.3e-4, 1e-12);
  EXPECT_EQ(fit.cluster.kernels.size(), 1U);
  EXPECT_THAT(fit.notes, Contains(HasSubstr("dgemm: calls without work (a size of 0) take 130.0 us")));
}

/// Nine hosts, the last three on a switch of their own, 1 us further away; timers round to 1 ns.
TEST(FitCampaign, AllPairsOfHostsSayWhetherOneSwitchExplainsThem) {
  Campaign campaign = one_rank();
  for (const bool two_switches : {false, true}) {
    std::string text = "order,rank,peer_rank,operation,size_bytes,duration_s,host,peer\n";
    for (int a = 0; a < 9; ++a)
      for (int b = a + 1; b < 9; ++b)
        text += "0,0,1,pingpong,1," +
                core::shortest(4e-6 + (two_switches && a < 6 && b >= 6 ? 2e-6 : 0) + 1e-9 * ((7 * a + 3 * b) % 5)) +
                ",n" + std::to_string(a) + ",n" + std::to_string(b) + "\n";
    campaign.measurements["measurements/02-pairs.csv"] = text;
    const CampaignFit fit = fit_campaign(campaign);
    if (two_switches) {
      EXPECT_THAT(fit.notes, Contains(HasSubstr("topology: 2 groups of hosts (6 hosts, 3 hosts), 2 us inside, 3 us")));
      // The campaign itself was of one other host.
      EXPECT_THAT(names(fit.flags), ElementsAre("topology hosts_differ"));
      EXPECT_EQ(fit.cluster.kernels.count("dgemm"), 1U);
      EXPECT_THAT(fit.cluster.hosts.names(), ElementsAre("h"));
    } else {
      EXPECT_THAT(fit.notes, Contains(HasSubstr("topology: one switch explains the latencies")));
      EXPECT_THAT(names(fit.flags), IsEmpty());
    }
  }
}

/// Two hosts with a card per CPU: 8 GB/s alone, 10 for two pairs, 20 over both; 1 us more at each end of the second.
TEST(FitCampaign, MessagesBetweenCpusSayWhichCardsThereAre) {
  Campaign campaign = one_rank();
  campaign.hosts = {{"a", 1e9, {0, 0, 1, 1}}, {"b", 1e9, {0, 0, 1, 1}}};
  campaign.cpu_of_rank = {0, 0, 1, 1, 0, 0, 1, 1};
  std::string text = "operation,scope,size_bytes,duration_s,start_s,host,peer,background,error\n";
  for (const double size : {1., 1e3, 1e5, 1e6, 1e7})
    for (int i = 0; i < 5; ++i)
      text += "pingpong,remote," + core::shortest(size) + "," + core::shortest(2 * (5e-6 + size / 8e9)) + "," +
              std::to_string(i) + ",a,b,dgemm+iprobe,\n";
  campaign.measurements["measurements/02-mpi.csv"] = text;
  const std::string header = "order,rank,peer_rank,pairs,operation,size_bytes,duration_s,start_s,error\n";
  std::string together = header;
  const auto send = [](int rank, int pairs, double rate) {  // order: beside the other CPU, then alone
    return "0," + std::to_string(rank) + "," + std::to_string(rank + 4) + "," + std::to_string(pairs) +
           ",one_way,4000000," + core::shortest(pairs * 4e6 / rate) + ",0,\n";
  };
  for (int rank = 0; rank < 4; ++rank) together += send(rank, 4, 2e10) + send(rank, 2, 1e10);
  std::string single = header;
  for (const int rank : {0, 2})
    for (const int peer : {4, 6})
      for (const double size : {1., 4e6})
        single += "0," + std::to_string(rank) + "," + std::to_string(peer) + ",1,pingpong," + core::shortest(size) +
                  "," + core::shortest(2 * (5e-6 + (rank == 2 ? 1e-6 : 0) + (peer == 6 ? 1e-6 : 0) + size / 8e9)) +
                  ",0,\n";
  campaign.measurements["measurements/03-rails.csv"] = together;
  EXPECT_THAT(fit_campaign(campaign).notes, Contains(HasSubstr("rails: not told")));
  campaign.measurements["measurements/03-rails-together.csv"] = single;
  const CampaignFit fit = fit_campaign(campaign);
  EXPECT_THAT(fit.notes, Contains(HasSubstr("rails: 2 cards, bound: CPU 0 has 0 of 10 GB/s; CPU 1 has 1 of 10 GB/s")));
  const core::NetworkModel::Values& network = fit.cluster.network.values();
  ASSERT_TRUE(network.rails);
  EXPECT_EQ(network.rails->near, (std::vector<std::vector<int>>{{0}, {1}}));
  EXPECT_NEAR(network.rails->cards[1].extra_latency_s, 1e-6, 1e-12);
  EXPECT_NEAR(network.remote->link_bytes_per_s(), 1e10, 1);
  campaign.cpu_of_rank.resize(6);
  EXPECT_THAT(error_of(campaign, core::ExitCode::bad_input), HasSubstr("expected 0 to 5, those of the campaign"));
}

TEST(FitCampaign, OfOneRankNeedsNoMessages) {
  const CampaignFit fit = fit_campaign(one_rank());
  EXPECT_EQ(fit.cluster.name, "h");
  EXPECT_EQ(fit.cluster.hosts.total_cores(), 1);
  EXPECT_EQ(fit.cluster.hosts.values().memory_bytes, 1e9);
  // Durations without noise: the fit is exact but for rounding.
  EXPECT_NEAR(fit.cluster.kernels.at("dgemm").cluster_law().at({}).mean_s({500, 500, 64}),
              1e-6 + 1e-10 * 500 * 500 * 64, 1e-12);
  EXPECT_THAT(fit.notes, ElementsAre(HasSubstr("network: no network was measured")));
  EXPECT_THAT(fit.flags, IsEmpty());
}

TEST(FitCampaign, SaysWhatItLacks) {
  Campaign campaign = one_rank();
  campaign.hosts = {{"h", 0, {0, 0}}};
  EXPECT_THAT(error_of(campaign, core::ExitCode::no_acceptable_fit), HasSubstr("no step `mpi`"));
  campaign.measurements = {{"a.csv", dgemm_csv("dtrsm")}};
  EXPECT_THAT(error_of(campaign, core::ExitCode::no_acceptable_fit), HasSubstr("no calls of dgemm"));
  campaign.measurements = {{"a.csv", dgemm_csv()}, {"b.csv", dgemm_csv("dgem")}};
  EXPECT_THAT(error_of(campaign, core::ExitCode::bad_input), HasSubstr("calls of `dgem`; expected kernels of HPL"));
  campaign.measurements = {{"a.csv", "kernel,n,duration_s,content\ndgemm,1,1,constant\n"}};
  EXPECT_THAT(error_of(campaign, core::ExitCode::no_acceptable_fit),
              HasSubstr("dgemm: there are no measurements that count: 1 rows set aside"));
  campaign.measurements.clear();
  EXPECT_THAT(error_of(campaign, core::ExitCode::bad_input), HasSubstr("measured no kernels"));
  campaign.measurements = {{"a.csv", "kernel,n,duration_s\ndgemm,1,x\n"}};
  EXPECT_THAT(error_of(campaign, core::ExitCode::bad_input), HasSubstr("a.csv:2"));
}

TEST(CampaignOfAnArchive, HasItsHostsMeasurementsAndOrigin) {
  core::CampaignArchive archive;
  archive.files = {{"campaign.yaml", "name: a\n"}, {core::campaign_hosts_file, "{}"}};
  archive.measurements = {{"measurements/01-dgemm.csv", "m"}};
  archive.context.machines.resize(2);
  archive.context.machines[0].host = "b";
  archive.context.machines[1].host = "a";
  archive.context.ranks = {{0, "a", 3, 1}, {1, "b", 1, 0}, {2, "a", 0, 0}};
  archive.doubts = {{"a", "busy_host", "load: 3"}};
  const Campaign campaign = campaign_of(archive);
  ASSERT_EQ(campaign.hosts.size(), 2u);
  EXPECT_EQ(campaign.hosts[0].name, "b");
  EXPECT_THAT(campaign.hosts[1].rank_cpus, ElementsAre(3, 0));
  EXPECT_THAT(campaign.cpu_of_rank, ElementsAre(1, 0, 0)) << "CPUs without ranks are not in the model";
  EXPECT_EQ(campaign.measurements, archive.measurements);
  EXPECT_THAT(names(campaign.doubts), ElementsAre("a busy_host"));
  EXPECT_THAT(campaign.origin, HasSubstr(R"("campaign_file":"name: a\n","start_unix_s":null,"ranks_per_host":2)"));
}

TEST(FitCampaign, KeepsDoubtsAndOriginInTheProvenance) {
  Campaign campaign = one_rank();
  campaign.origin = R"({"start_unix_s": 5})";
  campaign.doubts = {{"h", "busy_host", "load: 3"}};
  campaign.measurements["measurements/02-kernels.csv"] =
      "kernel,n,duration_s,content\ndaxpy,1000,1e-6,hpl\ndaxpy,2000,2e-6,hpl\n";
  const CampaignFit fit = fit_campaign(campaign);
  EXPECT_THAT(names(fit.flags), ElementsAre("h busy_host", "daxpy too_few_repetitions"));
  EXPECT_THAT(fit.cluster.provenance, HasSubstr(R"("start_unix_s":5)"));
  EXPECT_THAT(fit.cluster.provenance, HasSubstr(R"("detail":"load: 3")"));
  EXPECT_THAT(fit.cluster.provenance, HasSubstr("no network was measured"));
}

/// Ping-pongs of 40 sizes.
std::string pingpongs(const std::string& background, double latency_s = 2e-6) {
  std::string text = "operation,scope,size_bytes,duration_s,background\n";
  for (int i = 0; i < 40; ++i)
    text += "pingpong,local," + std::to_string(1000 * i + 1) + "," + core::shortest(latency_s + 1e-9 * i) + "," +
            background + "\n";
  return text;
}

TEST(FitCampaign, FlagsANetworkOfIdleMessagesOnly) {
  Campaign campaign = one_rank();
  campaign.measurements["measurements/02-mpi-idle.csv"] = pingpongs("none");
  EXPECT_THAT(names(fit_campaign(campaign).flags), Contains("network idle_messages"));
  campaign.measurements["measurements/02-mpi.csv"] = pingpongs("dgemm+iprobe");
  const CampaignFit both = fit_campaign(campaign);
  EXPECT_THAT(names(both.flags), Not(Contains("network idle_messages")));
  EXPECT_THAT(both.notes, Contains(HasSubstr("40 rows are left out: others were measured with the background")));
  std::string& between = campaign.measurements["measurements/03-mpi-idle.csv"] = pingpongs("none", 9e-6);
  for (std::size_t at; (at = between.find(",local,")) != std::string::npos;) between.replace(at, 7, ",remote,");
  const CampaignFit of_hosts = fit_campaign(campaign);
  ASSERT_TRUE(of_hosts.cluster.network.values().remote);
  EXPECT_THAT(names(of_hosts.flags), Contains("network idle_messages")) << "of those between hosts";
}

TEST(FitCampaign, MessagesOfIdleRanksCountWhereTheyAreAskedFor) {
  Campaign campaign = one_rank();
  campaign.idle_messages = true;
  campaign.hosts.front().rank_cpus = {0, 0};
  EXPECT_THAT(error_of(campaign, core::ExitCode::no_acceptable_fit), HasSubstr("no messages of idle ranks"));
  campaign.measurements["measurements/02-mpi.csv"] = pingpongs("dgemm+iprobe", 8e-6);
  campaign.measurements["measurements/02-mpi-idle.csv"] = pingpongs("none", 2e-6);
  const CampaignFit idle = fit_campaign(campaign);
  campaign.idle_messages = false;
  const CampaignFit loaded = fit_campaign(campaign);
  const auto transfer_s = [](const CampaignFit& fit) {
    return fit.cluster.network.scope(core::Scope::local).cost(core::MessageCost::transfer).mean_s(1);
  };
  EXPECT_NEAR(transfer_s(idle), 1e-6, 1e-9);
  EXPECT_NEAR(transfer_s(loaded), 4e-6, 1e-9);
  EXPECT_THAT(names(idle.flags), Contains("network idle_messages"));
}

std::string rows_of_host(std::string csv, const std::string& host) {
  for (std::size_t at = csv.find(",0,h,0,"); at != std::string::npos; at = csv.find(",0,h,0,", at + 1))
    csv.replace(at, 7, ",0," + host + ",0,");
  return csv;
}

/// b and c take twice as long. Rows of dcopy are too few for a law of their own.
TEST(FitCampaign, KindsOfHostsHaveTheirOwnLaws) {
  Campaign campaign;
  campaign.hosts = {{"a", 1e9, {0}}, {"b", 4e9, {0}}, {"c", 3e9, {0}}};
  for (const auto& [host, times] : {std::pair("a", 1.), {"b", 2.}, {"c", 2.}})
    campaign.measurements[std::string("measurements/0-") + host + ".csv"] =
        rows_of_host(dgemm_csv("dtrsm", times), host);
  for (const auto& [host, times] : {std::pair("a", 1.), {"b", 2.}})
    campaign.measurements[std::string("measurements/1-") + host + ".csv"] =
        rows_of_host(dgemm_csv("dgemm", times), host);
  campaign.measurements["measurements/2-mpi.csv"] = pingpongs("dgemm+iprobe");
  const auto time_s = [](const CampaignFit& fit, const char* kernel, int host) {
    return fit.cluster.kernels.at(kernel).law(host, 0).at({}).mean_s({500, 500, 64});
  };
  const double one_s = 1e-6 + 1e-10 * 500 * 500 * 64;
  campaign.kinds = {{"slow", {"b", "c"}}};
  const CampaignFit fit = fit_campaign(campaign);
  ASSERT_EQ(fit.cluster.hosts.values().kinds.size(), 1U);
  EXPECT_EQ(fit.cluster.hosts.values().kinds[0].hosts, "b,c");
  EXPECT_EQ(fit.cluster.hosts.memory_bytes_of(0), 1e9);
  EXPECT_EQ(fit.cluster.hosts.memory_bytes_of(1), 3e9);
  // The fit is exact but for rounding. c has no calls of dgemm: those of its kind.
  for (const char* kernel : {"dgemm", "dtrsm"}) {
    EXPECT_NEAR(time_s(fit, kernel, 0), one_s, 1e-12) << kernel;
    EXPECT_NEAR(time_s(fit, kernel, 1), 2 * one_s, 1e-12) << kernel;
    EXPECT_NEAR(time_s(fit, kernel, 2), 2 * one_s, 1e-12) << kernel;
  }
  campaign.measurements["measurements/3-b.csv"] = "kernel,m,n,k,duration_s,start_s,host\ndgemm,800,250,64,2.6e-3,0,b\n";
  EXPECT_EQ(fit_campaign(campaign).cluster.kernels.at("dgemm").range()->max.m, 800) << "of the slow hosts";
  campaign.kinds.clear();
  EXPECT_FALSE(fit_campaign(campaign).cluster.hosts.has_kinds());
  campaign.hosts[1].rank_cpus = {0, 0};
  const core::Hosts hosts = fit_campaign(campaign).cluster.hosts;
  EXPECT_EQ(hosts.text(), "2 hosts (others) of 1 core, 1 host (2-ranks) of 2 cores");
}

/// Ranks on the CPUs 2 and 0; calls on 2 take twice as long.
TEST(FitCampaign, NumbersTheCpusThatHaveRanks) {
  Campaign campaign = one_rank();
  campaign.hosts = {{"h", 1e9, {2, 0}}, {"i", 1e9, {3, 1}}};
  std::string& slow = campaign.measurements["measurements/02-dgemm.csv"] = dgemm_csv("dgemm", 2);
  for (std::size_t at; (at = slow.find(",h,0,")) != std::string::npos;) slow.replace(at, 5, ",h,2,");
  campaign.measurements["measurements/03-mpi.csv"] = pingpongs("dgemm+iprobe");
  const CampaignFit fit = fit_campaign(campaign);
  EXPECT_THAT(fit.cluster.hosts.values().rank_to_cpu.list, ElementsAre(1, 0));
  for (const int cpu : {0, 1})
    EXPECT_NEAR(fit.cluster.kernels.at("dgemm").law(0, cpu).at({}).mean_s({500, 500, 64}),
                (1 + cpu) * (1e-6 + 1e-10 * 500 * 500 * 64), 1e-12);
}

TEST(FitCampaign, FlagsSizesOfARunBeyondThoseMeasured) {
  Campaign campaign = one_rank();
  campaign.must_cover = HplSizes{"N=900", {{300, 300, 64}, {900, 300, 64}}, 0};
  const CampaignFit fit = fit_campaign(campaign);
  ASSERT_THAT(names(fit.flags), ElementsAre("dgemm range"));
  EXPECT_THAT(fit.flags.front().detail, HasSubstr("1 of 2 update shapes of N=900"));
  campaign.must_cover->updates.pop_back();
  EXPECT_THAT(fit_campaign(campaign).flags, IsEmpty());
}

/// `shapes` calls of daxpy on a CPU that takes `factor` ns per element.
KernelTable calls_of_cpu(int shapes, double factor) {
  KernelTable table;
  for (int n = 1; n <= shapes; ++n) table.add({1, 1000.0 * n, 1}, 1e-6 * factor * n);
  return table;
}

core::KernelModel with_laws(const TablesByCpu& tables, std::vector<std::string>& notes) {
  const core::KernelModel together = fit_hpl_kernel("daxpy", calls_of_cpu(30, 5)).model;
  return with_cpu_laws(
      together, tables, [](const CpuPlace&, const KernelTable& table) { return fit_hpl_kernel("daxpy", table); },
      notes);
}

TEST(CpuLaws, AreThoseOfCpusWithEnoughShapes) {
  std::vector<std::string> notes;
  const core::KernelModel model =
      with_laws({{{0, 0}, calls_of_cpu(20, 1)}, {{0, 1}, calls_of_cpu(20, 2)}, {{1, 0}, calls_of_cpu(19, 3)}}, notes);
  const auto mean_s = [&](int host, int cpu) { return model.law(host, cpu).at({}).mean_s({1, 5000, 1}); };
  EXPECT_NEAR(mean_s(0, 0), 5e-6, 1e-12);
  EXPECT_NEAR(mean_s(0, 1), 10e-6, 1e-12);
  EXPECT_NEAR(mean_s(1, 0), 25e-6, 1e-12) << "the law of all";
  EXPECT_THAT(notes, ElementsAre("CPU 0 of host 1 has the law of all: 19 shapes were measured on it, at least 20 are "
                                 "needed"));
}

TEST(CpuLaws, OfOneCpuAreThoseOfAll) {
  std::vector<std::string> notes;
  EXPECT_TRUE(with_laws({{{0, 0}, calls_of_cpu(30, 1)}}, notes).overrides().empty());
  EXPECT_TRUE(with_laws({{{0, 0}, calls_of_cpu(30, 1)}, {{0, 1}, KernelTable()}}, notes).overrides().empty())
      << "nothing that counts was measured on the other";
  EXPECT_THAT(notes, IsEmpty());
}

}  // namespace
}  // namespace hplcast::fit
