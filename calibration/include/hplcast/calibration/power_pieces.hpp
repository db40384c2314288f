#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/calibration/power_design.hpp"
#include "hplcast/core/power_samples.hpp"

// When which piece ran on a host, and what samples of sensors and wattmeters belong to it.
namespace hplcast::calibration {

/// A piece as it ran on one host.
struct PieceRun {
  std::string host;
  PowerPiece piece;
  int cores = 1;                  ///< of the host
  double begin_s = 0, end_s = 0;  ///< Unix time
};

/// CSV: host, piece, state, active_cores, cores, frequency_hz, begin_s, end_s.
void write_pieces(std::ostream& out, const std::vector<PieceRun>& pieces);
/// @throws ParseError for a missing column, or a piece that ends before it begins, or before the one before it.
std::vector<PieceRun> read_pieces(std::istream& in, const std::string& name);

/// What is set aside at the ends of each piece.
struct SetAside {
  double begin_s = 3;  ///< the power supply's and the meter's memory of the piece before
  double end_s = 1;
};

/// Gives each sample (of one host, in order of time) its piece, its state and its cores. A sample whose time is not
/// within the piece, less what is set aside, is not `used`; nor is one of the warm-up. Samples before the first piece
/// and after the last one are left out.
/// `pieces`: of the same host, in order of time.
std::vector<core::PowerSample> place_samples(std::vector<core::PowerSample> samples,
                                             const std::vector<PieceRun>& pieces, const SetAside& aside);

}  // namespace hplcast::calibration
