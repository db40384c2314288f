/* What a rank of a real run does: exact sums of phases, kernels and MPI calls, and events (docs/formats/activity.md),
 * and rows of timed kernel calls (docs/internals/hpl.md). The functions that tell of phases and calls are those of
 * hplcast_smpi.h, as in the simulation. Nothing is kept outside of HPL_pdgesv, which is the outermost phase. */
#ifndef HPLCAST_INSTRUMENT_ACTIVITY_H
#define HPLCAST_INSTRUMENT_ACTIVITY_H

#include <stdint.h>
#include <stdio.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* --- settings.c: what the environment says ------------------------------------------------------------------------ */

typedef struct {
  const char* prefix; /* HPLCAST_ACTIVITY; null: nothing is kept */
  int on;
  int rank;
  uint64_t events;             /* HPLCAST_ACTIVITY_EVENTS */
  int traced;                  /* HPLCAST_TRACE_RANKS has this rank: kernels and phases are events, too */
  int first_panel, last_panel; /* HPLCAST_TRACE_PANELS: of these only, and none is thinned. -1: not set */
} activity_settings;

const activity_settings* settings(void);

/* Reads the environment. Ends the program with a message and status 3 for what it cannot read. */
void settings_read(int rank);

/* Whether a kernel or phase in this panel (below 0: in none) is an event. */
int settings_trace(int panel);

/* The number in a variable, from 1 to `most`; `otherwise` if it is not set. `expected`: for the message. */
uint64_t settings_number(const char* name, long most, const char* expected, uint64_t otherwise);

/* "xhpl-instrumented: error: WHAT, found 'FOUND'" on stderr; ends the program with status 3. */
void settings_refuse(const char* what, const char* found);

/* Writes PREFIX-RANK and SUFFIX, complete or not at all. Returns 0 if that failed, and says so on stderr; `too_long`:
 * for the message. */
int settings_write_file(const char* prefix, const char* suffix, const char* too_long, void (*write)(FILE*));

/* --- clock.c: the clock of a rank, and how far the clocks of other hosts are from that of rank 0 ------------------ */

/* Seconds of this host's monotonic clock, which all ranks on it share. HPLCAST_TEST_CLOCK=OFFSET_S,DRIFT (tests only)
 * moves it on all ranks but 0, as if each were on a host of its own. */
double clock_now_s(void);

/* Finds the first rank of each host. All ranks call it once, after MPI_Init. */
void clock_start(void);

/* Rank 0 exchanges messages with the first rank of each other host, and keeps the exchange with the least round trip.
 * All ranks call it, twice: before and after what is timed. */
void clock_compare(void);

/* The first rank on the host of this one. */
int clock_rank_of_host(void);

/* Rank 0: lines clock,RANK,TIME_S,OFFSET_S,HALF_ROUND_TRIP_S: the clock of RANK was OFFSET_S ahead of ours, give or
 * take half of the round trip, when it showed TIME_S. */
void clock_write(FILE* file);

/* --- activity.c, activity_file.c: sums and events ----------------------------------------------------------------- */

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

/* Reads the settings, takes the memory, measures the cost, compares the clocks. After MPI_Init, on all ranks. */
void activity_start(int rank);

/* Keep a kernel, and the time of a call without work (a size is 0); only from the begin to the end of HPL_pdgesv. */
void activity_kernel(hplcast_kernel kernel, int m, int n, int k, double flop, double begin_s, double end_s);
void activity_empty_call(hplcast_kernel kernel, double duration_s);

const activity_sums* activity_sums_of_rank(void);

/* Adds the event that is held back to see whether it grows; before the events are written. */
void activity_release(void);

/* For measuring the cost of keeping: begins and ends a part of which nothing stays. */
void activity_rehearse_begin(void);
void activity_rehearse_end(void);

/* Compares the clocks again and writes PREFIX-RANK.activity. Before MPI_Finalize. Returns 0 if that failed. */
int activity_write(void);

/* --- events_and_sums.c: in memory that is taken and touched before the run ---------------------------------------- */

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
  uint64_t size;
  int stride;    /* panels that it divides are kept, and those of HPLCAST_TRACE_PANELS */
  uint64_t lost; /* that found no place although panels were thinned */
  double thinning_s;
} event_list;

/* Takes the memory that the settings ask for. Returns 0 if there is not enough. */
int events_take_memory(void);

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

/* --- kernel_trace.c: rows of kernel calls, kept in memory that is there before the run and written when it ends --- */

/* As in files: by hplcast_kernel. */
extern const char* const kernel_names[HPLCAST_KERNEL_COUNT];

/* Reads HPLCAST_KERNEL_TRACE and HPLCAST_KERNEL_TRACE_MAX, takes the memory and measures the clock. After
 * activity_start. */
void trace_start(void);

/* The timed part of HPL begins, or ends: calls are kept only there, not in its set-up and check. */
void trace_run(int begins);

/* Seconds in kernels over the timed part of the run of HPL that ended last, mean over the ranks: the run's own control
 * (docs/models/control.md). */
double trace_kernels_s(void);

/* The socket that a core belongs to, -1 if the machine does not say. */
int trace_cpu_of_core(int core);

/* Writes PREFIX-RANK.csv and PREFIX-RANK.totals.csv. Before MPI_Finalize. Returns 0 if that failed (said on stderr). */
int trace_write(void);

#endif
