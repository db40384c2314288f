#include "rocblas/rocblas.h"

#include <cblas.h>

#include <functional>
#include <utility>

#include "accelerators/fake/device.hpp"

// rocBLAS on a Device, by one thread of OpenBLAS in each stream.

extern "C" void openblas_set_num_threads(int);

struct _rocblas_handle {
  hipStream_t stream = nullptr;
  rocblas_pointer_mode mode = rocblas_pointer_mode_host;
};

namespace hplcast::accelerators::fake {

namespace {

/// A scalar: of the host at the time of the call, of the device when the stream comes to it.
std::function<double()> scalar(rocblas_handle handle, const double* value) {
  if (handle->mode == rocblas_pointer_mode_device) return [value] { return *value; };
  return [given = *value] { return given; };
}

/// Queues work whose sizes may be 0. `waits`: for a result in the host's memory.
rocblas_status queue(rocblas_handle handle, bool is_sound, const Work& what, std::function<void()> work,
                     bool waits = false) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  if (!is_sound) return rocblas_status_invalid_size;
  const auto stream = Device::instance().stream(handle->stream);
  if (!stream) return rocblas_status_invalid_handle;
  const Place place = Device::instance().push(stream, std::move(work), what);
  if (waits && handle->mode == rocblas_pointer_mode_host) place.wait();
  return rocblas_status_success;
}

CBLAS_TRANSPOSE of(rocblas_operation op) {
  return op == rocblas_operation_none ? CblasNoTrans : CblasTrans;
}
CBLAS_UPLO of(rocblas_fill fill) {
  return fill == rocblas_fill_upper ? CblasUpper : CblasLower;
}
CBLAS_DIAG of(rocblas_diagonal diagonal) {
  return diagonal == rocblas_diagonal_unit ? CblasUnit : CblasNonUnit;
}
CBLAS_SIDE of(rocblas_side side) {
  return side == rocblas_side_left ? CblasLeft : CblasRight;
}

bool fits(rocblas_int rows, rocblas_int ld) {
  return ld >= 1 && ld >= rows;
}

}  // namespace

}  // namespace hplcast::accelerators::fake

using namespace hplcast::accelerators::fake;

extern "C" {

void rocblas_initialize() {}
const char* rocblas_status_to_string(rocblas_status status) {
  switch (status) {
    case rocblas_status_success:
      return "rocblas_status_success";
    case rocblas_status_invalid_handle:
      return "rocblas_status_invalid_handle";
    case rocblas_status_invalid_size:
      return "rocblas_status_invalid_size";
    default:
      return "rocblas_status_internal_error";
  }
}
rocblas_status rocblas_create_handle(rocblas_handle* handle) {
  openblas_set_num_threads(1);
  *handle = new _rocblas_handle();
  return rocblas_status_success;
}
rocblas_status rocblas_destroy_handle(rocblas_handle handle) {
  delete handle;
  return rocblas_status_success;
}
rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  handle->stream = stream;
  return rocblas_status_success;
}
rocblas_status rocblas_get_stream(rocblas_handle handle, hipStream_t* stream) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  *stream = handle->stream;
  return rocblas_status_success;
}
rocblas_status rocblas_set_pointer_mode(rocblas_handle handle, rocblas_pointer_mode mode) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  handle->mode = mode;
  return rocblas_status_success;
}
rocblas_status rocblas_get_pointer_mode(rocblas_handle handle, rocblas_pointer_mode* mode) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  *mode = handle->mode;
  return rocblas_status_success;
}
rocblas_status rocblas_set_atomics_mode(rocblas_handle, rocblas_atomics_mode) {
  return rocblas_status_success;
}

