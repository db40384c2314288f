#include "hplcast/calibration/power_meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "hplcast/core/errors.hpp"
#include "tests/calibration/fake_root.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::FakeRoot;

const std::string rapl = "sys/class/powercap/intel-rapl:";

void write_zone(const FakeRoot& root, const std::string& zone, const std::string& name, double energy_j,
                double range_j) {
  root.write(rapl + zone + "/name", name + "\n");
  root.write(rapl + zone + "/energy_uj", std::to_string(static_cast<long long>(energy_j * 1e6)) + "\n");
  root.write(rapl + zone + "/max_energy_range_uj", std::to_string(static_cast<long long>(range_j * 1e6)) + "\n");
}

void set_energy(const FakeRoot& root, const std::string& zone, double energy_j) {
  root.write(rapl + zone + "/energy_uj", std::to_string(static_cast<long long>(energy_j * 1e6)) + "\n");
}

/// Two CPUs with memory, cores inside, and psys beside.
void write_two_packages(const FakeRoot& root) {
  write_zone(root, "0", "package-0", 10, 262);
  write_zone(root, "0:0", "core", 10, 262);
  write_zone(root, "0:1", "dram", 10, 65);
  write_zone(root, "1", "package-1", 10, 262);
  write_zone(root, "1:1", "dram", 10, 65);
  write_zone(root, "2", "psys", 10, 262);
}

PowerMeter& meter(PowerMeters& meters, const std::string& name) {
  for (PowerMeter& one : meters.meters)
    if (one.name() == name) return one;
  throw std::runtime_error("no meter " + name);
}

double watts(PowerMeter& one, double time_s) {
  const auto reading = one.read(time_s);
  return reading ? reading->power_w : 0;
}

TEST(PowerMeters, PackagesAndMemoriesAreTheHostAndPsysIsNotAdded) {
  const FakeRoot root;
  write_two_packages(root);
  PowerMeters meters = find_power_meters(all_meters, root.path());
  EXPECT_EQ(meters.meters.size(), 6U);
  EXPECT_EQ(meter(meters, "psys").domain(), core::PowerDomain::platform);
  EXPECT_EQ(meter(meters, "package-0 core").domain(), core::PowerDomain::part);
  EXPECT_THAT(require_host_power(meters, "node"),
              ElementsAre("package-0", "package-0 dram", "package-1", "package-1 dram"));
}

TEST(PowerMeters, EachZoneWrapsAtItsOwnRange) {
  const FakeRoot root;
  write_two_packages(root);
  PowerMeters meters = find_power_meters({MeterKind::rapl}, root.path());
  PowerMeter &package = meter(meters, "package-0"), &dram = meter(meters, "package-0 dram");
  EXPECT_FALSE(package.read(0));
  EXPECT_FALSE(dram.read(0));
  set_energy(root, "0", 260);  // 250 J
  set_energy(root, "0:1", 60);
  EXPECT_NEAR(watts(package, 2), 125, 1e-9);
  EXPECT_NEAR(watts(dram, 2), 25, 1e-9);
  set_energy(root, "0", 48);    // 2 J to 262, 48 J after
  set_energy(root, "0:1", 45);  // 5 J to 65, 45 J after
  const auto reading = package.read(2.5);
  ASSERT_TRUE(reading);
  EXPECT_NEAR(reading->power_w, 100, 1e-9);
  EXPECT_DOUBLE_EQ(reading->covered_s, 0.5);
  EXPECT_NEAR(watts(dram, 2.5), 100, 1e-9);
  EXPECT_TRUE(package.troubles().empty());
}

TEST(PowerMeters, ACounterThatStandsStillIsNotZeroWatts) {
  const FakeRoot root;
  write_two_packages(root);
  PowerMeters meters = find_power_meters({MeterKind::rapl}, root.path());
  PowerMeter& package = meter(meters, "package-0");
  for (int second = 0; second <= 4; ++second) EXPECT_FALSE(package.read(second));
  EXPECT_THAT(package.troubles(), ElementsAre(HasSubstr("stands still")));
  set_energy(root, "0", 60);  // 50 J since the last movement
  EXPECT_NEAR(watts(package, 5), 10, 1e-9);
}

