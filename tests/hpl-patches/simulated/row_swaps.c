/* The functions that find out which rows a panel swaps: HPL's own, and those of simulated/row_swap_indices.c, which the
 * linker puts in their place. */
#include "row_swaps.h"

#include "hpl.h"

__typeof__(HPL_pipid) __real_HPL_pipid;
__typeof__(HPL_plindx0) __real_HPL_plindx0;
__typeof__(HPL_plindx1) __real_HPL_plindx1;
__typeof__(HPL_plindx10) __real_HPL_plindx10;

void HPL_pabort(int line, const char* function, const char* format, ...) {
  (void)line, (void)function, (void)format;
  abort();
}

#define CALL(own, function, ...) (own ? __real_##function(__VA_ARGS__) : function(__VA_ARGS__))

void find_row_swaps(int own, int rows, int row, int nb, int first_row, int columns, double* pivots, row_swaps* found) {
  HPL_T_grid grid = {0};
  HPL_T_panel panel = {0};
  static int list[4 * most_columns], sources[2 * most_columns], places[2 * most_columns], order[most_columns],
      work[4 * most_columns];
  grid.nprow = rows;
  grid.myrow = row;
  panel.grid = &grid;
  panel.DPIV = pivots;
  panel.ia = panel.ja = first_row;
  panel.jb = columns;
  panel.nb = nb;
  panel.prow = first_row / nb % rows;
  memset(found, 0, sizeof *found);
  CALL(own, HPL_pipid, &panel, &found->length, list);
  CALL(own, HPL_plindx0, &panel, found->length, list, sources, places, found->counts);
  CALL(own, HPL_plindx10, &panel, found->length, list, found->order[0], found->order[1], found->order[2]);
  CALL(own, HPL_plindx1, &panel, found->length, list, &found->own, sources, places, found->order_for_long[0],
       found->order_for_long[1], found->order_for_long[2], order, work);
}
