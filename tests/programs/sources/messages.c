/* Every way to send, receive, wait and probe, with wrong contents and statuses told. Prints "NAME: wrong COUNT, TIME"
 * for each of its parts; the same program, by SMPI's messages and by hplcast's, must print the same. 6 ranks. argv[1]:
 * one part only, of those that end a simulation, or "not_persistent". */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checked_elements.h"
#include "hplcast/region.h"

enum { small = 10, eager = 3000, big = 30000 }; /* doubles: below and above both thresholds of the platform */
static const int lengths[] = {0, small, eager, big};
static double out[big], in[big], more[big];

static void blocking(void) {
  for (int step = 0; step < 4; ++step) {
    const int n = lengths[step];
    fill(out, n, step);
    MPI_Status status;
    if (rank % 2 == 0) MPI_Send(out, n, MPI_DOUBLE, right(), step, MPI_COMM_WORLD);
    MPI_Recv(in, big, MPI_DOUBLE, left(), step, MPI_COMM_WORLD, &status);
    if (rank % 2 == 1) MPI_Ssend(out, n, MPI_DOUBLE, right(), step, MPI_COMM_WORLD);
    expect_from(in, n, left(), step, "MPI_Recv");
    expect_status(&status, left(), step, n, "status of MPI_Recv");
  }
}

