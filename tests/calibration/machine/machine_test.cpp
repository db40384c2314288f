#include "hplcast/calibration/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "tests/calibration/fake_root.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::HasSubstr;
using tests::error_in;
using tests::FakeRoot;

/// An imaginary machine in hwloc's words.
Topology synthetic(const std::string& description) {
  ::setenv("HWLOC_SYNTHETIC", description.c_str(), 1);
  Topology machine = Topology::of_this_machine();
  ::unsetenv("HWLOC_SYNTHETIC");
  return machine;
}

TEST(Topology, CountsTheCoresOfAPlaceForARank) {
  const Topology machine = synthetic("pack:2 numa:2 l3:2 core:4 pu:2");
  EXPECT_EQ(machine.cores_per("l3"), 4);
  EXPECT_EQ(machine.cores_per("numa"), 8);
  EXPECT_EQ(machine.cores_per("socket"), 16);
  EXPECT_EQ(machine.cores_per("host"), 32);
  EXPECT_THROW(machine.cores_per("l2"), core::InputError);
  EXPECT_THROW(synthetic("pack:2 core:4 pu:1").cores_per("l3"), core::InputError);
}

TEST(Topology, KnowsTheCpuOfEveryCore) {
  const Topology topology = synthetic("pack:2 l3:1 core:4 pu:2");
  core::MachineDescription machine;
  topology.describe(machine);
  EXPECT_EQ(machine.packages, 2);
  EXPECT_EQ(machine.hardware_threads, 16);
  ASSERT_EQ(topology.cores().size(), 8u);
  for (int core = 0; core < 8; ++core) {
    const CorePlace& place = topology.cores()[static_cast<std::size_t>(core)];
    EXPECT_EQ(place.core, core);
    EXPECT_EQ(place.cpu, core / 4);
    EXPECT_EQ(place.pu, 2 * core);
  }
  ASSERT_EQ(machine.caches.size(), 1u);
  EXPECT_EQ(machine.caches[0].level, 3);
  EXPECT_EQ(machine.caches[0].count, 2);
}

TEST(Topology, SeesThisMachine) {
  const Topology topology = Topology::of_this_machine();
  EXPECT_GE(topology.cores().size(), 1u);
  EXPECT_GE(topology.bound_cores().size(), 1u);
  EXPECT_THAT(topology.xml(), HasSubstr("<topology"));
}

TEST(ChooseCores, RespectsTheLauncherElseFillsInOrder) {
  const std::vector<CorePlace> cores = synthetic("pack:2 core:2 pu:1").cores();
  const auto chosen = [&](const std::vector<CorePlace>& bound, int rank, int threads) {
    std::vector<int> numbers;
    for (const CorePlace& place : choose_cores(cores, bound, rank, threads)) numbers.push_back(place.core);
    return numbers;
  };
  EXPECT_EQ(chosen({cores[3]}, 0, 1), (std::vector<int>{3}));
  EXPECT_EQ(chosen(cores, 2, 1), (std::vector<int>{2}));
  EXPECT_EQ(chosen({cores[0], cores[1]}, 1, 1), (std::vector<int>{1}));
  EXPECT_EQ(chosen(cores, 1, 2), (std::vector<int>{2, 3}));
  EXPECT_THAT(error_in([&] { chosen(cores, 4, 1); }), HasSubstr("the host has 4"));
  EXPECT_THAT(error_in([&] { chosen(cores, 1, 3); }), HasSubstr("start fewer ranks"));
}

