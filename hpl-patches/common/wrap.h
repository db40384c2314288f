/* What replaced functions of HPL and MPI are made of. */
#ifndef HPLCAST_HPL_WRAP_H
#define HPLCAST_HPL_WRAP_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* The names with __real_ and __wrap_ are the linker's. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif

/* Definitions for the linker's --wrap, which leads all calls of `function` here; __real_function() is what it replaces.
 * WRAP(int, MPI_Abort, MPI_Comm comm, int status) { ... }: does not compile if HPL or MPI declares it otherwise. */
#define WRAP(result, function, ...)                          \
  __typeof__(function) __real_##function, __wrap_##function; \
  result __wrap_##function(__VA_ARGS__)

/* Variables of the calling rank in `table`, as those of file scope are shared by all ranks where SMPI does not
 * privatise: `bytes` bytes, zero at first. `table` is null at first. */
static inline void* of_calling_rank(void*** table, size_t bytes) {
  const int rank = hplcast_world_rank();
  if (*table == NULL) {
    int ranks = 0;
    (void)PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    *table = calloc((size_t)ranks, sizeof **table);
  }
  if (*table != NULL && (*table)[rank] == NULL) (*table)[rank] = calloc(1, bytes);
  if (*table == NULL || (*table)[rank] == NULL) {
    (void)fprintf(stderr, "xhpl-smpi: error: not enough memory for the variables of rank %d\n", rank);
    abort();
  }
  return (*table)[rank];
}

/* The size of a message. */
static inline double bytes_of(int count, MPI_Datatype type) {
  if (type == MPI_DOUBLE) return (double)count * sizeof(double); /* nearly always */
#ifdef PANEL_TYPE
  if (type == PANEL_TYPE) return (double)count * sizeof(double);
#endif
  MPI_Count bytes_of_item = 0;
  if (count > 0) (void)PMPI_Type_size_x(type, &bytes_of_item);
  if (bytes_of_item < 0) bytes_of_item += 1LL << 32; /* SMPI counts as an int */
  return (double)count * (double)bytes_of_item;
}

#endif
