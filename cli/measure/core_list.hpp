#pragma once

#include <string>
#include <vector>

#include "hplcast/calibration/machine.hpp"

namespace hplcast::cli {

/// Cores from "0-3,8" (as hplcast and hwloc number them, from 0), or "all". @throws core::UsageError for another text,
/// or a core that is there twice; core::Error (bad_input) for one that this machine does not have, or does not give us.
std::vector<calibration::CorePlace> parse_cores(const std::string& text,
                                                const std::vector<calibration::CorePlace>& cores);

}  // namespace hplcast::cli
