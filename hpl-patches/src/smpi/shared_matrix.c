/* HPL_pdtest.c and HPL_pdmatgen for a matrix without content: all pages of it are one and the same. */
#include "hpl.h" /* first, because SimGrid's headers have inline functions that call malloc */

#define malloc(bytes) SMPI_SHARED_MALLOC(bytes)
#define free(pointer) SMPI_SHARED_FREE(pointer)
#include "ptest/HPL_pdtest.c"

/* Set-up is not timed and the matrix is never looked at. */
void HPL_pdmatgen(const HPL_T_grid* grid, const int m, const int n, const int nb, double* a, const int lda,
                  const int seed) {
  (void)grid, (void)m, (void)n, (void)nb, (void)a, (void)lda, (void)seed;
}
