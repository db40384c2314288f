#pragma once

// The boundary between hplcast and a program that it simulates, two files of JSON: settings go in, a result comes out.
// Whoever starts a simulation writes the settings and names them in HPLCAST_SIMULATION (environment.h); the runtime in
// the program reads them once, and writes the result at the end.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/prediction.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

// --- settings --------------------------------------------------------------------------------------------------------

/// Neighbouring panels or ranks, from 0.
struct IndexRange {
  int first = 0;
  int last = 0;  ///< included; at least first
  bool contains(int index) const { return index >= first && index <= last; }
};

/// "3-17". @throws DomainError naming `what` it is of
IndexRange index_range_from(const std::string& what, const std::string& text);

/// Which exchanges of a panel fast mode simulates: the first `run` of every `panels`-th part, in rotation, and of all
/// parts of the first `panels` panels. Never all of a part: what is noted behind them has all ranks meet.
struct SampledExchanges {
  int run = 4;      ///< 1 to period - 1
  int period = 32;  ///< exchanges per part; panels wider than 8 periods have 8 longer parts
  static constexpr int most_parts = 8;
  int panels = 4;

  int part_length(int panel_columns) const { return std::max(period, (panel_columns + most_parts - 1) / most_parts); }
  /// Part of the panel that exchange `index` is in.
  int part(int index, int panel_columns) const { return index / part_length(panel_columns); }
  /// Sampled exchanges of a part, if there are any.
  int run_length(int part, int panel_columns) const {
    return std::min(run, panel_columns - part * part_length(panel_columns) - 1);
  }
  /// `panel`: its number, from 0.
  bool is_sampled(int panel, int panel_columns, int index) const {
    const int its_part = part(index, panel_columns);
    if (index % part_length(panel_columns) >= run_length(its_part, panel_columns)) return false;
    return panel < panels || (panel - its_part) % panels == 0;
  }
};

/// How a simulation goes about its work: switches of tests and experiments, which compare its ways with each other.
struct SimulationDiagnosis {
  bool direct_messages = true;  ///< false: every message takes SMPI's way
  bool own_flows = true;        ///< who moves direct messages of HPL; those of other programs: SimGrid
  bool poll_by_waiting = true;  ///< false: every probe of a polling loop is simulated
  bool load = false;            ///< kernels load the simulated hosts
  SampledExchanges sampled_exchanges;
};

/// How code of a program that is neither BLAS nor MPI nor a region is simulated: it takes no time, a share of the time
/// in routines as observed, its CPU time here, or the time of what it executes between two calls of MPI.
enum class RestMode { zero, model, bench, counted };
HPLCAST_ENUM_NAMES(RestMode, "rest", "zero", "model", "bench", "counted");

/// A program other than HPL, all of whose run is timed.
struct ProgramSettings {
  RestMode rest = RestMode::zero;
  bool numerics = false;              ///< routines are executed, too
  std::string real_blas;              ///< path, or name, of the library that executes them; empty: the system's
  std::size_t share_above_bytes = 0;  ///< larger allocations share their memory; 0: none
  std::string counts;                 ///< path of the CSV of what each rank executes between calls of MPI; empty: none
  std::string windows;                ///< WindowRule, for panels that it marks; empty: all are simulated
};

/// Power over time that a run keeps.
struct EnergySettings {
  double bin_s = 0;    ///< of the power over time; 0: not kept
  bool hosts = false;  ///< of every host
};

/// Observations kept beside the result. Empty paths: nothing.
struct ObservationSettings {
  std::string trace;                      ///< Chrome's JSON
  std::optional<IndexRange> trace_ranks;  ///< only these are in it
  double trace_begin_s = 0;               ///< only events that end then or later
  double trace_end_s = 0;                 ///< ... and begin before; 0: no limit
  bool phases = false;                    ///< times of each phase of each rank in the result
  std::string progress;                   ///< see SimulationProgress
  bool checks = false;  ///< at its end the simulation checks what holds in each (smpi-models/session/invariants.hpp)
};

