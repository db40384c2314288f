#include "hplcast/study/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::error_in;

/// 64 calls on each CPU, which takes `seconds_per_product` per m n k.
std::string dgemm_csv(const std::vector<double>& seconds_per_product) {
  std::string text = "kernel,m,n,k,duration_s,start_s,host,cpu,content\n";
  for (std::size_t cpu = 0; cpu < seconds_per_product.size(); ++cpu)
    for (const double m : {100., 200., 300., 400.})
      for (const double n : {100., 250., 350., 600.})
        for (const double k : {16., 32., 64., 128.})
          text += "dgemm," + core::shortest(m) + "," + core::shortest(n) + "," + core::shortest(k) + "," +
                  core::shortest(seconds_per_product[cpu] * m * n * k) + ",0,h," + std::to_string(cpu) + ",random\n";
  return text;
}

core::CampaignArchive archive(const std::vector<double>& seconds_per_product) {
  core::CampaignArchive result;
  core::MachineDescription machine;
  machine.host = "h";
  machine.kernel = "Linux 6.1";
  machine.packages = machine.cores = static_cast<int>(seconds_per_product.size());
  result.context.machines = {machine};
  result.context.software.blas_library = "OpenBLAS 0.3.21";
  for (int i = 0; i < machine.cores; ++i) result.context.ranks.push_back({i, "h", i, i});
  result.measurements["measurements/01-dgemm.csv"] = dgemm_csv(seconds_per_product);
  result.files = result.measurements;
  result.files["start"] = "1600000000.25\n";
  result.files["latest"] = "1600000180\n";
  result.files["designs/01-dgemm.csv"] = "m,n,k\n";
  std::ostringstream hosts;
  write_json(hosts, result.context);
  result.files["surroundings/hosts.json"] = hosts.str();
  return result;
}

std::map<std::string, double> values_of(const CampaignRecord& record) {
  std::map<std::string, double> values;
  for (const FactorObservation& one : record.observations) values[to_string(one.place) + " " + one.factor] = one.value;
  return values;
}

TEST(CampaignRecordOfAnArchive, HasTheSpeedOfEachCpu) {
  std::vector<std::string> notes;
  const CampaignRecord record = campaign_record(archive({1e-10, 1.25e-10}), "", notes);
  EXPECT_EQ(record.start_s, 1600000000);
  EXPECT_EQ(record.end_s, 1600000180);
  EXPECT_THAT(record.hosts, ElementsAre("h"));
  const auto values = values_of(record);
  EXPECT_NEAR(values.at("h CPU 0 dgemm_gflops"), 20, 1e-9);
  EXPECT_NEAR(values.at("h CPU 1 dgemm_gflops"), 16, 1e-9);
}

TEST(CampaignRecordOfAnArchive, OfOneCpuHasItsModel) {
  std::vector<std::string> notes;
  const CampaignRecord record = campaign_record(archive({1e-10}), "", notes);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_NEAR(values_of(record).at("h CPU 0 dgemm_mnk"), 1e-10, 1e-16);  // noiseless calls: rounding
  EXPECT_THAT(record.cluster_json, HasSubstr("\"dgemm\""));
}

TEST(CampaignRecordOfAnArchive, HasMeansOfTheSensorsWhileDgemmRan) {
  core::CampaignArchive one = archive({1e-10, 1e-10});
  one.files["monitoring/01-dgemm.csv"] =
      "host,time_s,quantity,sensor,value\n"
      "h,0,frequency_hz,cpu0,2e9\nh,0,frequency_hz,cpu1,2.2e9\n"
      "h,0,temperature_celsius,coretemp Core 0,70\nh,0,temperature_celsius,nvme Composite,30\n"
      "h,0,power_w,package-0,120\nh,0,power_w,package-1,130\nh,0,power_w,package-1 dram,20\nh,0,power_w,package-1 "
      "core,90\n"
      "h,0,throttle_count,cpu0,3\n";
  one.files["monitoring/02-mpi.csv"] = "host,time_s,quantity,sensor,value\nh,0,frequency_hz,cpu0,9e9\n";
  std::vector<std::string> notes;
  const auto values = values_of(campaign_record(one, "", notes));
  EXPECT_NEAR(values.at("h frequency_ghz"), 2.1, 1e-12);
  EXPECT_NEAR(values.at("h temperature_celsius"), 70, 1e-12);
  EXPECT_NEAR(values.at("h CPU 0 power_cpu_w"), 120, 1e-12);
  EXPECT_NEAR(values.at("h CPU 1 power_cpu_w"), 130, 1e-12);
  EXPECT_NEAR(values.at("h CPU 1 power_dram_w"), 20, 1e-12);
}

