/* What MPI says of messages and SMPI does in another way. Tells what is wrong, and prints "wrong COUNT". 6 ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "checked_elements.h"
#include "hplcast/region.h"

enum { small = 10, eager = 3000, big = 60000 };
static double out[eager], in[eager], more[eager], long_out[big];

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

/* Without content. */
static double time_of(int count, MPI_Datatype type, MPI_Status* status) {
  const double begin_s = MPI_Wtime();
  if (rank == 0) MPI_Ssend(NULL, count, type, 1, 14, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(NULL, count, type, 0, 14, MPI_COMM_WORLD, status);
  return MPI_Wtime() - begin_s;
}

static void expect_long(MPI_Status* status, MPI_Datatype type, MPI_Count doubles, const char* name) {
  int count = 0, flag = 1;
  MPI_Count all = 0;
  MPI_Get_count(status, type, &count);
  expect(count == 1, name);
  MPI_Get_count(status, MPI_BYTE, &count);
  expect(count == MPI_UNDEFINED, "a count that does not fit");
  MPI_Get_elements(status, MPI_BYTE, &count);
  expect(count == MPI_UNDEFINED, "elements that do not fit");
  MPI_Get_elements_x(status, MPI_BYTE, &all);
  expect(all == 8 * doubles, "MPI_Get_elements_x");
  MPI_Get_elements(status, MPI_DOUBLE, &count);
  expect(count == doubles, "MPI_Get_elements");
  MPI_Test_cancelled(status, &flag);
  expect(!flag, "it was not cancelled");
}

/* Elements of 2 and 4 GiB take the time of as many doubles. */
static void long_types(void) {
  enum { half = 1 << 28, quarter = half / 2, kinds = 5 };
  const char* const names[kinds] = {"contiguous", "indexed", "a structure", "a structure in one", "indexed twice"};
  if (rank > 1) return;
  for (int i = 0; i < 2; ++i) {
    MPI_Datatype of[2], types[kinds];
    of[0] = of[1] = i == 0 ? MPI_DOUBLE : MPI_2DOUBLE_PRECISION;
    const MPI_Aint bytes = 8 << i, places[] = {0, quarter * bytes + 8};
    MPI_Type_contiguous(half, of[0], &types[0]);
    MPI_Type_indexed(2, (int[]){quarter, quarter}, (int[]){0, quarter + 1}, of[0], &types[1]);
    MPI_Type_create_struct(2, (int[]){quarter, quarter}, places, of, &types[2]);
    MPI_Type_create_struct(1, (int[]){i == 0 ? half : quarter}, places, of, &types[3]); /* 4 GiB: SMPI has 0 bytes */
    MPI_Type_indexed(1, (int[]){1}, (int[]){1}, types[1], &types[4]);
    for (int kind = 0; kind < kinds; ++kind) {
      const int doubles = kind == 3 ? half : half << i;
      MPI_Status status;
      MPI_Type_commit(&types[kind]);
      const double plain_s = time_of(doubles, MPI_DOUBLE, &status), its_s = time_of(1, types[kind], &status);
      expect(fabs(its_s / plain_s - 1) < 1e-3, names[kind]);
      if (rank == 1) expect_long(&status, types[kind], doubles, names[kind]);
    }
    for (int kind = 0; kind < kinds; ++kind) MPI_Type_free(&types[kind]);
  }
}

/* Receives n doubles from the left, of which element i is to be at places[i]. */
static void expect_at(int n, int count, MPI_Datatype type, const int* places, const char* what) {
  MPI_Status status;
  memset(more, 0, sizeof more);
  fill(out, n, 2);
  MPI_Sendrecv(out, n, MPI_DOUBLE, right(), 3, more, count, type, left(), 3, MPI_COMM_WORLD, &status);
  double sum = 0;
  for (int i = 0; i < eager; ++i) sum += more[i];
  for (int i = 0; i < n; ++i) {
    sum -= element(left(), 2, i);
    expect(more[places[i]] == element(left(), 2, i), what);
  }
  expect(sum == 0, what);
  int elements = 0, whole = 0, size = 0;
  MPI_Type_size(type, &size);
  MPI_Get_elements(&status, type, &elements);
  MPI_Get_count(&status, type, &whole);
  expect(elements == n, "elements of a part");
  expect(whole == (8 * n % size == 0 ? 8 * n / size : MPI_UNDEFINED), "the count of a part");
}

static void odd_types(void) {
  MPI_Datatype pairs, one, inner, outer, absolute, empty, copy;
  MPI_Type_indexed(2, (int[]){3, 5}, (int[]){10, 1}, MPI_DOUBLE, &pairs); /* 1 to 12, a distance of 12 */
  MPI_Type_indexed(1, (int[]){3}, (int[]){10}, MPI_DOUBLE, &one);
  MPI_Type_contiguous(2, MPI_DOUBLE, &inner);
  MPI_Type_vector(2, 1, 2, inner, &outer);
  MPI_Aint places[2];
  MPI_Get_address(&more[5], &places[0]);
  MPI_Get_address(&more[2], &places[1]);
  MPI_Type_create_struct(2, (int[]){1, 2}, places, (MPI_Datatype[]){MPI_DOUBLE, MPI_DOUBLE}, &absolute);
  MPI_Type_dup(pairs, &copy);
  MPI_Datatype* const all[] = {&pairs, &one, &inner, &outer, &absolute, &copy};
  for (int i = 0; i < 6; ++i) MPI_Type_commit(all[i]);
  const int of_pairs[] = {10, 11, 12, 1, 2, 3, 4, 5, 22, 23, 24, 13, 14, 15, 16, 17};
  expect_at(5, 1, pairs, of_pairs, "a part of an indexed type");
  expect_at(11, 2, pairs, of_pairs, "an indexed type and a part");
  expect_at(8, 1, copy, of_pairs, "a copy of an indexed type");
  expect_at(3, 1, one, &of_pairs[0], "one block that begins elsewhere");
  expect_at(4, 1, outer, (int[]){0, 1, 4, 5}, "a vector of a contiguous type");
  MPI_Bcast(out, 1, inner, 0, MPI_COMM_WORLD);
  memset(more, 0, sizeof more);
  fill(out, 3, 1);
  MPI_Sendrecv(out, 3, MPI_DOUBLE, right(), 4, MPI_BOTTOM, 1, absolute, left(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(more[5] == element(left(), 1, 0) && more[2] == element(left(), 1, 1) && more[3] == element(left(), 1, 2),
         "absolute addresses");
  for (int i = 0; i < 6; ++i) MPI_Type_free(all[i]);
  MPI_Type_contiguous(0, MPI_DOUBLE, &empty);
  MPI_Type_commit(&empty);
  MPI_Sendrecv(out, 1, empty, right(), 5, in, 1, empty, left(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&empty);
  MPI_Type_vector(2, 3, 3, MPI_DOUBLE, &outer); /* perhaps at the same address */
  MPI_Type_commit(&outer);
  expect_at(6, 1, outer, (int[]){0, 1, 2, 3, 4, 5}, "after an empty type");
  MPI_Type_free(&outer);
}

/* Waits until long messages have been received; short ones have left. */
static void detached_buffer(void) {
  static double place[2 * big];
  for (int i = 0; i < 2; ++i) {
    void* old = NULL;
    int size = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = MPI_Wtime(), work_s = 1e-3;
    if (rank == 0) {
      MPI_Buffer_attach(place, sizeof place);
      for (int k = 0; k < 2; ++k) MPI_Bsend(long_out, i == 0 ? small : big / 2, MPI_DOUBLE, 1, 15, MPI_COMM_WORLD);
      const double sent_s = MPI_Wtime();
      MPI_Buffer_detach(&old, &size);
      expect(old == place && size == sizeof place, "MPI_Buffer_detach");
      expect(sent_s - begin_s < work_s, "MPI_Bsend waits for nobody");
      expect((MPI_Wtime() - begin_s > work_s) == i, "MPI_Buffer_detach waits for long messages");
    }
    if (rank != 1) continue;
    HPLCAST_REGION_BEGIN("wait", 1, 1, 1)
    HPLCAST_REGION_END("wait")
    for (int k = 0; k < 2; ++k) MPI_Recv(place, big, MPI_DOUBLE, 0, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
  odd_types();
  detached_buffer();
  some_of_all();
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\n", all);
  MPI_Finalize();
  return 0;
}
