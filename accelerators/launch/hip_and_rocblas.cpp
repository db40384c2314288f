#include <algorithm>
#include <cstdio>
#include <utility>

#include "accelerators/launch/kernels.hpp"
#include "accelerators/launch/rocblas.hpp"

// Alike on the simulated and the fake accelerator: some of HIP, and all of rocBLAS, each routine of which is a
// kernel whose work CBLAS does. CBLAS has the same numbers for what rocBLAS says in letters.

namespace {

using hplcast::accelerators::copy;
using hplcast::accelerators::fill;
using hplcast::accelerators::lacks_handle;
using hplcast::accelerators::launch;
using hplcast::accelerators::queue;
using hplcast::accelerators::RocblasCall;

constexpr int column_major = 102;  // CBLAS's

template <typename Result = void, typename... Arguments>
Result cblas(const char* name, Arguments... arguments) {
  using Function = Result (*)(Arguments...);
  return reinterpret_cast<Function>(hplcast::accelerators::cblas_function(name))(arguments...);
}

/// A scalar: of the host at the time of the call, of the device when the stream comes to it.
class Scalar {
 public:
  Scalar(rocblas_handle handle, const double* value)
      : on_device_(handle != nullptr && handle->mode == rocblas_pointer_mode_device ? value : nullptr),
        given_(on_device_ != nullptr ? 0 : *value) {}
  double operator()() const { return on_device_ != nullptr ? *on_device_ : given_; }

 private:
  const double* on_device_;
  double given_;
};

bool fits(rocblas_int rows, rocblas_int ld) {
  return ld >= 1 && ld >= rows;
}

bool transposes(rocblas_operation operation) {
  return operation != rocblas_operation_none;
}

/// A routine on vectors of n elements.
rocblas_status queue_vector(rocblas_handle handle, const char* function, double n, double flop,
                            std::function<void()> work) {
  return queue(handle, {function, RocblasCall::base(function), true, 1, n, 1, flop}, std::move(work));
}
template <typename T, typename Work, typename Modelled>
rocblas_status reduce_vector(rocblas_handle handle, const char* function, double n, double flop, T* result, Work work,
                             Modelled modelled) {
  return hplcast::accelerators::reduce(
      handle, {function, RocblasCall::base(function), true, 1, n, 1, flop}, result, sizeof *result,
      [work](void* place) { *static_cast<T*>(place) = work(); },
      [modelled](void* place) { *static_cast<T*>(place) = modelled(); });
}

#define HPLCAST_HANDLE_FUNCTION(function, parameter, ...)                      \
  rocblas_status function(rocblas_handle handle, parameter) {                  \
    if (lacks_handle(handle, #function)) return rocblas_status_invalid_handle; \
    __VA_ARGS__;                                                               \
    return rocblas_status_success;                                             \
  }

thread_local hipError_t last_error = hipSuccess;

}  // namespace

hipError_t hplcast::accelerators::noted(hipError_t error) {
  if (error != hipSuccess && error != hipErrorNotReady) last_error = error;
  return error;
}

hipDeviceProp_t hplcast::accelerators::properties_of(const char* name, std::size_t memory_bytes, int compute_units) {
  hipDeviceProp_t properties{};
  std::snprintf(properties.name, sizeof properties.name, "%s", name);
  properties.totalGlobalMem = memory_bytes;
  properties.sharedMemPerBlock = std::size_t{1} << 16;
  properties.warpSize = 64;
  properties.maxThreadsPerBlock = 1024;
  std::fill_n(properties.maxThreadsDim, 3, 1024);
  std::fill_n(properties.maxGridSize, 3, 0x7fffffff);
  properties.multiProcessorCount = compute_units;
  properties.cooperativeLaunch = properties.canMapHostMemory = 1;
  return properties;
}

extern "C" {

// --- HIP ---

hipError_t hipGetLastError() {
  return std::exchange(last_error, hipSuccess);
}
hipError_t hipPeekAtLastError() {
  return last_error;
}
hipError_t hipDeviceReset() {
  return hipDeviceSynchronize();
}
hipError_t hipStreamCreate(hipStream_t* stream) {
  return hipStreamCreateWithFlags(stream, hipStreamDefault);
}
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int) {
  return hipStreamCreateWithFlags(stream, flags);
}
hipError_t hipEventCreate(hipEvent_t* event) {
  return hipEventCreateWithFlags(event, hipEventDefault);
}
hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return copy("hipMemcpy", {to, bytes, from, bytes, bytes, 1}, kind, nullptr, true);
}
hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return copy("hipMemcpyAsync", {to, bytes, from, bytes, bytes, 1}, kind, stream, false);
}
hipError_t hipMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                       std::size_t height, hipMemcpyKind kind) {
  return copy("hipMemcpy2D", {to, to_pitch, from, from_pitch, width, height}, kind, nullptr, true);
}
hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                            std::size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return copy("hipMemcpy2DAsync", {to, to_pitch, from, from_pitch, width, height}, kind, stream, false);
}
hipError_t hipMemset(void* memory, int value, std::size_t bytes) {
  return fill("hipMemset", memory, value, bytes, nullptr, true);
}
hipError_t hipMemsetAsync(void* memory, int value, std::size_t bytes, hipStream_t stream) {
  return fill("hipMemsetAsync", memory, value, bytes, stream, false);
}
hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                           hipStream_t stream) {
  return launch("hipLaunchKernel", kernel, grid, block, arguments, shared_bytes, stream);
}
hipError_t hipLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream) {
  return launch("hipLaunchCooperativeKernel", kernel, grid, block, arguments, shared_bytes, stream);
}

