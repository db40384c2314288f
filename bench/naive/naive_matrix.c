/* HPL_pdtest.c with the matrix in SMPI's shared memory, and HPL_pdmatgen, which does not fill it. */
#include "hpl.h"

void HPL_pdmatgen(const HPL_T_grid* grid, const int m, const int n, const int nb, double* a, const int lda,
                  const int seed) {
  (void)grid, (void)m, (void)n, (void)nb, (void)a, (void)lda, (void)seed;
}

#undef malloc
#undef free
#define malloc(bytes) SMPI_SHARED_MALLOC(bytes)
#define free(pointer) SMPI_SHARED_FREE(pointer)
#include "ptest/HPL_pdtest.c"
