#pragma once

#include <string>
#include <vector>

#include "cli/support/command.hpp"
#include "hplcast/calibration/power_meter.hpp"

namespace hplcast::cli {

/// Adds --sensors: kinds of meters of power.
Option* add_sensor_option(Command& app, std::vector<std::string>& kinds);

/// The kinds by name; all if there are none. Each must be one of add_sensor_option().
std::vector<calibration::MeterKind> meter_kinds(const std::vector<std::string>& names);

/// Frequencies in Hz from "1.2GHz", "2300MHz"; "all" or "three" (the least, a middle one, the most) of those that can
/// be set below `root`. @throws core::UsageError for other texts and frequencies there twice, core::Error (bad_input)
/// if this host does not say which it can.
std::vector<double> frequencies_of(const std::vector<std::string>& texts, const std::string& root);

}  // namespace hplcast::cli
