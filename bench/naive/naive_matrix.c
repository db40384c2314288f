/* The matrix of HPL_pdtest in SMPI's shared memory, and HPL_pdmatgen, which does not fill it. */
#include "own_memory.h"
#include "wrap.h"

void* hplcast_matrix_malloc(size_t bytes) {
  return SMPI_SHARED_MALLOC(bytes);
}

void hplcast_matrix_free(void* matrix) {
  SMPI_SHARED_FREE(matrix);
}

WRAP(void, HPL_pdmatgen, const HPL_T_grid* grid, const int m, const int n, const int nb, double* a, const int lda,
     const int seed) {
  (void)grid, (void)m, (void)n, (void)nb, (void)a, (void)lda, (void)seed;
}
