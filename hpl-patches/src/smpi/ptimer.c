/* HPL's timers on the simulated clock. HPL keeps them in file scope, which without privatisation all ranks share; here
 * each rank has its own. Only the functions that HPL calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hpl.h"
#include "hplcast/smpi_models/hplcast_smpi.h"

typedef struct {
  double total_s;
  double start_s;
  int running;
} rank_timer;

typedef rank_timer rank_timers[HPL_NPTIMER];

/* Of every rank that shares this copy of the program; ranks run one at a time. */
static rank_timers** timers_of_ranks;
static int rank_count;

static rank_timer* timers_of_caller(void) {
  int rank = 0;
  (void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank_count == 0) {
    (void)PMPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    timers_of_ranks = calloc((size_t)rank_count, sizeof *timers_of_ranks);
  }
  if (timers_of_ranks != NULL && timers_of_ranks[rank] == NULL) timers_of_ranks[rank] = calloc(1, sizeof(rank_timers));
  if (timers_of_ranks == NULL || timers_of_ranks[rank] == NULL) {
    (void)fprintf(stderr, "xhpl-smpi: error: not enough memory for the timers of rank %d\n", rank);
    abort();
  }
  return *timers_of_ranks[rank];
}

void HPL_ptimer_boot(void) {
  memset(timers_of_caller(), 0, sizeof(rank_timers));
}

void HPL_ptimer(const int i) {
  rank_timer* timer = timers_of_caller() + i;
  const double now_s = hplcast_clock_s();
  if (timer->running)
    timer->total_s += now_s - timer->start_s;
  else
    timer->start_s = now_s;
  timer->running = !timer->running;
}

void HPL_ptimer_combine(MPI_Comm comm, const HPL_T_PTIME_OP operation, const HPL_T_PTIME kind, const int n,
                        const int first, double* times) {
  (void)kind; /* the simulated time of a rank is its wall time; it has no other */
  const rank_timer* timers = timers_of_caller();
  for (int i = 0; i < n; ++i) times[i] = timers[first + i].total_s;
  HPL_T_OP combine = HPL_max;
  if (operation == HPL_AMIN_PTIME) combine = HPL_min;
  if (operation == HPL_SUM_PTIME) combine = HPL_sum;
  (void)HPL_all_reduce(times, n, HPL_DOUBLE, combine, comm);
}
