#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/measurement.hpp"

namespace hplcast::core {

/// The parameters of one HPL run under HPL's own names and numbers (see HPL's TUNING file).
struct HplParameters {
  long long N = 1000;
  int NB = 128;
  int P = 1;
  int Q = 1;
  int PMAP = 0;   ///< 0 row-major, 1 column-major
  int PFACT = 1;  ///< 0 left, 1 Crout, 2 right
  int NBMIN = 4;
  int NDIV = 2;
  int RFACT = 1;  ///< 0 left, 1 Crout, 2 right
  int BCAST = 1;  ///< 0 1ring, 1 1ringM, 2 2ring, 3 2ringM, 4 blong, 5 blongM
  int DEPTH = 1;
  int SWAP = 1;  ///< 0 binary exchange, 1 spread-roll, 2 mix
  int swap_threshold = 64;
  int L1 = 0;  ///< 0 transposed, 1 not
  int U = 0;   ///< 0 transposed, 1 not
  int EQUIL = 1;
  int ALIGN = 8;  ///< in doubles

  /// @throws DomainError naming the parameter.
  void validate() const;
  friend bool operator==(const HplParameters& a, const HplParameters& b);
  friend bool operator<(const HplParameters& a, const HplParameters& b);
};

/// flop that HPL itself counts: 2/3 N^3 + 3/2 N^2.
constexpr double hpl_flop(double N) noexcept {
  return 2.0 / 3.0 * N * N * N + 3.0 / 2.0 * N * N;
}

/// Bytes of the matrix: 8 N^2.
constexpr double hpl_matrix_bytes(double N) noexcept {
  return 8 * N * N;
}

/// For real runs. @throws DomainError for N below 1, and for a matrix that does not fit `hosts` hosts with `free_bytes`
/// of memory each (0: not known).
void require_real_size(const HplParameters& run, int hosts, double free_bytes);

/// Rows (or columns) that process `index` of `count` has of a matrix that is dealt in blocks of `block` rows, starting
/// at process 0 (ScaLAPACK's numroc).
long local_rows(long rows, long block, int index, int count) noexcept;

/// The leading dimension of the matrix of a rank, in doubles: its rows, rounded up to a multiple of ALIGN, and that
/// once more where it would be a power of two (HPL_pdtest.c).
long leading_dimension(const HplParameters& parameters, int rank) noexcept;

/// The greatest power of two, in bytes, that columns of this leading dimension are a multiple of apart. From
/// aliased_bytes on their lines have a few sets of the caches for themselves (ClusterModel::aliased).
constexpr long columns_apart_bytes(long leading_dimension) noexcept {
  const long bytes = leading_dimension * static_cast<long>(sizeof(double));
  return bytes & -bytes;
}
inline constexpr long aliased_bytes = 4096;

/// The leading dimension, among those of all process rows, with the greatest columns_apart_bytes().
long most_aliased_dimension(const HplParameters& parameters) noexcept;

/// A field of HplParameters: for CSV headers, HPL.dat, JSON and matching.
struct HplField {
  const char* name;
  long long (*get)(const HplParameters&);
  void (*set)(HplParameters&, long long);
  long long least;                          ///< that HPL takes
  std::vector<std::string> names = {};      ///< of the values 0, 1, 2 ..., all there are; none: any number
  std::vector<std::string> in_output = {};  ///< the same in HPL's output

