#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/calibration/power_design.hpp"
#include "hplcast/core/measurement.hpp"

// Everything of a host that measures power, behind one interface (docs/use/power-measuring.md).
namespace hplcast::calibration {

/// One reading of a meter.
struct PowerReading {
  double power_w = 0;    ///< above 0
  double covered_s = 0;  ///< the mean over this time before the reading; 0: of the moment
};

/// One sensor of power: a counter of energy, or a gauge of the power of the moment.
class PowerMeter {
 public:
  /// Present value of the sensor; nothing if it cannot be read.
  using Value = std::function<std::optional<double>()>;
  /// Energy counted in J. It may wrap at `range_j` (0: it never does). `limit_w`: see limit_w().
  static PowerMeter counter(std::string name, core::PowerDomain domain, Value energy_j, double range_j,
                            std::optional<double> limit_w = std::nullopt);
  static PowerMeter gauge(std::string name, core::PowerDomain domain, Value power_w) {
    return PowerMeter(std::move(name), domain, std::move(power_w));
  }

  const std::string& name() const noexcept { return name_; }
  core::PowerDomain domain() const noexcept { return domain_; }
  /// Reads it; `time_s`: now, on any clock that never goes back. Nothing at the first reading of a counter, while a
  /// counter stands still, and once the sensor is gone: a power of 0 W is never made up.
  std::optional<PowerReading> read(double time_s);
  /// The hardware's power limit of this domain; absent: not known.
  std::optional<double> limit_w() const { return limit_w_; }
  /// Troubles so far, once each, for people: vanished, stands still, says 0 W.
  const std::vector<std::string>& troubles() const { return troubles_; }

 private:
  PowerMeter(std::string name, core::PowerDomain domain, Value value)
      : name_(std::move(name)), domain_(domain), value_(std::move(value)) {}
  std::optional<PowerReading> since_last(double energy_j, double time_s);
  std::nullopt_t trouble(const std::string& what);

  std::string name_;
  core::PowerDomain domain_;
  Value value_;
  std::optional<double> range_j_;  ///< of a counter
  std::optional<double> limit_w_;
  std::optional<double> last_;  ///< value, read at last_s_
  double last_s_ = 0;
  std::vector<std::string> troubles_;
};

/// Kinds of meters.
enum class MeterKind { rapl, hwmon, ipmi, cray };
/// In the order in which they are looked for.
inline const std::vector<std::pair<std::string, MeterKind>> meter_kinds_by_name = {
    {"rapl", MeterKind::rapl}, {"hwmon", MeterKind::hwmon}, {"ipmi", MeterKind::ipmi}, {"cray", MeterKind::cray}};

/// A kind of meter that was looked for, where, and what came of it: "3 zones", "none", which permission is missing.
struct LookedFor {
  std::string what;
  std::string found;
};

/// The meters of this host.
struct PowerMeters {
  std::vector<PowerMeter> meters;
  std::vector<LookedFor> looked_for;
};

/// Looks below root/sys and root/dev for these kinds. Meters are those that can be read now.
PowerMeters find_power_meters(const std::vector<MeterKind>& kinds, const std::filesystem::path& root = "/");

/// Meters that monitors of other measurements read: all that are files. IPMI is not: asking takes a process each time.
inline const std::vector<MeterKind> meters_of_files = {MeterKind::rapl, MeterKind::hwmon, MeterKind::cray};
inline const std::vector<MeterKind> all_meters = {MeterKind::rapl, MeterKind::hwmon, MeterKind::ipmi, MeterKind::cray};

/// The sensors that add up to the power of the host, of meters that are there.
/// @throws core::InputError if there are none; it says what was looked for.
std::vector<std::string> require_host_power(const PowerMeters& meters, const std::string& host);

// --- a wattmeter that writes a CSV of its own, on a clock of its own ---

/// Oddities of a wattmeter's file, for people.
struct WattmeterDoubts {
  double period_s = 0;             ///< median distance of two rows of a host
  std::vector<std::string> notes;  ///< hosts with gaps: places where more than two rows are missing
};

/// Samples by host.
using SamplesOfHosts = std::map<std::string, std::vector<core::PowerSample>>;

/// The rows of a wattmeter, by host ("" if the file has no column `host`), in order of time, with the domain host and
/// the sensor `wattmeter`. Columns: power_w, and time_s (Unix time) or time (ISO 8601 with Z or an offset such as
/// +01:00). Rows of one moment count by their mean.
/// @throws ParseError with the line for a time without zone, times that go back, watts that are negative, not a number
/// or 0, fewer than two rows of a host.
SamplesOfHosts read_wattmeter(std::istream& in, const std::string& name, WattmeterDoubts& doubts);

/// Unix time in s of "2026-11-22T16:03:05.25+01:00", also with a blank for the T.
/// @throws core::DomainError for anything else, also for a time without zone.
double parse_iso_time(const std::string& text);

/// By how much a meter's clock is ahead of ours.
struct ClockOffset {
  double offset_s = 0;   ///< to be taken from the meter's times
  double error_s = 0;    ///< half the width of what fits as well
  double explained = 0;  ///< share of the meter's variance that the pieces then explain, times that of pieces with rows
  double second_best = 0;  ///< the same of the best offset elsewhere
};

/// Estimates the offset by correlating the meter with the known begins and ends of the pieces: of all offsets up to
/// `most_s` the one at which pieces of the same kind (state, active cores, frequency) agree best: least squares within
/// kinds. `meter` and `pieces`: by host; all hosts have one meter's clock.
/// @throws core::InputError if no offset explains the meter (less than 70 % of its variance), if the best is at the end
/// of what is looked at, or if two explain it alike: pieces not those of this file, or all alike.
ClockOffset estimate_offset(const SamplesOfHosts& meter, const std::vector<PieceRun>& pieces, double most_s);

/// The meter's rows as samples of the pieces: times less the offset, what is set aside longer by a period of the meter
/// and the offset's error.
/// @throws core::InputError if the file has a host that has no pieces, or no row within any.
std::vector<core::PowerSample> place_wattmeter(const SamplesOfHosts& meter, const std::vector<PieceRun>& pieces,
                                               const SetAside& aside, const ClockOffset& clock, double period_s);

}  // namespace hplcast::calibration
