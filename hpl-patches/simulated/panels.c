/* Panels that HPL does not factor as it would: those outside of the window of a sampled prediction, and the exchanges
 * of fast mode. */
#include "channels.h"
#include "hpl.h"
#include "own_memory.h"
#include "wrap.h"

/* --- sampled prediction ------------------------------------------------------------------------------------------- */

/* HPL factors a window of panels and believes that it is all.
 *
 *      matrix:                  what HPL is told:         what its panels say:
 *      +---+------------+       A->n = rows of the        IA = JA = begin of the panel in the matrix,
 *      |   | window |   |       window                    M = N - IA: rows from there on,
 *      |   |--------|   |       j = 0, NB, 2 NB ...       and so all sizes, owners and messages
 *      +---+--------+---+
 *
 * The process grid goes round by one row and column per panel, so a window begins with a panel of process column 0. */
typedef struct {
  hplcast_window window;
  int rows; /* of the matrix */
} factorisation;

/* The one that the rank is in. */
static factorisation* factorisation_of_caller(void) {
  static void** factorisations_of_ranks;
  return of_calling_rank(&factorisations_of_ranks, sizeof(factorisation));
}

void hplcast_place_panel(const HPL_T_pmat* matrix, int* row, int* rows) {
  const factorisation* here = factorisation_of_caller();
  hplcast_panel_begins(&here->window, *row / matrix->nb);
  *row += here->window.first * matrix->nb;
  *rows = here->rows - *row;
}

typedef void factor_function(HPL_T_grid* grid, HPL_T_palg* algorithm, HPL_T_pmat* matrix);

static void factor_window(factor_function* factor, HPL_T_grid* grid, HPL_T_palg* algorithm, HPL_T_pmat* matrix) {
  factorisation* here = factorisation_of_caller();
  const int nb = matrix->nb;
  const int panels = (matrix->n + nb - 1) / nb;
  hplcast_window window = hplcast_panel_window(panels, grid->npcol);
  const int all = window.first + window.count == panels;
  window.column = grid->mycol;
  window.depth = grid->npcol > 1 ? algorithm->depth : 0; /* as HPL_pdgesv */
  window.ranks = grid->nprocs;
  here->window = window;
  here->rows = matrix->n;
  hplcast_leading_dimension(matrix->ld);
  hplcast_panel_memory_begins(all && window.first == 0);
  hplcast_panel_begins(&window, -1);
  matrix->n = all ? here->rows - window.first * nb : window.count * nb;
  factor(grid, algorithm, matrix);
  hplcast_panel_memory_ends();
  hplcast_panel_begins(&window, window.count);
  matrix->n = here->rows;
  if (!all) matrix->info = 1; /* HPL does not solve with what is not there */
}

#define IN_WINDOW(function)                                                           \
  WRAP(void, function, HPL_T_grid* grid, HPL_T_palg* algorithm, HPL_T_pmat* matrix) { \
    factor_window(__real_##function, grid, algorithm, matrix);                        \
  }

IN_WINDOW(HPL_pdgesv0)
IN_WINDOW(HPL_pdgesvK2)

/* --- fast mode ---------------------------------------------------------------------------------------------------- */

/* Exchanges inside a panel (HPL_pdmxswp) are noted, and settled at its end or before a sampled exchange, which is made
 * with messages. */
static hplcast_column column_of(const HPL_T_panel* panel) {
  const HPL_T_grid* grid = panel->grid;
  hplcast_column column;
  column.ranks = world_ranks(grid->col_comm);
  column.size = grid->nprow;
  column.position = MModSub(grid->myrow, panel->prow, grid->nprow);
  column.panel_columns = panel->jb;
  const int row = panel->ja - panel->jb; /* HPL_pdfact has begun with ja += jb */
  column.panel = row / panel->nb - factorisation_of_caller()->window.first;
  column.tag = MSGID_BEGIN_PFACT;
  return column;
}

WRAP(void, HPL_pdmxswp, HPL_T_panel* panel, const int m, const int ii, const int jj, double* work) {
  const hplcast_column column = column_of(panel);
  const int mode = panel->grid->nprow > 1 ? hplcast_column_mode(&column, jj) : 0;
  if (mode == 0) {
    __real_HPL_pdmxswp(panel, m, ii, jj, work);
    return;
  }
  if (mode == 2) {
    hplcast_column_settle(&column, panel->DPIV);
    hplcast_column_begin_sampled(&column, jj, work);
    __real_HPL_pdmxswp(panel, m, ii, jj, work);
    hplcast_column_end_sampled(&column);
    return;
  }
  /* What HPL_pdmxswp does before its messages. */
  if (m > 0) {
    hplcast_kernel_call(HPLCAST_DCOPY, 1, panel->jb, 1);
    if (column.position == 0) hplcast_kernel_call(HPLCAST_DCOPY, 1, panel->jb, 1);
  }
  hplcast_column_note(&column, jj, work);
  if (work[0] == 0) work[0] = 1; /* by the pivot of all HPL scales the column, of ranks without rows, too */
}

WRAP(void, HPL_pdfact, HPL_T_panel* panel) {
  const HPL_T_grid* grid = panel->grid;
  hplcast_phase_begin(HPLCAST_PHASE_FACTORISATION);
  __real_HPL_pdfact(panel);
  if (grid->mycol == panel->pcol && panel->jb > 0 && grid->nprow > 1) {
    const hplcast_column column = column_of(panel);
    if (hplcast_column_mode(&column, 0) != 0) hplcast_column_settle(&column, panel->DPIV);
  }
  hplcast_phase_end();
}
