/* Variables of one rank: those of file scope are shared by all ranks where SMPI does not privatise. */
#ifndef HPLCAST_PER_RANK_H
#define HPLCAST_PER_RANK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* Of the calling rank in `table`: `bytes` bytes, zero at first. `table` is null at first. */
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

#endif
