#include "injection.hpp"

#include <simgrid/s4u/Activity.hpp>

namespace hplcast::smpi_models {

double inject(double duration_s) {
  // SimGrid resolves no less where flows end (surf/precision).
  constexpr double shortest_s = 1e-12;
  if (duration_s < shortest_s) return duration_s;
  // A timer of SimGrid's kernel: a third of the work of sleep_for(), which makes an action of the CPU.
  simgrid::s4u::Activity::wait_any_for({}, duration_s);
  return 0;
}

}  // namespace hplcast::smpi_models
