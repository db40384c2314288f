#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/power_samples.hpp"

namespace hplcast::core {

/// Published watts of a machine (docs/use/power-measuring.md): a CSV with the columns node, cores, pstate (from 0),
/// watt_idle, watt_one_core (ONE core, fully busy) and watt_all_cores, and maybe application, of which one is taken.
/// They become samples of the sensor `published`: of each node and state idle, one core and all cores, in the state
/// `default`. The name of a host is its node.
struct PublishedWatts {
  std::string application;        ///< empty: the table must have one only, or no such column
  std::vector<double> states_hz;  ///< frequency of each pstate, from 0
};
/// @throws ParseError for an application that is not there (it lists them), a pstate without a frequency, watts that
/// fall with the load.
std::vector<PowerSample> read_watt_per_state(std::istream& in, const std::string& name, const PublishedWatts& which);

/// Whether a header (the first line of a CSV) is that of such a table.
bool is_watt_per_state(const std::string& header);

}  // namespace hplcast::core
