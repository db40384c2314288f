/* Fast mode: exchanges inside a panel (HPL_pdmxswp) are noted, and settled at its end or before a sampled exchange,
 * which is made with messages. */
#include "hpl.h"

#include "channels.h"
#include "hplcast/smpi_models/hplcast_activity.h"
#include "panel_window.h"
#include "wrap.h"

static hplcast_column column_of(const HPL_T_panel* panel) {
  const HPL_T_grid* grid = panel->grid;
  hplcast_column column;
  column.ranks = world_ranks(grid->col_comm);
  column.size = grid->nprow;
  column.position = MModSub(grid->myrow, panel->prow, grid->nprow);
  column.panel_columns = panel->jb;
  column.panel = hplcast_panel_in_window(panel->ja - panel->jb, panel->nb); /* HPL_pdfact has begun with ja += jb */
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