rocblas_status rocblas_dgemm(rocblas_handle handle, rocblas_operation op_a, rocblas_operation op_b, rocblas_int m,
                             rocblas_int n, rocblas_int k, const double* alpha, const double* a, rocblas_int lda,
                             const double* b, rocblas_int ldb, const double* beta, double* c, rocblas_int ldc) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  const bool is_sound = m >= 0 && n >= 0 && k >= 0 && fits(of(op_a) == CblasNoTrans ? m : k, lda) &&
                        fits(of(op_b) == CblasNoTrans ? k : n, ldb) && fits(m, ldc);
  static constexpr const char* names[2][2] = {{"dgemm/NN", "dgemm/NT"}, {"dgemm/TN", "dgemm/TT"}};
  const Work what{names[of(op_a) != CblasNoTrans][of(op_b) != CblasNoTrans], m, n, k};
  return queue(handle, is_sound, what, [=, x = scalar(handle, alpha), y = scalar(handle, beta)] {
    cblas_dgemm(CblasColMajor, of(op_a), of(op_b), m, n, k, x(), a, lda, b, ldb, y(), c, ldc);
  });
}
rocblas_status rocblas_dtrsm(rocblas_handle handle, rocblas_side side, rocblas_fill uplo, rocblas_operation op_a,
                             rocblas_diagonal diagonal, rocblas_int m, rocblas_int n, const double* alpha,
                             const double* a, rocblas_int lda, double* b, rocblas_int ldb) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  const bool is_sound = m >= 0 && n >= 0 && fits(of(side) == CblasLeft ? m : n, lda) && fits(m, ldb);
  const Work what{of(side) == CblasLeft ? "dtrsm/L" : "dtrsm/R", m, n, of(side) == CblasLeft ? m : n};
  return queue(handle, is_sound, what, [=, x = scalar(handle, alpha)] {
    cblas_dtrsm(CblasColMajor, of(side), of(uplo), of(op_a), of(diagonal), m, n, x(), a, lda, b, ldb);
  });
}
rocblas_status rocblas_dtrsv(rocblas_handle handle, rocblas_fill uplo, rocblas_operation op_a,
                             rocblas_diagonal diagonal, rocblas_int n, const double* a, rocblas_int lda, double* x,
                             rocblas_int incx) {
  return queue(handle, n >= 0 && fits(n, lda) && incx != 0, {of(op_a) == CblasNoTrans ? "dtrsv/N" : "dtrsv/T", n, n, 1},
               [=] { cblas_dtrsv(CblasColMajor, of(uplo), of(op_a), of(diagonal), n, a, lda, x, incx); });
}
rocblas_status rocblas_dgemv(rocblas_handle handle, rocblas_operation op_a, rocblas_int m, rocblas_int n,
                             const double* alpha, const double* a, rocblas_int lda, const double* x, rocblas_int incx,
                             const double* beta, double* y, rocblas_int incy) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  return queue(handle, m >= 0 && n >= 0 && fits(m, lda) && incx != 0 && incy != 0,
               {of(op_a) == CblasNoTrans ? "dgemv/N" : "dgemv/T", m, n, 1},
               [=, s = scalar(handle, alpha), t = scalar(handle, beta)] {
                 cblas_dgemv(CblasColMajor, of(op_a), m, n, s(), a, lda, x, incx, t(), y, incy);
               });
}
rocblas_status rocblas_dger(rocblas_handle handle, rocblas_int m, rocblas_int n, const double* alpha, const double* x,
                            rocblas_int incx, const double* y, rocblas_int incy, double* a, rocblas_int lda) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  return queue(handle, m >= 0 && n >= 0 && fits(m, lda) && incx != 0 && incy != 0, {"dger", m, n, 1},
               [=, s = scalar(handle, alpha)] { cblas_dger(CblasColMajor, m, n, s(), x, incx, y, incy, a, lda); });
}
rocblas_status rocblas_dcopy(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* y,
                             rocblas_int incy) {
  return queue(handle, true, {"dcopy", 1, n, 1}, [=] { cblas_dcopy(n, x, incx, y, incy); });
}
rocblas_status rocblas_dswap(rocblas_handle handle, rocblas_int n, double* x, rocblas_int incx, double* y,
                             rocblas_int incy) {
  return queue(handle, true, {"dswap", 1, n, 1}, [=] { cblas_dswap(n, x, incx, y, incy); });
}
rocblas_status rocblas_daxpy(rocblas_handle handle, rocblas_int n, const double* alpha, const double* x,
                             rocblas_int incx, double* y, rocblas_int incy) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  return queue(handle, true, {"daxpy", 1, n, 1},
               [=, s = scalar(handle, alpha)] { cblas_daxpy(n, s(), x, incx, y, incy); });
}
rocblas_status rocblas_dscal(rocblas_handle handle, rocblas_int n, const double* alpha, double* x, rocblas_int incx) {
  if (handle == nullptr) return rocblas_status_invalid_handle;
  return queue(handle, true, {"dscal", 1, n, 1}, [=, s = scalar(handle, alpha)] { cblas_dscal(n, s(), x, incx); });
}
rocblas_status rocblas_ddot(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, const double* y,
                            rocblas_int incy, double* result) {
  return queue(
      handle, true, {"ddot", 1, n, 1}, [=] { *result = cblas_ddot(n, x, incx, y, incy); }, true);
}
rocblas_status rocblas_dnrm2(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* result) {
  return queue(
      handle, true, {"dnrm2", 1, n, 1}, [=] { *result = cblas_dnrm2(n, x, incx); }, true);
}
rocblas_status rocblas_dasum(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* result) {
  return queue(
      handle, true, {"dasum", 1, n, 1}, [=] { *result = cblas_dasum(n, x, incx); }, true);
}
rocblas_status rocblas_idamax(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx,
                              rocblas_int* result) {
  const auto find = [=] { *result = n > 0 ? static_cast<rocblas_int>(cblas_idamax(n, x, incx)) + 1 : 0; };
  return queue(handle, true, {"idamax", 1, n, 1}, find, true);
}

}  // extern "C"