TEST(PowerMeters, ACounterThatWasResetGivesNoPower) {
  const FakeRoot root;
  write_zone(root, "0", "package-0", 1000, 262143);
  PowerMeters meters = find_power_meters({MeterKind::rapl}, root.path());
  PowerMeter& package = meter(meters, "package-0");
  package.read(0);
  set_energy(root, "0", 5);  // as a wrap this would be 261 kJ in a second
  EXPECT_FALSE(package.read(1));
  EXPECT_THAT(package.troubles(), ElementsAre(HasSubstr("was reset")));
  set_energy(root, "0", 105);
  EXPECT_NEAR(watts(package, 2), 100, 1e-9);
}

TEST(PowerMeters, AZoneThatVanishesIsTold) {
  const FakeRoot root;
  write_two_packages(root);
  PowerMeters meters = find_power_meters({MeterKind::rapl}, root.path());
  PowerMeter& package = meter(meters, "package-1");
  package.read(0);
  std::filesystem::remove_all(root.path() / (rapl + "1"));
  EXPECT_FALSE(package.read(1));
  EXPECT_FALSE(package.read(2));
  EXPECT_THAT(package.troubles(), ElementsAre(HasSubstr("vanished")));
}

TEST(PowerMeters, WithoutSensorsItSaysWhatWasLookedFor) {
  const FakeRoot root;
  PowerMeters meters = find_power_meters(all_meters, root.path());
  try {
    require_host_power(meters, "node7");
    FAIL() << "a host without sensors has no power";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.code(), core::ExitCode::bad_input);
    for (const char* words : {"node7", "RAPL", "hwmon", "/dev/ipmi0 is absent", "Cray", "none", "--meter"})
      EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

TEST(PowerMeters, AnUnreadableCounterIsToldWithThePermissionThatIsMissing) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root may become somebody else";
  const FakeRoot root;
  write_two_packages(root);
  for (const char* zone : {"0", "0:0", "0:1", "1", "1:1", "2"})
    ::chmod((root.path() / (rapl + zone) / "energy_uj").c_str(), 0400);
  ASSERT_EQ(::seteuid(65534), 0);
  PowerMeters meters = find_power_meters({MeterKind::rapl}, root.path());
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(meters.meters.empty());
  EXPECT_THAT(meters.looked_for.front().found, HasSubstr("6 unreadable: Permission denied"));
  EXPECT_THAT(meters.looked_for.front().found, HasSubstr("mode 0400"));
}

TEST(PowerMeters, MemoryAloneIsNotAHost) {
  const FakeRoot root;
  write_zone(root, "0:1", "dram", 10, 65);
  EXPECT_THROW(require_host_power(find_power_meters({MeterKind::rapl}, root.path()), "node"), core::Error);
}

TEST(PowerMeters, KnowTheLimitOfAPackage) {
  const FakeRoot root;
  write_two_packages(root);
  root.write(rapl + "0/constraint_0_power_limit_uw", "125000000\n");
  root.write(rapl + "0/constraint_1_power_limit_uw", "150000000\n");
  PowerMeters meters = find_power_meters({MeterKind::rapl}, root.path());
  EXPECT_EQ(meter(meters, "package-0").limit_w(), 125.0);
  EXPECT_FALSE(meter(meters, "package-1").limit_w());
}

TEST(PowerMeters, HwmonKnowsTheHostFromOtherChips) {
  const FakeRoot root;
  root.write("sys/class/hwmon/hwmon0/name", "power_meter\n");
  root.write("sys/class/hwmon/hwmon0/power1_average", "215500000\n");
  root.write("sys/class/hwmon/hwmon1/name", "amdgpu\n");
  root.write("sys/class/hwmon/hwmon1/power1_input", "30000000\n");
  root.write("sys/class/hwmon/hwmon1/power1_label", "PPT\n");
  root.write("sys/class/hwmon/hwmon2/name", "amd_energy\n");
  root.write("sys/class/hwmon/hwmon2/energy1_input", "1000000\n");
  root.write("sys/class/hwmon/hwmon2/energy1_label", "Esocket0\n");
  PowerMeters meters = find_power_meters({MeterKind::hwmon}, root.path());
  EXPECT_THAT(require_host_power(meters, "node"), ElementsAre("power_meter power1"));
  EXPECT_NEAR(watts(meter(meters, "power_meter power1"), 0), 215.5, 1e-9);
  EXPECT_EQ(meter(meters, "amdgpu PPT").domain(), core::PowerDomain::other);
  EXPECT_EQ(meter(meters, "amd_energy Esocket0").domain(), core::PowerDomain::package);
  write_two_packages(root);
  PowerMeters both = find_power_meters(all_meters, root.path());
  EXPECT_EQ(meter(both, "amd_energy Esocket0").domain(), core::PowerDomain::other) << "RAPL counts the same package";
}

