#include "activity.h"

#include <mpi.h>
#include <sched.h>
#include <string.h>

#include "hpl.h"
#include "wrap.h"

/* --- numbers of messages on their channels ------------------------------------------------------------------------ */

/* Both ends count, so that a message can be found again on the other side. */
#define NO_NUMBER UINT32_MAX

typedef struct {
  int peer; /* of the other side + 1, below 0 for receives; 0: a free place */
  int tag;
  uint32_t next;
} channel;

enum { bits = 16, places = 1 << bits, places_used_most = places / 4 * 3 };
static channel channels[places];
static int used;

static void clear_channel_numbers(void) {
  memset(channels, 0, sizeof channels);
  used = 0;
}

/* The number, from 0, of the next message to (`sends`) or from a rank, by its tag. NO_NUMBER for a peer below 0, and
 * for a channel that finds no place: there are 49,000 (HPL uses about 1000 tags per neighbour). */
static uint32_t channel_number(int peer, int tag, int sends) {
  if (peer < 0) return NO_NUMBER;
  const int side = sends ? peer + 1 : -peer - 1;
  /* Multiplicative hashing (Knuth, volume 3, 6.4), then the next free place. */
  uint32_t place = ((uint32_t)side * 0x9e3779b1u ^ (uint32_t)tag * 0x85ebca6bu) * 0x9e3779b1u >> (32 - bits);
  while (channels[place].peer != 0) {
    channel* found = &channels[place];
    if (found->peer == side && found->tag == tag) return found->next++;
    place = (place + 1) % places;
  }
  if (used == places_used_most) return NO_NUMBER;
  ++used;
  channels[place] = (channel){side, tag, 1};
  return 0;
}

/* --- phases, kernels and calls ------------------------------------------------------------------------------------ */

typedef struct {
  hplcast_phase phase;
  double begin_s;
  uint64_t seen; /* `seen` below when it began */
} frame;

/* A message that does not block. */
typedef struct {
  const void* id; /* null: a free place */
  event call;
} open_request;

/* A polling loop is one event, not thousands: empty probes of one channel, and the phases that have nothing else. */
typedef struct {
  int probes, phases; /* what there is */
  event probe, phase;
} held_loop;

enum { most_depth = 16, most_requests = 64 }; /* HPL has 4, and 2 */
enum { events_per_sample = 5000 };            /* of kernels: few ranks keep more of both */
static activity_sums sums;
static frame frames[most_depth];
static int depth;
static double phase_since_s;
static int panel;
static uint64_t seen; /* kernels, calls, phases so far, without those that a polling loop consists of */
static event call;    /* that the rank is in */
static open_request requests[most_requests];
static held_loop held;

const activity_sums* activity_sums_of_rank(void) {
  return &sums;
}

static hplcast_phase phase_now(void) {
  return frames[depth - 1].phase;
}

void activity_release(void) {
  if (held.probes) events_add(&held.probe);
  if (held.phases) events_add(&held.phase);
  held.probes = held.phases = 0;
}

static void spend(double now_s) {
  if (depth > 0) sums.elapsed_s[phase_now()] += now_s - phase_since_s;
  phase_since_s = now_s;
}

void hplcast_phase_begin(hplcast_phase phase) {
  if (depth == 0) trace_run(1);
  if (depth == most_depth) (void)PMPI_Abort(MPI_COMM_WORLD, 3);
  const double now_s = settings()->on ? clock_now_s() : 0;
  spend(now_s);
  if (depth == 0) {
    if (sums.runs++ == 0) sums.begin_s = now_s;
    sums.core = sched_getcpu();
    panel = -1;
  }
  if (phase == HPLCAST_PHASE_SOLVE) panel = -1;
  frames[depth++] = (frame){phase, now_s, seen};
}

static void end_phase_event(const frame* ended, double now_s) {
  const event one = {ended->begin_s, now_s, 0, depth == 0 ? -1 : panel, 0, 0, 0, 0, EVENT_PHASE, ended->phase, 0, 0};
  if (ended->phase == HPLCAST_PHASE_BROADCAST && held.probes && ended->seen == seen &&
      held.probe.end_s >= ended->begin_s) {
    if (!held.phases) held.phase = one;
    held.phase.end_s = now_s;
    held.phases = 1;
    return;
  }
  ++seen;
  ++sums.phases;
  activity_release();
  if (settings_trace(one.panel)) events_add(&one);
}

void hplcast_phase_end(void) {
  const double now_s = settings()->on ? clock_now_s() : 0;
  spend(now_s);
  --depth;
  if (settings()->on) end_phase_event(&frames[depth], now_s);
  if (depth > 0) return;
  sums.end_s = now_s;
  trace_run(0);
}

