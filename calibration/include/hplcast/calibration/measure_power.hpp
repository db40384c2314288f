#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hplcast/calibration/power_design.hpp"
#include "hplcast/calibration/power_meter.hpp"
#include "hplcast/calibration/power_pieces.hpp"
#include "hplcast/calibration/world.hpp"

namespace hplcast::calibration {

struct PowerMeasureOptions {
  std::filesystem::path root = "/";  ///< sensors and frequencies are looked for below root/sys and root/dev
  std::vector<MeterKind> kinds = all_meters;
  bool needs_sensors = true;  ///< false: a wattmeter measures
  double period_s = 0.5;      ///< between two readings
  SetAside aside;
  std::uint64_t seed = 1;  ///< of the contents of matrices
  std::function<void(double fraction)> progress;
};

/// What was measured on this host; empty but on its first rank.
struct PowerMeasurement {
  std::vector<core::PowerSample> samples;  ///< of all sensors, one after the other
  std::vector<PieceRun> pieces;
  std::vector<std::string> sensors;  ///< that add up to the power of the host
  std::vector<LookedFor> looked_for;
  std::vector<std::string> troubles;  ///< with the names of the sensors
};

/// Looks for sensors and frequencies on all hosts. Collective. @throws as measure_power() before it measures.
void check_power_measurement(const World& world, const std::vector<PowerPiece>& design,
                             const PowerMeasureOptions& options);

/// Runs the pieces of a design on all ranks: of each host as many as a piece has active cores, spread over its CPUs,
/// while the others sleep, and one thread of the host reads the sensors. Collective.
/// @throws core::Error (bad_input) if the power of a host cannot be read (unless needs_sensors is false), or if a
/// frequency cannot be set.
PowerMeasurement measure_power(const World& world, const CorePlace& place, const std::vector<PowerPiece>& design,
                               const PowerMeasureOptions& options);

}  // namespace hplcast::calibration