const char* hipGetErrorName(hipError_t error) {
#define HPLCAST_NAMED(name, number) {name, #name},
  static constexpr std::pair<hipError_t, const char*> names[] = {HPLCAST_HIP_ERRORS(HPLCAST_NAMED)};
  for (const auto& [code, name] : names)
    if (code == error) return name;
  return "hipErrorUnknown";
}

const char* hipGetErrorString(hipError_t error) {
  if (error == hipSuccess) return "no error";
  if (error == hipErrorOutOfMemory) return "out of memory";
  if (error == hipErrorInvalidDevice) return "invalid device ordinal";
  return error == hipErrorNotReady ? "device not ready" : hipGetErrorName(error);
}

// --- rocBLAS ---

void rocblas_initialize() {}

const char* rocblas_status_to_string(rocblas_status status) {
  if (status == rocblas_status_invalid_handle) return "rocblas_status_invalid_handle";
  if (status == rocblas_status_invalid_size) return "rocblas_status_invalid_size";
  return status == rocblas_status_success ? "rocblas_status_success" : "rocblas_status_internal_error";
}

rocblas_status rocblas_create_handle(rocblas_handle* handle) {
  hplcast::accelerators::begin_rocblas();
  *handle = new _rocblas_handle();
  return rocblas_status_success;
}

rocblas_status rocblas_destroy_handle(rocblas_handle handle) {
  delete handle;
  return rocblas_status_success;
}

HPLCAST_HANDLE_FUNCTION(rocblas_set_stream, hipStream_t stream, handle->stream = stream)
HPLCAST_HANDLE_FUNCTION(rocblas_get_stream, hipStream_t* stream, *stream = handle->stream)
HPLCAST_HANDLE_FUNCTION(rocblas_set_pointer_mode, rocblas_pointer_mode mode, handle->mode = mode)
HPLCAST_HANDLE_FUNCTION(rocblas_get_pointer_mode, rocblas_pointer_mode* mode, *mode = handle->mode)
HPLCAST_HANDLE_FUNCTION(rocblas_set_atomics_mode, rocblas_atomics_mode mode, handle->atomics = mode)

rocblas_status rocblas_dgemm(rocblas_handle handle, rocblas_operation op_a, rocblas_operation op_b, rocblas_int m,
                             rocblas_int n, rocblas_int k, const double* alpha, const double* a, rocblas_int lda,
                             const double* b, rocblas_int ldb, const double* beta, double* c, rocblas_int ldc) {
  static constexpr const char* names[2][2] = {{"dgemm/NN", "dgemm/NT"}, {"dgemm/TN", "dgemm/TT"}};
  const bool is_sound = m >= 0 && n >= 0 && k >= 0 && fits(transposes(op_a) ? k : m, lda) &&
                        fits(transposes(op_b) ? n : k, ldb) && fits(m, ldc);
  return queue(handle,
               {"rocblas_dgemm", names[transposes(op_a)][transposes(op_b)], is_sound, double(m), double(n), double(k),
                2.0 * m * n * k},
               [=, x = Scalar(handle, alpha), y = Scalar(handle, beta)] {
                 cblas("cblas_dgemm", column_major, op_a, op_b, m, n, k, x(), a, lda, b, ldb, y(), c, ldc);
               });
}

rocblas_status rocblas_dtrsm(rocblas_handle handle, rocblas_side side, rocblas_fill uplo, rocblas_operation op_a,
                             rocblas_diagonal diagonal, rocblas_int m, rocblas_int n, const double* alpha,
                             const double* a, rocblas_int lda, double* b, rocblas_int ldb) {
  const bool is_left = side == rocblas_side_left;
  const rocblas_int order = is_left ? m : n;
  return queue(handle,
               {"rocblas_dtrsm", is_left ? "dtrsm/L" : "dtrsm/R", m >= 0 && n >= 0 && fits(order, lda) && fits(m, ldb),
                double(m), double(n), double(order), double(order) * m * n},
               [=, x = Scalar(handle, alpha)] {
                 cblas("cblas_dtrsm", column_major, side, uplo, op_a, diagonal, m, n, x(), a, lda, b, ldb);
               });
}

