/* The rows that a panel swaps, found out once and not by every rank: HPL_pipid lists them, in time that grows with the
 * square of NB; HPL_plindx0, 1 and 10 count them by process row, in which order these exchange them, and make indices
 * of rows that here nobody swaps. */
#include "hpl.h"
#include "wrap.h"

__typeof__(HPL_pipid) __real_HPL_pipid;
__typeof__(HPL_plindx10) __real_HPL_plindx10;

/* The rows of a panel, and what they were made of. */
typedef struct {
  int first_row, columns, process_rows;
  double* pivots; /* of `columns` */
  int* list;
  int length;
  int* rows_of; /* each process row */
  int* order;   /* as HPL_plindx10 leaves it: IPLEN, one more than there are process rows; IPMAP; IPMAPM1 */
} known_rows;

static int made_of(const known_rows* known, const HPL_T_panel* panel) {
  return known->list != NULL && known->first_row == panel->ia && known->columns == panel->jb &&
         known->process_rows == panel->grid->nprow &&
         memcmp(known->pivots, panel->DPIV, (size_t)panel->jb * sizeof(double)) == 0;
}

static void make(known_rows* known, HPL_T_panel* panel) {
  const size_t columns = (size_t)panel->jb;
  const size_t rows = (size_t)panel->grid->nprow;
  free(known->pivots);
  free(known->list);
  free(known->rows_of);
  known->first_row = panel->ia;
  known->columns = panel->jb;
  known->process_rows = panel->grid->nprow;
  known->pivots = malloc(columns * sizeof(double));
  known->list = malloc(4 * columns * sizeof(int)); /* two rows per column, with source and destination */
  known->rows_of = calloc(4 * rows + 1, sizeof(int));
  if (known->pivots == NULL || known->list == NULL || known->rows_of == NULL)
    HPL_pabort(__LINE__, "HPL_pipid", "Memory allocation failed");
  memcpy(known->pivots, panel->DPIV, columns * sizeof(double));
  __real_HPL_pipid(panel, &known->length, known->list);
  for (int i = 0; i < known->length; i += 2) {
    int process_row = 0;
    Mindxg2p(known->list[i], panel->nb, panel->nb, process_row, 0, panel->grid->nprow);
    ++known->rows_of[process_row];
  }
  known->order = known->rows_of + rows;
  int* const map = known->order + rows + 1;
  __real_HPL_plindx10(panel, known->length, known->list, known->order, map, map + rows);
}

static const known_rows* rows_of(HPL_T_panel* panel) {
  enum { panels = 8 }; /* ranks are a few panels apart */
  static known_rows rows[panels];
  known_rows* known = &rows[(panel->ia / panel->nb) % panels];
  if (!made_of(known, panel)) make(known, panel);
  return known;
}

/* The list itself is only read by the functions below. */
WRAP(void, HPL_pipid, HPL_T_panel* panel, int* k, int* ipid) {
  (void)ipid;
  *k = rows_of(panel)->length;
}

WRAP(void, HPL_plindx0, HPL_T_panel* panel, const int k, int* ipid, int* lindxa, int* lindxau, int* llen) {
  (void)k, (void)ipid, (void)lindxa, (void)lindxau;
  memcpy(llen, rows_of(panel)->rows_of, (size_t)panel->grid->nprow * sizeof(int));
}

WRAP(void, HPL_plindx10, HPL_T_panel* panel, const int k, const int* ipid, int* iplen, int* ipmap, int* ipmapm1) {
  (void)k, (void)ipid;
  const size_t rows = (size_t)panel->grid->nprow;
  const int* const order = rows_of(panel)->order;
  memcpy(iplen, order, (rows + 1) * sizeof(int));
  memcpy(ipmap, order + rows + 1, rows * sizeof(int));
  memcpy(ipmapm1, order + 2 * rows + 1, rows * sizeof(int));
}

/* HPL's own counts IPLEN up and back again. */
WRAP(void, HPL_plindx1, HPL_T_panel* panel, const int k, const int* ipid, int* ipa, int* lindxa, int* lindxau,
     int* iplen, int* ipmap, int* ipmapm1, int* permu, int* iwork) {
  (void)lindxa, (void)lindxau, (void)permu, (void)iwork;
  const HPL_T_grid* grid = panel->grid;
  *ipa = grid->myrow == panel->prow ? rows_of(panel)->rows_of[panel->prow] : 0;
  __wrap_HPL_plindx10(panel, k, ipid, iplen, ipmap, ipmapm1);
}
