/* MPI functions of a simulated program: the pending delay of the rank is spent before SMPI sees the call. The linker
 * turns calls of NAME into __wrap_NAME (--wrap). No function of MPI has arguments other than integers and addresses, so
 * one shape does for all: what is more than a function takes is not looked at (calling conventions of x86-64 and
 * AArch64). */
#ifndef HPLCAST_MPI_WRAP_H
#define HPLCAST_MPI_WRAP_H

#include "hplcast/smpi_models/hplcast_program.h"

/* The longest: mpi_get_accumulate_ with 13, mpi_dist_graph_create_adjacent_ with 11. */
#define HPLCAST_WRAP_MPI(NAME)                                                                                       \
  extern long __real_##NAME(long, long, long, long, long, long, long, long, long, long, long, long, long, long)      \
      __attribute__((weak));                                                                                         \
  long __wrap_##NAME(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, \
                     long m, long n) {                                                                               \
    hplcast_announce_mpi(#NAME);                                                                                     \
    hplcast_before_mpi();                                                                                            \
    const long result = __real_##NAME(a, b, c, d, e, f, g, h, i, j, k, l, m, n);                                     \
    hplcast_after_mpi();                                                                                             \
    return result;                                                                                                   \
  }

#endif
