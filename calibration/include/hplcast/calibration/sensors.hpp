#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "hplcast/calibration/power_meter.hpp"

namespace hplcast::calibration {

/// The quantity of a sensor; units are in the names used in files.
enum class Quantity {
  frequency_hz,         ///< of a hardware thread, now
  temperature_celsius,  ///< of whatever the sensor's name says
  power_w,              ///< of a part of the host or all of it, see PowerMeter
  throttle_count,       ///< times that the hardware slowed a core or a package down because of heat, since boot
  received_bytes,       ///< of a network card (InfiniBand: of a port), since boot
  sent_bytes,
  network_errors,     ///< packets that a card dropped or found damaged, since boot
  stolen_s,           ///< processor time that other virtual machines took, of all CPUs, since boot
  instructions,       ///< of all CPUs, since the sensors were looked for
  memory_read_bytes,  ///< by a memory controller, since then
  memory_written_bytes,
};

HPLCAST_ENUM_NAMES(Quantity, "quantity", "frequency_hz", "temperature_celsius", "power_w", "throttle_count",
                   "received_bytes", "sent_bytes", "network_errors", "stolen_s", "instructions", "memory_read_bytes",
                   "memory_written_bytes");

/// One value of one sensor.
struct Reading {
  double time_s = 0;  ///< when it was read, on the clock of now_s()
  Quantity quantity = Quantity::frequency_hz;
  std::string sensor;  ///< such as cpu3, coretemp Core 2, package-0, package-0 dram
  double value = 0;
  double covered_s = 0;  ///< power: value is the mean over this time before; 0: of the moment
};

/// Instructions and memory traffic of the whole host, where the kernel lets us count them: as root, or with
/// kernel.perf_event_paranoid at 0 or less. A reading interrupts each core for some microseconds.
class PerfCounters {
 public:
  explicit PerfCounters(const std::filesystem::path& root = "/");
  ~PerfCounters();
  PerfCounters(const PerfCounters&) = delete;
  PerfCounters& operator=(const PerfCounters&) = delete;

  std::vector<Reading> read(double time_s) const;
  std::size_t size() const noexcept { return counters_.size(); }
  /// "all"; else what is not counted, and why. Empty: the system does not tell its CPUs.
  std::string availability() const { return !known_ ? "" : skipped_.empty() ? "all" : "no " + skipped_; }

 private:
  struct Counter {
    Quantity quantity;
    std::string name;
    double unit;  ///< of a count
    std::vector<int> files;
  };
  /// Whether it can be counted on all these CPUs; else errno says why.
  bool open(Counter counter, std::uint32_t type, const std::array<std::uint64_t, 3>& words,
            const std::vector<int>& cpus);

  std::vector<Counter> counters_;
  std::string skipped_;
  bool known_ = false;
};

/// The sensors of this host that can be read. Sensors that a machine does not have are left out; a sensor that stops
/// working gives no more readings.
class Sensors {
 public:
  /// Looks for sensors below root/sys, and for meters of power of these kinds.
  static Sensors discover(const std::filesystem::path& root = "/",
                          const std::vector<MeterKind>& kinds = meters_of_files);

  /// Reads all of them. Counters of energy need two readings: the first call gives none of their power.
  std::vector<Reading> read(double time_s);

  std::size_t size() const noexcept {
    return gauges_.size() + power_.meters.size() + (ticks_.empty() ? 0 : 1) + (counters_ ? counters_->size() : 0);
  }
  const PowerMeters& power() const noexcept { return power_; }

 private:
  struct Gauge {
    Quantity quantity;
    std::string name;
    std::filesystem::path file;
    double unit;  ///< of the number in the file
  };

  std::vector<Gauge> gauges_;
  std::filesystem::path ticks_;  ///< /proc/stat; empty: it does not tell stolen time
  std::shared_ptr<const PerfCounters> counters_;
  PowerMeters power_;
};

/// The readings of a meter as samples with Unix times: now_s() less than them by `unix_minus_now_s`. Without a host.
std::vector<core::PowerSample> power_samples(const PowerMeter& meter, const std::vector<Reading>& readings,
                                             double unix_minus_now_s);

/// Unix time less now_s(), now.
double unix_minus_now_s();

/// Header line of readings in a CSV, without newline.
inline constexpr const char* monitoring_csv_header = "host,time_s,quantity,sensor,value";
void write_monitoring_rows(std::ostream& out, const std::string& host, double epoch_s,
                           const std::vector<Reading>& readings);

/// Reads sensors in a thread of its own, every `period_s`, less often if reading would take more than 1 percent of a
/// core, and once more when it is stopped.
class Monitor {
 public:
  Monitor(Sensors sensors, double period_s);
  ~Monitor() { stop(); }

  /// Ends the thread and returns all readings.
  std::vector<Reading> stop();
  /// After stop(): the sensors that were read.
  const Sensors& sensors() const noexcept { return sensors_; }

 private:
  void run();

  Sensors sensors_;
  double period_s_;
  std::vector<Reading> readings_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace hplcast::calibration
