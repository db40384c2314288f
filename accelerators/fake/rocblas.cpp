#include "accelerators/launch/rocblas.hpp"

#include <cblas.h>

#include <map>
#include <string>
#include <utility>

#include "accelerators/fake/device.hpp"

// rocBLAS on a Device, by one thread of OpenBLAS in each stream.

extern "C" void openblas_set_num_threads(int);

namespace hplcast::accelerators {

void begin_rocblas() {
  openblas_set_num_threads(1);
}

bool lacks_handle(rocblas_handle handle, const char*) {
  return handle == nullptr;
}

#define HPLCAST_CBLAS(name) \
  { #name, reinterpret_cast < void*>(&name) }
void* cblas_function(const char* name) {
  static const std::map<std::string, void*> functions = {
      HPLCAST_CBLAS(cblas_dgemm), HPLCAST_CBLAS(cblas_dtrsm), HPLCAST_CBLAS(cblas_dtrsv), HPLCAST_CBLAS(cblas_dgemv),
      HPLCAST_CBLAS(cblas_dger),  HPLCAST_CBLAS(cblas_dcopy), HPLCAST_CBLAS(cblas_dswap), HPLCAST_CBLAS(cblas_daxpy),
      HPLCAST_CBLAS(cblas_dscal), HPLCAST_CBLAS(cblas_ddot),  HPLCAST_CBLAS(cblas_dnrm2), HPLCAST_CBLAS(cblas_dasum),
      HPLCAST_CBLAS(cblas_idamax)};
  return functions.at(name);
}

namespace {

rocblas_status push(rocblas_handle handle, const RocblasCall& call, std::function<void()> work, bool waits) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  if (!call.is_sound) return rocblas_status_invalid_size;
  const auto stream = fake::Device::instance().stream(handle->stream);
  if (!stream) return rocblas_status_invalid_handle;
  const fake::Work what{call.name, static_cast<long>(call.m), static_cast<long>(call.n), static_cast<long>(call.k)};
  const fake::Place place = fake::Device::instance().push(stream, std::move(work), what);
  if (waits && handle->mode == rocblas_pointer_mode_host) place.wait();
  return rocblas_status_success;
}

}  // namespace

rocblas_status queue(rocblas_handle handle, const RocblasCall& call, std::function<void()> work) {
  return push(handle, call, std::move(work), false);
}

rocblas_status reduce(rocblas_handle handle, const RocblasCall& call, void* result, std::size_t, Result work, Result) {
  return push(
      handle, call, [result, work = std::move(work)] { work(result); }, true);
}

rocblas_int modelled_pivot(rocblas_int) {
  return 0;
}

}  // namespace hplcast::accelerators
