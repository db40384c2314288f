#pragma once

#include <iosfwd>
#include <string>

#include "hplcast/fit/power_fit.hpp"

namespace hplcast::cli {

/// The sensors that were added up, and tables of watts with their errors: all hosts, and each if there are several.
void print_power_fit(std::ostream& out, const fit::PowerFit& fit, const fit::PowerRows& rows);

/// The `report` beside a power model: numbers of the fit, and its flags. A JSON object.
std::string power_report_json(const fit::PowerFit& fit, const fit::PowerRows& rows);

}  // namespace hplcast::cli
