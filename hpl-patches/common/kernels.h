/* How HPL calls the kernels of hplcast/core/kernel_list.h, and what (m, n, k) a call has: for the instrumented program,
 * which times the calls, and the simulated one, which replaces them, so that a measured size and a simulated size
 * always mean the same.
 *
 * HPLCAST_CALL_... is: result, (parameters), (arguments), m, n, k. A kernel without a form here does not compile. */
#ifndef HPLCAST_HPL_KERNELS_H
#define HPLCAST_HPL_KERNELS_H

#include "hpl.h"

/* What a kernel returns. */
#define HPLCAST_TYPE_OF_NOTHING void
#define HPLCAST_TYPE_OF_INDEX CBLAS_INDEX

/* Calls the macro X when HPLCAST_CALL_... among its arguments has become several. */
#define HPLCAST_EXPAND(X, ...) X(__VA_ARGS__)

/* clang-format off */
#define HPLCAST_CALL_DGEMM NOTHING,                                                                                   \
  (const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta, const enum CBLAS_TRANSPOSE tb, const int m,           \
   const int n, const int k, const double alpha, const double* a, const int lda, const double* b, const int ldb,      \
   const double beta, double* c, const int ldc),                                                                      \
  (order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), m, n, k
#define HPLCAST_CALL_DTRSM NOTHING,                                                                                   \
  (const enum CBLAS_ORDER order, const enum CBLAS_SIDE side, const enum CBLAS_UPLO uplo,                              \
   const enum CBLAS_TRANSPOSE ta, const enum CBLAS_DIAG diag, const int m, const int n, const double alpha,           \
   const double* a, const int lda, double* b, const int ldb),                                                         \
  (order, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb), m, n, (side == CblasLeft ? m : n)
#define HPLCAST_CALL_DGEMV NOTHING,                                                                                   \
  (const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta, const int m, const int n, const double alpha,         \
   const double* a, const int lda, const double* x, const int incx, const double beta, double* y, const int incy),    \
  (order, ta, m, n, alpha, a, lda, x, incx, beta, y, incy), m, n, 1
#define HPLCAST_CALL_DGER NOTHING,                                                                                    \
  (const enum CBLAS_ORDER order, const int m, const int n, const double alpha, const double* x, const int incx,       \
   const double* y, const int incy, double* a, const int lda),                                                        \
  (order, m, n, alpha, x, incx, y, incy, a, lda), m, n, 1
#define HPLCAST_CALL_DTRSV NOTHING,                                                                                   \
  (const enum CBLAS_ORDER order, const enum CBLAS_UPLO uplo, const enum CBLAS_TRANSPOSE ta,                           \
   const enum CBLAS_DIAG diag, const int n, const double* a, const int lda, double* x, const int incx),               \
  (order, uplo, ta, diag, n, a, lda, x, incx), 1, n, 1
#define HPLCAST_CALL_DAXPY NOTHING,                                                                                   \
  (const int n, const double alpha, const double* x, const int incx, double* y, const int incy),                      \
  (n, alpha, x, incx, y, incy), 1, n, 1
#define HPLCAST_CALL_DSCAL NOTHING, (const int n, const double alpha, double* x, const int incx), (n, alpha, x, incx), 1, n, 1
#define HPLCAST_CALL_DSWAP NOTHING,                                                                                   \
  (const int n, double* x, const int incx, double* y, const int incy), (n, x, incx, y, incy), 1, n, 1
#define HPLCAST_CALL_DCOPY NOTHING,                                                                                   \
  (const int n, const double* x, const int incx, double* y, const int incy), (n, x, incx, y, incy), 1, n, 1
#define HPLCAST_CALL_IDAMAX INDEX, (const int n, const double* x, const int incx), (n, x, incx), 1, n, 1

#define HPLCAST_CALL_COPY NOTHING,                                                                                    \
  (const int m, const int n, const double* a, const int lda, double* b, const int ldb), (m, n, a, lda, b, ldb), m, n, 1
#define HPLCAST_CALL_LASWP_PIVOTS NOTHING,                                                                            \
  (const int m, const int n, double* a, const int lda, const int* ipiv), (m, n, a, lda, ipiv), m, n, 1
#define HPLCAST_CALL_LASWP_A_TO_U NOTHING,                                                                            \
  (const int m, const int n, double* a, const int lda, double* u, const int ldu, const int* lindxa,                   \
   const int* lindxau),                                                                                               \
  (m, n, a, lda, u, ldu, lindxa, lindxau), m, n, 1
#define HPLCAST_CALL_LASWP_A_TO_W NOTHING,                                                                            \
  (const int m, const int n, const double* a, const int lda, double* w0, double* w, const int ldw, const int* lindxa, \
   const int* lindxau),                                                                                               \
  (m, n, a, lda, w0, w, ldw, lindxa, lindxau), m, n, 1
#define HPLCAST_CALL_LASWP_W_TO_U NOTHING,                                                                            \
  (const int m, const int n, double* u, const int ldu, const double* w0, const double* w, const int ldw),             \
  (m, n, u, ldu, w0, w, ldw), m, n, 1
/* Copies m0 rows of U to A and m1 rows of W to U: its m is m1, as in the published models of this kernel. */
#define HPLCAST_CALL_LASWP_U_TO_A_W_TO_U NOTHING,                                                                     \
  (const int m0, const int m1, const int n, double* u, const int ldu, double* a, const int lda, const double* w0,     \
   const double* w, const int ldw, const int* lindxa, const int* lindxau),                                            \
  (m0, m1, n, u, ldu, a, lda, w0, w, ldw, lindxa, lindxau), m1, n, 1
#define HPLCAST_CALL_LASWP_U_TO_A NOTHING,                                                                            \
  (const int m, const int n, double* a, const int lda, const double* u, const int ldu, const int* lindxa,             \
   const int* lindxau),                                                                                               \
  (m, n, a, lda, u, ldu, lindxa, lindxau), m, n, 1
#define HPLCAST_CALL_LASWP_EXCHANGE NOTHING,                                                                          \
  (const int m, const int n, double* a, const int lda, double* u, const int ldu, const int* lindxa),                  \
  (m, n, a, lda, u, ldu, lindxa), m, n, 1
#define HPLCAST_CALL_LOCSWP NOTHING,                                                                                  \
  (HPL_T_panel* panel, const int ii, const int jj, double* work), (panel, ii, jj, work), 1, panel->jb, 1
/* clang-format on */

#endif
