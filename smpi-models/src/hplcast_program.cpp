#include "hplcast/smpi_models/hplcast_program.h"

#include "c_boundary.hpp"
#include "real_blas.hpp"
#include "runtime.hpp"
#include "settings.hpp"
#include "shared_memory.hpp"
#include "simgrid_port/simgrid_port.hpp"

using hplcast::smpi_models::guarded;
using hplcast::smpi_models::Rank;
using hplcast::smpi_models::Runtime;
using hplcast::smpi_models::shared_memory;

namespace {

/// Clocks are read and memory is allocated before the simulation begins, too.
bool in_a_rank() {
  return simgrid::s4u::Actor::self() != nullptr;
}

}  // namespace

int hplcast_routine(const char* name, const char* base) {
  return guarded([&] { return Runtime::instance().program().routine(name, base); });
}

void hplcast_routine_call(int routine, double m, double n, double k, double flop, int executed) {
  guarded([&] {
    Runtime& runtime = Runtime::instance();
    runtime.program().call(Runtime::rank(), routine, {m, n, k}, flop, executed != 0);
  });
}

int hplcast_routine_has_model(int routine) {
  return guarded([&] { return Runtime::instance().program().has_model(routine) ? 1 : 0; });
}

int hplcast_lapack_begin(int routine, double m, double n, double k, double flop) {
  return guarded([&] {
    Runtime& runtime = Runtime::instance();
    return runtime.program().begin_composed(Runtime::rank(), routine, {m, n, k}, flop);
  });
}

void hplcast_lapack_end(void) {
  guarded([] { Runtime::instance().program().end_composed(Runtime::rank()); });
}

int hplcast_region_enter(const char* name, double m, double n, double k) {
  return guarded([&] { return Runtime::instance().program().enter(Runtime::rank(), name, {m, n, k}); });
}

void hplcast_region_leave(const char* name) {
  guarded([&] { Runtime::instance().program().leave(Runtime::rank(), name); });
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
    static const auto* const blas = new hplcast::smpi_models::RealBlas(hplcast::smpi_models::read_settings().real_blas);
    return blas->routine(name);
  });
}

void hplcast_stop(const char* message) {
  hplcast::smpi_models::end_simulation(message, hplcast::core::ExitCode::bad_input);
}

// What blocks is called outside of guarded().

void hplcast_before_mpi(const char* function) {
  if (!in_a_rank()) return;
  hplcast_enter_mpi(function);
  guarded([]() -> Rank& { return Runtime::rank(); }).clock.flush();
}

void hplcast_enter_mpi(const char* function) {
  if (!in_a_rank()) return;
  guarded([&] {
    Runtime& runtime = Runtime::instance();
    runtime.tell_progress();
    runtime.program().enter_mpi(Runtime::rank(), function);
  });
}

void hplcast_after_mpi(void) {
  if (!in_a_rank()) return;
  guarded([] { Runtime::instance().program().leave_mpi(Runtime::rank()); });
}

void* hplcast_share(size_t size) {
  return shared_memory().allocate(size);
}

size_t hplcast_shared_size(const void* memory) {
  return shared_memory().size_of(memory);
}

void hplcast_unshare(void* memory) {
  shared_memory().release(memory);
}

int hplcast_is_shared(const void* address) {
  return shared_memory().shares(address);
}
