#include "hplcast/calibration/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>

namespace hplcast::calibration {
namespace {

using ::testing::HasSubstr;

core::MachineDescription healthy_machine() {
  core::MachineDescription machine;
  machine.cores = machine.hardware_threads = 4;
  machine.memory_bytes = 16e9;
  machine.memory_available_bytes = 15e9;
  machine.shared_memory_free_bytes = 8e9;
  machine.governor = "performance";
  machine.turbo = false;
  machine.clock_source = "tsc";
  machine.clock_resolution_s = 1e-9;
  machine.max_map_count = 2e6;
  machine.overcommit_memory = 0;
  return machine;
}

const ToolVersions all_tools{"Open MPI", "SimGrid", "SimGrid", {"4.1", "4.1", "4.1", "4.1"}};
const core::SoftwareDescription software{"Open MPI", "3.1", "OpenBLAS", "", "", "Haswell", 1, ""};

std::map<std::string, Check> checks_of(const core::MachineDescription& machine) {
  std::map<std::string, Check> checks;
  for (const Check& check : examine(machine, all_tools, software)) checks[check.name] = check;
  return checks;
}

TEST(Doctor, HasNothingToSayOfAHealthyMachine) {
  for (const auto& [name, check] : checks_of(healthy_machine())) {
    EXPECT_EQ(check.status, CheckStatus::ok) << name << ": " << check.found;
    EXPECT_EQ(check.remedy, "") << name;
    EXPECT_NE(check.found, "") << name;
  }
}

TEST(Doctor, TellsWhatDisturbsMeasurementsFromWhatSimulationsNeed) {
  const auto checks = checks_of(healthy_machine());
  for (const char* name : {"load", "other users", "frequency governor", "memory", "cores", "clock", "shared memory"})
    EXPECT_TRUE(concerns_measuring(checks.at(name))) << name;
  for (const char* name :
       {"smpirun", "SimGrid versions", "vm.max_map_count", "vm.overcommit_memory", "stack size", "address space"})
    EXPECT_FALSE(concerns_measuring(checks.at(name))) << name;
}

TEST(Doctor, WarnsOfEachTroubleAndSaysWhatToDo) {
  const std::vector<std::pair<std::string, std::function<void(core::MachineDescription&)>>> troubles = {
      {"cores", [](auto& m) { m.hardware_threads = 8; }},
      {"cores", [](auto& m) { m.cpu_quota = 1.5; }},
      {"virtual machine", [](auto& m) { m.virtual_machine = true; }},
      {"memory", [](auto& m) { m.memory_available_bytes = 1e9; }},
      {"frequency governor", [](auto& m) { m.governor = "powersave"; }},
      {"turbo", [](auto& m) { m.turbo = true; }},
      {"load", [](auto& m) { m.load_1min = 3; }},
      {"other users", [](auto& m) { m.other_users = {"ada"}; }},
      {"clock", [](auto& m) { m.clock_source = "hpet"; }},
      {"clock", [](auto& m) { m.clock_resolution_s = 1e-3; }},
      {"vm.max_map_count", [](auto& m) { m.max_map_count = 32000; }},
      {"vm.overcommit_memory", [](auto& m) { m.overcommit_memory = 2; }},
      {"stack size", [](auto& m) { m.stack_bytes = 65536; }},
      {"address space", [](auto& m) { m.address_space_bytes = 1e9; }},
      {"shared memory", [](auto& m) { m.shared_memory_free_bytes = 1e6; }}};
  for (const auto& [name, change] : troubles) {
    core::MachineDescription machine = healthy_machine();
    change(machine);
    const Check check = checks_of(machine)[name];
    EXPECT_EQ(check.status, CheckStatus::warn) << name;
    EXPECT_NE(check.remedy, "") << name;
  }
}

TEST(Doctor, DoesNotGuessWhatTheSystemHides) {
  core::MachineDescription machine = healthy_machine();
  machine.governor.clear();
  machine.turbo.reset();
  machine.max_map_count.reset();
  std::map<std::string, Check> checks = checks_of(machine);
  for (const char* name : {"frequency governor", "turbo", "vm.max_map_count"}) {
    EXPECT_EQ(checks[name].status, CheckStatus::unknown) << name;
  }
}

TEST(Doctor, WarnsOfMissingProgramsAndUnknownBlas) {
  std::map<std::string, Check> checks;
  for (const Check& check : examine(healthy_machine(), {}, std::nullopt)) checks[check.name] = check;
  EXPECT_EQ(checks["mpirun"].status, CheckStatus::warn);
  EXPECT_THAT(checks["smpirun"].remedy, HasSubstr("apt-get install"));
  EXPECT_EQ(checks["BLAS"].status, CheckStatus::unknown);
  core::SoftwareDescription old = software;
  old.blas_core_type = "Prescott";
  for (const Check& check : examine(healthy_machine(), all_tools, old)) checks[check.name] = check;
  EXPECT_EQ(checks["BLAS"].status, CheckStatus::warn);
}

TEST(Doctor, WarnsOfPartsOfTwoSimGrids) {
  for (std::string SimGridVersions::*part :
       {&SimGridVersions::smpirun, &SimGridVersions::smpicc, &SimGridVersions::library, &SimGridVersions::headers}) {
    ToolVersions tools = all_tools;
    tools.simgrid.*part = "3.32";
    int found = 0;
    for (const Check& check : examine(healthy_machine(), tools, software)) {
      if (check.name != "SimGrid versions") continue;
      ++found;
      EXPECT_EQ(check.status, CheckStatus::warn);
      EXPECT_THAT(check.found, HasSubstr(" 3.32"));
      EXPECT_THAT(check.found, HasSubstr(" 4.1"));
      EXPECT_THAT(check.remedy, HasSubstr("CMAKE_PREFIX_PATH"));
    }
    EXPECT_EQ(found, 1);
  }
}

TEST(Doctor, LetsLoadPassThatHasEnded) {
  core::MachineDescription machine = healthy_machine();
  machine.load_1min = 3;
  machine.load_now = 0.1;
  EXPECT_EQ(checks_of(machine)["load"].status, CheckStatus::ok);
  machine.load_now = 0.9;
  EXPECT_EQ(checks_of(machine)["load"].status, CheckStatus::warn);
  EXPECT_THAT(checks_of(machine)["load"].found, HasSubstr("3.00 runnable tasks in the last minute, 0.9 of others now"));
}

TEST(Doctor, WritesATableAndJson) {
  core::MachineDescription machine = healthy_machine();
  machine.load_1min = 2;
  const auto checks = examine(machine, all_tools, software);
  std::ostringstream table, json;
  write_table(table, checks);
  EXPECT_THAT(table.str(), HasSubstr("warn     load"));
  EXPECT_THAT(table.str(), HasSubstr("-> wait"));
  write_json(json, checks, machine);
  EXPECT_THAT(json.str(), HasSubstr("\"name\": \"load\""));
  EXPECT_THAT(json.str(), HasSubstr("\"status\": \"warn\""));
  EXPECT_THAT(json.str(), HasSubstr("\"load_1min\": 2.0"));
}

}  // namespace
}  // namespace hplcast::calibration
