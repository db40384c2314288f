#include "hplcast/calibration/surroundings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/calibration/doctor.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "tests/calibration/fake_root.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/text_of.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using tests::error_in;
using tests::FakeRoot;

/// Two cores of a server, as its kernel tells them.
void write_server(const FakeRoot& root) {
  for (const std::string cpu : {"cpu0", "cpu1"}) {
    const std::string folder = "sys/devices/system/cpu/" + cpu + "/";
    root.write(folder + "cpufreq/scaling_governor", "powersave\n");
    root.write(folder + "cpufreq/scaling_available_governors", "performance powersave\n");
    root.write(folder + "cpufreq/scaling_driver", "intel_pstate\n");
    const char* const names[] = {"POLL", "C1", "C6"};
    for (int state = 0; state < 3; ++state) {
      root.write(folder + "cpuidle/state" + std::to_string(state) + "/name", std::string(names[state]) + "\n");
      root.write(folder + "cpuidle/state" + std::to_string(state) + "/disable", "0\n");
    }
  }
  root.write("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  root.write("sys/devices/system/cpu/smt/control", "on\n");
  root.write("sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n");
  root.write("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: Retpolines\n");
  root.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  root.write("proc/sys/kernel/numa_balancing", "1\n");
  root.write("proc/sys/vm/nr_hugepages", "0\n");
  root.write("proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0x2b000\nflags\t: fpu\n");
  root.write("proc/cmdline", "quiet isolcpus=2\n");
}

std::string text(const FakeRoot& root, const std::string& file) {
  return test::text_of(root.path() / file);
}

bool becomes(const FakeRoot& root, const std::string& file, const std::string& wanted) {
  for (int hundredths = 0; hundredths < 500; ++hundredths) {
    if (text(root, file) == wanted) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

constexpr const char* governor_file = "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
constexpr const char* turbo_file = "sys/devices/system/cpu/intel_pstate/no_turbo";

TEST(Settings, AreReadAsTheKernelTellsThem) {
  const FakeRoot root;
  write_server(root);
  const Settings expected = {{"governor", "powersave"},
                             {"frequency_driver", "intel_pstate"},
                             {"turbo", "on"},
                             {"deepest_idle_state", "C6"},
                             {"hyper_threads", "on"},
                             {"numa_balancing", "on"},
                             {"huge_pages", "madvise"},
                             {"reserved_huge_pages", "0"},
                             {"microcode", "0x2b000"},
                             {"mitigations", "spectre_v2: Mitigation: Retpolines"},
                             {"kernel_command_line", "quiet isolcpus=2"}};
  EXPECT_EQ(read_settings(root.path()), expected) << "nmi_watchdog and allowed_cpus are not told";
  root.write(governor_file, "performance\n");
  EXPECT_EQ(read_settings(root.path()).at("governor"), "mixed");
}

TEST(HeldSettings, ChangeEveryCpuAndRestoreWhatWasThere) {
  const FakeRoot root;
  write_server(root);
  const Settings before = read_settings(root.path());
  {
    HeldSettings held({{"governor", "performance"},
                       {"turbo", "off"},
                       {"deepest_idle_state", "C1"},
                       {"huge_pages", "always"},
                       {"numa_balancing", "off"},
                       {"reserved_huge_pages", "16"}},
                      root.path());
    const Settings now = read_settings(root.path());
    EXPECT_EQ(now.at("governor"), "performance");
    EXPECT_EQ(now.at("turbo"), "off");
    EXPECT_EQ(now.at("deepest_idle_state"), "C1");
    EXPECT_EQ(now.at("numa_balancing"), "off");
    EXPECT_EQ(text(root, "sys/devices/system/cpu/cpu0/cpuidle/state1/disable")[0], '0');
    EXPECT_EQ(text(root, "sys/devices/system/cpu/cpu0/cpuidle/state2/disable")[0], '1');
    EXPECT_TRUE(held.restore());
    EXPECT_TRUE(held.restore()) << "nothing is left to do";
  }
  EXPECT_EQ(read_settings(root.path()), before);
}

TEST(HeldSettings, AreRestoredWhenTheProcessIsKilled) {
  const FakeRoot root;
  write_server(root);
  const pid_t child = ::fork();
  if (child == 0) {
    const HeldSettings held({{"turbo", "off"}}, root.path());
    ::kill(::getpid(), text(root, turbo_file)[0] == '1' ? SIGKILL : SIGTERM);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it was changed before";
  EXPECT_TRUE(becomes(root, turbo_file, "0"));
}

TEST(HeldSettings, AreHeldByOneProcessAtATime) {
  const FakeRoot root;
  write_server(root);
  const auto change = [&](const std::string& value) { return HeldSettings({{"turbo", value}}, root.path()).changes(); };
  {
    const HeldSettings held({{"governor", "performance"}}, root.path());
    EXPECT_THAT(error_in([&] { change("off"); }), HasSubstr("held by another process"));
    EXPECT_EQ(text(root, turbo_file), "0\n");
  }
  EXPECT_THAT(error_in([&] { change("maybe"); }), HasSubstr("on or off"));
  EXPECT_THAT(change("off"), ElementsAre("turbo: on -> off")) << "free again, also after an error";
  EXPECT_EQ(text(root, turbo_file), "0");
}

/// A launcher of two hosts h1 and h2, whose shell code gets `$host` and must tell what the programs there would.
class FakeLauncher {
 public:
  FakeLauncher(const FakeRoot& root, const std::string& of_a_host)
      : file_(root.path() / "launcher"), output_(root.path() / "output") {
    root.write("launcher",
               "#!/bin/sh\nfor host in h1 h2; do (" + of_a_host +
                   ") & pids=\"$pids $!\"; done\n"
                   "trap 'kill -USR1 $pids' USR1\nfor pid in $pids; do wait $pid; wait $pid || exit; done\n");
    std::filesystem::permissions(file_, std::filesystem::perms::owner_all);
    launch_.ranks = 2;
    launch_.mpirun = file_;
  }
  SettingsOnHosts settings() const { return {{{"turbo", "off"}}, launch_, "hplcast", output_}; }

 private:
  std::filesystem::path file_, output_;
  core::MpiLaunch launch_;
};

constexpr const char* holding = "echo \"set on $host: turbo: on -> off\"; echo \"held on $host\"; sleep 60 & wait";

TEST(SettingsOnHosts, AreHeldUntilTheyAreRestoredOnAllHosts) {
  const FakeRoot root;
  const FakeLauncher launcher(root, std::string("trap 'kill $!; echo restored on $host; exit 0' USR1; ") + holding);
  SettingsOnHosts held = launcher.settings();
  EXPECT_THAT(held.changes(), ::testing::UnorderedElementsAre("h1: turbo: on -> off", "h2: turbo: on -> off"));
  EXPECT_TRUE(held.restore());
  EXPECT_TRUE(held.restore()) << "nothing is left to do";
}

TEST(SettingsOnHosts, TellIfAHostDoesNotSayThatItHasRestoredThem) {
  const FakeRoot root;
  const FakeLauncher launcher(
      root, std::string("trap 'kill $!; [ $host = h1 ] && echo restored on $host; exit 0' USR1; ") + holding);
  SettingsOnHosts held = launcher.settings();
  EXPECT_FALSE(held.restore());
}

TEST(SettingsOnHosts, AreRefusedIfAHostRefuses) {
  const FakeRoot root;
  const FakeLauncher launcher(root,
                              "[ $host = h1 ] || { echo \"hplcast: h2: setting turbo cannot be changed\"; exit 3; }");
  EXPECT_THAT(error_in([&] { launcher.settings(); }), HasSubstr("h2: setting turbo cannot be changed"));
}

TEST(SettingsOnHosts, AreRefusedIfTwoProcessesAreOnOneHost) {
  const FakeRoot root;
  const FakeLauncher launcher(root, std::string("host=h1; trap 'kill $!; exit 0' USR1; ") + holding);
  EXPECT_THAT(error_in([&] { launcher.settings(); }), HasSubstr("changed on 2 of 2 hosts (h1, h1)"));
}

TEST(HeldSettings, ChangeNothingIfOneOfThemIsRefused) {
  const FakeRoot root;
  write_server(root);
  const auto error_of = [&](const Settings& wanted) { return error_in([&] { HeldSettings(wanted, root.path()); }); };
  EXPECT_THAT(error_of({{"turbo", "off"}, {"governor", "fast"}}), HasSubstr("one of: performance powersave"));
  EXPECT_THAT(error_of({{"turbo", "maybe"}}), HasSubstr("setting turbo"));
  EXPECT_THAT(error_of({{"deepest_idle_state", "C10"}}), HasSubstr("one of: POLL C1 C6"));
  EXPECT_THAT(error_of({{"reserved_huge_pages", "-1"}}), HasSubstr("a number of pages"));
  EXPECT_THAT(error_of({{"microcode", "0x1"}}), HasSubstr("is no setting that can be changed"));
  EXPECT_THAT(error_of({{"nmi_watchdog", "off"}}), HasSubstr("nmi_watchdog: No such file"));
  EXPECT_EQ(text(root, turbo_file), "0\n");
  // Files of the kernel that nobody may write: what was changed before is restored.
  std::filesystem::remove(root.path() / turbo_file);
  std::filesystem::create_symlink("/proc/sys/kernel/osrelease", root.path() / turbo_file);
  EXPECT_THAT(error_of({{"governor", "performance"}, {"turbo", "off"}}), HasSubstr("setting turbo cannot be changed"));
  EXPECT_EQ(text(root, governor_file), "powersave");
}

core::MachineDescription host(const std::string& name, const Settings& settings) {
  core::MachineDescription machine;
  machine.host = name;
  machine.settings = settings;
  return machine;
}

TEST(Settings, AreComparedWithWhatIsRequiredAndBetweenHosts) {
  const std::vector<core::MachineDescription> hosts = {
      host("n1", {{"turbo", "off"}, {"microcode", "0x2"}}), host("n2", {{"turbo", "on"}, {"microcode", "0x2"}}),
      host("n3", {{"turbo", "off"}, {"microcode", "0x1"}}), host("n4", {{"microcode", "0x2"}})};
  EXPECT_THAT(unmet_requirements(hosts, {{"turbo", "off"}}),
              ElementsAre("n2: turbo is on, required: off", "n4: turbo is not told by the system, required: off"));
  EXPECT_THAT(differences_of_hosts(hosts), ElementsAre("microcode: 0x1 on n3, 0x2 on the other 3 hosts",
                                                       "turbo: not known on n4, on on n2, off on the other 2 hosts"));
  EXPECT_THAT(differences_of_hosts({hosts[0], hosts[0]}), IsEmpty());
  const std::vector<Check> checks =
      examine_requirements(hosts[1], {{"turbo", "off"}, {"microcode", "0x2"}, {"governor", "x"}});
  ASSERT_EQ(checks.size(), 3u);
  EXPECT_EQ(checks[0].status, CheckStatus::unknown) << "governor";
  EXPECT_EQ(checks[1].status, CheckStatus::ok) << "microcode";
  EXPECT_EQ(checks[2].status, CheckStatus::warn) << "turbo";
  EXPECT_THAT(error_in([] { require_known({{"gouvernor", "x"}}, false); }), HasSubstr("gouvernor"));
}

TEST(HostRecords, LeaveSecretsOutAndHashLibraries) {
  ::setenv("HPLCAST_TEST_TOKEN", "a-secret", 1);
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  const auto records = host_records();
  const std::string environment = records.at("environment.txt");
  EXPECT_THAT(environment, HasSubstr("HPLCAST_TEST_TOKEN  (left out)"));
  EXPECT_THAT(environment, Not(HasSubstr("a-secret")));
  EXPECT_THAT(environment, HasSubstr("OPENBLAS_NUM_THREADS=1\n"));
  const std::string libraries = records.at("libraries.csv");
  const std::size_t libc = libraries.find("libc.so.6,");
  ASSERT_NE(libc, std::string::npos) << libraries;
  const std::size_t begin = libraries.rfind('\n', libc) + 1, comma = libraries.find(',', libc);
  EXPECT_EQ(libraries.substr(comma + 1, 64), core::sha256_hex(test::text_of(libraries.substr(begin, comma - begin))));
  for (const char* name :
       {"USER", "LOGNAME", "HOME", "SSH_CLIENT", "SLURM_JOB_USER", "github_token", "AWS_SECRET_ACCESS_KEY"})
    EXPECT_TRUE(is_private_variable(name)) << name;
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "OMPI_MCA_pml", "SLURM_JOB_ID", "OMP_PLACES"})
    EXPECT_FALSE(is_private_variable(name)) << name;
}

TEST(KernelLog, HasNothingOfTheFuture) {
  EXPECT_EQ(kernel_log_since(4e9), "");
}

TEST(Load, IsThatOfOthersNotOfRanksThatWait) {
  const FakeRoot root;
  EXPECT_FALSE(runnable_of_others(root.path()).has_value());
  root.write("proc/loadavg", "0.20 0.18 0.12 7/80 11206\n");
  EXPECT_EQ(runnable_of_others(root.path()), 7);
  const auto process = [&](const std::string& pid, const std::string& stat, const std::vector<std::string>& tasks) {
    root.write("proc/" + pid + "/stat", pid + " " + stat + " 7\n");
    for (std::size_t i = 0; i < tasks.size(); ++i)
      root.write("proc/" + pid + "/task/" + std::to_string(i) + "/stat", pid + " (a) " + tasks[i] + " 50 7\n");
  };
  // Beyond all that Linux gives.
  process(std::to_string(::getpid()), "(hplcast) a) R 50", {"R"});
  process("5000021", "(hplcast) a) S 50", {"R", "S", "R"});  // another rank: two of its threads
  process("5000022", "(stress) R 50", {"R"});                // a job of the same shell
  process("5000023", "(hplcast) a) R 51", {"R"});            // somebody else's
  EXPECT_EQ(runnable_of_others(root.path()), 4);
}

}  // namespace
}  // namespace hplcast::calibration
