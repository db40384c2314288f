/* The kernels that HPL calls: how each is called and what (m, n, k) a call has.
 *
 * One list for the instrumented program, which times the calls, and the simulated one, which replaces them, so that a
 * measured size and a simulated size always mean the same. The meaning is that of hplcast_smpi.h.
 *
 * HPLCAST_..._KERNELS(X) expands X(NAME, name, function, (parameters), (arguments), m, n, k) for each kernel without
 * a result; the others (cblas_idamax) and those whose replacement does more than wait are written out where they are
 * used. */
#ifndef HPLCAST_HPL_KERNELS_H
#define HPLCAST_HPL_KERNELS_H

#include "hpl.h"

/* clang-format off */
#define HPLCAST_BLAS_KERNELS(X)                                                                                       \
  X(DGEMM, dgemm, cblas_dgemm,                                                                                        \
    (const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta, const enum CBLAS_TRANSPOSE tb, const int m,         \
     const int n, const int k, const double alpha, const double* a, const int lda, const double* b, const int ldb,    \
     const double beta, double* c, const int ldc),                                                                    \
    (order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), m, n, k)                                           \
  X(DTRSM, dtrsm, cblas_dtrsm,                                                                                        \
    (const enum CBLAS_ORDER order, const enum CBLAS_SIDE side, const enum CBLAS_UPLO uplo,                            \
     const enum CBLAS_TRANSPOSE ta, const enum CBLAS_DIAG diag, const int m, const int n, const double alpha,         \
     const double* a, const int lda, double* b, const int ldb),                                                       \
    (order, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb), m, n, (side == CblasLeft ? m : n))                    \
  X(DGEMV, dgemv, cblas_dgemv,                                                                                        \
    (const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta, const int m, const int n, const double alpha,       \
     const double* a, const int lda, const double* x, const int incx, const double beta, double* y, const int incy),  \
    (order, ta, m, n, alpha, a, lda, x, incx, beta, y, incy), m, n, 1)                                                \
  X(DGER, dger, cblas_dger,                                                                                           \
    (const enum CBLAS_ORDER order, const int m, const int n, const double alpha, const double* x, const int incx,     \
     const double* y, const int incy, double* a, const int lda),                                                      \
    (order, m, n, alpha, x, incx, y, incy, a, lda), m, n, 1)                                                          \
  X(DTRSV, dtrsv, cblas_dtrsv,                                                                                        \
    (const enum CBLAS_ORDER order, const enum CBLAS_UPLO uplo, const enum CBLAS_TRANSPOSE ta,                         \
     const enum CBLAS_DIAG diag, const int n, const double* a, const int lda, double* x, const int incx),             \
    (order, uplo, ta, diag, n, a, lda, x, incx), 1, n, 1)                                                             \
  X(DAXPY, daxpy, cblas_daxpy,                                                                                        \
    (const int n, const double alpha, const double* x, const int incx, double* y, const int incy),                    \
    (n, alpha, x, incx, y, incy), 1, n, 1)                                                                            \
  X(DSCAL, dscal, cblas_dscal, (const int n, const double alpha, double* x, const int incx), (n, alpha, x, incx),     \
    1, n, 1)                                                                                                          \
  X(DSWAP, dswap, cblas_dswap, (const int n, double* x, const int incx, double* y, const int incy),                   \
    (n, x, incx, y, incy), 1, n, 1)

/* Parameters of the dlaswp family that come in more than one member. */
#define HPLCAST_LASWP_PIVOTS (const int m, const int n, double* a, const int lda, const int* ipiv), (m, n, a, lda, ipiv)
#define HPLCAST_LASWP_A_TO_U                                                                                          \
  (const int m, const int n, double* a, const int lda, double* u, const int ldu, const int* lindxa,                   \
   const int* lindxau),                                                                                               \
      (m, n, a, lda, u, ldu, lindxa, lindxau)
#define HPLCAST_LASWP_W_TO_U                                                                                          \
  (const int m, const int n, double* u, const int ldu, const double* w0, const double* w, const int ldw),             \
      (m, n, u, ldu, w0, w, ldw)
