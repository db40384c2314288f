#pragma once

#include <cstdint>

#include "smpi-models/clock/rank.hpp"
#include "smpi-models/observe/activity.hpp"
#include "smpi-models/observe/energy_meters.hpp"

namespace hplcast::smpi_models {

/// What holds in every simulation, whatever the program and the models; checked where the settings ask for it:
///  - a rank that spends time does not get younger, and no sleep takes it to before it fell asleep;
///  - where the program has ended, every message was received, every receive and probe has returned, and no rank has
///    time left that the simulation did not see: none ends before its last message;
///  - with direct messages and in exact mode, where nothing is computed beside the simulation: kernels, calls and
///    waiting of each phase add up to the time of the phase;
///  - what a rank does in the timed part of HPL adds up to the time of that part.

[[noreturn]] void end_for(std::uint32_t rank, const char* property, double excess);
/// Ends the simulation unless `holds`. `excess`: by how much it does not.
inline void require(bool holds, std::uint32_t rank, const char* property, double excess) {
  if (!holds) end_for(rank, property, excess);
}

/// At the end of a simulation that is no deadlock.
void check_end(const Rank& rank);
/// After its end().
void check_states(const EnergyAccount& energy);
/// @param end_s  of the simulation
void check_phases(const Activity::RankPhaseTimes& phases, double end_s);

}  // namespace hplcast::smpi_models
