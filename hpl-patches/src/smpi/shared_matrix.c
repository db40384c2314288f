/* The memory of HPL_pdtest, and HPL_pdmatgen, for a matrix without content.
 *
 * Nothing computes with the matrix and no message is sent from it (panels have a workspace of their own,
 * shared_panel.c), except a few vectors in the final triangular solve, of which only the size matters. So it is
 * uncommitted memory, of which hardly a page is ever touched, the same for all ranks of this copy of the
 * program. One mapping per rank would need more addresses than a process has from N = 4 million on. */
#include <stddef.h>
#include <sys/mman.h>

#include "own_memory.h"
#include "shared_panel.h"
#include "wrap.h"

void* hplcast_matrix_malloc(size_t bytes) {
  static void* memory;
  static size_t reserved;
  if (bytes > reserved) {
    void* larger = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (larger == MAP_FAILED) return NULL; /* HPL says so and skips the run */
    memory = larger;                       /* the smaller one stays: a rank may be using it */
    reserved = bytes;
  }
  return memory;
}

/* The reserved memory is for the next run, too. */
void hplcast_matrix_free(void* matrix) {
  (void)matrix;
  hplcast_drop_idle_panels();
}

/* Set-up is not timed and the matrix is never looked at. */
WRAP(void, HPL_pdmatgen, const HPL_T_grid* grid, const int m, const int n, const int nb, double* a, const int lda,
     const int seed) {
  (void)grid, (void)m, (void)n, (void)nb, (void)a, (void)lda, (void)seed;
}
