/* Tells the runtime what HPL is doing: which phase it is, and which calls of HPL_bcast are polling loops. */
#include "hpl.h"
#include "wrap.h"

#define PHASE(phase, function, parameters, arguments)        \
  __typeof__(function) __real_##function, __wrap_##function; \
  void __wrap_##function parameters {                        \
    hplcast_phase_begin(phase);                              \
    __real_##function arguments;                             \
    hplcast_phase_end();                                     \
  }

PHASE(HPLCAST_PHASE_SOLVE, HPL_pdtrsv, (HPL_T_grid * grid, HPL_T_pmat* matrix), (grid, matrix))
#ifndef HPLCAST_NO_CONTENT /* else it is in panels.c */
PHASE(HPLCAST_PHASE_FACTORISATION, HPL_pdfact, (HPL_T_panel * panel), (panel))
#endif

#define BROADCAST(function)                       \
  WRAP(int, function, HPL_T_panel* panel) {       \
    hplcast_phase_begin(HPLCAST_PHASE_BROADCAST); \
    const int status = __real_##function(panel);  \
    hplcast_phase_end();                          \
    return status;                                \
  }

BROADCAST(HPL_binit)
BROADCAST(HPL_bwait)

/* HPL waits for a panel by calling HPL_bcast in loops. HPL_pdgesv0, K1 and K2 do so until they have it. HPL_pdupdateXX
 * calls it first before its row swap (in which it is called, too, but not in a loop); then after each chunk of NB
 * columns, with nothing but kernels in between; and on and on when all columns are done, or when there were none. So
 * each of its calls means one more chunk. */
typedef struct {
  int columns, left, chunk; /* of the HPL_pdupdateXX that the rank is in: none outside */
  int swapping;
  int tag, length; /* of the last panel that was announced */
} update_state;

static update_state* update_of_caller(void) {
  static void** updates_of_ranks;
  return of_calling_rank(&updates_of_ranks, sizeof(update_state));
}

/* The loop that the call of HPL_bcast which now begins is in. */
static hplcast_loop enter_loop(update_state* update) {
  hplcast_loop loop = HPLCAST_LOOP_ONLY_PROBES;
  int pieces = 0;
  if (update->left > 0) {
    loop = update->left < update->columns ? HPLCAST_LOOP_WORKS_BETWEEN : HPLCAST_LOOP_NONE;
    /* The last chunk may be a narrow one, the others are alike. */
    if (update->left % update->chunk == 0) pieces = update->left / update->chunk;
    update->left -= Mmin(update->left, update->chunk);
  }
  hplcast_polling_loop(loop, pieces);
  return loop;
}

/* The rings send a panel whole, the others in pieces. */
static void announce(update_state* update, const HPL_T_panel* panel) {
#ifdef HPLCAST_NO_CONTENT
  if (panel == NULL || (update->tag == panel->msgid && update->length == panel->len)) return;
  const hplcast_communicator* row = (const hplcast_communicator*)panel->grid->row_comm;
  const int is_whole = panel->algo->btopo != HPL_BLONG && panel->algo->btopo != HPL_BLONG_M;
  update->tag = panel->msgid;
  update->length = panel->len;
  hplcast_broadcast(panel->ia, is_whole ? row->world_ranks[panel->pcol] : -1, (double)panel->len * sizeof(double));
#else
  (void)update, (void)panel;
#endif
}

WRAP(void, HPL_pdgesv, HPL_T_grid* grid, HPL_T_palg* algorithm, HPL_T_pmat* matrix) {
  update_of_caller()->tag = 0; /* another run has the same tags, maybe on another grid */
  hplcast_phase_begin(HPLCAST_PHASE_OTHER);
  __real_HPL_pdgesv(grid, algorithm, matrix);
  hplcast_phase_end();
}

WRAP(int, HPL_bcast, HPL_T_panel* panel, int* flag) {
  update_state* update = update_of_caller();
  announce(update, panel);
  const int polls = !update->swapping;
  const hplcast_loop loop = polls ? enter_loop(update) : HPLCAST_LOOP_NONE;
  hplcast_phase_begin(HPLCAST_PHASE_BROADCAST);
  const int status = __real_HPL_bcast(panel, flag);
  hplcast_phase_end();
  /* Left for good only with the panel: the next call of a loop has to know that this one found nothing. */
  if (polls && (loop == HPLCAST_LOOP_NONE || *flag == HPL_SUCCESS)) hplcast_polling_loop(HPLCAST_LOOP_NONE, 0);
  return status;
}

/* Returns the columns to update. HPL_pdgesvK2 updates all that it has left when it broadcasts a panel at the same time,
 * but counts them in its own way: from the begin of the matrix, not of the window. */
static int begin_update(const HPL_T_panel* sent, const HPL_T_panel* panel, int columns) {
  update_state* update = update_of_caller();
  if (sent != NULL) columns = panel->nq;
  update->columns = panel->jb <= 0 ? 0 : columns < 0 ? panel->nq : Mmin(columns, panel->nq);
  update->left = update->columns;
  update->chunk = panel->nb;
  hplcast_phase_begin(HPLCAST_PHASE_UPDATE);
  return columns;
}

static void end_update(void) {
  hplcast_phase_end();
  update_of_caller()->left = 0;
}

static int begin_swap(const HPL_T_panel* sent, const HPL_T_panel* panel, int columns) {
  (void)sent, (void)panel;
  update_of_caller()->swapping = 1;
  hplcast_phase_begin(HPLCAST_PHASE_SWAP);
  return columns;
}

static void end_swap(void) {
  hplcast_phase_end();
  update_of_caller()->swapping = 0;
  hplcast_polling_loop(HPLCAST_LOOP_NONE, 0); /* the first chunk begins here */
}

#define BETWEEN(begin, end, function)                                                         \
  WRAP(void, function, HPL_T_panel* sent, int* flag, HPL_T_panel* panel, const int columns) { \
    __real_##function(sent, flag, panel, begin(sent, panel, columns));                        \
    end();                                                                                    \
  }

BETWEEN(begin_update, end_update, HPL_pdupdateNN)
BETWEEN(begin_update, end_update, HPL_pdupdateNT)
BETWEEN(begin_update, end_update, HPL_pdupdateTN)
BETWEEN(begin_update, end_update, HPL_pdupdateTT)
BETWEEN(begin_swap, end_swap, HPL_pdlaswp00N)
BETWEEN(begin_swap, end_swap, HPL_pdlaswp00T)
BETWEEN(begin_swap, end_swap, HPL_pdlaswp01N)
BETWEEN(begin_swap, end_swap, HPL_pdlaswp01T)
