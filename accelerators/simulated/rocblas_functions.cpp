// rocBLAS for a simulated rank: each routine is a kernel of its Device, by its name in cluster.json; where kernels are
// executed, CBLAS does its work. Names, sizes and flop are those of programs/routines.txt.

#include <cstdio>
#include <cstring>
#include <string>

#include "accelerators/simulated/device.hpp"
#include "hplcast/smpi_models/hplcast_program.h"
#include "hplcast/smpi_models/hplcast_smpi.h"
#include "rocblas/rocblas.h"

struct _rocblas_handle {
  hipStream_t stream;
  rocblas_pointer_mode mode;
  rocblas_atomics_mode atomics;
};

using hplcast::accelerators::device;
using hplcast::accelerators::InFunction;
using hplcast::accelerators::stop;

namespace {

constexpr int column_major = 102;  // CBLAS's

/// A function of CBLAS.
template <typename Result = void, typename... Arguments>
Result cblas(const char* name, Arguments... arguments) {
  using Function = Result (*)(Arguments...);
  return reinterpret_cast<Function>(hplcast_real_routine(name))(arguments...);
}

bool transposes(rocblas_operation operation) {
  return operation != rocblas_operation_none;
}

/// Letters of CBLAS for those of rocBLAS are the same numbers.
int number(int letter) {
  return letter;
}

/// Ends the simulation without a handle.
rocblas_handle checked(const char* name, rocblas_handle handle) {
  if (handle == nullptr) stop(std::string("calls ") + name + " without a handle");
  return handle;
}

/// `call`: in function `name` of rocBLAS with this handle; ends the simulation without one. Not made with sizes that
/// rocBLAS refuses.
template <typename Call>
rocblas_status in(const char* name, rocblas_handle handle, bool is_sound, const Call& call) {
  const InFunction here(name);
  checked(name, handle);
  if (is_sound) {
    call();
    return rocblas_status_success;
  }
  std::fprintf(stderr, "hplcast: rank %d: %s: a size below 0, or a leading dimension that is too small\n",
               hplcast_world_rank(), name);
  return rocblas_status_invalid_size;
}

bool fits(rocblas_int rows, rocblas_int ld) {
  return ld >= 1 && ld >= rows;
}

/// A vector routine that has a result: computed, or `modelled`.
template <typename T, typename Execute>
void reduce(rocblas_handle handle, const char* name, int n, double flop, T* result, T modelled,
            const Execute& execute) {
  T value = modelled;
  device().launch({name, name, 1, static_cast<double>(n), 1, flop}, handle->stream, [&] { value = execute(); });
  if (handle->mode == rocblas_pointer_mode_host) device().fetch(handle->stream, sizeof value);
  hplcast_device_copy(result, &value, sizeof value);
}

/// A scalar that a routine is given, where it is executed.
double scalar(const double* value) {
  return *value;
}

}  // namespace

extern "C" {

void rocblas_initialize() {}

const char* rocblas_status_to_string(rocblas_status status) {
  if (status == rocblas_status_invalid_size) return "rocblas_status_invalid_size";
  return status == rocblas_status_success ? "rocblas_status_success" : "rocblas_status_internal_error";
}

rocblas_status rocblas_create_handle(rocblas_handle* handle) {
  const InFunction here("rocblas_create_handle");
  device();
  *handle = new _rocblas_handle{nullptr, rocblas_pointer_mode_host, rocblas_atomics_allowed};
  return rocblas_status_success;
}

rocblas_status rocblas_destroy_handle(rocblas_handle handle) {
  delete handle;
  return rocblas_status_success;
}

rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream) {
  checked("rocblas_set_stream", handle)->stream = stream;
  return rocblas_status_success;
}

rocblas_status rocblas_get_stream(rocblas_handle handle, hipStream_t* stream) {
  *stream = checked("rocblas_get_stream", handle)->stream;
  return rocblas_status_success;
}

