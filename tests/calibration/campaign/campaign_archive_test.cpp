#include "hplcast/calibration/archive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hplcast/core/files.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::error_in;
namespace fs = std::filesystem;

class CampaignArchiveFolder : public ::testing::Test {
 protected:
  CampaignArchiveFolder() {
    context_.machines.emplace_back();
    context_.machines.front().host = "h";
    context_.machines.front().cores = 2;
    context_.machines.front().hardware_threads = 2;
    context_.ranks = {{0, "h", 0, 0}, {1, "h", 0, 1}};
    write("campaign.yaml", "name: a\n");
  }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << text;
  }

  core::CampaignArchive read() const {
    std::ostringstream hosts;
    write_json(hosts, context_);
    write("surroundings/hosts.json", hosts.str());
    return read_campaign_archive(folder_.path());
  }

  std::vector<std::string> doubts() const {
    std::vector<std::string> names;
    for (const core::QualityFlag& flag : read().doubts) names.push_back(flag.subject + " " + flag.flag);
    return names;
  }

  core::TemporaryFolder folder_{"hplcast-archive"};
  core::MeasurementContext context_;
};

TEST_F(CampaignArchiveFolder, TellsMeasurementsFromTheRest) {
  write("measurements/01-dgemm.csv", "m,duration_s\n1,1\n");
  write("measurements/02-thresholds.json", "{}");
  write("measurements/notes.txt", "Dear Ada");
  write("monitoring/01-dgemm.csv", "host,quantity,sensor,value\n");
  const core::CampaignArchive archive = read();
  std::vector<std::string> names;
  for (const auto& [name, text] : archive.measurements) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("measurements/01-dgemm.csv", "measurements/02-thresholds.json"));
  EXPECT_THAT(doubts(), IsEmpty());
}

TEST_F(CampaignArchiveFolder, DoubtsHostsThatWereBusySharedOrHalfMeasured) {
  context_.machines.front().load_1min = 2;
  context_.ranks = {{0, "h", 0, 0}};
  EXPECT_THAT(doubts(), ElementsAre("h busy_host", "h idle_cores"));
  context_.machines.front().load_1min = 0;
  context_.ranks = {{0, "h", 0, 0}, {1, "h", 0, 0}};
  EXPECT_THAT(doubts(), ElementsAre("hosts oversubscribed"));
}

TEST_F(CampaignArchiveFolder, DoubtsHostsThatWereThrottledMeanwhile) {
  const std::string header = "host,time_s,quantity,sensor,value\n";
  write("monitoring/01-dgemm.csv", header + "h,0,throttle_count,core0,7\nh,0,throttle_count,core1,7\n");
  write("monitoring/02-mpi.csv", header + "h,9,throttle_count,core0,9\nh,9,throttle_count,core1,7\n");
  EXPECT_THAT(doubts(), ElementsAre("h core0 throttling"));
}

TEST_F(CampaignArchiveFolder, NeedsHosts) {
  context_.machines.clear();
  EXPECT_THAT(error_in([&] { read(); }), HasSubstr("found no hosts"));
  fs::remove(folder_.path() / "campaign.yaml");
  EXPECT_THAT(error_in([&] { read(); }), HasSubstr("is no campaign"));
}

}  // namespace
}  // namespace hplcast::calibration
