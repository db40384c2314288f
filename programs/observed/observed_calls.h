/* What the generated parts of the observer (observed_routines.c, mpi_calls.c) are made of; see observer.c. */
#ifndef HPLCAST_OBSERVED_CALLS_H
#define HPLCAST_OBSERVED_CALLS_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "strides.h"

/* Calls of one routine are kept by classes of their size: each has a random sample of its calls, of bounded length. */
enum { HPLCAST_CLASSES = 64, HPLCAST_SAMPLES = 192 };

struct hplcast_sample {
  float m, n, k;
  float duration_s;
};

struct hplcast_class {
  uint64_t calls;
  double time_s;
  struct hplcast_sample samples[HPLCAST_SAMPLES];
};

struct hplcast_observed {
  const char* name;
  uint64_t calls;
  double time_s;
  double flop;
  struct hplcast_class* classes[HPLCAST_CLASSES]; /* by the power of two of m n k; null: no call */
  struct hplcast_observed* next;                  /* of all that were called */
  struct hplcast_observed* first;                 /* of this name that was called: Fortran and C count together */
};

struct hplcast_timing {
  int64_t begin_ns; /* negative: the call is not timed, because it is made by a routine, or elsewhere */
  int cpu;          /* the clock: that of the CPU time of this thread, or the wall's */
};

/* The function of that name behind us; ends the program if there is none. */
void* hplcast_real_function(const char* name);

/* `work_flop`: about how many flop could be done meanwhile. */
struct hplcast_timing hplcast_timing_begin(double work_flop);
void hplcast_timing_end(const struct hplcast_timing* timing, struct hplcast_observed* routine, double m, double n, double k,
                        double flop);

/* Vector routines and products that took a share of `executed_s`, beyond the sizes that they were called with (reach.c), on
 * matrices of up to `most_bytes`. */
void hplcast_write_reach(FILE* file, const struct hplcast_observed* routines, double executed_s, size_t most_bytes);

/* Before and after a call of MPI. */
struct hplcast_mpi_observed {
  const char* name;
  uint64_t calls;
  double time_s;
  struct hplcast_mpi_observed* next;
};
int hplcast_mpi_begin(void);
void hplcast_mpi_end(int outermost, struct hplcast_mpi_observed* function);

/* As HPLCAST_WRAP_MPI of mpi_wrap.h: one shape does for all. HPLCAST_LABEL: the name of the function in C. */
#define HPLCAST_OBSERVE_MPI(NAME)                                                                                    \
  long NAME(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m,  \
            long n) {                                                                                                \
    static long (*real)(long, long, long, long, long, long, long, long, long, long, long, long, long, long);         \
    static struct hplcast_mpi_observed observed = {HPLCAST_LABEL, 0, 0, 0};                                          \
    if (!real) *(void**)&real = hplcast_real_function(#NAME);                                                        \
    const int outermost = hplcast_mpi_begin();                                                                       \
    const long result = real(a, b, c, d, e, f, g, h, i, j, k, l, m, n);                                              \
    hplcast_mpi_end(outermost, &observed);                                                                           \
    return result;                                                                                                   \
  }

/* Local functions that move data or describe it are timed as routines, of so many bytes. */
#define HPLCAST_OBSERVE_WORK(NAME, bytes)                                                                            \
  long NAME(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m,  \
            long n) {                                                                                                \
    static long (*real)(long, long, long, long, long, long, long, long, long, long, long, long, long, long);         \
    static struct hplcast_observed observed = {.name = HPLCAST_LABEL};                                               \
    if (!real) *(void**)&real = hplcast_real_function(#NAME);                                                        \
    struct hplcast_timing timing = hplcast_timing_begin(0);                                                          \
    const long result = real(a, b, c, d, e, f, g, h, i, j, k, l, m, n);                                              \
    hplcast_timing_end(&timing, &observed, 1, bytes, 1, 0);                                                          \
    return result;                                                                                                   \
  }
#define HPLCAST_BYTES_C(count, type) hplcast_bytes_c((int)count, type)
#define HPLCAST_BYTES_FORTRAN(count, type) hplcast_bytes_fortran(*(int*)count, type)
double hplcast_bytes_c(int count, long type);
double hplcast_bytes_fortran(int count, long type);

#endif
