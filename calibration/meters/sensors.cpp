#include "hplcast/calibration/sensors.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <ostream>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

Sensors Sensors::discover(const fs::path& root, const std::vector<MeterKind>& kinds) {
  constexpr double kilo = 1e3, milli = 1e-3;
  Sensors sensors;
  const auto add = [&](Quantity quantity, const std::string& name, const fs::path& file, double unit) {
    if (first_number(file)) sensors.gauges_.push_back({quantity, name, file, unit});
  };
  for (const fs::path& cpu : entries(root / "sys/devices/system/cpu", "cpu")) {
    const std::string name = cpu.filename();
    add(Quantity::frequency_hz, name, cpu / "cpufreq/scaling_cur_freq", kilo);
    add(Quantity::throttle_count, name, cpu / "thermal_throttle/core_throttle_count", 1);
    add(Quantity::throttle_count, name + " package", cpu / "thermal_throttle/package_throttle_count", 1);
  }
  for (const fs::path& chip : entries(root / "sys/class/hwmon", "hwmon")) {
    for (const fs::path& input : entries(chip, "temp")) {
      const std::string file = input.filename();
      const std::size_t ending = file.find("_input");
      if (ending == std::string::npos) continue;
      const std::string label = first_line(chip / (file.substr(0, ending) + "_label"));
      add(Quantity::temperature_celsius,
          first_line(chip / "name") + " " + (label.empty() ? file.substr(0, ending) : label), input, milli);
    }
  }
  for (const fs::path& card : entries(root / "sys/class/net", "")) {
    const std::string name = card.filename();
    if (name == "lo") continue;
    add(Quantity::received_bytes, name, card / "statistics/rx_bytes", 1);
    add(Quantity::sent_bytes, name, card / "statistics/tx_bytes", 1);
    for (const char* kind : {"rx_errors", "tx_errors", "rx_dropped", "tx_dropped"})
      add(Quantity::network_errors, name + " " + kind, card / "statistics" / kind, 1);
  }
  constexpr double word = 4;  // in which ports of InfiniBand count
  for (const fs::path& card : entries(root / "sys/class/infiniband", "")) {
    for (const fs::path& port : entries(card / "ports", "")) {
      const std::string name = card.filename().string() + " port " + port.filename().string();
      add(Quantity::received_bytes, name, port / "counters/port_rcv_data", word);
      add(Quantity::sent_bytes, name, port / "counters/port_xmit_data", word);
      for (const char* kind : {"symbol_error", "port_rcv_errors", "port_xmit_discards", "link_downed"})
        add(Quantity::network_errors, name + " " + kind, port / "counters" / kind, 1);
    }
  }
  if (steal_ticks(first_line(root / "proc/stat")).stolen.value_or(0) > 0) sensors.ticks_ = root / "proc/stat";
  sensors.counters_ = std::make_shared<const PerfCounters>(root);
  sensors.power_ = find_power_meters(kinds, root);
  return sensors;
}

std::vector<Reading> Sensors::read(double time_s) {
  std::vector<Reading> readings;
  readings.reserve(size());
  for (const Gauge& gauge : gauges_)
    if (const auto value = first_number(gauge.file))
      readings.push_back({time_s, gauge.quantity, gauge.name, *value * gauge.unit, 0});
  if (const auto stolen = steal_ticks(first_line(ticks_)).stolen)
    readings.push_back(
        {time_s, Quantity::stolen_s, "all CPUs", *stolen / static_cast<double>(::sysconf(_SC_CLK_TCK)), 0});
  if (counters_) core::append(readings, counters_->read(time_s));
  for (PowerMeter& meter : power_.meters)
    if (const auto power = meter.read(time_s))
      readings.push_back({time_s, Quantity::power_w, meter.name(), power->power_w, power->covered_s});
  return readings;
}

std::vector<core::PowerSample> power_samples(const PowerMeter& meter, const std::vector<Reading>& readings,
                                             double unix_minus_now_s) {
  std::vector<core::PowerSample> samples;
  for (const Reading& reading : readings) {
    if (reading.quantity != Quantity::power_w || reading.sensor != meter.name()) continue;
    core::PowerSample sample;
    sample.sensor = reading.sensor;
    sample.domain = meter.domain();
    sample.time_s = reading.time_s + unix_minus_now_s;
    sample.covered_s = reading.covered_s;
    sample.power_w = reading.value;
    sample.limit_w = meter.limit_w().value_or(0);
    samples.push_back(std::move(sample));
  }
  return samples;
}

double unix_minus_now_s() {
  return core::unix_time_s() - now_s();
}

void write_monitoring_rows(std::ostream& out, const std::string& host, double epoch_s,
                           const std::vector<Reading>& readings) {
  for (const Reading& reading : readings)
    out << core::csv_field(host) << ',' << core::shortest(reading.time_s - epoch_s) << ','
        << to_string(reading.quantity) << ',' << core::csv_field(reading.sensor) << ',' << core::shortest(reading.value)
        << '\n';
}

Monitor::Monitor(Sensors sensors, double period_s)
    : sensors_(std::move(sensors)), period_s_(period_s), thread_([this] { run(); }) {}

std::vector<Reading> Monitor::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  return std::move(readings_);
}

void Monitor::run() {
  constexpr double largest_share = 0.01;  // of a core
  if (sensors_.size() == 0) return;
  std::unique_lock<std::mutex> lock(mutex_);
  double cost_before_s = std::numeric_limits<double>::infinity();
  while (!stopping_) {
    const double cpu_begin_s = now_s(CLOCK_THREAD_CPUTIME_ID);
    core::append(readings_, sensors_.read(now_s()));
    const double cost_s = now_s(CLOCK_THREAD_CPUTIME_ID) - cpu_begin_s;
    // One reading that the system has interrupted does not silence the sensors for seconds.
    const std::chrono::duration<double> pause(std::max(period_s_, std::min(cost_s, cost_before_s) / largest_share));
    cost_before_s = cost_s;
    wake_.wait_for(lock, pause, [&] { return stopping_; });
  }
  core::append(readings_, sensors_.read(now_s()));
}

}  // namespace hplcast::calibration
