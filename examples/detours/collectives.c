/* A series of collective operations with work between them, on simulated cores that detours take away now and then:
 *
 *   collectives barrier|allreduce|alltoall BYTES WORK_S COUNT
 *
 * Rank 0 prints the mean time of one step (work and operation) in seconds. Messages are those of libhplcast-smpi: what
 * the software spends in each is stretched by detours, and who waits pays the rest of one that runs when its message
 * arrives. collectives.sh compares runs with and without detours. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* All ranks share one process: there are no globals of a rank. */
typedef struct {
  int rank, size;
} place;

static hplcast_message message(int source, int destination, double bytes) {
  hplcast_message one;
  memset(&one, 0, sizeof one);
  one.channel.source = source;
  one.channel.destination = destination;
  one.channel.tag = 1;
  one.bytes = bytes;
  return one;
}

/* As MPI_Sendrecv: `bytes` to one rank, as many from another. */
static void exchange(int rank, int to, int from, double bytes) {
  const hplcast_message in = message(from, rank, bytes), out = message(rank, to, bytes);
  hplcast_request* request = hplcast_irecv(&in);
  hplcast_send(&out, 0);
  hplcast_wait(request);
}

static void receive(int rank, int from, double bytes) {
  const hplcast_message in = message(from, rank, bytes);
  hplcast_wait(hplcast_irecv(&in));
}

static void send(int rank, int to, double bytes) {
  const hplcast_message out = message(rank, to, bytes);
  hplcast_send(&out, 0);
}

/* Dissemination (Hensgen, Finkel and Manber 1988): ceil(log2 P) rounds. */
static void barrier(place at) {
  int distance;
  for (distance = 1; distance < at.size; distance *= 2)
    exchange(at.rank, (at.rank + distance) % at.size, (at.rank + at.size - distance) % at.size, 1);
}

/* Recursive doubling; ranks beyond a power of two hand over to others first. */
static void allreduce(place at, double bytes) {
  const int rank = at.rank;
  int pairs = 1, distance;
  while (2 * pairs <= at.size) pairs *= 2;
  if (rank >= pairs) {
    send(rank, rank - pairs, bytes);
    receive(rank, rank - pairs, bytes);
    return;
  }
  if (rank + pairs < at.size) receive(rank, rank + pairs, bytes);
  for (distance = 1; distance < pairs; distance *= 2) exchange(rank, rank ^ distance, rank ^ distance, bytes);
  if (rank + pairs < at.size) send(rank, rank + pairs, bytes);
}

/* P - 1 exchanges, each with another pair of ranks. */
static void alltoall(place at, double bytes) {
  int i;
  for (i = 1; i < at.size; ++i) exchange(at.rank, (at.rank + i) % at.size, (at.rank + at.size - i) % at.size, bytes);
}

int main(int argc, char* argv[]) {
  place at;
  double bytes, work_s, start_s;
  long count, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &at.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &at.size);
  if (argc != 5 || (strcmp(argv[1], "barrier") && strcmp(argv[1], "allreduce") && strcmp(argv[1], "alltoall")) ||
      (bytes = strtod(argv[2], NULL)) < 1 || (work_s = strtod(argv[3], NULL)) < 0 ||
      (count = strtol(argv[4], NULL, 10)) < 1) {
    if (at.rank == 0) fprintf(stderr, "usage: collectives barrier|allreduce|alltoall BYTES WORK_S COUNT\n");
    MPI_Finalize();
    return 2;
  }
  if (!hplcast_direct_messages()) {
    if (at.rank == 0) fprintf(stderr, "collectives: run it with -platform libhplcast-platform.so\n");
    MPI_Finalize();
    return 3;
  }
  start_s = hplcast_clock_s();
  for (i = 0; i < count; ++i) {
    hplcast_delay(work_s);
    if (strcmp(argv[1], "barrier") == 0) barrier(at);
    if (strcmp(argv[1], "allreduce") == 0) allreduce(at, bytes);
    if (strcmp(argv[1], "alltoall") == 0) alltoall(at, bytes);
  }
  if (at.rank == 0) printf("%.12g\n", (hplcast_clock_s() - start_s) / (double)count);
  hplcast_flush();
  MPI_Finalize();
  return 0;
}
