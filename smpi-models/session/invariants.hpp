#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>

#include "smpi-models/session/c_boundary.hpp"

namespace hplcast::smpi_models {

/// Invariants of every simulation, whatever the program and the models; checked where the settings ask for it:
///  - a rank that spends time does not get younger, and no sleep takes it to before it fell asleep (RankClock);
///  - a rank never receives from its future, nor finds by a probe what is still to be sent (Messages, Probes);
///  - probes are computed in the order of their ends (ProbeSeries);
///  - rates are max-min fair after each sharing, and flows move their bytes, no more and no less (FairFlows);
///  - where the program has ended, every message was received, every receive and probe has returned, and no rank has
///    time left that the simulation did not see: none ends before its last message;
///  - with direct messages and in exact mode, where nothing is computed beside the simulation: kernels, calls and
///    waiting of each phase add up to the time of the phase;
///  - what a rank does in the timed part of HPL adds up to the time of that part.

/// Ends the simulation: "rank 3: it spends a negative time [s] (-1): a bug of hplcast". `what`: rank, link, flow.
[[noreturn]] inline void end_for(const char* what, std::size_t number, const char* property, double excess) {
  std::ostringstream text;
  text << what << " " << number << ": " << property << " (" << excess << "): a bug of hplcast, please report it";
  end_simulation(text.str());
}
/// Ends the simulation unless `holds`. `excess`: by how much it does not.
inline void require(bool holds, std::uint32_t rank, const char* property, double excess) {
  if (!holds) end_for("rank", rank, property, excess);
}

/// Rounding of sums of differences of dates until `date_s`: SimGrid resolves 1e-12 s, and a date rounds by 2^-53 of
/// itself, in thousands of calls.
constexpr double rounding_of_dates_s(double date_s) {
  return 1e-9 + 1e-12 * date_s;
}

}  // namespace hplcast::smpi_models