TEST(DescribeMachine, ReadsWhatTheSystemTells) {
  const FakeRoot root;
  root.write("proc/meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n");
  root.write("proc/loadavg", "1.25 1.00 0.50 1/100 4242\n");
  root.write("proc/stat", "cpu  70 0 10 10 5 0 0 5 0 0\n");
  root.write("proc/cpuinfo", "processor : 0\nflags\t\t: fpu sse hypervisor avx\n");
  root.write("proc/sys/vm/max_map_count", "65530\n");
  root.write("proc/sys/vm/overcommit_memory", "2\n");
  root.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  root.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
  root.write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
  root.write("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  root.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  root.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  root.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  root.write("sys/class/dmi/id/bios_version", "2.12.2\n");
  root.write("sys/class/dmi/id/bios_date", "07/09/2021\n");
  const core::MachineDescription machine = describe_machine(synthetic("pack:2 core:2 pu:1"), root.path());
  EXPECT_EQ(machine.cores, 4);
  EXPECT_EQ(machine.core_cpu, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(machine.memory_bytes, 2048 * 1024);
  EXPECT_EQ(machine.memory_available_bytes, 1024 * 1024);
  EXPECT_EQ(machine.load_1min, 1.25);
  EXPECT_EQ(machine.steal, 0.05);
  EXPECT_TRUE(machine.virtual_machine);
  EXPECT_EQ(machine.max_map_count, 65530);
  EXPECT_EQ(machine.overcommit_memory, 2);
  EXPECT_EQ(machine.governor, "mixed");
  EXPECT_EQ(machine.max_frequency_hz, 3.7e9);
  EXPECT_EQ(machine.turbo, true);
  EXPECT_EQ(machine.clock_source, "tsc");
  EXPECT_EQ(machine.transparent_hugepages, "madvise");
  EXPECT_EQ(machine.cpu_quota, 1.5);
  EXPECT_EQ(machine.firmware, "2.12.2 07/09/2021");
}

TEST(DescribeMachine, LimitsOfTheControlGroupCount) {
  const FakeRoot root;
  root.write("proc/meminfo", "MemTotal: 2048 kB\nMemAvailable: 1024 kB\n");
  root.write("sys/fs/cgroup/memory.max", "1000000\n");
  root.write("sys/fs/cgroup/memory.current", "400000\n");
  EXPECT_EQ(available_memory_bytes(root.path()), 600000);
  root.write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(available_memory_bytes(root.path()), 1024 * 1024);
}

TEST(DescribeMachine, LeavesUnknownWhatTheSystemHides) {
  const FakeRoot root;
  const core::MachineDescription machine = describe_machine(synthetic("core:1 pu:1"), root.path());
  EXPECT_EQ(machine.governor, "");
  EXPECT_FALSE(machine.turbo.has_value());
  EXPECT_FALSE(machine.steal.has_value());
  EXPECT_FALSE(machine.max_map_count.has_value());
  EXPECT_FALSE(machine.cpu_quota.has_value());
  EXPECT_EQ(machine.packages, 1);
}

TEST(MachineJson, RoundTripChangesNothing) {
  core::MeasurementContext context;
  context.machines = {describe_machine(synthetic("pack:2 l2:2 core:2 pu:1")),
                      describe_machine(Topology::of_this_machine())};
  context.machines[0].turbo = false;
  context.machines[0].cpu_quota = 0.1;
  context.software = {
      "Open MPI v4.1.4", "3.1", "OpenBLAS 0.3.21", "/usr/lib/libopenblas.so.0", "config", "Haswell", 3, "g++"};
  context.ranks = {{0, "a", 0, 1}, {1, "b", 1, 3}};
  std::stringstream file;
  write_json(file, context);
  const core::MeasurementContext read = core::read_context(file, "machine.json");
  std::ostringstream again;
  write_json(again, read);
  EXPECT_EQ(again.str(), file.str());
  EXPECT_EQ(read.machines[0].caches.size(), context.machines[0].caches.size());
  EXPECT_EQ(read.ranks[1].core, 3);
}

TEST(MachineJson, OtherTextsAreRefused) {
  for (const char* text : {"", "{", "[]", "{\"machines\": 3}", "{\"machines\": [3], \"software\": {}, \"ranks\": []}",
                           "{\"machines\": [{\"cores\": \"two\"}], \"software\": {}, \"ranks\": []}"}) {
    EXPECT_THAT(error_in([&] {
                  std::istringstream in(text);
                  core::read_context(in, "m.json");
                }),
                HasSubstr("m.json"))
        << text;
  }
}

}  // namespace
}  // namespace hplcast::calibration
