/* Rows of timed kernel calls, kept in memory that is there before the run and written when it ends. */
#ifndef HPLCAST_HPL_TRACE_H
#define HPLCAST_HPL_TRACE_H

#include "hplcast/smpi_models/hplcast_smpi.h" /* the list of kernels; nothing of the library is called */

/* Reads HPLCAST_KERNEL_TRACE and HPLCAST_KERNEL_TRACE_MAX, takes the memory and measures the clock. After MPI_Init. */
void trace_start(int rank);

/* Calls are kept only between trace_resume and trace_pause: in the timed part of HPL, not in its set-up and check. */
void trace_resume(void);
void trace_pause(void);

/* Seconds of a monotonic clock, or a negative number where the call that begins is not to be kept: tracing is off, or
 * the call is made by another kernel, whose duration already has it. A trace_end belongs to each trace_begin. */
double trace_begin(void);

/* Keeps the call that began at `start_s`. Calls with a size of 0 return at once in HPL and are not kept. */
void trace_end(hplcast_kernel kernel, int m, int n, int k, double start_s);

/* The socket that a core belongs to, -1 if the machine does not say. */
int trace_cpu_of_core(int core);

/* Writes PREFIX-RANK.csv and PREFIX-RANK.totals.csv. Before MPI_Finalize. Returns 0 if that failed (said on stderr). */
int trace_write(void);

#endif