rocblas_status rocblas_set_pointer_mode(rocblas_handle handle, rocblas_pointer_mode mode) {
  checked("rocblas_set_pointer_mode", handle)->mode = mode;
  return rocblas_status_success;
}

rocblas_status rocblas_get_pointer_mode(rocblas_handle handle, rocblas_pointer_mode* mode) {
  *mode = checked("rocblas_get_pointer_mode", handle)->mode;
  return rocblas_status_success;
}

rocblas_status rocblas_set_atomics_mode(rocblas_handle handle, rocblas_atomics_mode mode) {
  checked("rocblas_set_atomics_mode", handle)->atomics = mode;
  return rocblas_status_success;
}

rocblas_status rocblas_dgemm(rocblas_handle handle, rocblas_operation op_a, rocblas_operation op_b, rocblas_int m,
                             rocblas_int n, rocblas_int k, const double* alpha, const double* a, rocblas_int lda,
                             const double* b, rocblas_int ldb, const double* beta, double* c, rocblas_int ldc) {
  static constexpr const char* names[2][2] = {{"dgemm/NN", "dgemm/NT"}, {"dgemm/TN", "dgemm/TT"}};
  return in("rocblas_dgemm", handle,
            m >= 0 && n >= 0 && k >= 0 && fits(transposes(op_a) ? k : m, lda) && fits(transposes(op_b) ? n : k, ldb) &&
                fits(m, ldc),
            [&] {
              device().launch({names[transposes(op_a)][transposes(op_b)], "dgemm", double(m), double(n), double(k),
                               2.0 * m * n * k},
                              handle->stream, [&] {
                                cblas("cblas_dgemm", column_major, number(op_a), number(op_b), m, n, k, scalar(alpha),
                                      a, lda, b, ldb, scalar(beta), c, ldc);
                              });
            });
}

rocblas_status rocblas_dtrsm(rocblas_handle handle, rocblas_side side, rocblas_fill uplo, rocblas_operation op_a,
                             rocblas_diagonal diagonal, rocblas_int m, rocblas_int n, const double* alpha,
                             const double* a, rocblas_int lda, double* b, rocblas_int ldb) {
  return in("rocblas_dtrsm", handle, m >= 0 && n >= 0 && fits(side == rocblas_side_left ? m : n, lda) && fits(m, ldb),
            [&] {
              const bool is_left = side == rocblas_side_left;
              const double k = is_left ? m : n;
              device().launch({is_left ? "dtrsm/L" : "dtrsm/R", "dtrsm", double(m), double(n), k, k * m * n},
                              handle->stream, [&] {
                                cblas("cblas_dtrsm", column_major, number(side), number(uplo), number(op_a),
                                      number(diagonal), m, n, scalar(alpha), a, lda, b, ldb);
                              });
            });
}

rocblas_status rocblas_dtrsv(rocblas_handle handle, rocblas_fill uplo, rocblas_operation op_a,
                             rocblas_diagonal diagonal, rocblas_int n, const double* a, rocblas_int lda, double* x,
                             rocblas_int incx) {
  return in("rocblas_dtrsv", handle, n >= 0 && fits(n, lda) && incx != 0, [&] {
    device().launch(
        {transposes(op_a) ? "dtrsv/T" : "dtrsv/N", "dtrsv", double(n), double(n), 1, double(n) * n}, handle->stream,
        [&] { cblas("cblas_dtrsv", column_major, number(uplo), number(op_a), number(diagonal), n, a, lda, x, incx); });
  });
}

rocblas_status rocblas_dgemv(rocblas_handle handle, rocblas_operation op_a, rocblas_int m, rocblas_int n,
                             const double* alpha, const double* a, rocblas_int lda, const double* x, rocblas_int incx,
                             const double* beta, double* y, rocblas_int incy) {
  return in("rocblas_dgemv", handle, m >= 0 && n >= 0 && fits(m, lda) && incx != 0 && incy != 0, [&] {
    device().launch(
        {transposes(op_a) ? "dgemv/T" : "dgemv/N", "dgemv", double(m), double(n), 1, 2.0 * m * n}, handle->stream, [&] {
          cblas("cblas_dgemv", column_major, number(op_a), m, n, scalar(alpha), a, lda, x, incx, scalar(beta), y, incy);
        });
  });
}

