/* Elements that say who sent them and in which step, and what counts where they are wrong: of programs of messages. */
#pragma once

#include <mpi.h>
#include <stdio.h>

static int rank, ranks, wrong;

/* Of element i that rank `from` sends in step `step`. */
static double element(int from, int step, int i) {
  return 1e6 * from + 1e3 * step + i;
}

static void fill(double* x, int n, int step) {
  for (int i = 0; i < n; ++i) x[i] = element(rank, step, i);
}

static void expect(int truth, const char* what) {
  if (truth) return;
  ++wrong;
  fprintf(stderr, "rank %d: %s\n", rank, what);
}

static void expect_from(const double* x, int n, int from, int step, const char* what) {
  for (int i = 0; i < n; ++i) {
    if (x[i] == element(from, step, i)) continue;
    fprintf(stderr, "rank %d: element %d is %g\n", rank, i, x[i]);
    expect(0, what);
    return;
  }
}

static void expect_status(const MPI_Status* status, int source, int tag, int count, const char* what) {
  int found = -1;
  MPI_Get_count((MPI_Status*)status, MPI_DOUBLE, &found);
  expect(status->MPI_SOURCE == source && status->MPI_TAG == tag && found == count, what);
}

static int right(void) {
  return (rank + 1) % ranks;
}
static int left(void) {
  return (rank + ranks - 1) % ranks;
}
