#pragma once

#include <iosfwd>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/measurement.hpp"

namespace hplcast::core {

/// Measurements in the output of a benchmark of messages.
struct BenchmarkOutput {
  std::vector<MpiMeasurement> rows;  ///< `source` says that each is a mean over many calls
  std::vector<std::string> notes;    ///< of benchmarks in it that say nothing here
};

/// Reads what osu_latency and osu_bw (OSU microbenchmarks) and PingPong of the Intel MPI Benchmarks print, several
/// after each other, too; lines around them do not matter. Between ranks of `scope` (local, remote), which the outputs
/// do not tell.
///   osu_latency: rows of pingpong, of twice the latency that is printed; source "osu_latency VERSION";
///   IMB PingPong: the same, of twice t[usec]; source "IMB PingPong";
///   osu_bw: rows of stream: size / bandwidth, one pair with many messages on their way; source "osu_bw VERSION".
/// @throws ParseError if there is none of them, or a table of one is damaged or has other units.
BenchmarkOutput read_benchmark_output(std::istream& in, const std::string& name, const std::string& scope);

/// A line of progress that an HPL prints while it runs.
struct HplProgress {
  double column = 0;           ///< that it has reached
  double elapsed_s = 0;        ///< of the timed part: flop of the columns over the rate that is printed
  double elapsed_error_s = 0;  ///< standard deviation, by the digits of the rate
};

/// The header of HPL's output: what HPL says of its parameters before it runs.
struct HplHeader {
  void read(const std::string& line);                          ///< of the output, whatever it is
  std::map<std::string, std::vector<long long>> values;        ///< of each field; empty: not said
  std::string last;                                            ///< the field of the line before: its values may go on
  double threshold = std::numeric_limits<double>::infinity();  ///< of residuals that pass
};

/// The same as read_hpl_output(), below lines that were read before; `first_line`: number of the first, for messages.
std::vector<HplRun> read_hpl_output_below(HplHeader header, std::istream& in, const std::string& name,
                                          const HplParameters& defaults, std::size_t first_line);

/// One run in the output of HPL, as far as it was read.
struct HplLog {
  HplParameters parameters;  ///< until there is a result: by the header, whose lists HPL runs through in its order
  bool has_grid = false;     ///< the header has P and Q
  std::vector<HplProgress> progress;
  std::optional<HplRun> result;
  std::optional<double> started_unix_s;  ///< HPL's start time, taken as UTC: HPL prints local time without its zone
};

/// Reads the output of HPL line by line, maybe as it grows: of Netlib's (progress with -DHPL_PROGRESS_REPORT:
/// `Column=000001234 Fraction= 1.2% Gflops=1.234e+03`), HPC Challenge, Intel (`HOST : Column=001344 Fraction=0.010
/// Kernel=1044688.99 Mflops=1227854.68`), AMD's rocHPL (`Overall Gflops=`) and NVIDIA's (`N_left= 129680 ... GF=
/// 33344.95`). Printed rates are of the flop before the column, 2/3 (N^3 - (N - column)^3), over the time since the
/// begin. Other lines do not matter.
class HplLogReader {
 public:
  /// `N`: of the run, where the header was cut away or has several; 0: by the header.
  explicit HplLogReader(std::string name, long long N = 0) : name_(std::move(name)), given_N_(N) {}

  enum class Found { nothing, progress, result, residual, end };
  /// Takes the next line. Progress behind a result, or a header, is that of another run.
  /// @throws ParseError for progress without a known N, columns that go back, lines that cannot be read.
  Found take(std::string line);
  const HplLog& run() const { return run_; }  ///< the current one

 private:
  Found take_progress(const std::string& line);

