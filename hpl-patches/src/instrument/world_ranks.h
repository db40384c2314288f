/* Ranks in MPI_COMM_WORLD of the ranks in HPL's communicators. */
#ifndef HPLCAST_INSTRUMENT_WORLD_RANKS_H
#define HPLCAST_INSTRUMENT_WORLD_RANKS_H

#include <mpi.h>

/* -1 for a wildcard, and in a communicator that HPL did not make by MPI_Comm_split. */
int world_rank_of(int rank, MPI_Comm comm);

#endif
