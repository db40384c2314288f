/* What the generated parts of the observer (observed_routines.c, mpi_calls.c) are made of; see observer.c. */
#ifndef HPLCAST_OBSERVED_CALLS_H
#define HPLCAST_OBSERVED_CALLS_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "call_shapes.h"

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

/* How many samples a class has: null has none. */
static inline uint64_t hplcast_samples_of(const struct hplcast_class* kept) {
  return kept == NULL ? 0 : kept->calls < HPLCAST_SAMPLES ? kept->calls : HPLCAST_SAMPLES;
}

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
void hplcast_timing_end(const struct hplcast_timing* timing, struct hplcast_observed* routine, double m, double n,
                        double k, double flop);

/* Vector routines and products that took a share of `executed_s`, beyond the sizes that they were called with
 * (reach.c), on matrices of up to `most_bytes`. */
void hplcast_write_reach(FILE* file, const struct hplcast_observed* routines, double executed_s, size_t most_bytes);

/* Before and after a call of MPI. The program's code between two calls is a stretch (docs/models/any-program.md): local
 * functions are inside of stretches, and functions that ask again and again whether something has come. */
enum hplcast_mpi_kind { HPLCAST_ENDS_STRETCH, HPLCAST_LOCAL, HPLCAST_POLLS };
struct hplcast_mpi_observed {
  const char* name;
  enum hplcast_mpi_kind kind;
  uint64_t calls;
  double time_s;
  struct hplcast_mpi_observed* next;
};
int hplcast_mpi_begin(const struct hplcast_mpi_observed* function);
void hplcast_mpi_end(int outermost, struct hplcast_mpi_observed* function);

/* A function of MPI, in place of the real one. HPLCAST_LABEL: its name in C. `before` and `after`: statements. */
#define HPLCAST_OBSERVE(NAME, before, after)                  \
  long NAME HPLCAST_PARAMETERS {                              \
    static long(*real) HPLCAST_TYPES;                         \
    if (!real) *(void**)&real = hplcast_real_function(#NAME); \
    before;                                                   \
    const long result = real HPLCAST_ARGUMENTS;               \
    after;                                                    \
    return result;                                            \
  }

#define HPLCAST_OF_KIND(its_kind) \
  { .name = HPLCAST_LABEL, .kind = its_kind }
#define HPLCAST_OBSERVE_MPI(NAME, kind)                                                      \
  HPLCAST_OBSERVE(NAME, static struct hplcast_mpi_observed observed = HPLCAST_OF_KIND(kind); \
                  const int outermost = hplcast_mpi_begin(&observed), hplcast_mpi_end(outermost, &observed))

/* Local functions that move data or describe it are timed as routines, of so many bytes. */
#define HPLCAST_OBSERVE_WORK(NAME, bytes)                                                  \
  HPLCAST_OBSERVE(NAME, static struct hplcast_observed observed = {.name = HPLCAST_LABEL}; \
                  const struct hplcast_timing timing = hplcast_timing_begin(0),            \
                  hplcast_timing_end(&timing, &observed, 1, bytes, 1, 0))
#define HPLCAST_BYTES_C(count, type) hplcast_bytes_c(HPLCAST_INT_C(count), type)
#define HPLCAST_BYTES_FORTRAN(count, type) hplcast_bytes_fortran(HPLCAST_INT_FORTRAN(count), type)
double hplcast_bytes_c(int count, long type);
double hplcast_bytes_fortran(int count, long type);

#endif
