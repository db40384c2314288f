/* The rows that a panel swaps, found out once and not by every rank: HPL_pipid lists them, in time that grows with the
 * square of NB; HPL_plindx0 counts them by process row, and makes indices of rows that here nobody swaps. */
#include "hpl.h"
#include "wrap.h"

__typeof__(HPL_pipid) __real_HPL_pipid;

/* The rows of a panel, and what they were made of. */
typedef struct {
  int first_row, columns, process_rows;
  double* pivots; /* of `columns` */
  int* list;
  int length;
  int* rows_of; /* each process row */
} known_rows;

static int made_of(const known_rows* known, const HPL_T_panel* panel) {
  return known->list != NULL && known->first_row == panel->ia && known->columns == panel->jb &&
         known->process_rows == panel->grid->nprow &&
         memcmp(known->pivots, panel->DPIV, (size_t)panel->jb * sizeof(double)) == 0;
}

static void make(known_rows* known, HPL_T_panel* panel) {
  const size_t columns = (size_t)panel->jb;
  free(known->pivots);
  free(known->list);
  free(known->rows_of);
  known->first_row = panel->ia;
  known->columns = panel->jb;
  known->process_rows = panel->grid->nprow;
  known->pivots = malloc(columns * sizeof(double));
  known->list = malloc(4 * columns * sizeof(int)); /* two rows per column, with source and destination */
  known->rows_of = calloc((size_t)panel->grid->nprow, sizeof(int));
  if (known->pivots == NULL || known->list == NULL || known->rows_of == NULL)
    HPL_pabort(__LINE__, "HPL_pipid", "Memory allocation failed");
  memcpy(known->pivots, panel->DPIV, columns * sizeof(double));
  __real_HPL_pipid(panel, &known->length, known->list);
  for (int i = 0; i < known->length; i += 2) {
    int process_row = 0;
    Mindxg2p(known->list[i], panel->nb, panel->nb, process_row, 0, panel->grid->nprow);
    ++known->rows_of[process_row];
  }
}

static const known_rows* rows_of(HPL_T_panel* panel) {
  enum { panels = 8 }; /* ranks are a few panels apart */
  static known_rows rows[panels];
  known_rows* known = &rows[(panel->ia / panel->nb) % panels];
  if (!made_of(known, panel)) make(known, panel);
  return known;
}

WRAP(void, HPL_pipid, HPL_T_panel* panel, int* k, int* ipid) {
  const known_rows* known = rows_of(panel);
  memcpy(ipid, known->list, (size_t)known->length * sizeof(int));
  *k = known->length;
}

WRAP(void, HPL_plindx0, HPL_T_panel* panel, const int k, int* ipid, int* lindxa, int* lindxau, int* llen) {
  (void)k, (void)ipid, (void)lindxa, (void)lindxau;
  memcpy(llen, rows_of(panel)->rows_of, (size_t)panel->grid->nprow * sizeof(int));
}
