/* HPL_pdtest.c and HPL_pdmatgen for a matrix without content.
 *
 * Nothing computes with the matrix and no message is sent from it (panels have a workspace of their own,
 * shared_panel.c), but for a few vectors in the final triangular solve. So it is plain memory of which hardly a page is
 * ever touched: reserved, not counted as used, one mapping a rank however large. */
#include <stddef.h>
#include <sys/mman.h>

#include "hpl.h"
#include "shared_panel.h"

/* The size, which munmap needs, is kept in a page of its own before the matrix. */
enum { size_page = 4096 };

static void* matrix_malloc(size_t bytes) {
  const size_t mapped = bytes + size_page;
  size_t* base = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return NULL; /* HPL says so and skips the run */
  *base = mapped;
  return (char*)base + size_page;
}

static void matrix_free(void* matrix) {
  size_t* base = (size_t*)((char*)matrix - size_page);
  (void)munmap(base, *base);
  hplcast_drop_idle_panels();
}

/* Set-up is not timed and the matrix is never looked at. */
void HPL_pdmatgen(const HPL_T_grid* grid, const int m, const int n, const int nb, double* a, const int lda,
                  const int seed) {
  (void)grid, (void)m, (void)n, (void)nb, (void)a, (void)lda, (void)seed;
}

#define malloc(bytes) matrix_malloc(bytes)
#define free(pointer) matrix_free(pointer)
#include "ptest/HPL_pdtest.c"
