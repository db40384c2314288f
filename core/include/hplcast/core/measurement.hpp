#pragma once

// Rows of measurements, and their CSV (docs/formats/measurements-csv.md).

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

struct ClusterModel;

/// One call of a kernel. A call that failed has `error` and no duration.
struct KernelMeasurement {
  std::string kernel;
  KernelShape shape;
  double duration_s = 0;
  double start_s = 0;  ///< since the start of the program
  std::string host;
  int cpu = 0;
  int core = 0;
  std::string content;  ///< of the matrices: random, constant, sequential, hpl ...
  std::string error;
  int busy_ranks = 0;          ///< of the same run on that host; 0: not known
  long leading_dimension = 0;  ///< of the matrix of HPL in doubles (core::leading_dimension()); 0: not known
};

/// One MPI call (or round trip for `pingpong`).
struct MpiMeasurement {
  std::string operation;  ///< send, isend, recv, pingpong, iprobe, test, wtime, send_unmatched, one_way ...
  std::string scope;      ///< local or remote
  double size_bytes = 0;
  double duration_s = 0;
  double start_s = 0;
  std::string host;
  std::string peer;
  std::string background;  ///< none, dgemm, iprobe, dgemm+iprobe
  std::string error;
  long pairs = 1;   ///< of ranks that exchanged messages at the same time (columns pairs and order: read, not written)
  long order = -1;  ///< of the row in its design, the same for all those pairs; -1: not known
  std::string source = {};  ///< empty: the row is one call; else the program whose mean over many calls it is (column
                            ///< source: read, and written by `hplcast import`)
};

/// Header lines of the two files, without newline.
extern const char* const kernel_csv_header;
extern const char* const mpi_csv_header;

void write_row(std::ostream& out, const KernelMeasurement& row);
void write_row(std::ostream& out, const MpiMeasurement& row);

/// The same with the column `source`.
extern const char* const imported_mpi_csv_header;
void write_imported_row(std::ostream& out, const MpiMeasurement& row);

/// Calls `each` for every row of a kernel CSV. Only `duration_s` and one of `m`, `n`, `k` are required; without a
/// column `kernel` it is `default_kernel`, `node` may stand for `host`.
/// @throws ParseError for a missing column, a duration that is not positive, sizes below 1.
void read_kernel_csv(std::istream& in, const std::string& name, const std::string& default_kernel,
                     const std::function<void(const KernelMeasurement&)>& each);

/// The same with the texts of any further columns (`jobid`, ...), in the order asked for.
/// @throws ParseError for a column that is not there, too.
void read_kernel_csv(std::istream& in, const std::string& name, const std::string& default_kernel,
                     const std::vector<std::string>& columns,
                     const std::function<void(const KernelMeasurement&, const std::vector<std::string>& texts)>& each);

/// Calls `each` for every row of an MPI CSV. Required: size_bytes and duration_s, or size_bytes, send_s and recv_s (a
/// ping-pong: gives two rows, `send` with send_s and `pingpong` with the sum). Without a column `operation` it is
/// `default_operation`. Columns `pairs`, `order` and `source` may be there.
void read_mpi_csv(std::istream& in, const std::string& name, const std::string& default_operation,
                  const std::function<void(const MpiMeasurement&)>& each);

/// A timed series of one collective operation, beside a source of detours or without one.
struct CollectiveRun {
  std::string operation;  ///< barrier, allreduce, alltoall
  double size_bytes = 0;  ///< of a message
  long count = 0;         ///< of calls
  long ranks = 0, hosts = 0;
  double level = 0;       ///< share of the time that the source was to take; 0: it did not run
  double duty = 0;        ///< what it took
  double period_s = 0;    ///< of the source
  bool warm_up = false;   ///< set aside
  double duration_s = 0;  ///< of the whole series
  double start_s = 0;
};

/// Header line, without newline.
extern const char* const collective_csv_header;
void write_row(std::ostream& out, const CollectiveRun& run);

