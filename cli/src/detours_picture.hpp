#pragma once

#include "hplcast/core/detour_trace.hpp"
#include "hplcast/fit/detour_sources.hpp"
#include "picture.hpp"

namespace hplcast::cli {

/// Events over time, what detours of each length cost, and the events folded with each period that was found.
Picture detours_picture(const core::DetourTrace& trace, const fit::DetourFit& fit);

}  // namespace hplcast::cli
