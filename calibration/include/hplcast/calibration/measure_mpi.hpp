#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/calibration/world.hpp"
#include "hplcast/core/measurement.hpp"

namespace hplcast::calibration {

/// The partner of rank 0 and where it is.
struct MpiPeer {
  int rank = 1;
  std::string scope;  ///< local or remote
};

/// Which peers rank 0 measures with: the first rank of its own host, the first of another, or both (`any`: whatever
/// there is).
enum class PeerChoice { any, local, remote, both };

/// Chooses peers by host name. @throws core::Error (bad_input) if a peer that is asked for does not exist.
std::vector<MpiPeer> choose_peers(const std::vector<std::string>& hosts, PeerChoice choice);

/// How MPI is measured.
struct MpiMeasureOptions {
  double warm_up_s = 0.5;                ///< ping-pongs that are not recorded
  double budget_s = 0;                   ///< stop after this long, whatever is left; 0: no limit
  std::uint64_t seed = 1;                ///< of the messages' contents
  std::string scope_name;                ///< written instead of the scope found, if not empty
  std::function<void(double)> progress;  ///< share done, 0 to 1; on rank 0; may be empty
};

/// A measured row of a design.
struct MpiRow {
  std::size_t order = 0;
  core::MpiMeasurement measurement;
};

/// Measures a design from rank 0 with each peer in turn, row by row; other ranks sleep. Collective; returns the rows on
/// rank 0, none elsewhere. @throws core::Error (bad_input) for fewer than two ranks, or too little memory.
std::vector<MpiRow> measure_mpi(const World& world, const MpiDesign& design, const std::vector<MpiPeer>& peers,
                                const MpiMeasureOptions& options);

/// The file of a measurement: the column order before those of core::mpi_csv_header.
void write_mpi_header(std::ostream& out);
void write_mpi_rows(std::ostream& out, const std::vector<MpiRow>& rows);

}  // namespace hplcast::calibration