/// The simulation and its options: docs/formats/simulation-settings.md.
struct SimulationSettings {
  static constexpr int schema_version = 1;
  std::string cluster;                     ///< path of cluster.json; empty: the registered model.h, if any
  std::string result;                      ///< path of the result; empty: none is written
  std::uint64_t seed = 1;                  ///< of all random streams
  bool noise = true;                       ///< false: every kernel takes its expected time
  bool network_noise = true;               ///< false: every message takes its expected time
  bool detours = true;                     ///< false: the cluster's detours never come
  bool fast = false;                       ///< meetings in place of the exchanges of a panel factorisation
  int fast_panels = 0;                     ///< in exact mode: as many panels of the window are factored as in fast mode
  std::optional<IndexRange> window;        ///< the panels that HPL factors; nothing: all
  bool out_of_step = false;                ///< process columns are held up as the window begins, if HPL looks ahead
  std::optional<ProgramSettings> program;  ///< nothing: HPL
  std::optional<EnergySettings> energy;    ///< nothing: not counted
  ObservationSettings observation;
  SimulationDiagnosis diagnosis;
};

/// JSON. Fields absent when read have their defaults.
void write_simulation_settings(std::ostream& out, SimulationSettings settings);
/// @throws ParseError (JSON pointer as field) for other schema versions, unknown fields and values of the wrong kind or
/// range.
SimulationSettings read_simulation_settings(std::istream& in, const std::string& name);
/// Reads a file; relative paths in it are below its folder, and come out absolute. @throws likewise; Error if the
/// file cannot be read.
SimulationSettings read_simulation_settings(const std::filesystem::path& path);

// --- progress --------------------------------------------------------------------------------------------------------

/// How far a simulation is.
struct SimulationProgress {
  double fraction = 0;     ///< of its work, 0 to 1
  double simulated_s = 0;  ///< simulated time
  double messages = 0;     ///< of a program other than HPL, whose fraction is not known
};

/// One line, always of the same length: written over the old one, no reader sees half of it.
std::string progress_line(const SimulationProgress& progress);
/// Nothing if there is no such file, or nothing in it yet.
std::optional<SimulationProgress> read_progress(const std::filesystem::path& path);

// --- the result ------------------------------------------------------------------------------------------------------

/// The times of every rank in one phase of HPL, or part of a program, in seconds (docs/use/traces.md).
struct RankPhases {
  std::string name;
  std::vector<double> elapsed_s, kernels_s, messages_s, waiting_s;
  std::vector<double> detours_s = {};  ///< empty: there were none
};

/// A rank that was in an MPI call when nothing went on any more. A source or destination of -1 is not known.
struct BlockedRank {
  int rank = 0;
  std::string operation;
  int source = -1, destination = -1, tag = 0;
  double since_s = 0;
  std::string phase;  ///< empty: none
};

/// Counts that all ranks made before each mark of panels: by names as in "kernels/dgemm/calls".
using CountsAtPanels = std::map<std::string, std::vector<double>>;

/// When the ranks of HPL began each panel that was factored.
struct SimulatedPanels {
  int first = 0;  ///< panel of the window
  /// Simulated times, means over the ranks: of the begin of the factorisation, of each panel, and of the end.
  std::vector<double> marks_s;
  CountsAtPanels counts;  ///< of a window, at the same moments
};

/// The energy that the runtime counted.
struct SimulatedEnergy {
  Energy energy;     ///< its parts and their sum; states as sums over the ranks
  PowerTrace trace;  ///< without bins if not asked for
};

/// Calls of a routine or region, summed over ranks.
struct RoutineUse {
  double calls = 0;
  double outside_range = 0;  ///< calls of sizes that were not observed
  double time_s = 0;         ///< simulated
  double flop = 0;
  bool has_model = false;
};

/// Work of accelerators in a simulation, summed over ranks.
struct AcceleratorCounts {
  std::map<std::string, RoutineUse> kernels;  ///< times are those of the accelerators
  double bytes_to_device = 0, bytes_from_device = 0, bytes_within_device = 0;
  double copies_s = 0;
  double peak_bytes = 0;    ///< of memory of one accelerator
  int used = 0, idle = 0;   ///< accelerators with a rank that called them, and the others of the same hosts
  double overlapped_s = 0;  ///< in which kernels of several streams ran on one accelerator, as if each were alone
  std::string kind;         ///< of hosts, where these are of one
  std::vector<AcceleratorCounts> kinds;  ///< where hosts have different accelerators: those of each kind
  /// In which an accelerator worked, summed over them.
  double busy_s() const;
};