static void any_source(void) {
  int seen = 0;
  fill(out, eager, 1);
  if (rank > 0) MPI_Send(out, rank * 100, MPI_DOUBLE, 0, 40 + rank, MPI_COMM_WORLD);
  for (int i = 1; rank == 0 && i < ranks; ++i) {
    MPI_Status status;
    MPI_Recv(in, big, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    expect_from(in, status.MPI_SOURCE * 100, status.MPI_SOURCE, 1, "MPI_ANY_SOURCE");
    expect_status(&status, status.MPI_SOURCE, 40 + status.MPI_SOURCE, status.MPI_SOURCE * 100, "its status");
    seen |= 1 << status.MPI_SOURCE;
  }
  expect(rank > 0 || seen == (1 << ranks) - 2, "all ranks have sent");
}

/* Messages of one sender with one tag keep their order; another tag may pass them. */
static void order(void) {
  if (rank == 1) {
    for (int i = 0; i < 5; ++i) MPI_Send(&(double){element(1, i, 0)}, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    MPI_Send(&(double){element(1, 9, 0)}, 1, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD);
  }
  if (rank != 0) return;
  MPI_Recv(in, 1, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_from(in, 1, 1, 9, "the other tag");
  for (int i = 0; i < 5; ++i) {
    MPI_Recv(in, 1, MPI_DOUBLE, i % 2 == 0 ? 1 : MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_from(in, 1, 1, i, "the order");
  }
}

static void nonblocking(void) {
  for (int step = 0; step < 4; ++step) {
    const int n = lengths[step];
    MPI_Request requests[4];
    MPI_Status statuses[4];
    fill(out, n, step);
    MPI_Irecv(in, big, MPI_DOUBLE, left(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(more, big, MPI_DOUBLE, right(), 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, n, MPI_DOUBLE, right(), 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Issend(out, n, MPI_DOUBLE, left(), 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
    expect_from(in, n, left(), step, "MPI_Irecv of the left");
    expect_from(more, n, right(), step, "MPI_Irecv of the right");
    expect_status(&statuses[0], left(), 1, n, "status of MPI_Waitall");
    for (int i = 0; i < 4; ++i) expect(requests[i] == MPI_REQUEST_NULL, "requests that have ended are null");
  }
}

/* Everybody sends to 0 after a time of its own, late ones first in the list of 0. */
static void any_of_several(void) {
  enum { most = 16 };
  static double parts[most][eager];
  MPI_Request requests[most];
  int place, found = 0;
  if (rank > 0) {
    fill(out, eager, 3);
    HPLCAST_REGION_BEGIN("wait", rank, 1, 1)
    HPLCAST_REGION_END("wait")
    MPI_Send(out, eager, MPI_DOUBLE, 0, 11, MPI_COMM_WORLD);
    return;
  }
  for (int i = 0; i < ranks - 1; ++i)
    MPI_Irecv(parts[i], eager, MPI_DOUBLE, ranks - 1 - i, 11, MPI_COMM_WORLD, &requests[i]);
  double before_s = MPI_Wtime();
  for (int i = 0; i < ranks - 1; ++i) {
    MPI_Status status;
    MPI_Waitany(ranks - 1, requests, &place, &status);
    expect(place == ranks - 2 - i, "the first to come is the first to be told");
    expect(status.MPI_SOURCE == i + 1, "its source");
    expect_from(parts[place], eager, i + 1, 3, "MPI_Waitany");
    expect(MPI_Wtime() > before_s, "each comes later");
    before_s = MPI_Wtime();
    found |= 1 << place;
  }
  expect(found == (1 << (ranks - 1)) - 1, "each was told once");
  MPI_Waitany(ranks - 1, requests, &place, MPI_STATUS_IGNORE);
  expect(place == MPI_UNDEFINED, "nothing is left");
}

/* Some of it on its way, some not sent yet. */
static void mixed(void) {
  MPI_Request requests[2];
  int place = -1;
  if (rank == 1) {
    fill(out, big, 5);
    MPI_Send(out, small, MPI_DOUBLE, 0, 21, MPI_COMM_WORLD);
    MPI_Send(out, small, MPI_DOUBLE, 0, 22, MPI_COMM_WORLD);
  }
  if (rank == 2) {
    fill(out, big, 5);
    MPI_Send(out, big, MPI_DOUBLE, 0, 20, MPI_COMM_WORLD);
  }
  if (rank != 0) return;
  MPI_Irecv(in, big, MPI_DOUBLE, 2, 20, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(more, big, MPI_DOUBLE, 1, 22, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv(out, small, MPI_DOUBLE, 1, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitany(2, requests, &place, MPI_STATUS_IGNORE);
  expect(place == 1, "the short one ends first");
  MPI_Waitany(2, requests, &place, MPI_STATUS_IGNORE);
  expect(place == 0, "then the long one");
  expect_from(in, big, 2, 5, "the long one");
}

static void replaced(void) {
  for (int step = 1; step < 4; ++step) { /* SMPI refuses an empty MPI_Sendrecv_replace */
    const int n = lengths[step];
    MPI_Status status;
    fill(out, n, step);
    MPI_Sendrecv(out, n, MPI_DOUBLE, right(), 5, in, big, MPI_DOUBLE, left(), 5, MPI_COMM_WORLD, &status);
    expect_from(in, n, left(), step, "MPI_Sendrecv");
    expect_status(&status, left(), 5, n, "its status");
    MPI_Sendrecv_replace(out, n, MPI_DOUBLE, left(), 6, right(), 6, MPI_COMM_WORLD, &status);
    expect_from(out, n, right(), step, "MPI_Sendrecv_replace");
  }
}

/* Everybody sends before anybody receives; what was sent is overwritten before it is received. */
static void buffered(void) {
  static char place[3 * sizeof out];
  void* old;
  int size;
  MPI_Request request;
  MPI_Buffer_attach(place, sizeof place);
  for (int step = 1; step < 4; ++step) {
    const int n = lengths[step];
    fill(out, n, step);
    MPI_Bsend(out, n, MPI_DOUBLE, right(), 8, MPI_COMM_WORLD);
    memset(out, 0, sizeof out);
    MPI_Recv(in, big, MPI_DOUBLE, left(), 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_from(in, n, left(), step, "MPI_Bsend");
    fill(out, n, step + 1);
    MPI_Ibsend(out, n, MPI_DOUBLE, right(), 9, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(out, 0, sizeof out);
    MPI_Recv(in, big, MPI_DOUBLE, left(), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_from(in, n, left(), step + 1, "MPI_Ibsend");
  }
  MPI_Barrier(MPI_COMM_WORLD); /* SMPI does not wait until all has been received */
  MPI_Buffer_detach(&old, &size);
}

static void persistent(void) {
  MPI_Request requests[2];
  MPI_Send_init(out, eager, MPI_DOUBLE, right(), 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, eager, MPI_DOUBLE, left(), 9, MPI_COMM_WORLD, &requests[1]);
  for (int step = 0; step < 3; ++step) {
    fill(out, eager, step);
    MPI_Startall(2, requests);
    for (int ended = 0; step < 2 && !ended;) MPI_Testall(2, requests, &ended, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_from(in, eager, left(), step, "MPI_Start");
    expect(requests[0] != MPI_REQUEST_NULL, "persistent requests stay");
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
  expect(requests[0] == MPI_REQUEST_NULL, "until they are freed");
  fill(out, big, 5);
  MPI_Bsend_init(out, big, MPI_DOUBLE, right(), 10, MPI_COMM_WORLD, &requests[0]);
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Recv(in, big, MPI_DOUBLE, left(), 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_from(in, big, left(), 5, "MPI_Bsend_init");
  MPI_Request_free(&requests[0]);
}

static void types(void) {
  MPI_Datatype column, distant, triple, pairs;
  const int n = 40, stride = 50;
  MPI_Type_vector(n, 1, stride, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Type_create_hvector(n, 2, (MPI_Aint)(3 * sizeof(double)), MPI_DOUBLE, &distant);
  MPI_Type_commit(&distant);
  MPI_Type_contiguous(4, MPI_DOUBLE, &triple);
  MPI_Type_commit(&triple);
  MPI_Type_indexed(2, (int[]){3, 5}, (int[]){1, 10}, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&pairs);
  fill(out, n * stride, 1);
  MPI_Sendrecv(out, 1, column, right(), 1, in, n, MPI_DOUBLE, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) expect(in[i] == element(left(), 1, i * stride), "a vector is packed");
  memset(more, 0, sizeof more);
  MPI_Sendrecv(out, 2 * n, MPI_DOUBLE, right(), 2, more, 1, distant, left(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i)
    expect(more[3 * i] == element(left(), 1, 2 * i) && more[3 * i + 1] == element(left(), 1, 2 * i + 1) &&
               more[3 * i + 2] == 0,
           "and unpacked");
  MPI_Sendrecv(out, n, triple, right(), 3, in, 4 * n, MPI_DOUBLE, left(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_from(in, 4 * n, left(), 1, "a contiguous type");
  /* The last element of what is expected comes in part. */
  memset(in, 0, sizeof in);
  MPI_Sendrecv(out, 7, MPI_DOUBLE, right(), 3, in, n, triple, left(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_from(in, 7, left(), 1, "a part of a contiguous type");
  memset(more, 0, sizeof more);
  MPI_Sendrecv(out, 7, MPI_DOUBLE, right(), 3, more, 1, distant, left(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 7; ++i)
    expect(more[3 * (i / 2) + i % 2] == element(left(), 1, i), "a part of a vector");
  expect(more[10] == 0, "and no more");
  MPI_Sendrecv(out, 1, pairs, right(), 4, in, 8, MPI_DOUBLE, left(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 8; ++i) expect(in[i] == element(left(), 1, i < 3 ? 1 + i : 7 + i), "a type that SMPI packs");
  /* Freed before the message has ended. */
  MPI_Request requests[2];
  memset(more, 0, sizeof more);
  MPI_Irecv(more, 1, column, left(), 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Type_free(&column);
  MPI_Isend(out, 1, pairs, rank, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(out, n, MPI_DOUBLE, right(), 5, MPI_COMM_WORLD);
  MPI_Type_free(&pairs);
  MPI_Recv(in, 8, MPI_DOUBLE, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; ++i) expect(more[i * stride] == element(left(), 1, i), "a type that is freed early");
  expect(in[3] == element(rank, 1, 10), "to oneself");
  MPI_Type_free(&distant);
  MPI_Type_free(&triple);
}

static void of(MPI_Comm communicator, const char* what) {
  int here, size;
  MPI_Comm_rank(communicator, &here);
  MPI_Comm_size(communicator, &size);
  MPI_Status status;
  const double sent = 100 * rank + here;
  double received = -1;
  MPI_Sendrecv(&sent, 1, MPI_DOUBLE, (here + 1) % size, 1, &received, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, communicator,
               &status);
  expect((int)received % 100 == (here + size - 1) % size, what);
  expect_status(&status, (here + size - 1) % size, 1, 1, what);
}

static void communicators(void) {
  MPI_Comm rows, columns, same, some, grid, line, group_only;
  MPI_Group world, group;
  MPI_Comm_dup(MPI_COMM_WORLD, &same);
  of(same, "MPI_Comm_dup");
  MPI_Comm_split(MPI_COMM_WORLD, rank / 3, -rank, &rows);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 3, rank, &columns);
  of(rows, "rows");
  of(columns, "columns");
  /* The same ends and tags in two communicators. */
  if (rank == 0) {
    MPI_Send(&(double){1}, 1, MPI_DOUBLE, 1, 3, same);
    MPI_Send(&(double){2}, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
  } else if (rank == 1) {
    double first = 0, second = 0;
    MPI_Recv(&second, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&first, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, same, MPI_STATUS_IGNORE);
    expect(first == 1 && second == 2, "communicators are apart");
  }
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 3, (int[]){4, 1, 3}, &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &some);
  if (some != MPI_COMM_NULL) of(some, "MPI_Comm_create");
  for (int i = 0; i < 2 && some != MPI_COMM_NULL; ++i) {
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 77, &group_only);
    of(group_only, "MPI_Comm_create_group");
    MPI_Comm_free(&group_only);
  }
  MPI_Cart_create(rows, 2, (int[]){3, 1}, (int[]){1, 1}, 0, &grid);
  of(grid, "MPI_Cart_create");
  MPI_Cart_sub(grid, (int[]){1, 0}, &line);
  of(line, "MPI_Cart_sub");
  if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
  MPI_Comm_free(&line);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&same);
  MPI_Comm_split(rows, 0, 0, &same); /* SMPI may give the same address again */
  of(same, "after others were freed");
  MPI_Comm_free(&same);
  MPI_Comm_free(&rows);
  MPI_Comm_free(&columns);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  of(MPI_COMM_SELF, "MPI_COMM_SELF");
}

static void nobody(void) {
  MPI_Status status;
  MPI_Request request;
  MPI_Send(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  in[0] = -1;
  MPI_Recv(in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  expect(in[0] == -1 && status.MPI_SOURCE == MPI_PROC_NULL, "MPI_PROC_NULL");
  MPI_Irecv(in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  expect(status.MPI_SOURCE == MPI_PROC_NULL && request == MPI_REQUEST_NULL, "MPI_Irecv of MPI_PROC_NULL");
  MPI_Wait(&request, &status);
  MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  int count = 0;
  MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE);
  expect(count == MPI_UNDEFINED, "MPI_Waitsome of nothing");
}

/* A sending whose request is freed before it has ended. */
static void forgotten(void) {
  MPI_Request request;
  fill(out, big, 6);
  MPI_Isend(out, big, MPI_DOUBLE, right(), 13, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Recv(in, big, MPI_DOUBLE, left(), 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_from(in, big, left(), 6, "MPI_Request_free");
}

/* What polls: its times depend on who polls how often. */
static void polling(void) {
  MPI_Request requests[3];
  MPI_Status status;
  int ended = 0, place, count = 0, places[3];
  fill(out, eager, 2);
  if (rank == 1) {
    MPI_Isend(out, eager, MPI_DOUBLE, 0, 31, MPI_COMM_WORLD, &requests[0]);
    while (!ended) MPI_Test(&requests[0], &ended, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) MPI_Send(out, 10 + i, MPI_DOUBLE, 0, 32 + i, MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) MPI_Send(out, 10 + i, MPI_DOUBLE, 0, 32 + i, MPI_COMM_WORLD);
  }
  if (rank != 0) return;
  MPI_Iprobe(1, 99, MPI_COMM_WORLD, &ended, &status);
  expect(!ended, "nothing with that tag");
  MPI_Probe(MPI_ANY_SOURCE, 31, MPI_COMM_WORLD, &status);
  expect_status(&status, 1, 31, eager, "MPI_Probe");
  for (ended = 0; !ended;) MPI_Iprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &ended, &status);
  expect(status.MPI_TAG == 31, "MPI_Iprobe");
  MPI_Recv(in, eager, MPI_DOUBLE, 1, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) MPI_Irecv(more + 100 * i, 100, MPI_DOUBLE, 1, 32 + i, MPI_COMM_WORLD, &requests[i]);
  for (ended = 0; !ended;) MPI_Testall(3, requests, &ended, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 3; ++i) expect_from(more + 100 * i, 10 + i, 1, 2, "MPI_Testall");
  for (int i = 0; i < 3; ++i) MPI_Irecv(more + 100 * i, 100, MPI_DOUBLE, 1, 32 + i, MPI_COMM_WORLD, &requests[i]);
  for (ended = 0; !ended;) MPI_Testany(3, requests, &place, &ended, &status);
  expect(place >= 0 && place < 3 && status.MPI_TAG == 32 + place, "MPI_Testany");
  int left_over = 2;
  MPI_Waitsome(3, requests, &count, places, MPI_STATUSES_IGNORE);
  left_over -= count;
  while (left_over > 0) {
    MPI_Testsome(3, requests, &count, places, MPI_STATUSES_IGNORE);
    left_over -= count;
  }
  MPI_Testsome(3, requests, &count, places, MPI_STATUSES_IGNORE);
  expect(count == MPI_UNDEFINED, "nothing is left");
}

/* A message comes while rank 0 is outside of MPI. */
static void late(void) {
  MPI_Request request;
  if (rank == 1) {
    MPI_Isend(out, big, MPI_DOUBLE, 0, 41, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank != 0) return;
  HPLCAST_REGION_BEGIN("wait", 1, 1, 1)
  HPLCAST_REGION_END("wait")
  int first = 0, second = 0;
  MPI_Iprobe(1, 41, MPI_COMM_WORLD, &first, MPI_STATUS_IGNORE);
  MPI_Iprobe(1, 41, MPI_COMM_WORLD, &second, MPI_STATUS_IGNORE);
  MPI_Recv(in, big, MPI_DOUBLE, 1, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("probes find %d, %d\n", first, second);
}

static void collective(void) {
  double sum = 0;
  MPI_Request requests[2];
  MPI_Allreduce(&(double){rank}, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == ranks * (ranks - 1) / 2.0, "MPI_Allreduce");
  in[0] = rank == 2 ? 17 : 0;
  MPI_Ibcast(in, 1, MPI_DOUBLE, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(more, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(&(double){5}, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect(in[0] == 17 && more[0] == 5, "requests of both kinds");
}

static void part(const char* name, void (*run)(void)) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  wrong = 0;
  run();
  MPI_Barrier(MPI_COMM_WORLD);
  const double time_s = MPI_Wtime() - begin_s;
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: wrong %d, %.9f s\n", name, all, time_s);
}

static void too_long(void) {
  if (rank == 0) MPI_Send(out, 20, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(in, 10, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void cancelled(void) {
  MPI_Request request;
  MPI_Irecv(in, 1, MPI_DOUBLE, left(), 0, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "too_long") == 0) too_long();
  if (strcmp(what, "no_rank") == 0) MPI_Send(out, 1, MPI_DOUBLE, ranks, 0, MPI_COMM_WORLD);
  if (strcmp(what, "cancel") == 0) cancelled();
  if (strcmp(what, "late") == 0) part("late", late);
  if (argc == 1 || strcmp(what, "not_persistent") == 0) {
    part("blocking", blocking);
    part("any source", any_source);
    part("order", order);
    part("nonblocking", nonblocking);
    part("any of several", any_of_several);
    part("mixed", mixed);
    part("replaced", replaced);
    part("buffered", buffered);
    if (argc == 1) part("persistent", persistent);
    part("types", types);
    part("communicators", communicators);
    part("nobody", nobody);
    if (argc == 1) part("forgotten", forgotten);
    part("collective", collective);
    part("polling", polling);
  }
  MPI_Finalize();
  return 0;
}
