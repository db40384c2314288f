/* HPL_pdmxswp.c and HPL_pdfact.c with the fast mode: exchanges inside a panel are noted, and settled at its end or before
 * a sampled exchange, which is made with messages. */
#include "hpl.h"

#define HPL_pdmxswp exchange_with_messages
#include "pfact/HPL_pdmxswp.c"
#undef HPL_pdmxswp
#define HPL_pdfact factor_panel
#include "pfact/HPL_pdfact.c"
#undef HPL_pdfact

#include "channels.h"

static hplcast_column column_of(const HPL_T_panel* panel) {
  const HPL_T_grid* grid = panel->grid;
  hplcast_column column;
  column.ranks = world_ranks(grid->col_comm);
  column.size = grid->nprow;
  column.position = MModSub(grid->myrow, panel->prow, grid->nprow);
  column.panel_columns = panel->jb;
  column.panel = (panel->ja - panel->jb) / panel->nb; /* HPL_pdfact has begun with ja += jb */
  column.tag = MSGID_BEGIN_PFACT;
  return column;
}

void HPL_pdmxswp(HPL_T_panel* panel, const int m, const int ii, const int jj, double* work) {
  const hplcast_column column = column_of(panel);
  const int mode = panel->grid->nprow > 1 ? hplcast_column_mode(&column, jj) : 0;
  if (mode == 0) {
    exchange_with_messages(panel, m, ii, jj, work);
    return;
  }
  if (mode == 2) {
    hplcast_column_settle(&column, panel->DPIV);
    hplcast_column_begin_sampled(&column, jj, work);
    exchange_with_messages(panel, m, ii, jj, work);
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

void HPL_pdfact(HPL_T_panel* panel) {
  const int factors = panel->grid->mycol == panel->pcol && panel->jb > 0;
  factor_panel(panel);
  if (factors && panel->grid->nprow > 1) {
    const hplcast_column column = column_of(panel);
    if (hplcast_column_mode(&column, 0) != 0) hplcast_column_settle(&column, panel->DPIV);
  }
}
