#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

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

/// What active cores can be in: idle has none.
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

}  // namespace hplcast::calibration
