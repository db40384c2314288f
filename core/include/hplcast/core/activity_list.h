/* What ranks of HPL do, for C and C++: the one list of its phases, and of the MPI operations that are told apart. Enums
 * (hplcast_smpi.h), names in statistics, tables and traces, of simulated and of real runs, follow from it. X(NAME,
 * name): HPLCAST_PHASE_NAME or HPLCAST_MPI_NAME in C; the name in files. */
#ifndef HPLCAST_ACTIVITY_LIST_H
#define HPLCAST_ACTIVITY_LIST_H

/* clang-format off */
#define HPLCAST_PHASES(X)                                                             \
  X(OTHER, other) /* the rest, from the beginning of HPL_pdgesv to its end */         \
  X(FACTORISATION, factorisation)                                                     \
  X(BROADCAST, broadcast)                                                             \
  X(SWAP, swap)                                                                       \
  X(UPDATE, update)                                                                   \
  X(SOLVE, solve)

#define HPLCAST_MPI_OPERATIONS(X)                                                     \
  X(SEND, send)                                                                       \
  X(SSEND, ssend)                                                                     \
  X(ISEND, isend)                                                                     \
  X(ISSEND, issend)                                                                   \
  X(RECV, recv)                                                                       \
  X(IRECV, irecv)                                                                     \
  X(SENDRECV, sendrecv) /* bytes: of the message sent */                              \
  X(IPROBE, iprobe)                                                                   \
  X(TEST, test)                                                                       \
  X(WAIT, wait)                                                                       \
  X(COLLECTIVE, collective)
/* clang-format on */

/* What xhpl-instrumented adds up over the calls of a kernel, for C and C++: sums of monomials of the sizes. The
 * expected time of a model over exactly these calls is then its coefficients times the sums. Calls are kept apart in
 * classes by the product m n k of their sizes: class c has 4^c <= m n k < 4^(c+1), the last one has all above, too.
 *
 * HPLCAST_SHAPE_SUMS(X) expands X(m, n, k) for each sum: the exponents of m, n and k. */

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