/// The panels of a program that marks them (hplcast_panel()), where windows of them were simulated.
struct MarkedPanels {
  int panels = 0, round = 1;    ///< as for WindowPlan::of_program()
  std::vector<double> marks_s;  ///< when ranks came to each that was simulated, mean over them
};

/// Counts of an observed program in a simulation (docs/use/any-program.md).
struct ProgramCounts {
  std::map<std::string, RoutineUse> routines;
  std::map<std::string, RoutineUse> regions;
  double rest_s = 0;     ///< simulated time of code that is neither routine nor region, of all ranks
  double untimed_s = 0;  ///< CPU time of this machine between reads of a clock that show the same simulated time
  double untimed_intervals = 0;  ///< how often
  double messages = 0;           ///< those of collectives among them; 0 without the platform library
  double message_bytes = 0;
  std::vector<int> unfinished;                    ///< ranks that have not come to MPI_Finalize
  std::optional<AcceleratorCounts> accelerators;  ///< if the program called any
  std::optional<MarkedPanels> marked;             ///< if windows were asked for
};

/// Result of one simulation: docs/internals/smpi-runtime.md.
struct SimulationResult {
  static constexpr int schema_version = 2;
  std::string cluster;         ///< name; empty without a model
  std::string model_sha256;    ///< empty without a model
  std::string model_source;    ///< path of cluster.json, or "model.h"
  std::string simulator;       ///< name and version
  std::string mode = "exact";  ///< or "fast"
  double fast_error_95_s = 0;  ///< of fast mode, see Prediction
  std::uint64_t seed = 0;
  bool noise = true;
  int ranks = 0;
  bool deadlock = false;                         ///< the ranks waited for each other for ever
  double end_s = 0;                              ///< simulated time at the end
  std::vector<double> times_s;                   ///< exact simulated time of every HPL run
  std::map<std::string, KernelCount> kernels;    ///< those that were called
  std::map<std::string, MessageCount> messages;  ///< likewise
  std::optional<SimulatedPanels> panels;         ///< of HPL
  std::optional<ProgramCounts> program;          ///< of other programs
  std::vector<double> detours_s;                 ///< by rank; empty: there were none
  std::vector<RankPhases> phases;                ///< if asked for
  std::optional<SimulatedEnergy> energy;         ///< if asked for
  std::vector<BlockedRank> blocked;              ///< in a deadlock
};

void write_simulation_result(std::ostream& out, SimulationResult result);
/// @throws ParseError (JSON pointer as field) for other schema versions, missing and unknown fields and values of the
/// wrong kind.
SimulationResult read_simulation_result(std::istream& in, const std::string& name);

/// Marks an argument of a simulated program that smpirun and SimGrid are not to understand: both take what they know
/// (`--help`, `--cfg=...`, `--log=...`, `--`) from it, and smpirun has a shell take words apart.
inline constexpr const char* smpirun_word_mark = "hplcast-word=";

/// An argument as smpirun is given it: marked, with %XX in place of all that could mean something, if it needs that.
inline std::string smpirun_word(const std::string& argument) {
  const char* const plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,/:=+@-";  // in all places but the first
  const bool is_plain = !argument.empty() && argument.front() != '-' &&
                        argument.find_first_not_of(plain) == std::string::npos &&
                        argument.rfind(smpirun_word_mark, 0) != 0;
  if (is_plain) return argument;
  const char* const digits = "0123456789ABCDEF";
  std::string word = smpirun_word_mark;
  for (const char c : argument) {
    const auto byte = static_cast<unsigned char>(c);
    if (c != '\0' && std::strchr(plain, c) != nullptr) {
      word += c;
    } else {
      word += {'%', digits[byte / 16], digits[byte % 16]};
    }
  }
  return word;
}

/// The argument again, in its place. Words without the mark stay.
inline void restore_smpirun_word(char* word) {
  const std::size_t mark = std::strlen(smpirun_word_mark);
  if (std::strncmp(word, smpirun_word_mark, mark) != 0) return;
  const auto value = [](char digit) { return digit >= 'A' ? digit - 'A' + 10 : digit - '0'; };
  char* to = word;
  for (const char* from = word + mark; *from != '\0'; ++from) {
    const bool is_code = from[0] == '%' && from[1] != '\0' && from[2] != '\0';
    *to++ = is_code ? static_cast<char>(value(from[1]) * 16 + value(from[2])) : *from;
    if (is_code) from += 2;
  }
  *to = '\0';
}

}  // namespace hplcast::core
