/* Sampled prediction: HPL factors a window of panels and believes that it is all.
 *
 *      matrix:                  what HPL is told:         what its panels say:
 *      +---+------------+       A->n = rows of the        IA = JA = begin of the panel in the matrix,
 *      |   | window |   |       window                    M = N - IA: rows from there on,
 *      |   |--------|   |       j = 0, NB, 2 NB ...       and so all sizes, owners and messages
 *      +---+--------+---+
 *
 * The process grid goes round by one row and column per panel, so a window begins with a panel of process column 0. */
#include "panel_window.h"

#include "hplcast/smpi_models/hplcast_smpi.h"
#include "per_rank.h"
#include "wrap.h"

/* Of the factorisation that the rank is in. */
typedef struct {
  hplcast_window window;
  int rows; /* of the matrix */
} factorisation;

static factorisation* factorisation_of_caller(void) {
  static void** factorisations_of_ranks;
  return of_calling_rank(&factorisations_of_ranks, sizeof(factorisation));
}

int hplcast_panel_in_window(int row, int nb) {
  return row / nb - factorisation_of_caller()->window.first;
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
  const hplcast_window window = hplcast_panel_window(panels, grid->npcol);
  const int all = window.first + window.count == panels;
  here->window = window;
  here->rows = matrix->n;
  hplcast_panel_begins(&window, -1);
  matrix->n = all ? here->rows - window.first * nb : window.count * nb;
  factor(grid, algorithm, matrix);
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
