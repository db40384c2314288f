#pragma once

#include "hplcast/fit/power_fit.hpp"
#include "picture.hpp"

namespace hplcast::cli {

/// Power over the active cores of each state, as measured and as fitted, and the residuals.
Picture power_picture(const fit::PowerFit& fit);

}  // namespace hplcast::cli
