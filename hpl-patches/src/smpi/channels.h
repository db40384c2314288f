/* What the runtime is told of the messages of HPL, so that it can turn polling loops into waits. */
#ifndef HPLCAST_CHANNELS_H
#define HPLCAST_CHANNELS_H

#include <mpi.h>
#include <stdlib.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

static int free_table(MPI_Comm comm, int key, void* table, void* extra) {
  (void)comm;
  (void)key;
  (void)extra;
  free(table);
  return MPI_SUCCESS;
}

/* Ranks in MPI_COMM_WORLD of the ranks of a communicator; computed once and kept with it. */
static const int* world_ranks(MPI_Comm comm) {
  static int key = MPI_KEYVAL_INVALID;
  int* table = NULL;
  int found = 0;
  if (key == MPI_KEYVAL_INVALID) (void)PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_table, &key, NULL);
  (void)PMPI_Comm_get_attr(comm, key, &table, &found);
  if (!found) {
    MPI_Group world, group;
    int size = 0, rank;
    (void)PMPI_Comm_size(comm, &size);
    (void)PMPI_Comm_group(MPI_COMM_WORLD, &world);
    (void)PMPI_Comm_group(comm, &group);
    table = malloc(2 * (size_t)size * sizeof *table);
    for (rank = 0; rank < size; ++rank) table[size + rank] = rank;
    (void)PMPI_Group_translate_ranks(group, size, table + size, world, table);
    (void)PMPI_Group_free(&group);
    (void)PMPI_Group_free(&world);
    (void)PMPI_Comm_set_attr(comm, key, table);
  }
  return table;
}

static inline int own_rank(MPI_Comm comm) {
  int rank = 0;
  (void)PMPI_Comm_rank(comm, &rank);
  return rank;
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
