/* What modelled and observed calls have in common: the strides that routines of vectors tell, and the one shape of all
 * functions of MPI and ScaLAPACK. */
#ifndef HPLCAST_CALL_SHAPES_H
#define HPLCAST_CALL_SHAPES_H

#include <stddef.h>

/* The larger distance of elements; 1: they are neighbours. */
static inline double hplcast_stride(int one, int other) {
  const int distance = one < 0 ? -one : one, other_distance = other < 0 ? -other : other;
  const int larger = distance > other_distance ? distance : other_distance;
  return larger < 1 ? 1 : (double)larger;
}

/* The variants of a routine of vectors, and what follows its name then. Elements whole pages apart share one set of the
 * nearest cache, which holds a few of them, and those half a page apart two: rows of a matrix of 1024 doubles per
 * column are moved several times slower than those of one of 1000. */
enum hplcast_strides { HPLCAST_UNIT_STRIDE, HPLCAST_STRIDED, HPLCAST_HALF_ALIASED, HPLCAST_ALIASED };
#define HPLCAST_STRIDE_NAMES "", "/strided", "/half-aliased", "/aliased"
enum { HPLCAST_ALIAS_BYTES = 4096 };

static inline enum hplcast_strides hplcast_stride_class(int one, int other, size_t element_bytes) {
  if (one == 1 && other == 1) return HPLCAST_UNIT_STRIDE;
  const unsigned long long bytes = (unsigned long long)hplcast_stride(one, other) * element_bytes;
  if (bytes % HPLCAST_ALIAS_BYTES == 0) return HPLCAST_ALIASED;
  return bytes % (HPLCAST_ALIAS_BYTES / 2) == 0 ? HPLCAST_HALF_ALIASED : HPLCAST_STRIDED;
}

/* Functions of MPI and ScaLAPACK have no arguments other than integers and addresses, so one shape does for all: what
 * is more than a function takes is not looked at (calling conventions of x86-64 and AArch64). The most: 13 of
 * mpi_get_accumulate_. */
#define HPLCAST_TYPES (long, long, long, long, long, long, long, long, long, long, long, long, long, long)
#define HPLCAST_PARAMETERS \
  (long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n)
#define HPLCAST_ARGUMENTS (a, b, c, d, e, f, g, h, i, j, k, l, m, n)

#endif