/// Calls `each` for every row without an error. Required: level and duration_s; further columns may be there.
/// @throws ParseError for a missing column, a duration that is not positive, a level outside [0, 1).
void read_collective_csv(std::istream& in, const std::string& name,
                         const std::function<void(const CollectiveRun&)>& each);

// The control measurement: the same short dgemm on the core of every rank and the same message between two of them,
// again and again, which tell how fast the machine is at that moment (docs/models/control.md).

/// One rank in one control measurement; times per call are means.
struct ControlRow {
  int rank = 0;
  std::string host;
  int core = 0;
  double start_s = 0;       ///< since the start of the campaign
  std::string shape;        ///< m, n and k of the dgemm: "640x640x640"
  long calls = 0;           ///< at least 1
  double wall_s = 0;        ///< per call
  double cpu_s = 0;         ///< processor time per call: wall_s / cpu_s - 1 is the contention
  double sd_s = 0;          ///< standard deviation of the wall times of the calls
  double round_trip_s = 0;  ///< a message of 64 KiB and its answer; 0: another rank has it
};

/// All ranks, in their order.
using ControlRows = std::vector<ControlRow>;

extern const char* const control_csv_header;  ///< without newline
void write_row(std::ostream& out, const ControlRow& row);

/// The controls in a CSV, in its order: each begins with rank 0. @throws ParseError, also for several shapes.
std::vector<ControlRows> read_controls(std::istream& in, const std::string& name);

/// The speed of a machine as controls tell it. HPL waits for the slowest rank, so each control counts with that one.
struct Control {
  std::string shape;
  double wall_s = 0;                ///< median over the controls
  double low_s = 0, high_s = 0;     ///< the fastest and the slowest control
  double cpu_s = 0;                 ///< median of the processor time of that rank
  double round_trip_s = 0;          ///< median; 0: not measured
  long controls = 0;                ///< of the campaign that count; 0: not known, and neither are these:
  double scatter = 0, lasting = 0;  ///< standard deviations of ln(wall) from one to the next, and of what lasts
};

/// @throws DomainError without controls.
Control summarized(const std::vector<ControlRows>& controls);

/// `control` in the provenance of a cluster, if it is there. @throws ParseError if it is damaged.
std::optional<Control> control_of(const ClusterModel& cluster);

/// The fields in JSON, in provenances and predictions.
template <typename Fields>
void describe(Fields& fields, Control& control) {
  fields("shape", control.shape);
  fields("wall_s", control.wall_s);
  fields("low", control.low_s);
  fields("high", control.high_s);
  fields("cpu_s", control.cpu_s);
  fields("message_s", control.round_trip_s);
  fields.if_any("controls", control.controls);
  fields.if_any("scatter", control.scatter);
  fields.if_any("lasting", control.lasting);
  fields.check("wall_s", control.wall_s > 0, "a number above 0");
  fields.check("low", control.low_s > 0 && control.low_s <= control.wall_s, "a number above 0, at most wall_s");
  fields.check("high", control.high_s >= control.wall_s, "a number of at least wall_s");
  fields.check("scatter", control.scatter >= 0, "a number of at least 0");
  fields.check("lasting", control.lasting >= 0, "a number of at least 0");
}

// Samples of power sensors, and which of them add up to the power of a host.

/// Which part of a host a sensor sees.
enum class PowerDomain {
  host,      ///< the whole host: IPMI, Cray's node counters, ACPI's power meter, a wattmeter
  package,   ///< a CPU, without its memory
  dram,      ///< memory, which is not in a package
  part,      ///< of a package: its cores, its uncore; never added to it
  platform,  ///< RAPL's psys: packages and more, so nothing may be added to it; few machines wire it to the supply
  other      ///< a board's rail, a graphics card
};
HPLCAST_ENUM_NAMES(PowerDomain, "domain", "host", "package", "dram", "part", "platform", "other");

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
