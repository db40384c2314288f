#include "hplcast/calibration/measure_power.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hplcast/core/errors.hpp"
#include "tests/calibration/fake_root.hpp"
#include "tests/support/text_of.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::ElementsAre;
using tests::FakeRoot;

const std::string cpu0 = "sys/devices/system/cpu/cpu0/cpufreq/", cpu1 = "sys/devices/system/cpu/cpu1/cpufreq/";

void write_cpufreq(const FakeRoot& root, const std::string& governor) {
  for (const std::string& folder : {cpu0, cpu1}) {
    root.write(folder + "cpuinfo_min_freq", "1200000\n");
    root.write(folder + "cpuinfo_max_freq", "2300000\n");
    root.write(folder + "scaling_min_freq", "1200000\n");
    root.write(folder + "scaling_max_freq", "2300000\n");
    root.write(folder + "scaling_governor", governor + "\n");
    root.write(folder + "scaling_setspeed", "2300000\n");
  }
}

std::string text(const FakeRoot& root, const std::string& file) {
  return test::text_of(root.path() / file);
}

TEST(FrequencyControl, KnowsTheDriversStatesOrSteps) {
  const FakeRoot root;
  write_cpufreq(root, "performance");
  EXPECT_EQ(FrequencyControl(root.path()).states_hz().size(), 12U) << "2.3 to 1.2 GHz in steps of 0.1";
  root.write(cpu0 + "scaling_available_frequencies", "2300000 1800000 1200000\n");
  EXPECT_THAT(FrequencyControl(root.path()).states_hz(), ElementsAre(2.3e9, 1.8e9, 1.2e9));
}

TEST(FrequencyControl, SetsBothLimitsOfAllCpusAndPutsThemBack) {
  const FakeRoot root;
  write_cpufreq(root, "performance");
  {
    FrequencyControl control(root.path());
    control.set(1.8e9);
    for (const std::string& folder : {cpu0, cpu1}) {
      EXPECT_EQ(text(root, folder + "scaling_min_freq"), "1800000\n");
      EXPECT_EQ(text(root, folder + "scaling_max_freq"), "1800000\n");
    }
    control.set(2.3e9);
    EXPECT_EQ(text(root, cpu1 + "scaling_min_freq"), "2300000\n");
  }
  EXPECT_EQ(text(root, cpu0 + "scaling_min_freq"), "1200000\n");
  EXPECT_EQ(text(root, cpu0 + "scaling_max_freq"), "2300000\n");
}

TEST(FrequencyControl, UnderTheGovernorUserspaceItSetsTheSpeed) {
  const FakeRoot root;
  write_cpufreq(root, "userspace");
  FrequencyControl control(root.path());
  control.set(1.5e9);
  EXPECT_EQ(text(root, cpu0 + "scaling_setspeed"), "1500000\n");
  EXPECT_EQ(text(root, cpu0 + "scaling_min_freq"), "1200000\n");
}

TEST(FrequencyControl, SaysWhichFileMayNotBeWritten) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root may become somebody else";
  const FakeRoot root;
  write_cpufreq(root, "performance");
  FrequencyControl control(root.path());
  ASSERT_EQ(::seteuid(65534), 0);
  std::string message;
  try {
    control.set(1.8e9);
  } catch (const core::Error& error) {
    message = error.what();
  }
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_THAT(message, ::testing::HasSubstr("scaling_min_freq: Permission denied"));
}

TEST(FrequencyControl, RefusesWhatTheCpusCannot) {
  const FakeRoot root;
  EXPECT_THROW(FrequencyControl(root.path()).set(1e9), core::Error) << "no cpufreq at all";
  write_cpufreq(root, "performance");
  EXPECT_THROW(FrequencyControl(root.path()).set(3e9), core::DomainError);
}

}  // namespace
}  // namespace hplcast::calibration
