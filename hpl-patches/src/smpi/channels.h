/* Tells the runtime of the messages of HPL, so that it can turn polling loops into waits. */
#ifndef HPLCAST_CHANNELS_H
#define HPLCAST_CHANNELS_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* A communicator's ranks in MPI_COMM_WORLD, computed once and kept with it. */
static inline int* new_rank_table(MPI_Comm comm) {
  MPI_Group world, group;
  int size = 0, rank;
  int* own;
  int* table;
  (void)PMPI_Comm_size(comm, &size);
  (void)PMPI_Comm_group(MPI_COMM_WORLD, &world);
  (void)PMPI_Comm_group(comm, &group);
  own = malloc((size_t)size * sizeof *own);
  table = malloc((size_t)size * sizeof *table);
  for (rank = 0; rank < size; ++rank) own[rank] = rank;
  (void)PMPI_Group_translate_ranks(group, size, own, world, table);
  free(own);
  (void)PMPI_Group_free(&group);
  (void)PMPI_Group_free(&world);
  return table;
}

/* The attribute of a communicator is the truth; it takes SMPI long to find it. */
typedef struct {
  MPI_Comm comm;
  const int* ranks;
} known_table;

static known_table* known(MPI_Comm comm) {
  enum { places = 16384 };
  static known_table all[places];
  return &all[((uintptr_t)comm >> 5) % places];
}

static int free_table(MPI_Comm comm, int key, void* table, void* extra) {
  (void)key;
  (void)extra;
  known(comm)->ranks = NULL;
  free(table);
  return MPI_SUCCESS;
}

static inline const int* world_ranks(MPI_Comm comm) {
  static int key = MPI_KEYVAL_INVALID;
  known_table* place = known(comm);
  int* table = NULL;
  int found = 0;
  if (place->comm == comm && place->ranks != NULL) return place->ranks;
  if (key == MPI_KEYVAL_INVALID) (void)PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_table, &key, NULL);
  (void)PMPI_Comm_get_attr(comm, key, (void*)&table, &found);
  if (!found) {
    table = new_rank_table(comm);
    (void)PMPI_Comm_set_attr(comm, key, table);
  }
  place->comm = comm;
  place->ranks = table;
  return table;
}

/* The two ends of a message as the runtime knows them: of one that the caller sends, or receives. A wildcard stays one. */
static inline hplcast_channel channel_to(int destination, int tag, MPI_Comm comm) {
  const hplcast_channel result = {hplcast_world_rank(), world_ranks(comm)[destination], tag};
  return result;
}

static inline hplcast_channel channel_from(int source, int tag, MPI_Comm comm) {
  const hplcast_channel result = {source < 0 ? source : world_ranks(comm)[source], hplcast_world_rank(), tag};
  return result;
}

static inline void sent(int to, int tag, MPI_Comm comm) {
  if (to >= 0) {
    const hplcast_channel message = channel_to(to, tag, comm);
    hplcast_message_sent(&message);
  }
}

static inline void taken(int from, int tag, MPI_Comm comm) {
  if (from >= 0) {
    const hplcast_channel message = channel_from(from, tag, comm);
    hplcast_message_taken(&message);
  }
}

#endif
