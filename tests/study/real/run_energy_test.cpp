#include "hplcast/study/real_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hplcast::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void add(std::vector<core::PowerSample>& samples, const std::string& sensor, core::PowerDomain domain, double watts,
         double from_s, double to_s) {
  for (double time_s = from_s; time_s <= to_s; time_s += 1) {
    core::PowerSample sample;
    sample.sensor = sensor;
    sample.domain = domain;
    sample.power_w = watts;
    sample.time_s = time_s;
    sample.covered_s = 1;
    samples.push_back(sample);
  }
}

TEST(EnergyOfRun, IsThatOfPackagesAndMemoriesBetweenBeginAndEnd) {
  std::vector<core::PowerSample> samples;
  add(samples, "package-0", core::PowerDomain::package, 100, 1000, 1030);
  add(samples, "package-0 dram", core::PowerDomain::dram, 12, 1000, 1030);
  add(samples, "psys", core::PowerDomain::platform, 150, 1000, 1030);
  const RunEnergy energy = energy_of_run(samples, 1005.5, 1025.5);
  EXPECT_NEAR(energy.energy_j, 112 * 20, 1e-9);
  EXPECT_THAT(energy.sensors, ElementsAre("package-0", "package-0 dram"));
  EXPECT_THAT(energy.doubt, IsEmpty());
}

TEST(EnergyOfRun, IsDoubtfulOrUnknownWithoutSamples) {
  std::vector<core::PowerSample> samples;
  add(samples, "dcmi", core::PowerDomain::host, 200, 1000, 1016);
  const RunEnergy doubtful = energy_of_run(samples, 1000, 1020);
  EXPECT_NEAR(doubtful.energy_j, 200 * 20, 1e-9) << "the rest as the mean";
  EXPECT_THAT(doubtful.doubt, HasSubstr("80 %"));
  EXPECT_EQ(energy_of_run(samples, 1010, 1030).energy_j, 0) << "less than half";
  EXPECT_EQ(energy_of_run(samples, 1005.2, 1005.4).energy_j, 0) << "a single sample";
  EXPECT_THAT(energy_of_run({}, 1000, 1010).doubt, HasSubstr("no sensor"));
  EXPECT_THAT(energy_of_run(samples, 0, 0).doubt, HasSubstr("did not say when"));
}

}  // namespace
}  // namespace hplcast::study