static void add(call_sum* sum, double time_s, double amount) {
  ++sum->calls;
  sum->time_s += time_s;
  sum->amount += amount;
}

void activity_kernel(hplcast_kernel kernel, int m, int n, int k, double flop, double begin_s, double end_s) {
  if (!settings()->on || depth == 0) return;
  add(&sums.kernels[phase_now()][kernel], end_s - begin_s, flop);
  kernel_sums_add(kernel, m, n, k, end_s - begin_s);
  ++seen;
  activity_release();
  if (!settings_trace(panel)) return;
  const event one = {begin_s, end_s, 0, panel, m, n, k, 0, EVENT_KERNEL, (uint8_t)kernel, (uint8_t)phase_now(), 0};
  events_add(&one);
}

void activity_empty_call(hplcast_kernel kernel, double duration_s) {
  if (settings()->on && depth > 0) sums.kernels[phase_now()][kernel].time_s += duration_s;
}

static int returns_at_once(int operation) {
  return operation == HPLCAST_MPI_ISEND || operation == HPLCAST_MPI_ISSEND || operation == HPLCAST_MPI_IRECV;
}

static open_request* find_request(const void* id) {
  for (open_request* one = requests; one != requests + most_requests; ++one)
    if (one->id == id) return one;
  return NULL;
}

void hplcast_call_begin(hplcast_mpi operation, int peer, int tag, double bytes, const void* request) {
  if (!settings()->on || depth == 0) return;
  const int sends = operation <= HPLCAST_MPI_ISSEND;
  call = (event){.bytes = bytes, .panel = panel, .a = peer, .b = tag, .number = NO_NUMBER, .kind = EVENT_CALL};
  call.name = (uint8_t)operation;
  call.phase = (uint8_t)phase_now();
  call.sends = (uint8_t)sends;
  if (operation == HPLCAST_MPI_WAIT) {
    open_request* open = request == NULL ? NULL : find_request(request);
    if (open != NULL) {
      call.a = open->call.a;
      call.b = open->call.b;
      call.bytes = open->call.bytes;
      call.number = open->call.number;
      call.sends = open->call.sends;
      open->id = NULL;
    }
  } else if (operation != HPLCAST_MPI_IPROBE) {
    call.number = channel_number(peer, tag, sends);
  }
  call.begin_s = clock_now_s();
}

static void hold_empty_probe(void) {
  const int goes_on = held.probes && held.probe.a == call.a && held.probe.b == call.b;
  if (!goes_on) {
    activity_release();
    held.probe = call;
    held.probes = 1;
  }
  held.probe.end_s = call.end_s;
}

void hplcast_call_end(const void* request, int found) {
  if (!settings()->on || depth == 0) return;
  call.end_s = clock_now_s();
  const hplcast_phase phase = phase_now();
  const double time_s = call.end_s - call.begin_s;
  /* Bytes count once, where the message is sent or asked for. */
  add(&sums.calls[phase][call.name], time_s, call.name == HPLCAST_MPI_WAIT ? 0 : call.bytes);
  if (!found) {
    add(&sums.empty_probes[phase], time_s, 0);
    hold_empty_probe();
    return;
  }
  ++seen;
  activity_release();
  if (returns_at_once(call.name) && request != NULL) {
    open_request* place = find_request(NULL);
    if (place != NULL) *place = (open_request){request, call};
  }
  events_add(&call);
}

WRAP(void, HPL_pdpanel_init, HPL_T_grid* grid, HPL_T_palg* algorithm, const int m, const int n, const int jb,
     HPL_T_pmat* matrix, const int row, const int column, const int tag, HPL_T_panel* made) {
  panel = row / matrix->nb;
  sums.n = matrix->n;
  sums.nb = matrix->nb;
  sums.p = grid->nprow;
  sums.q = grid->npcol;
  __real_HPL_pdpanel_init(grid, algorithm, m, n, jb, matrix, row, column, tag, made);
}

void activity_rehearse_begin(void) {
  hplcast_phase_begin(HPLCAST_PHASE_OTHER);
  panel = 0;
}

void activity_rehearse_end(void) {
  hplcast_phase_end();
  memset(&sums, 0, sizeof sums);
  memset(&held, 0, sizeof held);
  kernel_sums_clear((int)(settings()->events / events_per_sample));
  events_clear();
  clear_channel_numbers();
}

/* What phases.c needs: a process is one rank here, and nothing is done about polling loops. */
int hplcast_world_rank(void) {
  return settings()->rank;
}

void hplcast_polling_loop(hplcast_loop loop, int pieces) {
  (void)loop, (void)pieces;
}
