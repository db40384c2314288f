/* Shows the MPI calls of HPL to activity.c. */
#include <mpi.h>
#include <stdlib.h>

#include "wrap.h"

/* Of a communicator: the ranks in MPI_COMM_WORLD of its ranks, in memory of malloc; null if there is none. */
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

static int forget(MPI_Comm comm, int key, void* ranks, void* state) {
  (void)comm, (void)key, (void)state;
  free(ranks);
  return MPI_SUCCESS;
}

/* -1 for a wildcard. MPI keeps the ranks of a communicator with it, once they were asked for. */
static int world_rank_of(int rank, MPI_Comm comm) {
  static int key = MPI_KEYVAL_INVALID;
  int* ranks = NULL;
  int known = 0;
  if (rank < 0) return -1;
  if (comm == MPI_COMM_WORLD) return rank;
  if (key == MPI_KEYVAL_INVALID) (void)PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
  (void)PMPI_Comm_get_attr(comm, key, &ranks, &known);
  if (!known) (void)PMPI_Comm_set_attr(comm, key, ranks = translated(comm));
  return ranks == NULL ? -1 : ranks[rank];
}

/* A request as a number that can be compared: a pointer in Open MPI, an integer elsewhere. */
static const void* name_of(const MPI_Request* request) {
  return request == NULL || *request == MPI_REQUEST_NULL ? NULL : (const void*)(size_t)*request;
}

/* Calls with a message have the same body but for the call. `made`: the request that it makes, or null. */
#define SHOW(operation, peer, made, call)                                                     \
  hplcast_call_begin(operation, world_rank_of(peer, comm), tag, bytes_of(count, type), NULL); \
  const int result = call;                                                                    \
  hplcast_call_end(name_of(made), 1);                                                         \
  return result

WRAP(int, MPI_Send, const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  SHOW(HPLCAST_MPI_SEND, to, NULL, __real_MPI_Send(data, count, type, to, tag, comm));
}

WRAP(int, MPI_Ssend, const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  SHOW(HPLCAST_MPI_SSEND, to, NULL, __real_MPI_Ssend(data, count, type, to, tag, comm));
}

WRAP(int, MPI_Issend, const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
     MPI_Request* request) {
  SHOW(HPLCAST_MPI_ISSEND, to, request, __real_MPI_Issend(data, count, type, to, tag, comm, request));
}

WRAP(int, MPI_Recv, void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  SHOW(HPLCAST_MPI_RECV, from, NULL, __real_MPI_Recv(data, count, type, from, tag, comm, status));
}

WRAP(int, MPI_Irecv, void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  SHOW(HPLCAST_MPI_IRECV, from, request, __real_MPI_Irecv(data, count, type, from, tag, comm, request));
}

WRAP(int, MPI_Wait, MPI_Request* request, MPI_Status* status) {
  hplcast_call_begin(HPLCAST_MPI_WAIT, -1, 0, 0, name_of(request));
  const int result = __real_MPI_Wait(request, status);
  hplcast_call_end(NULL, 1);
  return result;
}

WRAP(int, MPI_Iprobe, int from, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  hplcast_call_begin(HPLCAST_MPI_IPROBE, world_rank_of(from, comm), tag, 0, NULL);
  const int result = __real_MPI_Iprobe(from, tag, comm, found, status);
  hplcast_call_end(NULL, *found);
  return result;
}
