/* HPL_pdpanel_init.c and HPL_pdpanel_free.c with panels whose content is shared by all ranks, but for what holds indices. */
#include "hpl.h" /* first, because SimGrid's headers have inline functions that call malloc */

/* Workspace of a panel, in doubles (HPL_pdpanel_init.c): padding (less than align), L2 (rows below the diagonal block times jb;
 * absent where L stays in the matrix: in the process column that owns the panel), L1 (jb*jb), DPIV (jb), DINFO (1), U.
 * DPIV and DINFO hold pivots, so they and the padding that may shift them stay private. */
static void* panel_malloc(const HPL_T_panel* panel, size_t bytes) {
  if (panel->WORK != NULL) return malloc(bytes); /* the second allocation of a panel: lists of indices */
  const HPL_T_grid* grid = panel->grid;
  const size_t jb = (size_t)panel->jb;
  const int rows = panel->mp - (grid->myrow == panel->prow ? panel->jb : 0);
  const size_t l2 = grid->mycol == panel->pcol || rows <= 0 ? 0 : (size_t)rows * jb;
  const size_t pivots_begin = (l2 + jb * jb) * sizeof(double);
  const size_t pivots_end = pivots_begin + (jb + 1 + (size_t)panel->algo->align) * sizeof(double);
  const size_t shared[4] = {0, pivots_begin, pivots_end, bytes};
  const int ranges = pivots_end < bytes ? 2 : 1;
  if (pivots_begin == 0 || pivots_begin >= bytes) return malloc(bytes); /* an empty panel */
  return SMPI_PARTIAL_SHARED_MALLOC(bytes, shared, ranges);
}

#define malloc(bytes) panel_malloc(PANEL, bytes) /* PANEL: the parameter of HPL_pdpanel_init */
#define free(pointer) SMPI_SHARED_FREE(pointer)  /* knows plain memory as well */
#include "panel/HPL_pdpanel_free.c"
#include "panel/HPL_pdpanel_init.c"
