/* Collective operations on all ranks, and on each half of them, with messages of several lengths. Prints for each
 * operation and length how many values were wrong, and the longest time that a rank was in it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 32, longest = 20000 };

static const int lengths[] = {1, 100, 3000, longest};
static double in[most_ranks * longest], out[most_ranks * longest];
static int rank, size, count, wrong;
static MPI_Comm team;

/* What rank `from` has for rank `to` at place i. */
static double value(int from, int to, int i) {
  return 1000 * from + 10 * to + i % 7;
}

static void fill(double* into) {
  for (int to = 0; to < size; ++to)
    for (int i = 0; i < count; ++i) into[to * count + i] = value(rank, to, i);
}

static void expect(double found, double expected) {
  if (found != expected) ++wrong;
}

/* Block `block` of what arrived. */
static void expect_block(int block, int from, int to) {
  for (int i = 0; i < count; ++i) expect(out[block * count + i], value(from, to, i));
}

static void expect_sum(int to) {
  for (int i = 0; i < count; ++i) {
    double sum = 0;
    for (int from = 0; from < size; ++from) sum += value(from, to, i);
    expect(out[i], sum);
  }
}

static int last(void) {
  return size - 1;
}

static void barrier(void) {
  MPI_Barrier(team);
}

static void broadcast(void) {
  if (rank == last()) memcpy(out, in, sizeof(double) * (size_t)count);
  MPI_Bcast(out, count, MPI_DOUBLE, last(), team);
  expect_block(0, last(), 0);
}

static void reduce(void) {
  MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, last(), team);
  if (rank == last()) expect_sum(0);
}

static void reduce_in_place(void) {
  fill(out);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : in, out, count, MPI_DOUBLE, MPI_SUM, 0, team);
  if (rank == 0) expect_sum(0);
}

static void allreduce(void) {
  MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, team);
  expect_sum(0);
}

static void allreduce_in_place(void) {
  fill(out);
  MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_DOUBLE, MPI_SUM, team);
  expect_sum(0);
}

static void allreduce_maxloc(void) {
  struct {
    double largest;
    int of;
  } mine = {(rank * 3) % size, rank}, best;
  MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, team);
  for (int other = 0; other < size; ++other)
    if ((other * 3) % size > best.largest || ((other * 3) % size == best.largest && other < best.of)) ++wrong;
}

/* All numbers of an element of one type: those that begin with the larger number. */
static void larger(void* left, void* right, int* elements, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  for (int i = 0; i < *elements; ++i) {
    const size_t at = (size_t)i * (size_t)bytes;
    if (*(double*)((char*)left + at) > *(double*)((char*)right + at))
      memcpy((char*)right + at, (char*)left + at, (size_t)bytes);
  }
}

static void allreduce_rows(void) {
  MPI_Datatype row;
  MPI_Op op;
  MPI_Type_contiguous(count, MPI_DOUBLE, &row);
  MPI_Type_commit(&row);
  MPI_Op_create(larger, 1, &op);
  MPI_Allreduce(in, out, 1, row, op, team);
  expect_block(0, last(), 0);
  MPI_Op_free(&op);
  MPI_Type_free(&row);
}

/* Not commutative: the first of all ranks. */
static void first_of(void* left, void* right, int* elements, MPI_Datatype* type) {
  (void)type;
  memcpy(right, left, sizeof(double) * (size_t)*elements);
}

static void reduce_first(void) {
  MPI_Op op;
  MPI_Op_create(first_of, 0, &op);
  MPI_Reduce(in, out, count, MPI_DOUBLE, op, last(), team);
  if (rank == last()) expect_block(0, 0, 0);
  MPI_Op_free(&op);
}

static void gather(void) {
  MPI_Gather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, last(), team);
  for (int from = 0; from < size && rank == last(); ++from) expect_block(from, from, 0);
}

static void allgather(void) {
  MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, team);
  for (int from = 0; from < size; ++from) expect_block(from, from, 0);
}

static void scatter(void) {
  MPI_Scatter(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, team);
  expect_block(0, 0, rank);
}

static void alltoall(void) {
  MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, team);
  for (int from = 0; from < size; ++from) expect_block(from, from, rank);
}

static void reduce_scatter(void) {
  MPI_Reduce_scatter_block(in, out, count, MPI_DOUBLE, MPI_SUM, team);
  expect_sum(rank);
}

/* SMPI sends its messages. */
static void scan(void) {
  MPI_Scan(in, out, count, MPI_DOUBLE, MPI_MAX, team);
  expect_block(0, rank, 0);
}

static void iallreduce(void) {
  MPI_Request request;
  MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, team, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_sum(0);
}

/* A receive of any tag that is posted before gets nothing of an operation. */
static void beside_messages(void) {
  double got = 0, sent = rank;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_DOUBLE, (rank + 1) % size, MPI_ANY_TAG, team, &request);
  MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, team);
  expect_sum(0);
  MPI_Send(&sent, 1, MPI_DOUBLE, (rank + size - 1) % size, 5, team);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(got, (rank + 1) % size);
}

static const struct {
  const char* name;
  void (*call)(void);
} operations[] = {{"barrier", barrier},
                  {"bcast", broadcast},
                  {"reduce", reduce},
                  {"reduce in place", reduce_in_place},
                  {"reduce first", reduce_first},
                  {"allreduce", allreduce},
                  {"allreduce in place", allreduce_in_place},
                  {"allreduce maxloc", allreduce_maxloc},
                  {"allreduce rows", allreduce_rows},
                  {"gather", gather},
                  {"allgather", allgather},
                  {"scatter", scatter},
                  {"alltoall", alltoall},
                  {"reduce_scatter", reduce_scatter},
                  {"scan", scan},
                  {"iallreduce", iallreduce},
                  {"beside messages", beside_messages}};

static void run(MPI_Comm communicator, const char* where) {
  team = communicator;
  MPI_Comm_rank(team, &rank);
  MPI_Comm_size(team, &size);
  for (size_t operation = 0; operation < sizeof operations / sizeof operations[0]; ++operation) {
    for (size_t length = 0; length < sizeof lengths / sizeof lengths[0]; ++length) {
      count = lengths[length];
      wrong = 0;
      fill(in);
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin_s = MPI_Wtime();
      operations[operation].call();
      double time_s = MPI_Wtime() - begin_s, longest_s = 0;
      int all_wrong = 0, world_rank = 0;
      MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
      MPI_Reduce(&time_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
      if (world_rank == 0)
        printf("%s of %d on %s: wrong %d, %.12f s\n", operations[operation].name, count, where, all_wrong, longest_s);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int world_rank = 0;
  MPI_Comm half;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  run(MPI_COMM_WORLD, "all");
  run(half, "halves");
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
