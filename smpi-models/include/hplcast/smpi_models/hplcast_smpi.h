/* The C side of hplcast's SMPI runtime: what a simulated program, its replaced kernels and model.h call.
 *
 * Parameters of kernels: a kernel has at most three sizes (m, n, k); what a kernel does not have is 1.
 * Nothing here throws or returns an error: a call that cannot be served ends the simulation with a message on stderr
 * and exit code 3. Settings come from the file that HPLCAST_SIMULATION names (docs/formats/simulation-settings.md). */
#ifndef HPLCAST_SMPI_H
#define HPLCAST_SMPI_H

#include <stddef.h>

#include "hplcast/core/activity_list.h"
#include "hplcast/core/kernel_list.h"
#include "hplcast/smpi_models/c_declarations.h"
#include "hplcast/smpi_models/hplcast_model_table.h"

HPLCAST_BEGIN_C

/* Kernels that HPL calls: HPLCAST_DGEMM and so on. Their sizes: hplcast/core/kernel_list.h. */
#define HPLCAST_KERNEL_NUMBER(NAME, ...) HPLCAST_##NAME,
typedef enum { HPLCAST_KERNELS(HPLCAST_KERNEL_NUMBER) HPLCAST_KERNEL_COUNT } hplcast_kernel;
#undef HPLCAST_KERNEL_NUMBER

/* MPI operations that the simulated program makes: HPLCAST_MPI_SEND and so on. */
#define HPLCAST_MPI_NUMBER(NAME, name) HPLCAST_MPI_##NAME,
typedef enum { HPLCAST_MPI_OPERATIONS(HPLCAST_MPI_NUMBER) HPLCAST_MPI_COUNT } hplcast_mpi;
#undef HPLCAST_MPI_NUMBER

/* Number of this interface. It grows when a function or a type here, in hplcast_program.h or in
 * hplcast_program_messages.h changes in a way that programs notice that were linked before. */
#define HPLCAST_INTERFACE 6
/* For a program that begins, with the HPLCAST_INTERFACE that it was compiled with. Another one ends it with a message.
 */
void hplcast_require_interface(int compiled_with);

/* Hands over the tables of a generated model.h; before the first kernel call, for example from a constructor. Further
 * calls with the same model (one per privatised copy of the program) change nothing. A cluster.json in the settings
 * wins over it. */
void hplcast_register_model(const hplcast_model_table* table);

/* The calling rank spends the time of one call of `kernel`: drawn from the model of its CPU, added to its pending
 * delay. A kernel without a model costs nothing but is counted. A size <= 0 is no call. */
void hplcast_kernel_call(hplcast_kernel kernel, double m, double n, double k);

/* Of the calling rank, in MPI_COMM_WORLD. */
int hplcast_world_rank(void);

/* A communicator, one object for all of its ranks. Use these in place of SMPI's where there are many ranks: the time
 * and memory of MPI_Comm_split in SMPI grow with the square of their number. */
typedef struct {
  const int* world_ranks; /* of its ranks, in MPI_COMM_WORLD */
  int size;
} hplcast_communicator;

const hplcast_communicator* hplcast_world(void);
/* Number of the calling rank in `part`. */
int hplcast_rank_in(const hplcast_communicator* part);
/* As MPI_Comm_split of `whole` for the calling rank: waits for all its ranks. Null for a color < 0. */
const hplcast_communicator* hplcast_split(const hplcast_communicator* whole, int color, int key);
/* As MPI_Comm_free, by each of its ranks. */
void hplcast_free(const hplcast_communicator* part);

/* Adds `duration_s` seconds to the pending delay of the calling rank; nothing if it is not positive. */
void hplcast_delay(double duration_s);

/* Spends the pending delay of the calling rank in simulated time. Call it before every MPI call and clock read. */
void hplcast_flush(void);

/* The pending delay of the calling rank in seconds, for a program that spends it in its own way: it is not pending any
 * more. */
double hplcast_take_delay(void);

/* hplcast_flush(), then the simulated time in seconds. The read itself costs nothing and is no event of the simulation.
 */
double hplcast_clock_s(void);

/* A number in (0, 1] for the pivot search over `rows` >= 1 local candidates: the maximum of `rows` uniform numbers, and
 * which of them it is (0 <= *row < rows). From the seeded stream of this rank. */
