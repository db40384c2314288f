#pragma once

namespace hplcast::smpi_models {

/// The calling actor spends `duration_s` > 0 seconds of simulated time. The one place that decides how a delay enters
/// the simulation: today an idle wait, exact to the rounding of the clock.
/// @return what is left because the simulator cannot resolve it (below 1e-12): the caller keeps it pending.
double inject(double duration_s);

}  // namespace hplcast::smpi_models
