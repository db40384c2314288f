#include "hplcast/core/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/imported.hpp"

namespace hplcast::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PowerSample at(double time_s, double power_w, double covered_s = 0) {
  PowerSample sample;
  sample.time_s = time_s;
  sample.power_w = power_w;
  sample.covered_s = covered_s;
  return sample;
}

TEST(EnergyBetween, MeansHoldForTheTimeThatTheyCover) {
  const std::vector<PowerSample> samples = {at(1, 100, 1), at(2, 200, 1), at(3, 300, 1)};
  EXPECT_DOUBLE_EQ(energy_between(samples, 0, 3).energy_j, 600);
  const MeasuredEnergy part = energy_between(samples, 0.5, 2.5);  // half of 100, 200, half of 300
  EXPECT_DOUBLE_EQ(part.energy_j, 400);
  EXPECT_DOUBLE_EQ(part.covered, 1);
  EXPECT_EQ(part.samples, 3U);
}

TEST(EnergyBetween, ValuesOfMomentsAreJoinedByLines) {
  const std::vector<PowerSample> samples = {at(0, 100), at(1, 200), at(2, 200)};
  EXPECT_DOUBLE_EQ(energy_between(samples, 0, 2).energy_j, 150 + 200);
  EXPECT_DOUBLE_EQ(energy_between(samples, 0.5, 1).energy_j, 0.5 * 175);
}

TEST(EnergyBetween, GapsHaveTheMeanOfTheRestAndAreTold) {
  std::vector<PowerSample> samples;
  for (int second = 0; second <= 20; ++second)
    if (second <= 5 || second >= 15) samples.push_back(at(second, 100));
  const MeasuredEnergy energy = energy_between(samples, 0, 20);
  EXPECT_DOUBLE_EQ(energy.energy_j, 2000);
  EXPECT_DOUBLE_EQ(energy.covered, 0.5);
  EXPECT_DOUBLE_EQ(energy_between({at(1, 100, 1)}, 0, 4).covered, 0.25);
}

TEST(EnergyBetween, NothingIsKnownWithoutSamples) {
  EXPECT_EQ(energy_between({}, 0, 1).covered, 0);
  EXPECT_EQ(energy_between({at(1, 100, 1)}, 5, 6).covered, 0);
  EXPECT_EQ(energy_between({at(1, 100, 1)}, 0, 0).energy_j, 0);
}

TEST(SensorsOfHost, TheWholeHostGoesBeforeItsParts) {
  const std::vector<SeenSensor> parts = {{"package-0", PowerDomain::package, 10},
                                         {"package-0 core", PowerDomain::part, 10},
                                         {"package-0 dram", PowerDomain::dram, 10},
                                         {"psys", PowerDomain::platform, 10}};
  EXPECT_THAT(sensors_of_host(parts), ElementsAre("package-0", "package-0 dram"));
  std::vector<SeenSensor> all = parts;
  all.push_back({"dcmi", PowerDomain::host, 3});
  all.push_back({"wattmeter", PowerDomain::host, 9});
  EXPECT_THAT(sensors_of_host(all), ElementsAre("wattmeter")) << "the one with the most samples";
  EXPECT_THAT(sensors_of_host({{"package-0 dram", PowerDomain::dram, 10}}), IsEmpty());
}

TEST(PowerCsv, RoundTrip) {
  PowerSample sample = at(1795363385.25, 215.5, 0.5);
  sample.host = "node,1";
  sample.sensor = "package-0 dram";
  sample.domain = PowerDomain::dram;
  sample.piece = 7;
  sample.state = "dgemm";
  sample.active_cores = 3;
  sample.cores = 12;
  sample.frequency_hz = 2.1e9;
  sample.limit_w = 125;
  sample.used = false;
  std::stringstream csv;
  csv << power_csv_header << '\n';
  write_row(csv, sample);
  const PowerSample read = read_power_csv(csv, "samples.csv").at(0);
  EXPECT_EQ(read.host, sample.host);
  EXPECT_EQ(read.sensor, sample.sensor);
  EXPECT_EQ(read.domain, sample.domain);
  EXPECT_DOUBLE_EQ(read.time_s, sample.time_s);
  EXPECT_DOUBLE_EQ(read.covered_s, sample.covered_s);
  EXPECT_DOUBLE_EQ(read.power_w, sample.power_w);
  EXPECT_EQ(read.piece, 7);
  EXPECT_EQ(read.state, "dgemm");
  EXPECT_EQ(read.active_cores, 3);
  EXPECT_EQ(read.cores, 12);
  EXPECT_DOUBLE_EQ(read.frequency_hz, 2.1e9);
  EXPECT_DOUBLE_EQ(read.limit_w, 125);
  EXPECT_FALSE(read.used);
}

void expect_refused(const std::string& row, const std::string& words) {
  std::istringstream in("host,sensor,domain,power_w,state,active_cores,cores,used\n" + row + ",1\n");
  try {
    read_power_csv(in, "samples.csv");
    FAIL() << row;
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr(words)) << row;
  }
}

TEST(PowerCsv, RefusesWhatNoSensorSays) {
  expect_refused("a,s,host,0,idle,0,4", "above 0");
  expect_refused("a,s,host,-5,idle,0,4", "above 0");
  expect_refused("a,s,wall,5,idle,0,4", "host, package, dram");
  expect_refused("a,s,host,5,dgemm,5,4", "at most the 4 cores");
  expect_refused("a,s,host,5,idle,1,4", "if and only if it is idle");
  expect_refused("a,s,host,5,dgemm,0,4", "if and only if it is idle");
  expect_refused("a,s,host,5,,0,4", "expected idle");
}

const std::string table =
    "application,node,cores,pstate,watt_idle,watt_one_core,watt_all_cores,watt_off\n"
    "ep,8,12,0,92.75,114.62,174.38,10\nhpl,8,12,0,115,118.75,211,10\nhpl,8,12,1,92.25,117.25,202.62,10\n";

std::vector<PowerSample> published(const std::string& text, const std::string& application) {
  std::istringstream in(text);
  return read_watt_per_state(in, "table.csv", {application, {2.3e9, 2.2e9}});
}

TEST(PublishedWatts, BecomeSamplesOfIdleOneAndAllCores) {
  const auto samples = published(table, "hpl");
  ASSERT_EQ(samples.size(), 6U);
  EXPECT_EQ(samples[4].state, "default");
  EXPECT_EQ(samples[4].active_cores, 1);
  EXPECT_DOUBLE_EQ(samples[4].power_w, 117.25);
  EXPECT_DOUBLE_EQ(samples[4].frequency_hz, 2.2e9);
  EXPECT_EQ(samples[5].active_cores, 12);
}

TEST(PublishedWatts, RefuseWhatIsNotClear) {
  EXPECT_THROW(published(table, ""), ParseError) << "two applications";
  EXPECT_THROW(published(table, "lu"), ParseError);
  EXPECT_THROW(published(table + "hpl,8,12,2,92,117,200,10\n", "hpl"), ParseError) << "a state without frequency";
  EXPECT_THROW(published(table + "hpl,9,12,1,92,91,200,10\n", "hpl"), ParseError) << "less with load";
}

}  // namespace
}  // namespace hplcast::core
