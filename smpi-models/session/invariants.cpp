#include "smpi-models/session/invariants.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "smpi-models/session/c_boundary.hpp"

namespace hplcast::smpi_models {

void end_for(const char* what, std::size_t number, const char* property, double excess) {
  std::ostringstream text;
  text << what << " " << number << ": " << property << " (" << excess << "): a bug of hplcast, please report it";
  end_simulation(text.str());
}

void check_states(const EnergyAccount& energy) {
  double time_s = 0;
  for (const StateMeter& meter : energy.meters()) time_s = std::max(time_s, meter.time_s());
  const double rounding_s = rounding_of_dates_s(time_s);
  std::uint32_t rank = 0;
  for (const StateMeter& meter : energy.meters()) {
    const double excess_s = meter.total_s() - time_s;
    require(std::abs(excess_s) <= rounding_s, rank, "the states of its core do not add up to the time", excess_s);
    for (const double state_s : meter.seconds())
      require(state_s >= -rounding_s, rank, "less than no time in a state", state_s);
    ++rank;
  }
}

void check_phases(const std::vector<NamedTimes>& phases, double end_s) {
  const double rounding_s = rounding_of_dates_s(end_s);
  for (const NamedTimes& phase : phases) {
    for (std::size_t rank = 0; rank < phase.ranks.size(); ++rank) {
      const PhaseTime& time = phase.ranks[rank];
      const double excess_s = time.kernels_s + time.messages_s + time.waiting_s + time.detours_s - time.elapsed_s;
      require(std::abs(excess_s) <= rounding_s, static_cast<std::uint32_t>(rank), phase.name.c_str(), excess_s);
    }
  }
}

}  // namespace hplcast::smpi_models
