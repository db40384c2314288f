/* A simulated MPI program that calls every collective of MPI, and receives from any source, with messages of the sizes
 * given (numbers of int). It checks what arrives, and prints for each call "rank what count time". A wrong value ends
 * it with code 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

typedef struct {
  int rank, size, count;
  int *in, *out;                    /* count * size each */
  int *counts, *first, *first_byte; /* for the calls with a vector: all alike, so that one check does for both */
  MPI_Datatype* types;
} team;

/* What process `from` has for process `to` at place i. */
static int value(int from, int to, int i) {
  return 1000 * from + 10 * to + i % 7;
}

static void check(const team* t, const char* what, int at, int found, int expected) {
  if (found == expected) return;
  fprintf(stderr, "%s with %d numbers: rank %d has %d at %d, expected %d\n", what, t->count, t->rank, found, at,
          expected);
  exit(1);
}

/* The sum over processes `first` to `last` - 1 of their values for process `to`. */
static int sum(int first, int last, int to, int i) {
  int result = 0;
  for (; first < last; ++first) result += value(first, to, i);
  return result;
}

static void fill(team* t) {
  int to, i;
  for (to = 0; to < t->size; ++to)
    for (i = 0; i < t->count; ++i) t->in[to * t->count + i] = value(t->rank, to, i);
  memset(t->out, 255, sizeof(int) * (size_t)(t->count * t->size));
}

/* Block `block` of what arrived is that of process `from` for process `to`. */
static void check_block(const team* t, const char* what, int block, int from, int to) {
  int i;
  for (i = 0; i < t->count; ++i) check(t, what, i, t->out[block * t->count + i], value(from, to, i));
}

static void check_sum(const team* t, const char* what, int first, int last, int to) {
  int i;
  for (i = 0; i < t->count; ++i) check(t, what, i, t->out[i], sum(first, last, to, i));
}

enum { root = 1 };

/* A call that blocks; with a request, its sibling that does not. */
#define CALL(blocking, nonblocking, ...)                 \
  do {                                                   \
    if (request == NULL)                                 \
      blocking(__VA_ARGS__, MPI_COMM_WORLD);             \
    else                                                 \
      nonblocking(__VA_ARGS__, MPI_COMM_WORLD, request); \
  } while (0)

static void start_barrier(team* t, MPI_Request* request) {
  (void)t;
  if (request == NULL)
    MPI_Barrier(MPI_COMM_WORLD);
  else
    MPI_Ibarrier(MPI_COMM_WORLD, request);
}
static void check_nothing(const team* t, const char* what) {
  (void)t;
  (void)what;
}

static void start_bcast(team* t, MPI_Request* request) {
  if (t->rank == root) memcpy(t->out, t->in, sizeof(int) * (size_t)t->count);
  CALL(MPI_Bcast, MPI_Ibcast, t->out, t->count, MPI_INT, root);
}
static void check_bcast(const team* t, const char* what) {
  check_block(t, what, 0, root, 0);
}

static void start_reduce(team* t, MPI_Request* request) {
  CALL(MPI_Reduce, MPI_Ireduce, t->in, t->out, t->count, MPI_INT, MPI_SUM, root);
}
static void check_reduce(const team* t, const char* what) {
  if (t->rank == root) check_sum(t, what, 0, t->size, 0);
}

static void start_allreduce(team* t, MPI_Request* request) {
  CALL(MPI_Allreduce, MPI_Iallreduce, t->in, t->out, t->count, MPI_INT, MPI_SUM);
}
static void check_allreduce(const team* t, const char* what) {
  check_sum(t, what, 0, t->size, 0);
}

static void start_gather(team* t, MPI_Request* request) {
  CALL(MPI_Gather, MPI_Igather, t->in, t->count, MPI_INT, t->out, t->count, MPI_INT, root);
}
static void start_gatherv(team* t, MPI_Request* request) {
  CALL(MPI_Gatherv, MPI_Igatherv, t->in, t->count, MPI_INT, t->out, t->counts, t->first, MPI_INT, root);
}
static void check_gather(const team* t, const char* what) {
  int from;
  for (from = 0; from < t->size && t->rank == root; ++from) check_block(t, what, from, from, 0);
}

