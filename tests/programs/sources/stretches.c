/* Code between calls of MPI that marks nothing: `n` steps before each call, `n` squared in between, a recursion with a
 * call at each depth, a loop that polls, two calls with nothing between them, and memory that is freed. With four
 * arguments also calls in a region and in the one around it, with five also regions before MPI_Init and while observing
 * is switched off. Prints the elapsed time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "hplcast/region.h"

static volatile double sum;

static void steps(long count) {
  for (long i = 0; i < count; ++i) sum += (double)i;
}

/* As many basic blocks, and ten times the work. */
static void long_steps(long count) {
  for (long i = 0; i < count; ++i) {
    sum += 1, sum += 2, sum += 3, sum += 4, sum += 5, sum += 6, sum += 7, sum += 8, sum += 9, sum += 10;
  }
}

/* With work after it, so that it is no loop. */
static __attribute__((noinline)) void recurse(long depth) {
  steps(10 * depth);
  MPI_Barrier(MPI_COMM_WORLD);
  if (depth > 1) recurse(depth - 1);
  steps(1);
}

static void region_of(const char* name, long count, int begins, int ends) {
  HPLCAST_REGION_BEGIN(name, 1, 1, 1)
  steps(count);
  if (begins >= 0) MPI_Pcontrol(begins);
  steps(count);
  if (ends >= 0) MPI_Pcontrol(ends);
  steps(count);
  HPLCAST_REGION_END(name)
}

int main(int argc, char** argv) {
  if (argc > 5) region_of("early", atol(argv[1]) * atol(argv[1]), -1, -1);
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long n = argc > 1 ? atol(argv[1]) : 100;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  for (int i = 0; i < 3; ++i) {
    steps(n);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    steps(n * n);
    MPI_Allreduce(MPI_IN_PLACE, (void*)&(double){1}, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  recurse(n / 10);
  if (argc > 3) {
    long_steps(n * n);
    MPI_Alltoall(&rank, 1, MPI_INT, (int[64]){0}, 1, MPI_INT, MPI_COMM_WORLD);
  }
  if (argc > 4) {
    int one = 1, sum = 0;
    steps(n * n);
    HPLCAST_REGION_BEGIN("outer", 1, 1, 1)
    steps(2 * n * n);
    HPLCAST_REGION_BEGIN("inner", 1, 1, 1)
    steps(n * n);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    steps(3 * n * n);
    HPLCAST_REGION_END("inner")
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    HPLCAST_REGION_END("outer")
    steps(n * n);
    MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (argc > 5) {
    region_of("whole", n * n, -1, -1);
    region_of("cut", n * n, 0, -1);
    region_of("late", n * n, 1, -1);
    region_of("interrupted", n * n, 0, 1);
    region_of("whole", n * n, -1, -1);
  }
  if (argc == 3 && rank == 0) MPI_Bcast(&(int){0}, 1, MPI_INT, 0, MPI_COMM_SELF); /* a call that others do not have */
  if (rank == 1) {
    steps(n);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else if (rank == 0 && size > 1) {
    int has_come = 0, from = 0;
    while (!has_come) MPI_Iprobe(1, 0, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE);
    MPI_Recv(&from, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const double time_s = MPI_Wtime() - begin_s;
  if (rank == 0) printf("elapsed %.9f s\n", time_s);
  void* volatile memory = malloc(4 << 20);
  free(memory);
  MPI_Finalize();
  return 0;
}
