#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/calibration/mpi_schedule.hpp"
#include "hplcast/calibration/world.hpp"
#include "hplcast/core/measurement.hpp"

namespace hplcast::calibration {

/// How MPI is measured.
struct MpiMeasureOptions {
  MpiPattern pattern = MpiPattern::pair;
  PeerChoice scope = PeerChoice::any;
  Background background = Background::none;
  int warm_up_calls = 100;               ///< ping-pongs of each pair that are not recorded
  double budget_s = 0;                   ///< stop after this long, whatever is left; 0: no limit
  double epoch_s = 0;                    ///< start_s counts from here, on the clock of now_s(); 0: from the start
  std::uint64_t seed = 1;                ///< of the messages' contents
  std::string scope_name;                ///< written instead of the scope found, if not empty
  std::function<void(double)> progress;  ///< share done, 0 to 1; on one rank; may be empty
};

/// A measured row of a design.
struct MpiRow {
  std::size_t order = 0;  ///< index in the design
  int peer_rank = 0;
  std::size_t pairs = 1;  ///< that exchanged messages at the same time
  core::MpiMeasurement measurement;
};

/// Measures a design, row by row, with each turn of the pattern, or with the number of pairs that the rows have: these
/// then begin one_way messages together, and their durations count from the same moment. Ranks without a part in a turn
/// are the background (with Background::none they sleep); the pair itself computes before a message and polls for it,
/// as the background says. Collective; returns the rows of which this rank had the clock.
/// @throws core::Error (bad_input) for a pattern without pairs, or too little memory.
std::vector<MpiRow> measure_mpi(const World& world, const MpiDesign& design, const MpiMeasureOptions& options);

/// The file of a measurement: the columns order, rank, peer_rank and pairs before those of core::mpi_csv_header.
void write_mpi_header(std::ostream& out);
void write_mpi_rows(std::ostream& out, int rank, const std::vector<MpiRow>& rows);

}  // namespace hplcast::calibration
