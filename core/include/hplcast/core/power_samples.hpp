#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "hplcast/core/text.hpp"

// Samples of power sensors, and which of them add up to the power of a host. docs/formats/measurements-csv.md has the
// CSV.
namespace hplcast::core {

/// Which part of a host a sensor sees.
enum class PowerDomain {
  host,      ///< the whole host: IPMI, Cray's node counters, ACPI's power meter, a wattmeter
  package,   ///< a CPU, without its memory
  dram,      ///< memory, which is not in a package
  part,      ///< of a package: its cores, its uncore; never added to it
  platform,  ///< RAPL's psys: packages and more, so nothing may be added to it; few machines wire it to the supply
  other      ///< a board's rail, a graphics card
};
template <>
inline constexpr EnumNames names_of<PowerDomain> = {"domain", {"host", "package", "dram", "part", "platform", "other"}};

/// One value of one sensor.
struct PowerSample {
  std::string host;
  std::string sensor;  ///< package-0, package-0 dram, dcmi, node, wattmeter ...
  PowerDomain domain = PowerDomain::other;
  double time_s = 0;     ///< Unix time; the end of what it covers
  double covered_s = 0;  ///< power_w is the mean over this time; 0: of the moment
  double power_w = 0;    ///< above 0
  long piece = 0;        ///< of the measurement, from 1, in order of time
  std::string state;     ///< that the active cores were in: a kernel, polling, blocked, messages; idle
  int active_cores = 0;
  int cores = 1;            ///< of the host
  double frequency_hz = 0;  ///< of the active cores, mean; 0: not known
  double limit_w = 0;       ///< that the hardware holds this sensor's domain to; 0: not known
  bool used = true;         ///< false: too near to the begin or end of its piece, or warm-up
};

/// Header line, without newline.
extern const char* const power_csv_header;
void write_row(std::ostream& out, const PowerSample& sample);

/// All rows. Required: host, sensor, domain, power_w, state, active_cores, cores, used; further columns may be there.
/// @throws ParseError for a missing column, watts that are not above 0, more active cores than cores, an idle host with
/// active cores.
std::vector<PowerSample> read_power_csv(std::istream& in, const std::string& name);

/// A sensor of a host, and how many samples it has.
struct SeenSensor {
  std::string name;
  PowerDomain domain = PowerDomain::other;
  std::size_t samples = 0;
};

/// The sensors of these samples, in the order of their names.
std::vector<SeenSensor> seen_sensors(const std::vector<PowerSample>& samples);

/// Which sensors add up to the power of a host: one that sees the whole host, if there is one (that with the most
/// samples); else all packages and memories. Empty: none of them says it.
std::vector<std::string> sensors_of_host(const std::vector<SeenSensor>& sensors);

/// Energy of a sensor between two moments.
struct MeasuredEnergy {
  double energy_j = 0;  ///< over the whole time: times without a sample are taken to have the mean of the others
  double covered = 0;   ///< share of the time with samples, 0 to 1
  std::size_t samples = 0;
};

/// From the samples of one sensor, in order of time: means hold for the time that they cover, values of moments are
/// joined by straight lines where they are not farther apart than three times the median distance.
/// Nothing covered: energy 0, covered 0.
MeasuredEnergy energy_between(const std::vector<PowerSample>& samples, double begin_s, double end_s);

}  // namespace hplcast::core