#define HPLCAST_LASWP_U_TO_A_W_TO_U                                                                                   \
  (const int m0, const int m1, const int n, double* u, const int ldu, double* a, const int lda, const double* w0,     \
   const double* w, const int ldw, const int* lindxa, const int* lindxau),                                            \
      (m0, m1, n, u, ldu, a, lda, w0, w, ldw, lindxa, lindxau)
#define HPLCAST_LASWP_U_TO_A                                                                                          \
  (const int m, const int n, double* a, const int lda, const double* u, const int ldu, const int* lindxa,             \
   const int* lindxau),                                                                                               \
      (m, n, a, lda, u, ldu, lindxa, lindxau)
#define HPLCAST_LASWP_EXCHANGE                                                                                        \
  (const int m, const int n, double* a, const int lda, double* u, const int ldu, const int* lindxa),                  \
      (m, n, a, lda, u, ldu, lindxa)
#define HPLCAST_COPY                                                                                                  \
  (const int m, const int n, const double* a, const int lda, double* b, const int ldb), (m, n, a, lda, b, ldb)

/* Lets a pair "(parameters), (arguments)" above be one macro. */
#define HPLCAST_EXPAND(X, ...) X(__VA_ARGS__)

/* dlaswp04 copies m0 rows of U to A and m1 rows of W to U: its m is m1, as in the published models of this kernel. */
#define HPLCAST_COPY_KERNELS(X)                                                                                       \
  HPLCAST_EXPAND(X, DLACPY, dlacpy, HPL_dlacpy, HPLCAST_COPY, m, n, 1)                                                \
  HPLCAST_EXPAND(X, DLATCPY, dlatcpy, HPL_dlatcpy, HPLCAST_COPY, m, n, 1)                                             \
  HPLCAST_EXPAND(X, DLASWP00N, dlaswp00N, HPL_dlaswp00N, HPLCAST_LASWP_PIVOTS, m, n, 1)                               \
  HPLCAST_EXPAND(X, DLASWP01N, dlaswp01N, HPL_dlaswp01N, HPLCAST_LASWP_A_TO_U, m, n, 1)                               \
  HPLCAST_EXPAND(X, DLASWP01T, dlaswp01T, HPL_dlaswp01T, HPLCAST_LASWP_A_TO_U, m, n, 1)                               \
  X(DLASWP02N, dlaswp02N, HPL_dlaswp02N,                                                                              \
    (const int m, const int n, const double* a, const int lda, double* w0, double* w, const int ldw,                  \
     const int* lindxa, const int* lindxau),                                                                          \
    (m, n, a, lda, w0, w, ldw, lindxa, lindxau), m, n, 1)                                                             \
  HPLCAST_EXPAND(X, DLASWP03N, dlaswp03N, HPL_dlaswp03N, HPLCAST_LASWP_W_TO_U, m, n, 1)                               \
  HPLCAST_EXPAND(X, DLASWP03T, dlaswp03T, HPL_dlaswp03T, HPLCAST_LASWP_W_TO_U, m, n, 1)                               \
  HPLCAST_EXPAND(X, DLASWP04N, dlaswp04N, HPL_dlaswp04N, HPLCAST_LASWP_U_TO_A_W_TO_U, m1, n, 1)                  \
  HPLCAST_EXPAND(X, DLASWP04T, dlaswp04T, HPL_dlaswp04T, HPLCAST_LASWP_U_TO_A_W_TO_U, m1, n, 1)                  \
  HPLCAST_EXPAND(X, DLASWP05N, dlaswp05N, HPL_dlaswp05N, HPLCAST_LASWP_U_TO_A, m, n, 1)                               \
  HPLCAST_EXPAND(X, DLASWP05T, dlaswp05T, HPL_dlaswp05T, HPLCAST_LASWP_U_TO_A, m, n, 1)                               \
  HPLCAST_EXPAND(X, DLASWP06N, dlaswp06N, HPL_dlaswp06N, HPLCAST_LASWP_EXCHANGE, m, n, 1)                             \
  HPLCAST_EXPAND(X, DLASWP06T, dlaswp06T, HPL_dlaswp06T, HPLCAST_LASWP_EXCHANGE, m, n, 1)                             \
  HPLCAST_EXPAND(X, DLASWP10N, dlaswp10N, HPL_dlaswp10N, HPLCAST_LASWP_PIVOTS, m, n, 1)

/* clang-format on */

#endif
