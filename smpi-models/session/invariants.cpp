#include "smpi-models/session/invariants.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "smpi-models/session/c_boundary.hpp"

namespace hplcast::smpi_models {

void end_for(std::uint32_t rank, const char* property, double excess) {
  std::ostringstream text;
  text << "rank " << rank << ": " << property << " (" << excess << "): a bug of hplcast, please report it";
  end_simulation(text.str().c_str(), core::ExitCode::bad_input);
}

void check_end(const Rank& rank) {
  const Mail& mail = rank.mail;
  const auto count = static_cast<double>(mail.sent.size() + mail.posted.size() + mail.receiving.size());
  require(count == 0 && mail.probed == nullptr, rank.number, "it has ended before its last message", count);
  require(rank.clock.state() == RankClock::State::running, rank.number, "it has ended in its own past",
          rank.clock.ahead_s());
}

void check_states(const EnergyAccount& energy) {
  double time_s = 0;
  for (const StateMeter& meter : energy.meters()) time_s = std::max(time_s, meter.time_s());
  const double rounding_s = 1e-9 + 1e-12 * time_s;  // as below
  std::uint32_t rank = 0;
  for (const StateMeter& meter : energy.meters()) {
    const double excess_s = meter.total_s() - time_s;
    require(std::abs(excess_s) <= rounding_s, rank, "the states of its core do not add up to the time", excess_s);
    for (const double state_s : meter.seconds())
      require(state_s >= -rounding_s, rank, "less than no time in a state", state_s);
    ++rank;
  }
}

void check_phases(const Activity::RankPhaseTimes& phases, double end_s) {
  // Sums of differences of dates: SimGrid resolves 1e-12 s, and a date rounds by 2^-53 of itself, in thousands of
  // calls.
  const double rounding_s = 1e-9 + 1e-12 * end_s;
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    for (std::size_t rank = 0; rank < phases[phase].size(); ++rank) {
      const PhaseTime& time = phases[phase][rank];
      const double excess_s = time.kernels_s + time.messages_s + time.waiting_s + time.detours_s - time.elapsed_s;
      require(std::abs(excess_s) <= rounding_s, static_cast<std::uint32_t>(rank), phase_names[phase], excess_s);
    }
  }
}

}  // namespace hplcast::smpi_models