double hplcast_pivot(int rows, int* row);

/* Polling. HPL waits for a panel in a loop of MPI_Iprobe; simulating every failed probe would take most of the time of
 * a simulation. The program says what it sends, receives and probes, and where it is in a loop that probes one channel
 * until it finds something: there a rank sleeps until there is something to find. It is found at most one probe later
 * than by polling. Ranks are those in MPI_COMM_WORLD. */
typedef struct {
  int source, destination, tag;
  int context; /* messages match within one; 0 in programs whose tags tell all of them apart */
} hplcast_channel;

/* Activity of the calling rank beside its probes. Outside of the two kinds of loops every probe is made, because the
 * rank has other messages to attend to whether it finds something or not. */
typedef enum {
  HPLCAST_LOOP_NONE,
  HPLCAST_LOOP_ONLY_PROBES,  /* nothing: it probes one channel until it finds a message */
  HPLCAST_LOOP_WORKS_BETWEEN /* kernels, but no messages, until it finds something or goes on with only probes */
} hplcast_loop;

/* The calling rank enters or goes on in such a loop, or leaves it. `pieces`: of a loop with work, the remaining
 * identical iterations (same kernels and sizes, then a probe) before it only probes; 0 if unknown. The first piece
 * begins with the last probe, or with the last call of this with HPLCAST_LOOP_NONE. */
void hplcast_polling_loop(hplcast_loop loop, int pieces);

/* Around MPI_Iprobe. hplcast_probe_begin() also flushes; wildcards (negative source or tag) are never waited for. */
void hplcast_probe_begin(const hplcast_channel* channel);
void hplcast_probe_end(int found);

/* Before MPI_Send, MPI_Ssend and MPI_Sendrecv, after MPI_Isend and MPI_Issend: the message can be probed (soon). */
void hplcast_message_sent(const hplcast_channel* channel);

/* Before a receive: the message cannot be probed any more. */
void hplcast_message_taken(const hplcast_channel* channel);

/* Messages without SMPI: the same simulated times for a fraction of the work. To be used for all messages of a program
 * or for none, and only if hplcast_direct_messages() says that the platform allows it. */
int hplcast_direct_messages(void);

typedef struct {
  hplcast_channel channel; /* of one that is sent without wildcards */
  double bytes;
  void* content; /* the bytes to copy: `content_bytes` from byte `content_first` of the message on */
  size_t content_first;
  size_t content_bytes;
  int probed;       /* MPI_Iprobe may look for it: it is sent at the simulated clock, not ahead of it */
  double new_bytes; /* of a receive: in memory of the rank that no message has been in before; 0 where that costs
                       nothing (hplcast_new_memory_costs()) */
  int exchanged;    /* of a receive: by MPI_Irecv and MPI_Wait around a send */
  int panel;        /* one that is sent: columns of a matrix that a datatype describes, as HPL's panels */
} hplcast_message;

typedef struct hplcast_request hplcast_request;

/* Whether a message takes longer that goes to memory that no message has been in before. */
int hplcast_new_memory_costs(void);

/* As MPI_Send, MPI_Isend, MPI_Irecv, MPI_Wait, MPI_Iprobe; `synchronous`: as MPI_Ssend, MPI_Issend. The calling rank is
 * the source of what it sends and the destination of what it receives. hplcast_wait() frees the request. */
void hplcast_send(const hplcast_message* message, int synchronous);
hplcast_request* hplcast_isend(const hplcast_message* message, int synchronous);
hplcast_request* hplcast_irecv(const hplcast_message* wanted);
void hplcast_wait(hplcast_request* request);
int hplcast_probe(const hplcast_channel* channel);

/* As hplcast_send() by a rank whose next call is hplcast_wait() for this receive, as in MPI_Sendrecv. */
void hplcast_send_within(const hplcast_message* message, hplcast_request* receive);

/* What the calling rank probes for from now on is its message of the broadcast of this number by the rank `root`. Every
 * other rank receives one message of `bytes`, for which it probes, before it sends any on, and numbers grow. Such a
 * probe need not wait for the simulated clock where nobody can have sent the message yet. A negative root: it probes
 * for something else. */
void hplcast_broadcast(int number, int root, double bytes);