rocblas_status rocblas_dtrsv(rocblas_handle handle, rocblas_fill uplo, rocblas_operation op_a,
                             rocblas_diagonal diagonal, rocblas_int n, const double* a, rocblas_int lda, double* x,
                             rocblas_int incx) {
  return queue(handle,
               {"rocblas_dtrsv", transposes(op_a) ? "dtrsv/T" : "dtrsv/N", n >= 0 && fits(n, lda) && incx != 0,
                double(n), double(n), 1, double(n) * n},
               [=] { cblas("cblas_dtrsv", column_major, uplo, op_a, diagonal, n, a, lda, x, incx); });
}

rocblas_status rocblas_dgemv(rocblas_handle handle, rocblas_operation op_a, rocblas_int m, rocblas_int n,
                             const double* alpha, const double* a, rocblas_int lda, const double* x, rocblas_int incx,
                             const double* beta, double* y, rocblas_int incy) {
  const bool is_sound = m >= 0 && n >= 0 && fits(m, lda) && incx != 0 && incy != 0;
  return queue(
      handle,
      {"rocblas_dgemv", transposes(op_a) ? "dgemv/T" : "dgemv/N", is_sound, double(m), double(n), 1, 2.0 * m * n},
      [=, s = Scalar(handle, alpha), t = Scalar(handle, beta)] {
        cblas("cblas_dgemv", column_major, op_a, m, n, s(), a, lda, x, incx, t(), y, incy);
      });
}

rocblas_status rocblas_dger(rocblas_handle handle, rocblas_int m, rocblas_int n, const double* alpha, const double* x,
                            rocblas_int incx, const double* y, rocblas_int incy, double* a, rocblas_int lda) {
  const bool is_sound = m >= 0 && n >= 0 && fits(m, lda) && incx != 0 && incy != 0;
  return queue(
      handle, {"rocblas_dger", "dger", is_sound, double(m), double(n), 1, 2.0 * m * n},
      [=, s = Scalar(handle, alpha)] { cblas("cblas_dger", column_major, m, n, s(), x, incx, y, incy, a, lda); });
}

rocblas_status rocblas_dcopy(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* y,
                             rocblas_int incy) {
  return queue_vector(handle, "rocblas_dcopy", n, 0, [=] { cblas("cblas_dcopy", n, x, incx, y, incy); });
}

rocblas_status rocblas_dswap(rocblas_handle handle, rocblas_int n, double* x, rocblas_int incx, double* y,
                             rocblas_int incy) {
  return queue_vector(handle, "rocblas_dswap", n, 0, [=] { cblas("cblas_dswap", n, x, incx, y, incy); });
}

rocblas_status rocblas_daxpy(rocblas_handle handle, rocblas_int n, const double* alpha, const double* x,
                             rocblas_int incx, double* y, rocblas_int incy) {
  return queue_vector(handle, "rocblas_daxpy", n, 2.0 * n,
                      [=, s = Scalar(handle, alpha)] { cblas("cblas_daxpy", n, s(), x, incx, y, incy); });
}

rocblas_status rocblas_dscal(rocblas_handle handle, rocblas_int n, const double* alpha, double* x, rocblas_int incx) {
  return queue_vector(handle, "rocblas_dscal", n, n,
                      [=, s = Scalar(handle, alpha)] { cblas("cblas_dscal", n, s(), x, incx); });
}

rocblas_status rocblas_ddot(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, const double* y,
                            rocblas_int incy, double* result) {
  return reduce_vector(
      handle, "rocblas_ddot", n, 2.0 * n, result, [=] { return cblas<double>("cblas_ddot", n, x, incx, y, incy); },
      [] { return 0; });
}

rocblas_status rocblas_dnrm2(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* result) {
  return reduce_vector(
      handle, "rocblas_dnrm2", n, 2.0 * n, result, [=] { return cblas<double>("cblas_dnrm2", n, x, incx); },
      [] { return 1; });
}

rocblas_status rocblas_dasum(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* result) {
  return reduce_vector(
      handle, "rocblas_dasum", n, n, result, [=] { return cblas<double>("cblas_dasum", n, x, incx); },
      [] { return 1; });
}

rocblas_status rocblas_idamax(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx,
                              rocblas_int* result) {
  const bool has_any = n >= 1 && incx >= 1;
  return reduce_vector(
      handle, "rocblas_idamax", n, 0, result,
      [=] { return n < 1 ? 0 : static_cast<rocblas_int>(cblas<std::size_t>("cblas_idamax", n, x, incx)) + 1; },
      [=] { return has_any ? hplcast::accelerators::modelled_pivot(n) : 0; });
}

}  // extern "C"
