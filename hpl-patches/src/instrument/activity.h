/* What a rank of a real run does: exact sums of phases, kernels and MPI calls, and events. The functions that tell it
 * of phases and calls are those of hplcast_activity.h, as in the simulation. Nothing is kept outside of HPL_pdgesv,
 * which is the outermost phase. */
#ifndef HPLCAST_INSTRUMENT_ACTIVITY_H
#define HPLCAST_INSTRUMENT_ACTIVITY_H

#include <stdint.h>

#include "hplcast/smpi_models/hplcast_activity.h"

typedef struct {
  uint64_t calls;
  double time_s;
  double amount; /* flop or bytes */
} call_sum;

typedef struct {
  double elapsed_s[HPLCAST_PHASE_COUNT]; /* without phases inside */
  call_sum kernels[HPLCAST_PHASE_COUNT][HPLCAST_KERNEL_COUNT];
  call_sum calls[HPLCAST_PHASE_COUNT][HPLCAST_MPI_COUNT];
  call_sum empty_probes[HPLCAST_PHASE_COUNT]; /* part of calls: those that found nothing */
  uint64_t phases;                            /* how often one began, but for those of polling loops */
  int runs;                                   /* of HPL_pdgesv */
  double begin_s, end_s;                      /* of the first and the last of them */
  int n, nb, p, q;                            /* of the last */
  int core;                                   /* that the rank was on when it began, below 0: not known */
} activity_sums;

/* Mean seconds that it takes to keep one of each, measured before the run. */
typedef struct {
  double kernel_s, call_s, phase_s;
} activity_cost;

/* Reads the settings (docs/formats/activity.md), takes the memory, measures the cost, compares the clocks. After
 * MPI_Init, on all ranks. */
void activity_start(int rank);

/* Whether HPLCAST_ACTIVITY is set. */
int activity_on(void);

/* Keeps a kernel; only between the begin and the end of HPL_pdgesv. */
void activity_kernel(hplcast_kernel kernel, int m, int n, int k, double flop, double begin_s, double end_s);

const activity_sums* activity_sums_of_rank(void);

/* Adds the event that is held back to see whether it grows; before the events are written. */
void activity_release(void);

/* For measuring the cost of keeping: begins and ends a part of which nothing stays. */
void activity_rehearse_begin(void);
void activity_rehearse_end(void);

/* Compares the clocks again and writes PREFIX-RANK.activity. Before MPI_Finalize. Returns 0 if that failed. */
int activity_write(void);

#endif
