#include "hplcast/smpi_models/hplcast_program.h"

#include <dlfcn.h>
#include <string>

#include "hplcast/core/errors.hpp"
#include "smpi-models/program/program.hpp"
#include "smpi-models/program/shared_memory.hpp"
#include "smpi-models/session/c_boundary.hpp"
#include "smpi-models/session/runtime.hpp"
#include "smpi-models/session/session.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

using hplcast::smpi_models::guarded;
using hplcast::smpi_models::Runtime;
using hplcast::smpi_models::shared_memory;

namespace core = hplcast::core;

// Blocking calls stay outside of guarded(): an actor that is killed must be unwound by SimGrid's own exception.

namespace {

/// A shared library of BLAS for --numerics run, which all ranks call: BLAS keeps nothing between its calls.
class RealBlas {
 public:
  /// Empty: OpenBLAS, or else the BLAS of the system. @throws core::Error if there is none.
  explicit RealBlas(const std::string& path) {
    for (const char* const name : {"libopenblas.so.0", "libblas.so.3"}) {
      path_ = path.empty() ? name : path;
      // Its own functions are its own: the program has some of the same names.
      library_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
      if (library_ != nullptr) return;
      if (!path.empty()) break;
    }
    throw core::InputError(
        "--numerics run needs a shared library of BLAS; expected " +
        (path.empty() ? std::string("libopenblas.so.0 or libblas.so.3 where the loader finds it") : path) + ": " +
        ::dlerror());
  }

  /// @throws core::Error for a name that it does not have.
  void* routine(const char* name) const {
    if (void* const found = ::dlsym(library_, name)) return found;
    throw core::InputError(path_ + " has no " + name +
                           ", which --numerics run needs; expected another library (HPLCAST_REAL_BLAS)");
  }

 private:
  std::string path_;
  void* library_ = nullptr;
};

/// Clocks are read and memory is allocated before the simulation begins, too.
bool in_a_rank() {
  return hplcast::smpi_models::port::running.its_rank != nullptr || simgrid::s4u::Actor::self() != nullptr;
}

}  // namespace

int hplcast_routine(const char* name, const char* base) {
  return guarded([&] { return Runtime::instance().program().routine(name, base); });
}

void hplcast_routine_call(int routine, double m, double n, double k, double flop, int executed) {
  guarded([&] { Runtime::instance().program().call(Runtime::rank(), routine, {m, n, k}, flop, executed != 0); });
}

int hplcast_routine_has_model(int routine) {
  return guarded([&] { return Runtime::instance().program().has_model(routine) ? 1 : 0; });
}

int hplcast_lapack_begin(int routine, double m, double n, double k, double flop) {
  return guarded([&] {
    return Runtime::instance().program().begin_composed(Runtime::rank(), routine, {m, n, k}, flop);
  });
}

void hplcast_lapack_end(void) {
  guarded([] { Runtime::instance().program().end_composed(Runtime::rank()); });
}

int hplcast_region_begins(const char* name, double m, double n, double k) {
  return guarded([&] { return Runtime::instance().program().enter(Runtime::rank(), name, {m, n, k}); });
}

void hplcast_region_ends(const char* name) {
  guarded([&] { Runtime::instance().program().leave(Runtime::rank(), name); });
}

long hplcast_panel(long panel, long panels, long round) {
  return guarded([&] {
    hplcast::smpi_models::Rank& rank = Runtime::rank();
    const auto [go, wait_s] =
        Runtime::instance().program().panels().come(rank.number, panel, panels, round, rank.clock.now_s());
    if (wait_s > 0) rank.clock.spend(wait_s);
    return go;
  });
}

int hplcast_numerics(void) {
  return guarded([] { return Runtime::instance().program().has_numerics() ? 1 : 0; });
}

void hplcast_numerics_begin(void) {
  guarded([] { Runtime::instance().program().pause(Runtime::rank()); });
}

void hplcast_numerics_end(void) {
  guarded([] { Runtime::instance().program().resume(Runtime::rank()); });
}

void* hplcast_real_routine(const char* name) {
  return guarded([&] {
    static const auto* const blas =
        new RealBlas(hplcast::smpi_models::session().settings().program.value_or(core::ProgramSettings()).real_blas);
    return blas->routine(name);
  });
}

void hplcast_stop(const char* message) {
  hplcast::smpi_models::end_simulation(message);
}

void hplcast_comes_to(const char* function, hplcast_frame from, const uint64_t* instructions) {
  if (!in_a_rank()) return;
  guarded([&] { Runtime::instance().program().comes_to(Runtime::rank(), function, from, instructions); });
}

void hplcast_before_mpi(const char* function) {
  if (!in_a_rank()) return;
  hplcast_enter_mpi(function);
  Runtime::rank().clock.flush();
}

void hplcast_enter_mpi(const char* function) {
  if (!in_a_rank()) return;
  guarded([&] {
    Runtime::instance().tell_progress();
    Runtime::instance().program().enter_mpi(Runtime::rank(), function);
  });
}

void hplcast_after_mpi(void) {
  if (!in_a_rank()) return;
  guarded([] { Runtime::instance().program().leave_mpi(Runtime::rank()); });
}

// Our own code may call both, and before there is a session: where a program's operator new, which is the first one
// that the loader finds for this library, calls malloc. So what cannot be shared is told without asking.
void* hplcast_share(size_t size) {
  return size < hplcast::smpi_models::SharedMemory::least_shared_bytes ? nullptr : shared_memory().allocate(size);
}

size_t hplcast_shared_size(const void* memory) {
  const bool begins_a_page = reinterpret_cast<uintptr_t>(memory) % 4096 == 0;
  return begins_a_page ? shared_memory().size_of(memory) : 0;
}

void hplcast_unshare(void* memory) {
  shared_memory().release(memory);
}

int hplcast_is_shared(const void* address) {
  return shared_memory().shares(address);
}
