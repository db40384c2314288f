#include "injection.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <xbt/config.hpp>

#include <algorithm>

namespace hplcast::smpi_models {

namespace {

/// SimGrid computes the time to an event as date - now and adds that to now. The sum is the date again, exactly, while
/// date <= 2 now (Sterbenz 1974). A longer step can miss the date by a rounding error, which past this time exceeds the
/// precision of 1e-12 that we run with: SimGrid would then take the event for one of the past and never end it.
constexpr double longest_inexact_step_s = 4096;

double precision_s() {
  static const double precision = simgrid::config::get_value<double>("surf/precision");
  return precision;
}

}  // namespace

double inject(double duration_s) {
  // A sleep below the precision would be rounded up to it.
  while (duration_s >= precision_s()) {
    const double step = std::min(duration_s, std::max(longest_inexact_step_s, simgrid::s4u::Engine::get_clock()));
    simgrid::s4u::this_actor::sleep_for(step);
    duration_s -= step;
  }
  return duration_s;
}

}  // namespace hplcast::smpi_models
