/* What SMPI alone does wrongly, or SimGrid. argv[1]: what. */
#include <mpi.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

static int rank, ranks;

/* Collective operations of argv[3] ints per rank in groups of argv[2] ranks; a third of the ranks gets nothing of a
 * reduction. Prints how many values were wrong. */
static void choices(int group, int count) {
  int place, size, wrong = 0, all = 0, begin = 0, end = 0;
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank / group, rank, &part);
  MPI_Comm_rank(part, &place);
  MPI_Comm_size(part, &size);
  const size_t most = (size_t)size * (size_t)count;
  int *const out = malloc(most * sizeof(int)), *const in = malloc(most * sizeof(int));
  int *const counts = malloc((size_t)size * sizeof(int)), *const starts = malloc((size_t)size * sizeof(int));
  for (size_t i = 0; i < most; ++i) out[i] = 1000 * place + (int)i;
  for (int from = 0; from < size; ++from) {
    counts[from] = count;
    starts[from] = from * count;
  }
  for (int varying = 0; varying < 2; ++varying) {
    memset(in, 0, most * sizeof(int));
    if (varying)
      MPI_Alltoallv(out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, part);
    else
      MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, part);
    for (size_t i = 0; i < most; ++i)
      wrong += in[i] != 1000 * (int)(i / (size_t)count) + place * count + (int)i % count;
  }
  memset(in, 0, most * sizeof(int));
  MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, size - 1, part);
  for (size_t i = 0; i < most && place == size - 1; ++i)
    wrong += in[i] != 1000 * (int)(i / (size_t)count) + (int)i % count;
  MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, part);
  for (int i = 0; i < count; ++i) wrong += in[i] != 500 * size * (size - 1) + size * i;
  for (int to = 0; to < size; ++to) {
    counts[to] = to % 3 == 0 ? 0 : count;
    begin = to == place ? end : begin;
    end += counts[to];
  }
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, part);
  for (int i = 0; i < counts[place]; ++i) wrong += in[i] != 500 * size * (size - 1) + size * (begin + i);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\n", all);
}

enum { prime = 10007, most_pairs = 600000 };

/* Numbers in pairs: of a x + b after the one that is left of it, modulo a prime. Does not commute. */
static void after(void* left, void* right, int* pairs, MPI_Datatype* type) {
  const int* const first = left;
  int* const second = right;
  (void)type;
  for (int i = 0; i < 2 * *pairs; i += 2) {
    second[i + 1] = (second[i] * first[i + 1] + second[i + 1]) % prime;
    second[i] = second[i] * first[i] % prime;
  }
}

/* Reductions of argv[2] pairs per rank in the order of the ranks. Prints how many values were wrong. */
static void orders(int count) {
  static int out[2 * most_pairs], in[2 * most_pairs], next[2 * most_pairs], expected[2 * most_pairs];
  int wrong = 0, all = 0, pairs = count * ranks;
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(after, 0, &op);
  for (int from = 0; from < ranks; ++from) {
    for (int i = 0; i < 2 * pairs; ++i) next[i] = (1009 * from + 13 * i + 1) % prime;
    if (from == rank) memcpy(out, next, sizeof out);
    if (from > 0) after(expected, next, &pairs, &pair);
    memcpy(expected, next, sizeof next);
  }
  MPI_Allreduce(out, in, count, pair, op, MPI_COMM_WORLD);
  for (int i = 0; i < 2 * count; ++i) wrong += in[i] != expected[i];
  MPI_Reduce_scatter_block(out, in, count, pair, op, MPI_COMM_WORLD);
  for (int i = 0; i < 2 * count; ++i) wrong += in[i] != expected[2 * count * rank + i];
  const int root = ranks / 2;
  memcpy(in, out, sizeof in);
  MPI_Reduce(rank == root ? MPI_IN_PLACE : out, in, count, pair, op, root, MPI_COMM_WORLD);
  for (int i = 0; i < 2 * count && rank == root; ++i) wrong += in[i] != expected[i];
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\n", all);
}

/* What all send to the last rank comes in another order than that of its receives. */
static void arrivals(void) {
  enum { most = 64 };
  int in[most], places[most], counts[most];
  for (int i = 0; i < ranks; ++i) places[i] = i, counts[i] = 1;
  for (int nonblocking = 0; nonblocking < 2; ++nonblocking) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(1000 - (useconds_t)(MPI_Wtime() * 1e6) % 1000);
    double time_s = -MPI_Wtime(), longest_s = 0;
    if (nonblocking)
      MPI_Iscan(&rank, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    else
      MPI_Alltoallv(places, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    time_s += MPI_Wtime();
    MPI_Reduce(&time_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("round %d: wrong 0, %.9f s\n", nonblocking, longest_s);
  }
}

static uint64_t mixed(uint64_t x) { /* splitmix64 */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* In each of 60 rounds all ranks send two long messages of drawn sizes to drawn ranks. Prints the longest time. */
static void meetings(void) {
  enum { rounds = 60, each = 2, least = 70000, more = 900000, most = 32 };
  static char out[least + more], in[most][least + more];
  for (unsigned round = 0; round < rounds; ++round) {
    MPI_Request requests[2 * most];
    int begun = 0, receives = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double time_s = -MPI_Wtime(), longest_s = 0;
    for (unsigned sent = 0; sent < each * (unsigned)ranks; ++sent) {
      const uint64_t drawn = mixed(round * 10007 + sent);
      const int from = (int)sent / each, to = (int)(drawn % (unsigned)ranks),
                bytes = least + (int)((drawn >> 20) % more);
      if (to == from) continue;
      if (to == rank && receives < most)
        MPI_Irecv(in[receives++], bytes, MPI_CHAR, from, (int)sent, MPI_COMM_WORLD, &requests[begun++]);
      if (from == rank) MPI_Isend(out, bytes, MPI_CHAR, to, (int)sent, MPI_COMM_WORLD, &requests[begun++]);
    }
    MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE);
    time_s += MPI_Wtime();
    MPI_Reduce(&time_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("round %u: wrong 0, %.9f s\n", round, longest_s);
  }
}

/* A second each, by waiting for nothing. */
static void sleeps(void) {
  struct timeval second = {1, 0};
  select(0, NULL, NULL, NULL, &second);
  poll(NULL, 0, 1000);
  printf("slept until %.9g\n", MPI_Wtime());
}

int main(int argc, char** argv) {
  int provided = -1, level = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Query_thread(&level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const what = argc > 1 ? argv[1] : "";
  if (rank == 0) printf("threads %d %d\n", provided - MPI_THREAD_FUNNELED, level - MPI_THREAD_FUNNELED);
  if (strcmp(what, "choices") == 0) choices(atoi(argv[2]), atoi(argv[3]));
  if (strcmp(what, "orders") == 0) orders(atoi(argv[2]));
  if (strcmp(what, "arrivals") == 0) arrivals();
  if (strcmp(what, "meetings") == 0) meetings();
  if (strcmp(what, "sleeps") == 0) sleeps();
  if (strcmp(what, "send") == 0 && rank == 0) /* argv[2] bytes with the tag argv[3] */
    MPI_Send(argv, atoi(argv[2]), MPI_CHAR, 1, atoi(argv[3]), MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
