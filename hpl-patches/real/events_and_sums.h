/* What is kept of a rank's activities, in memory that is taken and touched before the run: events, and sums over the
 * calls of each kernel. */
#ifndef HPLCAST_INSTRUMENT_EVENTS_AND_SUMS_H
#define HPLCAST_INSTRUMENT_EVENTS_AND_SUMS_H

#include <stdint.h>
#include <stdio.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

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

/* Where the memory is full, panels are thinned: of twice as many one stays. All ranks keep panels by the same rule, so
 * what one rank has is also there on a rank that has fewer. */
typedef struct {
  event* all;
  uint64_t size, most;
  int stride;                  /* panels that it divides are kept */
  int first_panel, last_panel; /* these are kept, too */
  uint64_t lost;               /* that found no place although panels were thinned */
  double thinning_s;
} event_list;

/* Takes the memory. Returns 0 if there is not enough. */
int events_take_memory(uint64_t most, int first_panel, int last_panel);

/* Forgets all. */
void events_clear(void);

void events_add(const event* one);

const event_list* events(void);

/* Exact sums of the calls of each kernel, by classes of size (HPLCAST_SHAPE_SUMS), and a few calls of each class as a
 * uniform sample: at most `samples` from here on. Forgets all. */
void kernel_sums_clear(int samples);

void kernel_sums_add(hplcast_kernel kernel, int m, int n, int k, double time_s);

/* The lines `calls` and `sample` (docs/formats/activity.md). */
void kernel_sums_write(FILE* file);

#endif
