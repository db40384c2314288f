#include "hplcast/calibration/sensors.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <sstream>
#include <thread>

#include "tests/calibration/fake_root.hpp"

namespace hplcast::calibration {
namespace {

using tests::FakeRoot;

std::map<std::string, double> values(const std::vector<Reading>& readings) {
  std::map<std::string, double> result;
  for (const Reading& reading : readings)
    result[std::string(to_string(reading.quantity)) + " " + reading.sensor] = reading.value;
  return result;
}

void add_sensors(const FakeRoot& root) {
  root.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2100000\n");
  root.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3700000\n");
  root.write("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "7\n");
  root.write("sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "9\n");
  root.write("sys/class/hwmon/hwmon0/name", "coretemp\n");
  root.write("sys/class/hwmon/hwmon0/temp1_input", "65500\n");
  root.write("sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n");
  root.write("sys/class/hwmon/hwmon0/temp2_input", "60000\n");
  root.write("sys/class/powercap/intel-rapl:0/name", "package-0\n");
  root.write("sys/class/powercap/intel-rapl:0/energy_uj", "5000000\n");
  root.write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "10000000\n");
  root.write("sys/class/powercap/intel-rapl:0:0/name", "dram\n");
  root.write("sys/class/powercap/intel-rapl:0:0/energy_uj", "100\n");
  root.write("sys/class/powercap/intel-rapl:0:0/max_energy_range_uj", "10000000\n");
}

TEST(Sensors, ReadWhatTheMachineHasInSiUnits) {
  const FakeRoot root;
  add_sensors(root);
  Sensors sensors = Sensors::discover(root.path());
  const std::map<std::string, double> expected{{"frequency_hz cpu0", 2.1e9},
                                               {"frequency_hz cpu1", 3.7e9},
                                               {"throttle_count cpu1", 7},
                                               {"throttle_count cpu1 package", 9},
                                               {"temperature_celsius coretemp Package id 0", 65.5},
                                               {"temperature_celsius coretemp temp2", 60}};
  EXPECT_EQ(values(sensors.read(0)), expected) << "power needs two readings";
}

TEST(Sensors, CountTheBytesOfNetworkCardsAndStolenTime) {
  const FakeRoot root;
  for (const std::string card : {"lo", "eth0"}) {
    root.write("sys/class/net/" + card + "/statistics/rx_bytes", "1000\n");
    root.write("sys/class/net/" + card + "/statistics/tx_bytes", "20\n");
    root.write("sys/class/net/" + card + "/statistics/rx_dropped", "3\n");
  }
  root.write("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "1000\n");
  root.write("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "1\n");
  root.write("proc/stat", "cpu 1 2 3 4 5 6 7 " + std::to_string(5 * ::sysconf(_SC_CLK_TCK)) + " 0 0\n");
  Sensors sensors = Sensors::discover(root.path());
  const std::map<std::string, double> expected{{"received_bytes eth0", 1000},
                                               {"sent_bytes eth0", 20},
                                               {"network_errors eth0 rx_dropped", 3},
                                               {"received_bytes mlx5_0 port 1", 4000},
                                               {"network_errors mlx5_0 port 1 symbol_error", 1},
                                               {"stolen_s all CPUs", 5}};
  EXPECT_EQ(values(sensors.read(0)), expected) << "not those of the loopback; a port counts in words of 4 bytes";
}

TEST(Sensors, PowerIsEnergyOverTimeAcrossTheWrapOfTheCounter) {
  const FakeRoot root;
  add_sensors(root);
  Sensors sensors = Sensors::discover(root.path());
  sensors.read(100);
  root.write("sys/class/powercap/intel-rapl:0/energy_uj", "9000000\n");
  root.write("sys/class/powercap/intel-rapl:0:0/energy_uj", "1000100\n");
  auto power = values(sensors.read(102));
  EXPECT_DOUBLE_EQ(power["power_w package-0"], 2);
  EXPECT_DOUBLE_EQ(power["power_w package-0 dram"], 0.5);
  root.write("sys/class/powercap/intel-rapl:0/energy_uj", "3000000\n");  // 1 J to the end of the range, 3 J after
  power = values(sensors.read(106));
  EXPECT_DOUBLE_EQ(power["power_w package-0"], 1);
}

TEST(Sensors, AMachineWithoutSensorsHasNoReadings) {
  const FakeRoot root;
  Sensors sensors = Sensors::discover(root.path());
  EXPECT_EQ(sensors.size(), 0u);
  EXPECT_TRUE(sensors.read(0).empty());
}

TEST(Sensors, ASensorThatVanishesIsLeftOut) {
  const FakeRoot root;
  add_sensors(root);
  Sensors sensors = Sensors::discover(root.path());
  std::filesystem::remove(root.path() / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
  EXPECT_EQ(values(sensors.read(0)).count("frequency_hz cpu0"), 0u);
}

/// A memory controller that counts nanoseconds: a device of the type of the kernel's own software counters.
void write_counting_controller(const FakeRoot& root, const std::string& format) {
  const std::string device = "sys/bus/event_source/devices/uncore_imc_0/";
  root.write("sys/devices/system/cpu/online", "0\n");
  root.write(device + "type", "1\n");
  root.write(device + "cpumask", "0\n");
  root.write(device + "format/event", format);
  root.write(device + "events/cas_count_read", "event=0x00\n");
  root.write(device + "events/cas_count_read.scale", "0.5\n");
  root.write(device + "events/cas_count_read.unit", "MiB\n");
}

TEST(PerfCounters, CountWhatTheKernelDescribesInBytes) {
  const FakeRoot root;
  write_counting_controller(root, "config:0-7\n");
  const PerfCounters counters(root.path());
  if (counters.availability().find("not allowed") != std::string::npos)
    GTEST_SKIP() << "skipped: counters of the whole host: " << counters.availability();
  const std::string name = "memory_read_bytes uncore_imc_0 of the package of cpu0";
  const auto before = values(counters.read(0));
  ASSERT_EQ(before.count(name), 1u) << counters.availability();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double seconds = (values(counters.read(0)).at(name) - before.at(name)) / (0.5 * 1048576 * 1e9);
  EXPECT_GT(seconds, 0.049) << "the clock of the kernel's counter went on meanwhile";
  EXPECT_LT(seconds, 60);
}

TEST(PerfCounters, SayWhatIsNotCountedAndWhy) {
  const FakeRoot empty;
  EXPECT_EQ(PerfCounters(empty.path()).availability(), "");
  empty.write("sys/devices/system/cpu/online", "0\n");
  EXPECT_NE(PerfCounters(empty.path()).availability().find("memory traffic: the kernel describes no memory controller"),
            std::string::npos);
  // Descriptions that are not understood, or of CPUs that are not there, count nothing.
  for (const std::string format : {"config:0-7,32\n", "config9:0\n", "config:7-0\n", ":\n", "\n"}) {
    write_counting_controller(empty, format);
    EXPECT_EQ(values(PerfCounters(empty.path()).read(0)).count("memory_read_bytes uncore_imc_0 of the package of cpu0"),
              0u)
        << format;
  }
  write_counting_controller(empty, "config:0-7\n");
  empty.write("sys/bus/event_source/devices/uncore_imc_0/cpumask", "60000\n");
  EXPECT_NE(PerfCounters(empty.path()).availability().find("memory traffic: "), std::string::npos);
}

TEST(Monitor, ReadsUntilItIsStopped) {
  const FakeRoot root;
  add_sensors(root);
  Monitor monitor(Sensors::discover(root.path()), 0.005);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::vector<Reading> readings = monitor.stop();
  EXPECT_GE(readings.size(), 6u);
  EXPECT_TRUE(monitor.stop().empty());
  Monitor idle(Sensors::discover(root.path() / "nothing"), 0.001);
  EXPECT_TRUE(idle.stop().empty());
}

TEST(MonitoringCsv, HasTimesFromTheEpoch) {
  std::ostringstream out;
  out << monitoring_csv_header << '\n';
  write_monitoring_rows(out, "a", 10, {{12.5, Quantity::power_w, "package-0", 80}});
  EXPECT_EQ(out.str(), "host,time_s,quantity,sensor,value\na,2.5,power_w,package-0,80\n");
}

}  // namespace
}  // namespace hplcast::calibration