TEST(PowerMeters, AGaugeWithoutPowerGivesNothing) {
  const FakeRoot root;
  root.write("sys/class/hwmon/hwmon0/name", "power_meter\n");
  root.write("sys/class/hwmon/hwmon0/power1_input", "-5000000\n");
  PowerMeters meters = find_power_meters({MeterKind::hwmon}, root.path());
  PowerMeter& host = meter(meters, "power_meter power1");
  EXPECT_FALSE(host.read(0));
  EXPECT_THAT(host.troubles(), ElementsAre(HasSubstr("-5 W")));
}

TEST(PowerMeters, CraysCounterOfTheNodeIsTheHost) {
  const FakeRoot root;
  root.write("sys/cray/pm_counters/energy", "5000 J 1 us\n");
  root.write("sys/cray/pm_counters/power", "300 W 1 us\n");
  root.write("sys/cray/pm_counters/cpu_energy", "2000 J\n");
  root.write("sys/cray/pm_counters/memory_energy", "400 J\n");
  root.write("sys/cray/pm_counters/freshness", "77\n");
  root.write("sys/cray/pm_counters/power_cap", "0 W\n");
  PowerMeters meters = find_power_meters({MeterKind::cray}, root.path());
  EXPECT_THAT(require_host_power(meters, "nid"), ElementsAre("cray node"));
  PowerMeter& node = meter(meters, "cray node");
  EXPECT_FALSE(node.limit_w()) << "a cap of 0 is none";
  node.read(0);
  root.write("sys/cray/pm_counters/energy", "5600 J 1 us\n");
  EXPECT_NEAR(watts(node, 2), 300, 1e-9);
  EXPECT_EQ(meter(meters, "cray cpu").domain(), core::PowerDomain::package);
}

/// A program of that name, first in PATH while it lives.
class FakeIpmitool {
 public:
  FakeIpmitool(const FakeRoot& root, const std::string& script) : path_(std::getenv("PATH")) {
    root.write("bin/ipmitool", "#!/bin/sh\n" + script);
    std::filesystem::permissions(root.path() / "bin/ipmitool", std::filesystem::perms::owner_all);
    ::setenv("PATH", ((root.path() / "bin").string() + ":" + path_).c_str(), 1);
    root.write("dev/ipmi0", "");
  }
  ~FakeIpmitool() { ::setenv("PATH", path_.c_str(), 1); }

 private:
  std::string path_;
};

TEST(PowerMeters, IpmiIsAskedForTheHost) {
  const FakeRoot root;
  const FakeIpmitool tool(root,
                          "[ \"$*\" = 'dcmi power reading' ] || exit 1\n"
                          "echo '    Instantaneous power reading:                   220 Watts'\n"
                          "echo '    Average power reading over sample period:      212 Watts'\n"
                          "echo '    Power reading state is:                   activated'\n");
  PowerMeters meters = find_power_meters({MeterKind::ipmi}, root.path());
  EXPECT_THAT(require_host_power(meters, "node"), ElementsAre("dcmi"));
  EXPECT_NEAR(watts(meter(meters, "dcmi"), 0), 220, 1e-9);
}

TEST(PowerMeters, WhatIpmiComplainsAboutIsTold) {
  const FakeRoot root;
  const FakeIpmitool tool(root, "echo 'DCMI request failed because: Invalid command (c1)'; exit 1\n");
  PowerMeters meters = find_power_meters({MeterKind::ipmi}, root.path());
  EXPECT_TRUE(meters.meters.empty());
  EXPECT_THAT(meters.looked_for.front().found, HasSubstr("Invalid command"));
}

}  // namespace
}  // namespace hplcast::calibration
