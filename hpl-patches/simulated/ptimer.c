/* HPL's timers on the simulated clock. HPL keeps them in file scope, which without privatisation all ranks share; here
 * each rank has its own. Only the functions that HPL calls. */
#include <string.h>

#include "hpl.h"
#include "wrap.h"

typedef struct {
  double total_s;
  double start_s;
  int running;
} rank_timer;

/* HPL_pdtest has it run during HPL_pdgesv. */
enum { timer_of_the_result = 0 };

static rank_timer* timers_of_caller(void) {
  static void** timers_of_ranks;
  return of_calling_rank(&timers_of_ranks, HPL_NPTIMER * sizeof(rank_timer));
}

WRAP(void, HPL_ptimer_boot, void) {
  memset(timers_of_caller(), 0, HPL_NPTIMER * sizeof(rank_timer));
}

WRAP(void, HPL_ptimer, const int i) {
  rank_timer* timer = timers_of_caller() + i;
  const double now_s = hplcast_clock_s();
  if (timer->running)
    timer->total_s += now_s - timer->start_s;
  else
    timer->start_s = now_s;
  timer->running = !timer->running;
  if (i == timer_of_the_result) hplcast_timed_part(timer->running, now_s);
}

WRAP(void, HPL_ptimer_combine, MPI_Comm comm, const HPL_T_PTIME_OP operation, const HPL_T_PTIME kind, const int n,
     const int first, double* times) {
  (void)kind; /* the simulated time of a rank is its wall time; it has no other */
  const rank_timer* timers = timers_of_caller();
  for (int i = 0; i < n; ++i) times[i] = timers[first + i].total_s;
  HPL_T_OP combine = HPL_max;
  if (operation == HPL_AMIN_PTIME) combine = HPL_min;
  if (operation == HPL_SUM_PTIME) combine = HPL_sum;
  (void)HPL_all_reduce(times, n, HPL_DOUBLE, combine, comm);
}
