/* Events of a rank, in memory that is taken before the run. Where it is full, panels are thinned: of twice as many one
 * stays. All ranks keep panels by the same rule, so what one rank has is also there on a rank that has fewer. */
#ifndef HPLCAST_INSTRUMENT_EVENTS_H
#define HPLCAST_INSTRUMENT_EVENTS_H

#include <stdint.h>

typedef enum { EVENT_PHASE, EVENT_KERNEL, EVENT_CALL } event_kind;

typedef struct {
  double begin_s, end_s; /* of clock_now_s() */
  double bytes;          /* call */
  int panel;             /* in which it ended; below 0: in none, always kept */
  int a, b, c;           /* kernel: m, n, k; call: rank of the other side, tag, - */
  uint32_t number;       /* call: on its channel */
  uint8_t kind, name, phase;
  uint8_t sends; /* call: the channel begins here */
} event;

/* Events, and what was left out. */
typedef struct {
  event* all;
  uint64_t size, most;
  int stride;                  /* panels that it divides are kept */
  int first_panel, last_panel; /* these are kept, too */
  uint64_t lost;               /* that found no place although panels were thinned */
  double thinning_s;
} event_list;

/* Takes the memory, and touches it. Returns 0 if there is not enough. */
int events_take_memory(uint64_t most, int first_panel, int last_panel);

/* Forgets all. */
void events_clear(void);

void events_add(const event* one);

const event_list* events(void);

#endif

/* SplitMix64 (Steele, Lea, Flood 2014): numbers for samples. */
#ifndef HPLCAST_INSTRUMENT_RANDOM_H
#define HPLCAST_INSTRUMENT_RANDOM_H

#include <stdint.h>

static inline uint64_t next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

#endif

/* Exact sums of the calls of each kernel, by classes of size (shape_sums.h), and a few calls of each class as a uniform
 * sample. Memory is fixed, and touched before the run. */
#ifndef HPLCAST_INSTRUMENT_KERNEL_SUMS_H
#define HPLCAST_INSTRUMENT_KERNEL_SUMS_H

#include <stdio.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* Forgets all; samples of at most `samples` calls per class from here on. */
void kernel_sums_clear(int samples);

void kernel_sums_add(hplcast_kernel kernel, int m, int n, int k, double time_s);

/* The lines `calls` and `sample` (docs/formats/activity.md). */
void kernel_sums_write(FILE* file, const char* const* kernel_names);

#endif
