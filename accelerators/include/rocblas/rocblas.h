/* rocBLAS as programs call it: declarations only, as hip/hip_runtime_api.h says. Sizes, leading dimensions and strides
 * are those of BLAS; matrices and vectors are memory of the device, scalars and results where the pointer mode says. */
#ifndef HPLCAST_ROCBLAS_H
#define HPLCAST_ROCBLAS_H

#include "hip/hip_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t rocblas_int;
typedef int64_t rocblas_stride;
typedef struct _rocblas_handle* rocblas_handle;

typedef enum rocblas_status {
  rocblas_status_success = 0,
  rocblas_status_invalid_handle = 1,
  rocblas_status_not_implemented = 2,
  rocblas_status_invalid_pointer = 3,
  rocblas_status_invalid_size = 4,
  rocblas_status_memory_error = 5,
  rocblas_status_internal_error = 6,
  rocblas_status_invalid_value = 11
} rocblas_status;
typedef enum rocblas_operation {
  rocblas_operation_none = 111,
  rocblas_operation_transpose = 112,
  rocblas_operation_conjugate_transpose = 113
} rocblas_operation;
typedef enum rocblas_fill { rocblas_fill_upper = 121, rocblas_fill_lower = 122, rocblas_fill_full = 123 } rocblas_fill;
typedef enum rocblas_diagonal { rocblas_diagonal_non_unit = 131, rocblas_diagonal_unit = 132 } rocblas_diagonal;
typedef enum rocblas_side { rocblas_side_left = 141, rocblas_side_right = 142 } rocblas_side;
typedef enum rocblas_pointer_mode {
  rocblas_pointer_mode_host = 0,
  rocblas_pointer_mode_device = 1
} rocblas_pointer_mode;
typedef enum rocblas_atomics_mode { rocblas_atomics_not_allowed = 0, rocblas_atomics_allowed = 1 } rocblas_atomics_mode;

void rocblas_initialize(void);
const char* rocblas_status_to_string(rocblas_status status);
rocblas_status rocblas_create_handle(rocblas_handle* handle);
rocblas_status rocblas_destroy_handle(rocblas_handle handle);
rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream);
rocblas_status rocblas_get_stream(rocblas_handle handle, hipStream_t* stream);
rocblas_status rocblas_set_pointer_mode(rocblas_handle handle, rocblas_pointer_mode mode);
rocblas_status rocblas_get_pointer_mode(rocblas_handle handle, rocblas_pointer_mode* mode);
rocblas_status rocblas_set_atomics_mode(rocblas_handle handle, rocblas_atomics_mode mode);

rocblas_status rocblas_dgemm(rocblas_handle handle, rocblas_operation op_a, rocblas_operation op_b, rocblas_int m,
                             rocblas_int n, rocblas_int k, const double* alpha, const double* a, rocblas_int lda,
                             const double* b, rocblas_int ldb, const double* beta, double* c, rocblas_int ldc);
rocblas_status rocblas_dtrsm(rocblas_handle handle, rocblas_side side, rocblas_fill uplo, rocblas_operation op_a,
                             rocblas_diagonal diagonal, rocblas_int m, rocblas_int n, const double* alpha,
                             const double* a, rocblas_int lda, double* b, rocblas_int ldb);
rocblas_status rocblas_dtrsv(rocblas_handle handle, rocblas_fill uplo, rocblas_operation op_a,
                             rocblas_diagonal diagonal, rocblas_int n, const double* a, rocblas_int lda, double* x,
                             rocblas_int incx);
rocblas_status rocblas_dgemv(rocblas_handle handle, rocblas_operation op_a, rocblas_int m, rocblas_int n,
                             const double* alpha, const double* a, rocblas_int lda, const double* x, rocblas_int incx,
                             const double* beta, double* y, rocblas_int incy);
rocblas_status rocblas_dger(rocblas_handle handle, rocblas_int m, rocblas_int n, const double* alpha, const double* x,
                            rocblas_int incx, const double* y, rocblas_int incy, double* a, rocblas_int lda);
rocblas_status rocblas_dcopy(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* y,
                             rocblas_int incy);
rocblas_status rocblas_dswap(rocblas_handle handle, rocblas_int n, double* x, rocblas_int incx, double* y,
                             rocblas_int incy);
rocblas_status rocblas_daxpy(rocblas_handle handle, rocblas_int n, const double* alpha, const double* x,
                             rocblas_int incx, double* y, rocblas_int incy);
rocblas_status rocblas_dscal(rocblas_handle handle, rocblas_int n, const double* alpha, double* x, rocblas_int incx);
/* With results in the host's memory these wait for the stream. */
rocblas_status rocblas_ddot(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, const double* y,
                            rocblas_int incy, double* result);
rocblas_status rocblas_dnrm2(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* result);
rocblas_status rocblas_dasum(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx, double* result);
/* The index counts from 1. */
rocblas_status rocblas_idamax(rocblas_handle handle, rocblas_int n, const double* x, rocblas_int incx,
                              rocblas_int* result);

#ifdef __cplusplus
}
#endif

#endif
