#include "platform.hpp"

/// What SimGrid looks for in `smpirun -platform libhplcast-platform.so`.
extern "C" __attribute__((visibility("default"))) void load_platform(const simgrid::s4u::Engine& engine) {
  hplcast_build_platform(engine);
}
