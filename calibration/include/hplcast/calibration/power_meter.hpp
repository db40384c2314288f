#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/power_samples.hpp"

// Everything of a host that measures power, behind one interface (docs/use/power-measuring.md).
namespace hplcast::calibration {

/// What a meter says.
struct PowerReading {
  double power_w = 0;    ///< above 0
  double covered_s = 0;  ///< the mean over this time before the reading; 0: of the moment
};

/// One sensor of power.
class PowerMeter {
 public:
  PowerMeter(std::string name, core::PowerDomain domain) : name_(std::move(name)), domain_(domain) {}
  virtual ~PowerMeter() = default;
  PowerMeter(const PowerMeter&) = delete;
  PowerMeter& operator=(const PowerMeter&) = delete;

  const std::string& name() const noexcept { return name_; }
  core::PowerDomain domain() const noexcept { return domain_; }
  /// Reads it; `time_s`: now, on any clock that never goes back. Nothing at the first reading of a counter, while a
  /// counter stands still, and once the sensor is gone: a power of 0 W is never made up.
  virtual std::optional<PowerReading> read(double time_s) = 0;
  /// What the hardware holds this domain to; absent: not known.
  virtual std::optional<double> limit_w() const { return std::nullopt; }
  /// What went wrong so far, once each, for people: vanished, stands still, says 0 W.
  std::vector<std::string> troubles() const { return troubles_; }
  /// Whether it has vanished.
  bool is_lost() const noexcept { return lost_; }

 protected:
  void trouble(const std::string& what);
  void lose(const std::string& what) {
    lost_ = true;
    trouble(what);
  }

 private:
  std::string name_;
  core::PowerDomain domain_;
  std::vector<std::string> troubles_;
  bool lost_ = false;
};

/// A number that a counter has, in J; nothing if it cannot be read.
using CounterValue = std::function<std::optional<double>()>;

/// Energy counted in J. It may wrap at `range_j` (0: it never does).
std::unique_ptr<PowerMeter> counter_meter(std::string name, core::PowerDomain domain, CounterValue counter,
                                          double range_j, std::optional<double> limit_w = std::nullopt);

/// Power of the moment in W, from a function that gives nothing if it cannot be read.
std::unique_ptr<PowerMeter> gauge_meter(std::string name, core::PowerDomain domain,
                                        std::function<std::optional<double>()> watts);

/// Kinds of meters.
enum class MeterKind { rapl, hwmon, ipmi, cray };
/// In the order in which they are looked for.
inline const std::vector<std::pair<std::string, MeterKind>> meter_kinds_by_name = {
    {"rapl", MeterKind::rapl}, {"hwmon", MeterKind::hwmon}, {"ipmi", MeterKind::ipmi}, {"cray", MeterKind::cray}};

/// A kind of meter that was looked for, where, and what came of it: "3 zones", "none", which permission is missing.
struct LookedFor {
  MeterKind kind = MeterKind::rapl;
  std::string what;
  std::string found;
};

/// The meters of this host.
struct PowerMeters {
  std::vector<std::unique_ptr<PowerMeter>> meters;
  std::vector<LookedFor> looked_for;
};

/// Looks below root/sys and root/dev for these kinds. Meters are those that can be read now.
PowerMeters find_power_meters(const std::vector<MeterKind>& kinds, const std::filesystem::path& root = "/");

/// What monitors of other measurements read: all that are files. IPMI is not: asking takes a process each time.
inline const std::vector<MeterKind> meters_of_files = {MeterKind::rapl, MeterKind::hwmon, MeterKind::cray};
inline const std::vector<MeterKind> all_meters = {MeterKind::rapl, MeterKind::hwmon, MeterKind::ipmi, MeterKind::cray};

/// "rapl: /sys/class/powercap/intel-rapl:*: none" lines of all kinds, for the error of a host without meters.
std::string describe(const std::vector<LookedFor>& looked_for);

/// The sensors that add up to the power of the host, of meters that are there.
/// @throws core::Error (bad_input) if there are none; it says what was looked for.
std::vector<std::string> require_host_power(const PowerMeters& meters, const std::string& host);

}  // namespace hplcast::calibration