static void start_allgather(team* t, MPI_Request* request) {
  CALL(MPI_Allgather, MPI_Iallgather, t->in, t->count, MPI_INT, t->out, t->count, MPI_INT);
}
static void start_allgatherv(team* t, MPI_Request* request) {
  CALL(MPI_Allgatherv, MPI_Iallgatherv, t->in, t->count, MPI_INT, t->out, t->counts, t->first, MPI_INT);
}
static void check_allgather(const team* t, const char* what) {
  int from;
  for (from = 0; from < t->size; ++from) check_block(t, what, from, from, 0);
}

static void start_scatter(team* t, MPI_Request* request) {
  CALL(MPI_Scatter, MPI_Iscatter, t->in, t->count, MPI_INT, t->out, t->count, MPI_INT, root);
}
static void start_scatterv(team* t, MPI_Request* request) {
  CALL(MPI_Scatterv, MPI_Iscatterv, t->in, t->counts, t->first, MPI_INT, t->out, t->count, MPI_INT, root);
}
static void check_scatter(const team* t, const char* what) {
  check_block(t, what, 0, root, t->rank);
}

static void start_alltoall(team* t, MPI_Request* request) {
  CALL(MPI_Alltoall, MPI_Ialltoall, t->in, t->count, MPI_INT, t->out, t->count, MPI_INT);
}
static void start_alltoallv(team* t, MPI_Request* request) {
  CALL(MPI_Alltoallv, MPI_Ialltoallv, t->in, t->counts, t->first, MPI_INT, t->out, t->counts, t->first, MPI_INT);
}
static void start_alltoallw(team* t, MPI_Request* request) {
  CALL(MPI_Alltoallw, MPI_Ialltoallw, t->in, t->counts, t->first_byte, t->types, t->out, t->counts, t->first_byte,
       t->types);
}
static void check_alltoall(const team* t, const char* what) {
  int from;
  for (from = 0; from < t->size; ++from) check_block(t, what, from, from, t->rank);
}

static void start_reduce_scatter(team* t, MPI_Request* request) {
  CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, t->in, t->out, t->counts, MPI_INT, MPI_SUM);
}
static void start_reduce_scatter_block(team* t, MPI_Request* request) {
  CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, t->in, t->out, t->count, MPI_INT, MPI_SUM);
}
static void check_reduce_scatter(const team* t, const char* what) {
  check_sum(t, what, 0, t->size, t->rank);
}

static void start_scan(team* t, MPI_Request* request) {
  CALL(MPI_Scan, MPI_Iscan, t->in, t->out, t->count, MPI_INT, MPI_SUM);
}
static void check_scan(const team* t, const char* what) {
  check_sum(t, what, 0, t->rank + 1, 0);
}

static void start_exscan(team* t, MPI_Request* request) {
  CALL(MPI_Exscan, MPI_Iexscan, t->in, t->out, t->count, MPI_INT, MPI_SUM);
}
static void check_exscan(const team* t, const char* what) {
  if (t->rank > 0) check_sum(t, what, 0, t->rank, 0);
}

