/* What MPI says of messages and SMPI does in another way. Tells what is wrong, and prints "wrong COUNT". 6 ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "checked_elements.h"

enum { small = 10, eager = 3000 };
static double out[eager], in[eager], more[eager];

/* Two elements of every third of n, whose type is freed before they are sent for the first time. */
static void persistent_of_freed_type(int n) {
  MPI_Datatype freed, other;
  MPI_Request requests[2];
  MPI_Type_vector(n, 2, 3, MPI_DOUBLE, &freed);
  MPI_Type_commit(&freed);
  MPI_Send_init(out, 1, freed, right(), 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, 1, freed, left(), 9, MPI_COMM_WORLD, &requests[1]);
  MPI_Type_free(&freed);
  MPI_Type_vector(n / 2, 1, 5, MPI_DOUBLE, &other); /* perhaps at the same address */
  MPI_Type_commit(&other);
  for (int step = 1; step < 3; ++step) {
    fill(out, 3 * n, step);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int right_ones = 0;
    for (int i = 0; i < 3 * n - 1; ++i) right_ones += i % 3 == 2 || in[i] == element(left(), step, i);
    expect(right_ones == 3 * n - 1, "a persistent request of a type that is freed");
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
  MPI_Type_free(&other);
}

/* Elements of 2 and 4 GiB, of which nobody looks at the content, take the time of as many doubles. */
static void long_types(void) {
  const int half = 1 << 28;
  MPI_Datatype type[2];
  double took_s[4] = {0};
  if (rank > 1) return;
  for (int i = 0; i < 2; ++i) {
    MPI_Type_contiguous(half, i == 0 ? MPI_DOUBLE : MPI_2DOUBLE_PRECISION, &type[i]);
    MPI_Type_commit(&type[i]);
  }
  for (int i = 0; i < 4; ++i) {
    const double begin_s = MPI_Wtime();
    const MPI_Datatype one = i < 2 ? type[i] : MPI_DOUBLE;
    const int count = i < 2 ? 1 : (i - 1) * half;
    if (rank == 0) MPI_Ssend(NULL, count, one, 1, 14, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(NULL, count, one, 0, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    took_s[i] = MPI_Wtime() - begin_s;
  }
  for (int i = 0; i < 2; ++i) {
    expect(fabs(took_s[i] / took_s[i + 2] - 1) < 1e-3, "an element of GiB");
    MPI_Type_free(&type[i]);
  }
}

/* MPI_Testall leaves requests and statuses as they are until all have ended. */
static void some_of_all(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int ended = 0;
  fill(out, small, 4);
  if (rank == 1) {
    MPI_Send(out, small, MPI_DOUBLE, 0, 35, MPI_COMM_WORLD);
    MPI_Send(out, small, MPI_DOUBLE, 0, 36, MPI_COMM_WORLD);
    MPI_Recv(in, small, MPI_DOUBLE, 0, 37, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, small, MPI_DOUBLE, 0, 38, MPI_COMM_WORLD);
  }
  if (rank != 0) return;
  MPI_Irecv(in, small, MPI_DOUBLE, 1, 35, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(more, small, MPI_DOUBLE, 1, 38, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv(more + small, small, MPI_DOUBLE, 1, 36, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  statuses[0].MPI_TAG = 99;
  for (int i = 0; i < 3; ++i) {
    MPI_Testall(2, requests, &ended, statuses);
    expect(!ended && requests[0] != MPI_REQUEST_NULL && statuses[0].MPI_TAG == 99, "MPI_Testall before all have ended");
  }
  MPI_Send(out, small, MPI_DOUBLE, 1, 37, MPI_COMM_WORLD);
  while (!ended) MPI_Testall(2, requests, &ended, statuses);
  expect(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "MPI_Testall when all have ended");
  expect_status(&statuses[0], 1, 35, small, "status of the first");
  expect_status(&statuses[1], 1, 38, small, "status of the last");
  expect_from(in, small, 1, 4, "the first");
  expect_from(more, small, 1, 4, "the last");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  persistent_of_freed_type(eager / 3);
  long_types();
  some_of_all();
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\n", all);
  MPI_Finalize();
  return 0;
}
