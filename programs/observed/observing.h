/* What the two observers of real runs are both made of. They are two because they know different things. HPL's
 * (hpl-patches/real) is linked with HPL and MPI, one process a rank: it tells kernels, panels and messages apart, on
 * one clock for all hosts, keeps exact sums, and ends all ranks for a wrong setting. The one of any program
 * (observer.c) is preloaded and has no MPI of its own: it times one thread, whatever that calls, by its CPU time where
 * reading it takes little, less what observing takes, and asks the launcher's variables for the rank. */
#ifndef HPLCAST_OBSERVING_H
#define HPLCAST_OBSERVING_H

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* SplitMix64 (Steele, Lea, Flood 2014): numbers for samples. */
static inline uint64_t next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* The place of a call in a uniform sample of `most` of all calls; from `most` on: in none. `before`: the calls before
 * it. Reservoir sampling (Waterman's algorithm R): after any number of calls, each was kept with the same probability.
 */
static inline uint64_t place_in_sample(uint64_t before, uint64_t most, uint64_t* random) {
  return before < most ? before : next_random(random) % (before + 1);
}

/* The class of a call by the product m n k of its sizes: class c begins at 2^(c twos), the last one has all above. */
static inline int size_class(double product, int twos, int classes) {
  const int found = ilogb(product) / twos;
  return found < 0 ? 0 : found < classes ? found : classes - 1;
}

/* A file that is there complete or not at all: written under another name, and renamed when it is closed. */
typedef struct {
  FILE* file;
  char path[PATH_MAX], temporary[PATH_MAX + 8];
} output_file;

/* Returns 0 if that failed: a path that is too long fills `path`. */
__attribute__((format(printf, 2, 3))) static inline int output_open(output_file* output, const char* path, ...) {
  va_list arguments;
  va_start(arguments, path);
  const int length = vsnprintf(output->path, sizeof output->path, path, arguments);
  va_end(arguments);
  (void)snprintf(output->temporary, sizeof output->temporary, "%s.tmp", output->path);
  output->file = length < (int)sizeof output->path ? fopen(output->temporary, "w") : NULL;
  return output->file != NULL;
}

/* Returns 0 if what was written is not all there: then nothing is. */
static inline int output_close(output_file* output) {
  const int written = !ferror(output->file);
  if (fclose(output->file) == 0 && written && rename(output->temporary, output->path) == 0) return 1;
  const int reason = errno;
  (void)remove(output->temporary);
  errno = reason;
  return 0;
}

#endif
