#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/measurement.hpp"

namespace hplcast::calibration {

/// A stretch of time in which some cores of each host do one thing, and the others sleep.
struct PowerPiece {
  long number = 0;             ///< from 1, in order of time; 0: warm-up
  std::string state = "idle";  ///< of the active cores: a kernel, polling, blocked, messages; idle: there are none
  int active_cores = 0;        ///< of each host
  double frequency_hz = 0;     ///< that is set before; 0: left alone
  double duration_s = 0;
  int repetition = 1;
};

/// Which pieces are measured.
struct PowerDesignOptions {
  std::vector<std::string> states = {"dgemm", "dtrsm", "dger", "dlacpy", "polling", "blocked", "messages"};
  std::vector<int> counts;             ///< of active cores; empty: 1, a quarter, half, all
  std::vector<double> frequencies_hz;  ///< empty: left alone
  int repetitions = 3;
  double piece_s = 20;
  double warm_up_s = 30;  ///< dgemm on all cores, before everything
  std::uint64_t seed = 1;
};

/// States of active cores: idle has none.
const std::vector<std::string>& power_states();

/// The warm-up, then every state with every count at every frequency, and idle at every frequency, as often as there
/// are repetitions, each of them in a random order of its own: whatever drifts hits all alike. One core stays free of
/// `blocked` (somebody has to send), `messages` are of pairs: counts that cannot be become the nearest ones that can,
/// and states without any are left out. `cores`: ranks on each host.
/// @throws core::DomainError for unknown states or some twice, counts above the cores, fewer than 1 repetition, pieces
/// below 1 s.
std::vector<PowerPiece> make_power_design(const PowerDesignOptions& options, int cores);

/// CSV: piece, state, active_cores, frequency_hz, duration_s, repetition.
void write_design(std::ostream& out, const std::vector<PowerPiece>& design);

/// Sum of the durations, with a moment between pieces.
double estimated_s(const std::vector<PowerPiece>& design);

// --- when which piece ran on a host, and what samples of sensors and wattmeters belong to it ---

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

/// Time that is left out at the ends of each piece.
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
