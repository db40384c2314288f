/* Tells the runtime of the messages of HPL, so that it can turn polling loops into waits. */
#ifndef HPLCAST_CHANNELS_H
#define HPLCAST_CHANNELS_H

#include <mpi.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* HPL's communicators are those of the runtime, but for MPI_COMM_WORLD (mpi_calls.c). */
static inline const hplcast_communicator* communicator_of(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? hplcast_world() : (const hplcast_communicator*)comm;
}

static inline const int* world_ranks(MPI_Comm comm) {
  return communicator_of(comm)->world_ranks;
}

/* Number in MPI_COMM_WORLD of a rank in `comm`; a wildcard stays one. */
static inline int in_world(int rank, MPI_Comm comm) {
  return rank < 0 ? rank : world_ranks(comm)[rank];
}

/* The two ends of a message as the runtime knows them: of one that the caller sends, or receives. */
static inline hplcast_channel channel_to(int destination, int tag, MPI_Comm comm) {
  const hplcast_channel result = {hplcast_world_rank(), in_world(destination, comm), tag, 0};
  return result;
}

static inline hplcast_channel channel_from(int source, int tag, MPI_Comm comm) {
  const hplcast_channel result = {in_world(source, comm), hplcast_world_rank(), tag, 0};
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