/* Sampled prediction: the panels that HPL is to factor in place of all. What it does with panel `first` is the same as
 * with panel 0 of the trailing matrix, on a process grid that is rotated. */
typedef struct {
  int first; /* from 0; a multiple of the process columns */
  int count;
  int column; /* of the process grid that the caller is in, how many panels HPL looks ahead: set by the caller, ... */
  int depth;
  int ranks; /* ... and how many ranks the grid has: HPL leaves others out */
} hplcast_window;

/* The window of a matrix of `panels` panels: all of them, if the settings do not say otherwise. */
hplcast_window hplcast_panel_window(int panels, int process_columns);
/* The calling rank begins its factorisation (index -1), panel `index` of the window, counted from 0, or it has done all
 * of them (index = count). It may say so repeatedly; the last time counts. */
void hplcast_panel_begins(const hplcast_window* window, int index);

/* The calling rank has a matrix of this leading dimension, in doubles: some kernels are slower on columns that are a
 * multiple of a large power of two apart (`aliased` in cluster.json). The last time counts. */
void hplcast_leading_dimension(int leading_dimension);

/* Fast mode: the exchanges of HPL_pdmxswp, one per matrix column, become meetings of the process column. */
typedef struct {
  const int* ranks;  /* in MPI_COMM_WORLD, of the processes of the column in the order of its communicator */
  int size;          /* how many */
  int position;      /* of the caller, counted from the process that owns the diagonal block */
  int panel_columns; /* JB */
  int panel;         /* number of the panel in the window, from 0 */
  int tag;           /* of the messages of its exchanges */
} hplcast_column;

/* How to make exchange `index` of the panel, counted from 0: 0: as HPL does (exact mode); 1: note it; 2: it is sampled:
 * settle, then make it between the calls begin and end. */
int hplcast_column_mode(const hplcast_column* column, int index);
/* `work`: HPL's WORK[0..3], the candidate of the calling process. */
void hplcast_column_note(const hplcast_column* column, int index, const double* work);
void hplcast_column_begin_sampled(const hplcast_column* column, int index, const double* work);
void hplcast_column_end_sampled(const hplcast_column* column);
/* Waits until all processes of the column are here. Then their noted exchanges are over, and the global pivot rows are
 * in `pivot_rows`, each at its index. Nothing happens if nothing is noted. */
void hplcast_column_settle(const hplcast_column* column, double* pivot_rows);

/* One MPI call of the calling rank, for the statistics only: costs no simulated time. */
void hplcast_count_message(hplcast_mpi operation, double bytes);

/* The time in seconds that the program reports for one run (one W line of HPL), for the statistics. */
void hplcast_report_time(double time_s);

/* The part that HPL times begins for the calling rank at `now_s` (hplcast_clock_s()), or ends: what the energy of a run
 * is that of. The last one counts. */
void hplcast_timed_part(int begins, double now_s);

/* Activities of the calling rank, for traces, tables of phases, progress, and the message of a deadlock
 * (docs/use/traces.md). Every function returns at once if no such setting is on (`observation` in
 * docs/formats/simulation-settings.md); none costs simulated time. */

/* Parts of HPL: HPLCAST_PHASE_FACTORISATION and so on. */
#define HPLCAST_PHASE_NUMBER(NAME, name) HPLCAST_PHASE_##NAME,
typedef enum { HPLCAST_PHASES(HPLCAST_PHASE_NUMBER) HPLCAST_PHASE_COUNT } hplcast_phase;
#undef HPLCAST_PHASE_NUMBER

/* It enters a phase, and leaves the one it entered last. Phases nest; time counts for the innermost. */
void hplcast_phase_begin(hplcast_phase phase);
void hplcast_phase_end(void);

/* It enters an MPI call, and leaves it. `peer` is the rank in MPI_COMM_WORLD of the other side, -1 if it
 * is not known; `request` is that of MPI_Wait on entry, and the one that MPI_Isend or MPI_Irecv made on return, else
 * null. `found` is 0 for a MPI_Iprobe that found nothing. */
void hplcast_call_begin(hplcast_mpi operation, int peer, int tag, double bytes, const void* request);
void hplcast_call_end(const void* request, int found);

HPLCAST_END_C

#endif