rocblas_status rocblas_dger(rocblas_handle handle, rocblas_int m, rocblas_int n, const double* alpha, const double* x,
                            rocblas_int incx, const double* y, rocblas_int incy, double* a, rocblas_int lda) {
  return in("rocblas_dger", handle, m >= 0 && n >= 0 && fits(m, lda) && incx != 0 && incy != 0, [&] {
    device().launch({"dger", "dger", double(m), double(n), 1, 2.0 * m * n}, handle->stream,
                    [&] { cblas("cblas_dger", column_major, m, n, scalar(alpha), x, incx, y, incy, a, lda); });
  });
}

rocblas_status rocblas_dcopy(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* y,
                             rocblas_int incy) {
  return in("rocblas_dcopy", handle, true, [&] {
    device().launch({"dcopy", "dcopy", 1, double(n), 1, 0}, handle->stream,
                    [&] { cblas("cblas_dcopy", n, x, incx, y, incy); });
  });
}

rocblas_status rocblas_dswap(rocblas_handle handle, rocblas_int n, double* x, rocblas_int incx, double* y,
                             rocblas_int incy) {
  return in("rocblas_dswap", handle, true, [&] {
    device().launch({"dswap", "dswap", 1, double(n), 1, 0}, handle->stream,
                    [&] { cblas("cblas_dswap", n, x, incx, y, incy); });
  });
}

rocblas_status rocblas_daxpy(rocblas_handle handle, rocblas_int n, const double* alpha, const double* x,
                             rocblas_int incx, double* y, rocblas_int incy) {
  return in("rocblas_daxpy", handle, true, [&] {
    device().launch({"daxpy", "daxpy", 1, double(n), 1, 2.0 * n}, handle->stream,
                    [&] { cblas("cblas_daxpy", n, scalar(alpha), x, incx, y, incy); });
  });
}

rocblas_status rocblas_dscal(rocblas_handle handle, rocblas_int n, const double* alpha, double* x, rocblas_int incx) {
  return in("rocblas_dscal", handle, true, [&] {
    device().launch({"dscal", "dscal", 1, double(n), 1, double(n)}, handle->stream,
                    [&] { cblas("cblas_dscal", n, scalar(alpha), x, incx); });
  });
}

rocblas_status rocblas_ddot(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, const double* y,
                            rocblas_int incy, double* result) {
  return in("rocblas_ddot", handle, true, [&] {
    reduce(handle, "ddot", n, 2.0 * n, result, 0.0, [&] { return cblas<double>("cblas_ddot", n, x, incx, y, incy); });
  });
}

rocblas_status rocblas_dnrm2(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* result) {
  return in("rocblas_dnrm2", handle, true, [&] {
    reduce(handle, "dnrm2", n, 2.0 * n, result, 1.0, [&] { return cblas<double>("cblas_dnrm2", n, x, incx); });
  });
}

rocblas_status rocblas_dasum(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* result) {
  return in("rocblas_dasum", handle, true, [&] {
    reduce(handle, "dasum", n, double(n), result, 1.0, [&] { return cblas<double>("cblas_dasum", n, x, incx); });
  });
}

rocblas_status rocblas_idamax(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx,
                              rocblas_int* result) {
  return in("rocblas_idamax", handle, true, [&] {
    int drawn = -1;
    if (n >= 1 && incx >= 1 && !device().executes()) hplcast_pivot(n, &drawn);
    reduce(handle, "idamax", n, 0, result, drawn + 1, [&]() -> rocblas_int {
      return n < 1 ? 0 : static_cast<rocblas_int>(cblas<std::size_t>("cblas_idamax", n, x, incx)) + 1;
    });
  });
}

}  // extern "C"
