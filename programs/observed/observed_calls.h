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
  float faults; /* pages of memory that were touched for the first time; 0 of short calls: not known */
  int cold;     /* while the vector units of the core were cold (observer.c) */
};

struct hplcast_class {
  uint64_t calls;
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
  int is_long;      /* enough for asking for page faults */
  long faults;      /* before it, of long ones */
};

/* The function of that name behind us; ends the program if there is none. */
void* hplcast_real_function(const char* name);

/* `work_flop`: about how many flop could be done meanwhile. */
struct hplcast_timing hplcast_timing_begin(double work_flop);
void hplcast_timing_end(const struct hplcast_timing* timing, struct hplcast_observed* routine, double m, double n,
                        double k, double flop);

/* Vector routines and products that took a share of `executed_s`, beyond the sizes that they were called with
 * (reach.c), on matrices of up to `most_bytes`, as the memory for that allows; 0: that was not asked for. */
size_t hplcast_memory_for_reach(void);
void hplcast_write_reach(FILE* file, const struct hplcast_observed* routines, double executed_s, size_t most_bytes);

/* Before and after a call of MPI. The program's code between two calls is a stretch (docs/models/any-program.md): local
 * functions are inside of stretches, and functions that ask again and again whether something has come. */
enum hplcast_mpi_kind { HPLCAST_ENDS_STRETCH, HPLCAST_LOCAL, HPLCAST_POLLS };
struct hplcast_mpi_observed {
  const char* name; /* in C */
  enum hplcast_mpi_kind kind;
  uint64_t calls;
  double time_s;
  struct hplcast_mpi_observed* next;
};
void hplcast_write_observed(void); /* before MPI_Finalize */
int hplcast_mpi_begin(const struct hplcast_mpi_observed* function);
void hplcast_mpi_end(int outermost, struct hplcast_mpi_observed* function);

/* Bytes of an element of a type, by C's handle or the address of Fortran's. */
int hplcast_size_c(long type);
int hplcast_size_fortran(long type);
/* C's handle in a variable. Handles are addresses in Open MPI, numbers in MPICH. */
long hplcast_handle_at(long address);

/* How elements of a type are moved: of a vector with gaps, whose n blocks of m bytes are shorter than a line of a cache
 * and k bytes apart, by these; else n bytes. As Packing of simulated programs has it. */
struct hplcast_packing {
  double m, n, k;
  enum hplcast_strides strides;
};
struct hplcast_packing hplcast_packing_of(int count, long type, int size);
/* The layouts of the types that were made last. `in_elements`: whether distances are. */
void hplcast_vector_made(long type, int blocks, int length, long distance, int in_elements, long of, int size);
void hplcast_type_freed(long type);

#endif
