#ifndef HPLCAST_TESTS_ROW_SWAPS_H
#define HPLCAST_TESTS_ROW_SWAPS_H

#ifdef __cplusplus
extern "C" {
#endif

enum { most_rows = 32, most_columns = 64 };

/* All that HPL_pipid, HPL_plindx0, HPL_plindx10 and HPL_plindx1 say of a panel to one process row, but for the indices
 * of rows that a simulation does not swap. */
typedef struct {
  int length;                           /* of HPL_pipid's list */
  int counts[most_rows];                /* of HPL_plindx0 */
  int order[3][most_rows + 1];          /* IPLEN, IPMAP, IPMAPM1 of HPL_plindx10 */
  int order_for_long[3][most_rows + 1]; /* the same of HPL_plindx1 */
  int own;                              /* its IPA */
} row_swaps;

/* `own`: by HPL's own functions. `pivots`: of `columns` columns, rows of the matrix. */
void find_row_swaps(int own, int rows, int row, int nb, int first_row, int columns, double* pivots, row_swaps* found);

#ifdef __cplusplus
}
#endif

#endif