  std::string name_;
  long long given_N_;
  std::size_t line_ = 0;
  HplHeader header_;
  std::string result_;     ///< lines from the result on
  std::size_t ended_ = 0;  ///< runs since the header
  HplLog run_;
};

/// Whether a line is one of progress.
bool has_hpl_progress(const std::string& line);

/// All runs of an output, also those that did not end. @throws ParseError, also for an output without a run.
std::vector<HplLog> read_hpl_logs(std::istream& in, const std::string& name);

/// A value of a performance variable of a test, as ReFrame has logged it.
struct PerflogRow {
  double time_s = 0;  ///< when the job ended; Unix
  std::string system, partition, environment, test, jobid, variable, unit;
  std::string result;  ///< pass or fail; empty: not logged
  double value = 0;
  std::optional<double> reference, lower, upper;  ///< limits relative to the reference: -0.05
};

/// A performance log of ReFrame: version 3 (TIME|reframe VERSION|TEST on SYSTEM:PARTITION using ENVIRONMENT|jobid=N|
/// NAME=VALUE|UNIT|ref=R (l=L, u=U)|...), version 4 (a header with NAME_value, NAME_unit ...; values that are missing
/// are left out). @throws ParseError, also for a log without a value.
std::vector<PerflogRow> read_perflog(std::istream& in, const std::string& name);

/// A run of HPL in an experiment of Ramble (Benchpark). Times and rates are 0 where they are missing.
struct RambleRun {
  std::string experiment, status;  ///< status: SUCCESS, FAILED ...
  long long N = 0;
  int NB = 0, P = 0, Q = 0;
  double time_s = 0, gflops = 0;
};

/// The output of `ramble workspace analyze --formats json`: the runs of its application hpl, in contexts that are
/// called "N-NB-P-Q = 3000-128-1-2". @throws ParseError, also for results without a run.
std::vector<RambleRun> read_ramble(std::istream& in, const std::string& name);

/// A job or step whose energy Slurm has counted.
struct SlurmEnergy {
  std::string job, name, nodes, state;
  double elapsed_s = 0, energy_j = 0;
};

/// The output of `sacct --parsable2` with the columns JobID, Elapsed, ConsumedEnergyRaw (or ConsumedEnergy with K, M,
/// G, T) and, if they are there, JobName, NNodes, State. Rows without energy are left out. @throws ParseError, also if
/// no row has energy.
std::vector<SlurmEnergy> read_sacct(std::istream& in, const std::string& name);

// Readers of published coefficients (T. Cornebize's models of dahu and files made like them); docs/use/assemble.md has
// the columns and fields. Their meaning is kept: expectation and standard deviation of a half-normal duration.

/// The dgemm of every CPU of `hosts`, from a CSV with columns model_id, node, cpu, cpu_id, mu_* and sigma_* (suffixes
/// intercept, mnk, mn, mk, nk; seconds). Lines of other models are ignored. `node` is the number that ends the host's
/// name before its first dot (dahu-7.site: 7). A CPU without a line of its own has the law of the line with cpu_id -1,
/// which is also that of the cluster; without such a line the cluster's law is the mean of the CPUs'.
/// @throws ParseError for a model that is not in the file, a CPU twice, or values that are no numbers; DomainError for
/// a host without a number or a CPU for which there is no line at all.
KernelModel read_dgemm_table(std::istream& in, const std::string& name, const std::string& model_id,
                             const Hosts& hosts);

/// Which column of a table of kernels holds: `full` scatters as measured, `simple` takes its expected time and leaves
/// out the kernels that only move memory.
enum class KernelSet { full, simple };

/// The kernels of a CSV with columns kernel, duration (`size*coef`, `coef`, or `0`), size (the product that
/// stands for the size: `M*N`), mu, sigma, full_model and simple_model (`stochastic`, `mu only`, or `0`: costs
/// nothing). Kernels that cost nothing are left out. @throws ParseError for unknown kernels, forms and products.
std::map<std::string, KernelModel> read_kernel_table(std::istream& in, const std::string& name, KernelSet set);

/// The network `network_id` of a JSON list of SMPI calibrations: os, ois, or, bw_factor, lat_factor (and
/// loopback_bw_factor, loopback_lat_factor where local messages have their own), thresholds and the links they refer
/// to. A segment of SMPI holds for sizes strictly above its min_size. The link between hosts has its bandwidth as
/// capacity; a published loopback does not share.
/// @throws ParseError that names the networks there are.
NetworkModel read_network_table(std::istream& in, const std::string& name, const std::string& network_id);

/// `network` with the costs of send, isend and recv replaced, in both scopes, by the mixtures of a JSON object with
/// `operations` {os, ois, or: [{min_size, slope_s_per_byte, intercept_modes: [{mean_s, sd_s, probability}]}]}. Segments
/// hold from min_size on; from the max_size of the last one on, the costs stay what they were. A field
/// `transfer_latency_at_and_above_BYTES_bytes` has the modes of the latency of longer messages between hosts.
/// @throws ParseError
NetworkModel with_mixtures(const NetworkModel& network, std::istream& in, const std::string& name);

/// Published watts of a machine (docs/use/power-measuring.md): a CSV with the columns node, cores, pstate (from 0),
/// watt_idle, watt_one_core (ONE core, fully busy) and watt_all_cores, and maybe application, of which one is taken.
/// They become samples of the sensor `published`: of each node and state idle, one core and all cores, in the state
/// `default`. The name of a host is its node.
struct PublishedWatts {
  std::string application;        ///< empty: the table must have one only, or no such column
  std::vector<double> states_hz;  ///< frequency of each pstate, from 0
};
/// @throws ParseError for an application that is not there (it lists them), a pstate without a frequency, watts that
/// fall with the load.
std::vector<PowerSample> read_watt_per_state(std::istream& in, const std::string& name, const PublishedWatts& which);

/// Samples of hplcast-measure-power, or such a table, with the frequencies of its pstates as "2.3GHz": its header
/// tells.
/// @throws ParseError, also for an empty file.
std::vector<PowerSample> read_power_samples(std::istream& in, const std::string& name, const std::string& application,
                                            const std::vector<std::string>& pstates);

}  // namespace hplcast::core
