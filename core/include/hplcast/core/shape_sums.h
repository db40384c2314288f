/* What xhpl-instrumented adds up over the calls of a kernel, for C and C++: sums of monomials of the sizes. The
 * expected time of a model over exactly these calls is then its coefficients times the sums. Calls are kept apart in
 * classes by the product m n k of their sizes: class c has 4^c <= m n k < 4^(c+1), the last one has all above, too.
 *
 * HPLCAST_SHAPE_SUMS(X) expands X(m, n, k) for each sum: the exponents of m, n and k. */
#ifndef HPLCAST_SHAPE_SUMS_H
#define HPLCAST_SHAPE_SUMS_H

/* clang-format off */
#define HPLCAST_SHAPE_SUMS(X)                                                         \
  X(1, 0, 0) X(0, 1, 0) X(0, 0, 1) X(1, 1, 0) X(1, 0, 1) X(0, 1, 1) X(1, 1, 1)        \
  X(0, 2, 0) /* dtrsv */
/* clang-format on */

#define HPLCAST_COUNT_OF_SUM(m, n, k) +1
enum {
  HPLCAST_SHAPE_SUM_COUNT = 0 HPLCAST_SHAPE_SUMS(HPLCAST_COUNT_OF_SUM), /* the number of calls is not one of them */
  HPLCAST_SHAPE_CLASS_COUNT = 32
};
#undef HPLCAST_COUNT_OF_SUM

#endif
