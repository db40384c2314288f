/* What the runtime is told of the messages of HPL, so that it can turn polling loops into waits. */
#ifndef HPLCAST_CHANNELS_H
#define HPLCAST_CHANNELS_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* A communicator's ranks in MPI_COMM_WORLD, and for each rank of MPI_COMM_WORLD its rank in the communicator (-1: none).
 * Computed once and kept with it. */
typedef struct {
  int size; /* of the communicator */
  int ranks[];
} rank_table;

static inline rank_table* new_rank_table(MPI_Comm comm) {
  MPI_Group world, group;
  int size = 0, all = 0, rank;
  rank_table* table;
  (void)PMPI_Comm_size(comm, &size);
  (void)PMPI_Comm_size(MPI_COMM_WORLD, &all);
  (void)PMPI_Comm_group(MPI_COMM_WORLD, &world);
  (void)PMPI_Comm_group(comm, &group);
  table = malloc(sizeof *table + ((size_t)size + (size_t)all) * sizeof(int));
  table->size = size;
  for (rank = 0; rank < all; ++rank) table->ranks[size + rank] = rank;
  (void)PMPI_Group_translate_ranks(group, size, table->ranks + size, world, table->ranks);
  for (rank = 0; rank < all; ++rank) table->ranks[size + rank] = -1;
  for (rank = 0; rank < size; ++rank) table->ranks[size + table->ranks[rank]] = rank;
  (void)PMPI_Group_free(&group);
  (void)PMPI_Group_free(&world);
  return table;
}

/* The attribute of a communicator is the truth; it takes SMPI long to find it. */
typedef struct {
  MPI_Comm comm;
  const rank_table* table;
} known_table;

static known_table* known(MPI_Comm comm) {
  enum { places = 16384 };
  static known_table all[places];
  return &all[((uintptr_t)comm >> 5) % places];
}

static int free_table(MPI_Comm comm, int key, void* table, void* extra) {
  (void)key;
  (void)extra;
  known(comm)->table = NULL;
  free(table);
  return MPI_SUCCESS;
}

static inline const rank_table* table_of(MPI_Comm comm) {
  static int key = MPI_KEYVAL_INVALID;
  known_table* place = known(comm);
  rank_table* table = NULL;
  int found = 0;
  if (place->comm == comm && place->table != NULL) return place->table;
  if (key == MPI_KEYVAL_INVALID) (void)PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_table, &key, NULL);
  (void)PMPI_Comm_get_attr(comm, key, (void*)&table, &found);
  if (!found) {
    table = new_rank_table(comm);
    (void)PMPI_Comm_set_attr(comm, key, table);
  }
  place->comm = comm;
  place->table = table;
  return table;
}

static inline const int* world_ranks(MPI_Comm comm) {
  return table_of(comm)->ranks;
}

static inline int own_rank(MPI_Comm comm) {
  const rank_table* table = table_of(comm);
  return table->ranks[table->size + hplcast_world_rank()];
}

/* The two ends of a message as the runtime knows them, for its handling of polling loops. A wildcard stays one. */
static inline hplcast_channel channel(int source, int destination, int tag, MPI_Comm comm) {
  const int* ranks = world_ranks(comm);
  hplcast_channel result;
  result.source = source < 0 ? source : ranks[source];
  result.destination = ranks[destination];
  result.tag = tag;
  return result;
}

static inline void sent(int to, int tag, MPI_Comm comm) {
  if (to >= 0) {
    const hplcast_channel message = channel(own_rank(comm), to, tag, comm);
    hplcast_message_sent(&message);
  }
}

static inline void taken(int from, int tag, MPI_Comm comm) {
  if (from >= 0) {
    const hplcast_channel message = channel(from, own_rank(comm), tag, comm);
    hplcast_message_taken(&message);
  }
}

#endif