  /// The largest value that HPL takes.
  long long most() const { return names.empty() ? 2147483647 : static_cast<long long>(names.size()) - 1; }
};
/// All of them, in order.
const std::vector<HplField>& hpl_fields();
/// The one of that name, or null.
const HplField* find_hpl_field(const std::string& name);

/// Value of a field written as a number, or as one of its names.
std::optional<long long> hpl_value(const std::string& field, std::string_view text);

/// "0 left, 1 crout, 2 right": the values of a field that has names, else empty.
std::string hpl_value_names(const std::string& field);

/// Values accepted by hpl_value(), for messages: "an integer below 2^31, or a name (0 left, 1 crout, 2 right)".
std::string hpl_value_expected(const std::string& field);

/// The parameters in the current row of a CSV: columns have the names of hpl_fields() (also `equilibration` and
/// `alignment`), values are numbers or names, absent columns keep `defaults`. @throws ParseError
HplParameters read_hpl_fields(const CsvReader& csv, const HplParameters& defaults);

/// The same configuration for HPL: the threshold of SWAP, which only the mix uses, is the default with others.
HplParameters without_unused(HplParameters parameters);

/// One for all configurations that do the same in the panels before `panel`: the mix exchanges rows by spread-roll as
/// long as every process has more columns than its threshold behind those that it looks ahead (HPL_pdupdate).
HplParameters same_until(int panel, HplParameters parameters);

/// "N=5000 NB=128 P=2 Q=1 ..." of all fields.
std::string to_string(const HplParameters& parameters);

/// An HPL.dat with this one configuration. `check`: HPL generates, checks the residual (threshold 16); else both are
/// skipped.
void write_hpl_dat(std::ostream& out, const HplParameters& parameters, bool check);

/// Every configuration of an HPL.dat, in the order in which HPL runs them, read as HPL reads it (HPL_pdinfo.c, alike in
/// HPL 2.0 to 2.3): by position, `1e5` as 1, a missing line as the one before. `warnings`, if given, gets a line for
/// every value that is not the one that people would read there, and for each that HPL replaces.
/// @throws ParseError with line and field for a file that HPL refuses, or of which it would read memory that holds
/// nothing of the file; for more than hpl_dat_most_configurations; DomainError for grids of 2^31 ranks and more.
std::vector<HplParameters> read_hpl_dat(std::istream& in, const std::string& name,
                                        std::vector<std::string>* warnings = nullptr);
inline constexpr std::size_t hpl_dat_most_configurations = 1000000;

/// One run as HPL reported it.
struct HplRun {
  HplParameters parameters;  ///< fields that are not said keep `defaults`
  double time_s = 0;
  double gflops = 0;
  bool residual_checked = false;
  bool residual_passed = false;
  std::vector<std::string> assumed;  ///< fields that nothing said: taken from the defaults
  double ended_unix_s = 0;           ///< when the timed part ended; 0: not known
  std::optional<double> energy_j;    ///< measured, of all hosts over the timed part
  std::optional<double> mean_power_w;
  std::optional<int> threads_per_rank;  ///< of the BLAS; nothing: not said
  std::string blas;                     ///< its name and version; empty: not said
  std::optional<Control> control;       ///< mean of the controls before and after the run, if there were any
  std::optional<double> kernels_s;      ///< in kernels over the timed part, mean over the ranks, where it was measured
};

/// Outcome of its check of the residual: passed, failed, unchecked.
const char* residual_text(const HplRun& run);

/// Runs in HPL's output (HPL 2.0 to 2.3, HPC Challenge, HPL-NVIDIA): the `W...` lines, with more digits and the end
/// from a line `hplcast: time_s=... gflops=... ended_unix_s=... kernels_s=...` behind it, where there is one (the last
/// two may be absent). SWAP and its threshold, L1, U, EQUIL and ALIGN, and what the code of the line leaves out, come
/// from the header above the line; where it was cut away, from `defaults`. A residual that is not below the threshold
/// of the header has failed, whatever word stands beside it. @throws ParseError for a W line that cannot be read, or
/// that does not belong to the header above it.
std::vector<HplRun> read_hpl_output(std::istream& in, const std::string& name, const HplParameters& defaults);

/// Whether a line of a text begins as results of HPL do: `WR11C2R4 ...`.
bool has_hpl_results(const std::string& text);

/// CSV `N,NB,...,time_s,gflops` (see read_hpl_fields), and `residual` (passed, failed, unchecked), `energy_j` and
/// `mean_power_w` (empty or above 0; one gives the other), `threads_per_rank`, `blas`, `kernels_s` (empty or above
/// 0), and `control_shape`, `control_before_s`, `control_after_s`, `control_cpu_s` (all or none) where they are there;
/// columns that are absent keep `defaults`, other columns are ignored; gflops may be absent.
/// @throws ParseError, also for predictions: a column model_sha256.
std::vector<HplRun> read_hpl_csv(std::istream& in, const std::string& name, const HplParameters& defaults);
/// A configuration without a run, as read_hpl_fields() reads it.
void write_hpl_csv(std::ostream& out, const HplParameters& parameters);

/// Columns of a file of configurations are parameters of HPL, or results of runs. @throws ParseError for others; in a
/// file of results (with time_s) only for columns that nearly are one of these.
void refuse_unknown_hpl_columns(const CsvReader& csv);

/// Whether a text is a CSV of configurations or runs: its first line (comments aside) has a field `N`. No HPL.dat and
/// no output of HPL begins like that.
bool is_configuration_csv(const std::string& text);

/// HPL configurations from an HPL.dat, from HPL's output (those of its runs, each once: read_hpl_output()), or from a
/// CSV with one configuration per row: column N is required, other columns have the names of hpl_fields(), absent ones
/// keep `defaults`, unknown ones are ignored. Told apart by is_configuration_csv() and by the results that an output
/// has. `warnings`, if given: those of read_hpl_dat().
/// @throws ParseError, also for a file without configurations.
std::vector<HplParameters> read_configurations(std::istream& in, const std::string& name,
                                               const HplParameters& defaults = {},
                                               std::vector<std::string>* warnings = nullptr);

/// Leaves each configuration once, where it comes first. Returns the others.
std::vector<HplParameters> take_repeated(std::vector<HplParameters>& configurations);

/// Runs of the real HPL from its own output or from a CSV (read_hpl_csv), told apart in the same way.
/// @throws ParseError, also for a file without runs.
std::vector<HplRun> read_real_runs(std::istream& in, const std::string& name, const HplParameters& defaults = {});

/// The fields in which configurations differ, in the order of hpl_fields(), but those named in `without`: what a table
/// of them has to show besides.
std::vector<const HplField*> varying_fields(const std::vector<HplParameters>& configurations,
                                            const std::vector<std::string>& without);

}  // namespace hplcast::core