TEST(CampaignRecordOfAnArchive, NumbersCpusAsItsModelsDo) {
  core::CampaignArchive one = archive({1e-10});  // of the second CPU of two
  std::string& text = one.measurements.at("measurements/01-dgemm.csv");
  for (std::size_t at = 0; (at = text.find(",h,0,", at)) != std::string::npos;) text.replace(at, 5, ",h,1,");
  one.context.machines.front().packages = 2;
  one.context.ranks.front().cpu = 1;
  one.files["monitoring/01-dgemm.csv"] =
      "host,time_s,quantity,sensor,value\nh,0,power_w,package-0,10\nh,0,power_w,package-1,120\n";
  std::vector<std::string> notes;
  const CampaignRecord record = campaign_record(one, "", notes);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_THAT(record.cluster_json, HasSubstr("\"cpus\": 1")) << "the one with a rank";
  const auto values = values_of(record);
  EXPECT_NEAR(values.at("h CPU 0 dgemm_gflops"), 20, 1e-9);
  EXPECT_NEAR(values.at("h CPU 0 dgemm_mnk"), 1e-10, 1e-16);
  EXPECT_EQ(values.at("h CPU 0 power_cpu_w"), 120);
  EXPECT_EQ(values.at("h CPU 1 power_cpu_w"), 10) << "no rank is there";
}

/// Models whose messages inside hosts cost 1 us and 1 ns per byte, from 16 KiB on twice as much per byte.
std::string models(double second_begins = 16384, double slowdown = 1) {
  core::ClusterModel cluster;
  core::read_file(HPLCAST_SOURCE_DIR "/examples/dahu-like.json",
                  [&](std::istream& in, const std::string& name) { cluster = core::read_cluster(in, name); });
  core::NetworkModel::Values network = cluster.network.values();
  network.remote.reset();
  network.local.max_bytes = 1 << 19;
  for (core::SegmentedLaw& law : network.local.costs) law = {};
  network.local.cost(core::MessageCost::recv) = core::SegmentedLaw::make({{0, 0.5e-6, 0}});
  network.local.cost(core::MessageCost::transfer) = core::SegmentedLaw::make(
      {{0, 0.5e-6, 1e-9}, {second_begins, (0.5e-6 - 1e-9 * 16384) * slowdown, 2e-9 * slowdown}});
  cluster.network = core::NetworkModel::make(network);
  std::ostringstream text;
  core::write_cluster(text, cluster);
  return text.str();
}

CampaignRecord with_segments(const std::string& own, const std::string& reference,
                             const std::vector<std::string>& hosts) {
  CampaignRecord record;
  record.hosts = hosts;
  record.start_s = 1600000000;
  record.cluster_json = own;
  add_network_segments(record, reference);
  return record;
}

TEST(NetworkSegments, HaveALatencyAndABandwidthEach) {
  const auto values = values_of(with_segments(models(), "", {"h"}));
  ASSERT_EQ(values.size(), 3U);  // the first latency is latency_us
  EXPECT_NEAR(values.at("h bandwidth_from_0b_gbps"), 16.383 / (1 + 16.383), 1e-9);
  EXPECT_NEAR(values.at("h latency_from_16kib_us"), 1 + 16.384, 1e-9);
  EXPECT_NEAR(values.at("h bandwidth_from_16kib_gbps"), 524.288 / (1 - 16.384 + 2 * 524.288), 1e-9);
  EXPECT_EQ(values_of(with_segments(models(), "", {"a", "b"})).count("network local latency_from_16kib_us"), 1U);
}

TEST(NetworkSegments, AreThoseOfTheFirstCampaign) {
  // This fit found another begin of the second segment, and messages from there on that take 10 % longer.
  const auto values = values_of(with_segments(models(15000, 1.1), models(), {"h"}));
  ASSERT_EQ(values.size(), 3U);
  EXPECT_NEAR(values.at("h latency_from_16kib_us"), 0.5 + 1.1 * (0.5 + 16.384), 1e-9);
  EXPECT_NEAR(values.at("h bandwidth_from_16kib_gbps"), 524.288 / (0.5 + 1.1 * (0.5 - 16.384 + 2 * 524.288)), 1e-9);
}

TEST(NetworkSegments, AreNoneWithoutModels) {
  EXPECT_TRUE(with_segments("", models(), {"h"}).observations.empty());
}

TEST(CampaignRecordOfAnArchive, NeedsTimesAndDgemm) {
  std::vector<std::string> notes;
  core::CampaignArchive one = archive({1e-10});
  one.files.erase("start");
  EXPECT_THAT(error_in([&] { campaign_record(one, "", notes); }), HasSubstr("start"));
  one = archive({1e-10});
  one.measurements.clear();
  EXPECT_THAT(error_in([&] { campaign_record(one, "", notes); }), HasSubstr("no call of dgemm"));
}

TEST(Protocol, DiffersInWhatWasMeasuredAndWithWhat) {
  std::vector<std::string> notes;
  core::CampaignArchive one = archive({1e-10});
  const std::string before = campaign_record(one, "", notes).protocol;
  one.files["start"] = "1600086400\n";
  one.files["latest"] = "1600086500\n";
  EXPECT_EQ(campaign_record(one, "", notes).protocol, before);
  one.context.software.blas_library = "OpenBLAS 0.3.26";
  one.files["designs/01-dgemm.csv"] = "m,n,k\n1,1,1\n";
  EXPECT_THAT(protocol_differences(before, campaign_record(one, "", notes).protocol),
              ElementsAre("designs", "BLAS: OpenBLAS 0.3.21 -> OpenBLAS 0.3.26"));
}

}  // namespace
}  // namespace hplcast::study
