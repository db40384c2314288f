#include "world_ranks.h"

#include <stdlib.h>

#include "wrap.h"

typedef struct {
  MPI_Comm comm;
  int* ranks; /* null: a free place */
} known_comm;

/* HPL has three at a time. One that does not fit is not known. */
enum { places = 8 };
static known_comm known[places];

int world_rank_of(int rank, MPI_Comm comm) {
  if (rank < 0) return -1;
  if (comm == MPI_COMM_WORLD) return rank;
  for (int i = 0; i < places; ++i)
    if (known[i].ranks != NULL && known[i].comm == comm) return known[i].ranks[rank];
  return -1;
}

static int* translated(MPI_Comm comm) {
  int size = 0;
  MPI_Group world, group;
  (void)PMPI_Comm_size(comm, &size);
  int* ranks = malloc(2 * (size_t)size * sizeof *ranks); /* the second half: the ranks in `comm` */
  if (ranks == NULL) return NULL;
  for (int i = 0; i < size; ++i) ranks[size + i] = i;
  (void)PMPI_Comm_group(MPI_COMM_WORLD, &world);
  (void)PMPI_Comm_group(comm, &group);
  (void)PMPI_Group_translate_ranks(group, size, ranks + size, world, ranks);
  (void)PMPI_Group_free(&group);
  (void)PMPI_Group_free(&world);
  return ranks;
}

WRAP(int, MPI_Comm_split, MPI_Comm comm, int colour, int key, MPI_Comm* made) {
  const int status = __real_MPI_Comm_split(comm, colour, key, made);
  if (status != MPI_SUCCESS || *made == MPI_COMM_NULL) return status;
  for (int i = 0; i < places; ++i) {
    if (known[i].ranks != NULL) continue;
    known[i] = (known_comm){*made, translated(*made)};
    break;
  }
  return status;
}

WRAP(int, MPI_Comm_free, MPI_Comm* comm) {
  for (int i = 0; i < places; ++i) {
    if (known[i].ranks == NULL || known[i].comm != *comm) continue;
    free(known[i].ranks);
    known[i].ranks = NULL;
  }
  return __real_MPI_Comm_free(comm);
}
