#pragma once

#include "cli/support/command.hpp"
#include "cli/support/progress.hpp"
#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/calibration/world.hpp"

namespace hplcast::cli {

/// Options of all measuring programs.
struct MeasuringOptions {
  bool takes_design = true;
  std::string design;
  std::string output;
  std::string machine;     ///< file for the description of the machines
  std::string monitoring;  ///< file for frequencies, temperatures, power
  double monitoring_period_s = 1;
  std::string position;  ///< file for the row that is being measured; empty: none
  bool describe = false;
  std::string describe_folder;  ///< folder for what is recorded of each host; empty: none
  std::string rows;             ///< "FIRST:END" of the design, END not included; empty: all
  double since_unix_s = 0;      ///< start_s counts from this time; 0: from the start of the program
  double time_limit_s = 0;      ///< 0: none
  bool check = false;           ///< look at options, design and ranks only
  bool allow_failures = false;  ///< results in which all calls failed are no error
  calibration::Binding binding;
  std::function<bool()> without_mpi;  ///< if there is one, it runs first; true: it did it all, MPI is not started
};

/// Adds those options; --design only if the program takes one.
void add_measuring_options(Command& app, MeasuringOptions& options);

/// Adds --scope: the peers of rank 0.
void add_scope_option(Command& app, calibration::PeerChoice& choice);

/// A rank that is ready to measure.
struct MeasuringRank {
  calibration::World world;
  calibration::Topology topology;
  calibration::CorePlace place;
  double epoch_s;  ///< what start_s counts from, on the clock of now_s() of this host
};

/// Shows which fraction of the rows [first, first + count) is done, and notes it in the file of --position: if this
/// process or another is killed, it tells in which row.
std::function<void(double)> progress_of_rows(Progress& bar, const char* what, std::size_t first, std::size_t count);

/// Ends the process after this time (0: never): MPI calls that wait for a lost partner never return. The launcher then
/// ends the other ranks.
void start_watchdog(const std::string& program, double time_limit_s);

/// A measurement: reads the design from a text (empty if it takes none), and returns on rank 0 the content of the
/// output file. With `check` it measures nothing, and throws what it would throw before it measures.
using Measure = std::function<std::string(const MeasuringRank& rank, const std::string& design_text)>;

/// main() of a measuring program: parses the options without MPI, so that --help needs no mpirun; starts MPI, binds the
/// rank, gives it the design that rank 0 has read, and writes the output of rank 0 whole or not at all. An error on any
/// rank is printed, and ends all ranks with its exit code; so does the time limit.
int run_measuring_program(Command& app, MeasuringOptions& options, int argc, char** argv, const Measure& measure);

}  // namespace hplcast::cli
