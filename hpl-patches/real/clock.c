#include "activity.h"

#include <mpi.h>
#include <stdlib.h>

#include "observing.h"

#include "hplcast/core/environment.h"

typedef struct {
  int rank;
  double time_s, offset_s, half_round_trip_s;
} comparison;

enum { exchanges = 100, tag_of_exchange = 31 };

static double planted_offset_s, planted_rate = 1;
static int first_of_host;
static int* firsts; /* rank 0: of every rank the first rank on its host */
static int ranks;
static comparison* comparisons;
static int comparisons_made;

double clock_now_s(void) {
  return planted_offset_s + planted_rate * (1e-9 * (double)clock_ns(CLOCK_MONOTONIC));
}

int clock_rank_of_host(void) {
  return first_of_host;
}

static void plant(int rank) {
  const char* text = getenv(HPLCAST_VARIABLE_TEST_CLOCK);
  double drift = 0;
  if (text == NULL || sscanf(text, "%lf,%lf", &planted_offset_s, &drift) != 2) return;
  if (rank == 0) planted_offset_s = drift = 0;
  planted_rate = 1 + drift;
  first_of_host = rank;
}

void clock_start(void) {
  int rank = 0;
  MPI_Comm host;
  (void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  (void)PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  first_of_host = rank;
  (void)PMPI_Bcast(&first_of_host, 1, MPI_INT, 0, host);
  (void)PMPI_Comm_free(&host);
  plant(rank);
  if (rank == 0) {
    firsts = malloc((size_t)ranks * sizeof *firsts);
    comparisons = malloc(2 * (size_t)ranks * sizeof *comparisons);
    if (firsts == NULL || comparisons == NULL) (void)PMPI_Abort(MPI_COMM_WORLD, 3);
  }
  (void)PMPI_Gather(&first_of_host, 1, MPI_INT, firsts, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* The clock of the other side was read between our two readings: where in between is not known, so half of the round
 * trip bounds the error (Cristian 1989). The exchange with the least round trip has the least bound. */
static comparison compare_with(int rank) {
  comparison best = {rank, 0, 0, 1e9};
  for (int i = 0; i < exchanges; ++i) {
    double theirs_s = 0;
    const double sent_s = clock_now_s();
    (void)PMPI_Send(&theirs_s, 1, MPI_DOUBLE, rank, tag_of_exchange, MPI_COMM_WORLD);
    (void)PMPI_Recv(&theirs_s, 1, MPI_DOUBLE, rank, tag_of_exchange, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double half_s = (clock_now_s() - sent_s) / 2;
    if (half_s < best.half_round_trip_s) best = (comparison){rank, theirs_s, theirs_s - (sent_s + half_s), half_s};
  }
  return best;
}

static void answer(void) {
  for (int i = 0; i < exchanges; ++i) {
    double ours_s = 0;
    (void)PMPI_Recv(&ours_s, 1, MPI_DOUBLE, 0, tag_of_exchange, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ours_s = clock_now_s();
    (void)PMPI_Send(&ours_s, 1, MPI_DOUBLE, 0, tag_of_exchange, MPI_COMM_WORLD);
  }
}

void clock_compare(void) {
  int rank = 0;
  (void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)PMPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int other = 1; other < ranks; ++other)
      if (firsts[other] == other) comparisons[comparisons_made++] = compare_with(other);
  } else if (first_of_host == rank) {
    answer();
  }
  (void)PMPI_Barrier(MPI_COMM_WORLD);
}

void clock_write(FILE* file) {
  for (const comparison* one = comparisons; one != comparisons + comparisons_made; ++one)
    (void)fprintf(file, "clock,%d,%.9f,%.9f,%.9f\n", one->rank, one->time_s, one->offset_s, one->half_round_trip_s);
}
