/* The kernels of HPL that have a model: the one list of them, for C and C++. Ids, the enum and the macros of model.h,
 * names, counts of flop, the instrumented and the simulated program follow from it; CONTRIBUTING.md says how to add
 * one.
 *
 * HPLCAST_KERNELS(X) expands X(NAME, name, function, call, sizes, flop, touches) for each kernel:
 *   NAME      HPLCAST_NAME is its number in C (hplcast_smpi.h) and its macro in model.h
 *   name      in cluster.json, in measurements, in core::KernelId
 *   function  that HPL calls
 *   call      how it is called: HPLCAST_CALL_... of hpl-patches/common/kernels.h, which also says what m, n, k are
 *   sizes     those of m, n, k that it has; the others are 1
 *   flop      multiplications and additions of one call with the sizes m, n, k; 0 for what only moves or compares
 *   touches   NUMBERS: only numbers of the matrix. In the simulation these have no content, a call takes its time.
 *             CONTROL: also what HPL decides by (indices, pivots). What the simulation does instead is written by hand,
 *             in hpl-patches/simulated/modelled_kernels.c.
 *
 * One kernel per line: CMake reads the functions. The order is that of the numbers and of model.h; add at the end. */
#ifndef HPLCAST_KERNEL_LIST_H
#define HPLCAST_KERNEL_LIST_H

/* clang-format off */
#define HPLCAST_KERNELS(X)                                                                                             \
  X(DGEMM, dgemm, cblas_dgemm, DGEMM, mnk, 2 * m * n * k, NUMBERS) /* C(m,n) += A(m,k) B(k,n) */                       \
  X(DTRSM, dtrsm, cblas_dtrsm, DTRSM, mnk, m * n * k, NUMBERS)     /* k: order of the triangle (m if left, n if right) */ \
  X(DGEMV, dgemv, cblas_dgemv, DGEMV, mn, 2 * m * n, NUMBERS)                                                          \
  X(DGER, dger, cblas_dger, DGER, mn, 2 * m * n, NUMBERS)                                                              \
  X(DTRSV, dtrsv, cblas_dtrsv, DTRSV, n, n * n, NUMBERS)           /* order of the triangle */                         \
  X(DAXPY, daxpy, cblas_daxpy, DAXPY, n, 2 * n, NUMBERS)           /* n elements, and so on below */                   \
  X(DSCAL, dscal, cblas_dscal, DSCAL, n, n, NUMBERS)                                                                   \
  X(DSWAP, dswap, cblas_dswap, DSWAP, n, 0, NUMBERS)                                                                   \
  X(DCOPY, dcopy, cblas_dcopy, DCOPY, n, 0, CONTROL)                                                                   \
  X(IDAMAX, idamax, cblas_idamax, IDAMAX, n, 0, CONTROL)                                                               \
  X(DLACPY, dlacpy, HPL_dlacpy, COPY, mn, 0, NUMBERS)                                                                  \
  X(DLATCPY, dlatcpy, HPL_dlatcpy, COPY, mn, 0, NUMBERS)                                                               \
  X(DLASWP00N, dlaswp00N, HPL_dlaswp00N, LASWP_PIVOTS, mn, 0, NUMBERS) /* m rows (indices), n columns */               \
  X(DLASWP01N, dlaswp01N, HPL_dlaswp01N, LASWP_A_TO_U, mn, 0, NUMBERS)                                                 \
  X(DLASWP01T, dlaswp01T, HPL_dlaswp01T, LASWP_A_TO_U, mn, 0, NUMBERS)                                                 \
  X(DLASWP02N, dlaswp02N, HPL_dlaswp02N, LASWP_A_TO_W, mn, 0, NUMBERS)                                                 \
  X(DLASWP03N, dlaswp03N, HPL_dlaswp03N, LASWP_W_TO_U, mn, 0, NUMBERS)                                                 \
  X(DLASWP03T, dlaswp03T, HPL_dlaswp03T, LASWP_W_TO_U, mn, 0, NUMBERS)                                                 \
  X(DLASWP04N, dlaswp04N, HPL_dlaswp04N, LASWP_U_TO_A_W_TO_U, mn, 0, NUMBERS)                                          \
  X(DLASWP04T, dlaswp04T, HPL_dlaswp04T, LASWP_U_TO_A_W_TO_U, mn, 0, NUMBERS)                                          \
  X(DLASWP05N, dlaswp05N, HPL_dlaswp05N, LASWP_U_TO_A, mn, 0, NUMBERS)                                                 \
  X(DLASWP05T, dlaswp05T, HPL_dlaswp05T, LASWP_U_TO_A, mn, 0, NUMBERS)                                                 \
  X(DLASWP06N, dlaswp06N, HPL_dlaswp06N, LASWP_EXCHANGE, mn, 0, NUMBERS)                                               \
  X(DLASWP06T, dlaswp06T, HPL_dlaswp06T, LASWP_EXCHANGE, mn, 0, NUMBERS)                                               \
  X(DLASWP10N, dlaswp10N, HPL_dlaswp10N, LASWP_PIVOTS, mn, 0, NUMBERS)                                                 \
  X(DLOCSWPN, dlocswpN, HPL_dlocswpN, LOCSWP, n, 0, CONTROL) /* n columns of a panel: local swap, copies of the current row */ \
  X(DLOCSWPT, dlocswpT, HPL_dlocswpT, LOCSWP, n, 0, CONTROL)
/* clang-format on */

#endif