/* All send to the root, which receives from any: in the order in which they come. */
static void start_any_source(team* t, MPI_Request* request) {
  int i;
  MPI_Status status;
  if (t->rank != root && request == NULL) MPI_Send(t->in, t->count, MPI_INT, root, t->rank, MPI_COMM_WORLD);
  if (t->rank != root && request != NULL) MPI_Isend(t->in, t->count, MPI_INT, root, t->rank, MPI_COMM_WORLD, request);
  if (t->rank != root) return;
  for (i = 1; i < t->size; ++i) {
    MPI_Request received;
    if (request == NULL) {
      MPI_Recv(t->out, t->count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    } else {
      MPI_Irecv(t->out, t->count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &received);
      MPI_Wait(&received, &status);
    }
    check(t, "any source", 0, status.MPI_TAG, status.MPI_SOURCE);
    check_block(t, "any source", 0, status.MPI_SOURCE, 0);
  }
  if (request != NULL) *request = MPI_REQUEST_NULL;
}

typedef struct {
  const char* what;
  void (*start)(team* t, MPI_Request* request);
  void (*check)(const team* t, const char* what);
} collective;

static const collective collectives[] = {{"barrier", start_barrier, check_nothing},
                                         {"bcast", start_bcast, check_bcast},
                                         {"reduce", start_reduce, check_reduce},
                                         {"allreduce", start_allreduce, check_allreduce},
                                         {"gather", start_gather, check_gather},
                                         {"gatherv", start_gatherv, check_gather},
                                         {"allgather", start_allgather, check_allgather},
                                         {"allgatherv", start_allgatherv, check_allgather},
                                         {"scatter", start_scatter, check_scatter},
                                         {"scatterv", start_scatterv, check_scatter},
                                         {"alltoall", start_alltoall, check_alltoall},
                                         {"alltoallv", start_alltoallv, check_alltoall},
                                         {"alltoallw", start_alltoallw, check_alltoall},
                                         {"reduce_scatter", start_reduce_scatter, check_reduce_scatter},
                                         {"reduce_scatter_block", start_reduce_scatter_block, check_reduce_scatter},
                                         {"scan", start_scan, check_scan},
                                         {"exscan", start_exscan, check_exscan},
                                         {"any_source", start_any_source, check_nothing}};

static void run(team* t, const collective* c, int blocking) {
  MPI_Request request = MPI_REQUEST_NULL;
  double start_s;
  fill(t);
  MPI_Barrier(MPI_COMM_WORLD);
  start_s = hplcast_clock_s();
  c->start(t, blocking ? NULL : &request);
  if (!blocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%d %s%s %d %a\n", t->rank, blocking ? "" : "i", c->what, t->count, hplcast_clock_s() - start_s);
  c->check(t, c->what);
}

static void prepare(team* t, int count) {
  const size_t size = (size_t)t->size;
  int i;
  t->count = count;
  t->in = malloc(sizeof(int) * size * (size_t)count);
  t->out = malloc(sizeof(int) * size * (size_t)count);
  t->counts = malloc(sizeof(int) * size);
  t->first = malloc(sizeof(int) * size);
  t->first_byte = malloc(sizeof(int) * size);
  t->types = malloc(sizeof(MPI_Datatype) * size);
  for (i = 0; i < t->size; ++i) {
    t->counts[i] = count;
    t->first[i] = i * count;
    t->first_byte[i] = i * count * (int)sizeof(int);
    t->types[i] = MPI_INT;
  }
}

static void release(team* t) {
  free(t->in);
  free(t->out);
  free(t->counts);
  free(t->first);
  free(t->first_byte);
  free(t->types);
}

/* The last call of all ranks: most have ended before the root asks for their messages. */
static void reduce_what_others_left(team* t) {
  const collective last = {"last_reduce", start_reduce, check_reduce};
  double start_s;
  prepare(t, 1);
  fill(t);
  if (t->rank == root) hplcast_delay(1);
  start_s = hplcast_clock_s();
  last.start(t, NULL);
  last.check(t, last.what);
  printf("%d %s %d %a\n", t->rank, last.what, t->count, hplcast_clock_s() - start_s);
  release(t);
}

int main(int argc, char** argv) {
  team t;
  int i, blocking;
  size_t c;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &t.size);
  for (i = 1; i < argc; ++i) {
    prepare(&t, atoi(argv[i]));
    for (c = 0; c < sizeof collectives / sizeof collectives[0]; ++c)
      for (blocking = 0; blocking < 2; ++blocking) run(&t, &collectives[c], blocking);
    release(&t);
  }
  reduce_what_others_left(&t);
  MPI_Finalize();
  return 0;
}
