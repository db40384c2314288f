#include "hplcast/core/simulation.hpp"
#include "smpi-models/platform/platform.hpp"

namespace {

char** arguments_of_process = nullptr;

/// glibc gives constructors of libraries, also of those that are opened later, what main() has.
__attribute__((constructor)) void remember_arguments(int, char** arguments, char**) {
  arguments_of_process = arguments;
}

}  // namespace

/// The function that SimGrid looks for in `smpirun -platform libhplcast-platform.so`.
extern "C" __attribute__((visibility("default"))) void load_platform(const simgrid::s4u::Engine& engine) {
  // It has taken its own options by now, and hands the rest to the ranks when the platform is there.
  for (char** word = arguments_of_process; word != nullptr && *word != nullptr; ++word)
    hplcast::core::restore_smpirun_word(*word);
  hplcast_build_platform(engine);
}
