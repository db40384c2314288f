/* What a program can do wrong: argv[1] says what. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "hplcast/region.h"

void hplcast_require_interface(int compiled_with);

void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dcopy_(const int* n, const void* x, const int* incx, void* y, const int* incy);
void scopy_(const int* n, const void* x, const int* incx, void* y, const int* incy);
void daxpy_(const int* n, const double* alpha, const double* x, const int* incx, double* y, const int* incy);

/* A loop that waits for a tick of a clock ends only if reading the clock takes time. */
static void wait_for_tick(void) {
  struct timeval first, now;
  gettimeofday(&first, NULL);
  do {
    gettimeofday(&now, NULL);
  } while (now.tv_sec == first.tv_sec && now.tv_usec == first.tv_usec);
}

static void second_of(void* in, void* both, int* count, MPI_Datatype* type) { /* the second of two */
  (void)in, (void)both, (void)count, (void)type;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const what = argc > 1 ? argv[1] : "";
#ifdef HPLCAST_SIMULATED
  if (strcmp(what, "interface") == 0) hplcast_require_interface(1);
#endif
  if (strcmp(what, "arguments") == 0)
    for (int i = 2; i < argc; ++i) printf("%d of %d: [%s]\n", rank, i, argv[i]);
  if (strcmp(what, "tick") == 0) wait_for_tick();
  if (strcmp(what, "timed-loop") == 0 || strcmp(what, "loop") == 0) {
    const int timed = strcmp(what, "loop") != 0;
    const double begin_s = timed ? MPI_Wtime() : 0;
    volatile double sum = 0;
    for (int i = 0; i < 1000000; ++i) sum += i;
    if (timed) printf("%g sums per second\n", 1e6 / (MPI_Wtime() - begin_s));
  }
  if (strcmp(what, "alone") == 0) {
    double mine[2] = {3, 4}, sums[2] = {0}, all[2] = {0}, gathered[2] = {0};
    MPI_Reduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_SELF);
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    MPI_Allgather(mine, 2, MPI_DOUBLE, gathered, 2, MPI_DOUBLE, MPI_COMM_SELF);
    MPI_Reduce(MPI_IN_PLACE, mine, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_SELF);
    printf("alone %g %g %g %g\n", sums[1], all[1], gathered[1], mine[1]);
    enum { parts = 10000 };
    static double from[parts], to[3][parts];
    const int length = parts, start = 0;
    from[parts - 1] = 5;
    MPI_Reduce_scatter(from, to[0], &length, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    MPI_Reduce_scatter_block(from, to[1], parts, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    MPI_Allgatherv(from, parts, MPI_DOUBLE, to[2], &length, &start, MPI_DOUBLE, MPI_COMM_SELF);
    printf("long %g %g %g\n", to[0][parts - 1], to[1][parts - 1], to[2][parts - 1]);
  }
  if (strcmp(what, "scan") == 0) {
    const char* const how = argc > 2 ? argv[2] : "";
    const int without_0 = strcmp(how, "without-0") == 0;
    int mine = rank, all = 0;
    MPI_Op operation;
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, without_0 && rank == 0, rank, &part);
    MPI_Scan(&mine, &all, 1, MPI_INT, MPI_SUM, part);
    MPI_Op_create(second_of, strcmp(how, "commutes") == 0, &operation);
    if (!without_0 || rank > 0) MPI_Scan(&mine, &all, 1, MPI_INT, operation, part);
    if (!without_0 || rank > 0) MPI_Exscan(&mine, &all, 1, MPI_INT, operation, part);
  }
  if (strcmp(what, "strides") == 0) { /* 10 elements 24, 2048 and 4096 bytes apart, of doubles and of single precision */
    const int n = 10, one = 1, odd = 3, half = 256, page = 512, back = -512;
    static double from[5120], to[5120];
    dcopy_(&n, from, &odd, to, &one);
    dcopy_(&n, from, &half, to, &one);
    dcopy_(&n, from, &page, to, &one);
    dcopy_(&n, from, &one, to, &back);
    scopy_(&n, from, &page, to, &one);
  }
  if (strcmp(what, "types") == 0) { /* 10 doubles, two apart, packed by hand and by MPI_Send; MPI_Recv unpacks them */
    MPI_Datatype blocks; /* as long as a cache line: no more than a message without gaps */
    static double values[20];
    char packed[200];
    int place = 0;
    MPI_Datatype apart;
    MPI_Type_vector(10, 1, 2, MPI_DOUBLE, &apart);
    MPI_Type_commit(&apart);
    MPI_Pack(values, 1, apart, packed, sizeof packed, &place, MPI_COMM_WORLD);
    if (rank == 0) MPI_Send(values, 1, apart, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(values, 1, apart, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_vector(2, 8, 9, MPI_DOUBLE, &blocks);
    MPI_Type_commit(&blocks);
    if (rank == 0) MPI_Send(values, 1, blocks, 1, 2, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(values, 1, blocks, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&blocks);
    if (rank == 0) MPI_Send(values, 10, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(values, 10, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&apart);
  }
  if (strcmp(what, "requests-of-types") == 0) { /* 10 doubles, two apart, by requests: each way of waiting for one */
    static double values[6][20];
    MPI_Datatype apart;
    MPI_Request requests[6];
    int i, ended = 0, place;
    MPI_Type_vector(10, 1, 2, MPI_DOUBLE, &apart);
    MPI_Type_commit(&apart);
    if (rank == 0) { /* the first is persistent */
      MPI_Send_init(values[0], 1, apart, 1, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Start(&requests[0]);
      for (i = 1; i < 6; ++i) MPI_Isend(values[i], 1, apart, 1, i, MPI_COMM_WORLD, &requests[i]);
      MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
      MPI_Request_free(&requests[0]);
    }
    if (rank == 1) {
      for (i = 0; i < 6; ++i) MPI_Irecv(values[i], 1, apart, 0, i, MPI_COMM_WORLD, &requests[i]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      while (!ended) MPI_Test(&requests[1], &ended, MPI_STATUS_IGNORE);
      MPI_Waitany(1, &requests[2], &place, MPI_STATUS_IGNORE);
      MPI_Waitall(3, &requests[3], MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&apart);
  }
  if (strcmp(what, "crowd") == 0) { /* all to all, of all sizes, again and again; whoever waits has several to wait for, or one after the other */
    enum { most = 16, doubles = 20000 };
    static double out[doubles], in[most][doubles];
    MPI_Request requests[2 * most];
    int ranks, round, peer;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (round = 0; round < 30; ++round) {
      const int count = 1 + (round * 7919 + 1) % doubles;
      for (peer = 0; peer < ranks; ++peer) {
        out[peer] = 1000 * round + rank;
        MPI_Irecv(in[peer], count, MPI_DOUBLE, peer, round, MPI_COMM_WORLD, &requests[peer]);
      }
      for (peer = 0; peer < ranks; ++peer)
        MPI_Isend(out, count, MPI_DOUBLE, peer, round, MPI_COMM_WORLD, &requests[ranks + peer]);
      for (peer = 0; round % 2 == 1 && peer < 2 * ranks; ++peer) MPI_Wait(&requests[peer], MPI_STATUS_IGNORE);
      MPI_Waitall(2 * ranks, requests, MPI_STATUSES_IGNORE);
      for (peer = 0; peer < ranks; ++peer)
        if (in[peer][0] != 1000 * round + peer) printf("rank %d: %g of rank %d in round %d\n", rank, in[peer][0], peer, round);
    }
  }
  if (strncmp(what, "panels", 6) == 0) { /* whose cost falls with the square of what is left; -...: marked in a wrong way */
    const long panels = 400, more = strcmp(what, "panels-more") == 0;
    long panel;
    for (panel = 0; panel < panels + more; ++panel) {
      panel = hplcast_panel(panel, panels, strcmp(what, "panels-differ") == 0 ? 4 + rank : 4);
      const int n = (int)((panels - panel) * (panels - panel)), one = 1;
      static double none[1];
      dcopy_(&n, none, &one, none, &one);
      MPI_Barrier(MPI_COMM_WORLD);
      if (strcmp(what, "panels-skip") == 0 && panel == 7) ++panel;
      if (strcmp(what, "panels-back") == 0 && panel == 7) panel -= 3;
      if (strcmp(what, "panels-less") == 0 && panel == 7) panel = panels;
    }
  }
  if (strcmp(what, "exits") == 0 && rank == 1) exit(0);
  if (strcmp(what, "returns-early") == 0 && rank == 1) return 0;
  if (strcmp(what, "abort") == 0 && rank == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(what, "messages") == 0) {
    static char bytes[1000000];
    for (int size = 1; size <= 1000000; size *= 10) {
      if (rank == 0) MPI_Send(bytes, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      if (rank == 1) MPI_Recv(bytes, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  if (strcmp(what, "shared") == 0) { /* from memory that ranks share into memory of the rank, detached and not */
    const int counts[] = {10, 100000};
    double* const matrix = malloc(4 << 20);
    double* const buffer = calloc(100000, sizeof(double));
    for (int i = 0; i < 2; ++i) {
      if (rank == 0) MPI_Send(matrix + 100000, counts[i], MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
      if (rank == 1) MPI_Recv(buffer, counts[i], MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) printf("received %g to %g\n", buffer[0], buffer[counts[i] - 1]);
    }
    free(matrix);
    free(buffer);
  }
  if (strcmp(what, "unmodelled") == 0) {
    const int n = 10, one = 1;
    double x[10] = {0}, y[10] = {0}, alpha = 2;
    daxpy_(&n, &alpha, x, &one, y, &one);
  }
  if (strcmp(what, "overlap") == 0) {
    hplcast_region_begins("outer", 1, 1, 1);
    hplcast_region_begins("inner", 1, 1, 1);
    hplcast_region_ends("outer");
  }
  if (strcmp(what, "open") == 0) hplcast_region_begins("open", 1, 1, 1);
  if (strcmp(what, "skipped") == 0) {
    int executed = 0;
    HPLCAST_REGION_BEGIN("work", 10, 20, 1)
    executed = 1;
    HPLCAST_REGION_END("work")
    printf("executed %d, time %.12g\n", executed, MPI_Wtime());
  }
  if (strcmp(what, "waits") == 0) { /* rank 1 waits for rank 0 in many ways, and the other way round in one */
    double x = 0, y = 0;
    MPI_Request requests[2];
    int place;
    for (int way = 0; way < 7; ++way) {
      if (way == 2 || way == 3) { /* before the work of the other one */
        if (rank == 1) MPI_Irecv(&x, 1, MPI_DOUBLE, 0, way, MPI_COMM_WORLD, requests);
      }
      if (rank == (way == 6)) {
        HPLCAST_REGION_BEGIN("work", 1, 1, 1)
        HPLCAST_REGION_END("work")
      }
      if (rank == 0 && way <= 3) MPI_Send(&x, 1, MPI_DOUBLE, 1, way, MPI_COMM_WORLD);
      if (rank == 1 && way == 0) MPI_Recv(&x, 1, MPI_DOUBLE, 0, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1 && way == 1) MPI_Probe(0, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1 && way == 1) MPI_Recv(&x, 1, MPI_DOUBLE, 0, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1 && way == 2) MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
      if (rank == 1 && way == 3) MPI_Waitany(1, requests, &place, MPI_STATUS_IGNORE);
      if (way == 4) MPI_Barrier(MPI_COMM_WORLD);
      if (way == 5) MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      if (way == 6) MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
  }
  if (strcmp(what, "any") == 0) { /* argv[2] messages to the right, and one from the left or to the right is waited for at a time */
    double x[2] = {0};
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0, place = 0; i < atoi(argv[2]); ++i) {
      MPI_Request requests[2];
      MPI_Irecv(&x[0], 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(&x[1], 1, MPI_DOUBLE, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[1]);
      for (int both = 0; both < 2; ++both) MPI_Waitany(2, requests, &place, MPI_STATUS_IGNORE);
    }
  }
  if (strcmp(what, "uneven") == 0) { /* waits for one of two messages, then parts of rank % 3 numbers of all, and of none */
    enum { most = 16 };
    double out[2 * most], in[2 * most] = {0}, sum = 0;
    int ranks, place, lengths[most], starts[most], peer, wrong = 0;
    MPI_Request requests[2];
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Irecv(in, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[1]);
    for (int both = 0; both < 2; ++both) MPI_Waitany(2, requests, &place, MPI_STATUS_IGNORE);
    for (peer = 0; peer < ranks; ++peer) {
      lengths[peer] = peer % 3;
      starts[peer] = 2 * peer;
      out[2 * peer] = out[2 * peer + 1] = rank;
    }
    MPI_Allgatherv(out, lengths[rank], MPI_DOUBLE, in, lengths, starts, MPI_DOUBLE, MPI_COMM_WORLD);
    for (peer = 0; peer < ranks; ++peer)
      for (int i = 0; i < lengths[peer]; ++i) wrong += in[2 * peer + i] != peer;
    for (peer = 0; peer < ranks; ++peer) lengths[peer] = 2;
    MPI_Alltoallv(out, lengths, starts, MPI_DOUBLE, in, lengths, starts, MPI_DOUBLE, MPI_COMM_WORLD);
    for (peer = 0; peer < ranks; ++peer) wrong += in[2 * peer + 1] != peer;
    const double before_s = MPI_Wtime();
    for (peer = 0; peer < ranks; ++peer) lengths[peer] = 0;
    MPI_Allgatherv(out, 0, MPI_DOUBLE, in, lengths, starts, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Bcast(out, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Reduce(out, &sum, 0, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(out, &sum, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double nothing_s = MPI_Wtime() - before_s;
    printf("rank %d: wrong %d, nothing takes %.9f s\n", rank, wrong + (sum != 0), nothing_s);
  }
  if (strcmp(what, "draws") == 0) { /* rank 0 is in a region argv[2] times, then rank 1 three times, of size argv[3] */
    for (int turn = 0; turn < 2; ++turn) {
      for (int i = 0; turn == rank && i < (rank == 0 ? atoi(argv[2]) : 3); ++i) {
        HPLCAST_REGION_BEGIN("work", atoi(argv[3]), 1, 1)
        HPLCAST_REGION_END("work")
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  if (strcmp(what, "nested") == 0) {
    const int n = 10, one = 1;
    double x[10] = {1}, y[10] = {0}, alpha = 2;
    HPLCAST_REGION_BEGIN("outer", 1, 1, 1)
    daxpy_(&n, &alpha, x, &one, y, &one);
    HPLCAST_REGION_BEGIN("inner", 1, 1, 1)
    y[0] += 40;
    HPLCAST_REGION_END("inner")
    HPLCAST_REGION_END("outer")
    printf("result %g, time %.12g\n", y[0], MPI_Wtime());
  }
  if (strcmp(what, "work") == 0) { /* something that takes real CPU time */
    double sum = 0;
    for (long i = 1; i < 30000000; ++i) sum += 1.0 / (double)i;
    printf("sum %g, time %.12g\n", sum, MPI_Wtime());
  }
  if (strcmp(what, "deadlock") == 0) {
    double x;
    MPI_Recv(&x, 1, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(what, "sleep") == 0) {
    struct timespec time = {1000, 500000000};
    nanosleep(&time, NULL);
    printf("slept until %.12g\n", MPI_Wtime());
  }
  if (strcmp(what, "zeros") == 0) {
    double a[9] = {0};
    const int n = 3;
    int info = 0;
    dpotrf_("L", &n, a, &n, &info);
  }
  if (strcmp(what, "fail") == 0) exit(7);
  if (strcmp(what, "fail-on-1") == 0 && rank == 1) {
    fprintf(stderr, "no such input\n");
    exit(3);
  }
  if (strcmp(what, "crash") == 0) raise(SIGSEGV);
  MPI_Finalize();
  return strcmp(what, "returns") == 0 ? 5 : 0;
}
