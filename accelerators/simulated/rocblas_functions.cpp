// rocBLAS for a simulated rank: each routine is a kernel of its Device; where kernels are executed, CBLAS does its
// work.

#include <cstdio>
#include <string>

#include "accelerators/launch/rocblas.hpp"
#include "accelerators/simulated/device.hpp"
#include "hplcast/smpi_models/hplcast_program.h"
#include "hplcast/smpi_models/hplcast_smpi.h"

namespace hplcast::accelerators {

void begin_rocblas() {
  const InFunction here("rocblas_create_handle");
  device();
}

bool lacks_handle(rocblas_handle handle, const char* function) {
  if (handle == nullptr) stop(std::string("calls ") + function + " without a handle");
  return false;
}

void* cblas_function(const char* name) {
  return hplcast_real_routine(name);
}

namespace {

/// `work`: in the function of rocBLAS. Not made with sizes that rocBLAS refuses.
template <typename Work>
rocblas_status in_function(rocblas_handle handle, const RocblasCall& call, const Work& work) {
  const InFunction here(call.function);
  lacks_handle(handle, call.function);
  if (call.is_sound) {
    work();
    return rocblas_status_success;
  }
  std::fprintf(stderr, "hplcast: rank %d: %s: a size below 0, or a leading dimension that is too small\n",
               hplcast_world_rank(), call.function);
  return rocblas_status_invalid_size;
}

void launch(rocblas_handle handle, const RocblasCall& call, const std::function<void()>& work) {
  device().launch({call.name, RocblasCall::base(call.function), call.m, call.n, call.k, call.flop}, handle->stream,
                  work);
}

}  // namespace

rocblas_status queue(rocblas_handle handle, const RocblasCall& call, std::function<void()> work) {
  return in_function(handle, call, [&] { launch(handle, call, work); });
}

rocblas_status reduce(rocblas_handle handle, const RocblasCall& call, void* result, std::size_t bytes, Result work,
                      Result modelled) {
  return in_function(handle, call, [&] {
    alignas(double) char value[sizeof(double)] = {};
    if (!device().executes()) modelled(value);
    launch(handle, call, [&] { work(value); });
    if (handle->mode == rocblas_pointer_mode_host) device().fetch(handle->stream, bytes);
    hplcast_device_copy(result, value, bytes, bytes);
  });
}

rocblas_int modelled_pivot(rocblas_int n) {
  int drawn = -1;
  hplcast_pivot(n, &drawn);
  return drawn + 1;
}

}  // namespace hplcast::accelerators
