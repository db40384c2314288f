/* The BLAS, the copying kernels and the pivot search of HPL in the simulated program: each call costs its modelled time
 * and does nothing more than control needs. */
#include <string.h>

#include "hplcast/smpi_models/hplcast_smpi.h"
#include "kernels.h"
#include "own_memory.h"
#include "wrap.h"

#define SIMULATE_NUMBERS(NAME, function, result, parameters, arguments, m_, n_, k_) \
  __typeof__(function) __wrap_##function;                                           \
  void __wrap_##function parameters {                                               \
    hplcast_kernel_call(HPLCAST_##NAME, m_, n_, k_);                                \
  }
#define SIMULATE_CONTROL(...) /* below */
#define SIMULATE_KERNEL(NAME, name, function, call, sizes, flop, touches) \
  HPLCAST_EXPAND(SIMULATE_##touches, NAME, function, HPLCAST_CALL_##call)

/* Most parameters of a kernel that is only modelled have no use. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

HPLCAST_KERNELS(SIMULATE_KERNEL)

/* HPL moves headers with indices by contiguous copies (HPL_pdmxswp): they have to arrive. What is copied with a stride
 * is a row of the matrix, which has no content here. */
WRAP(void, cblas_dcopy, const int n, const double* x, const int incx, double* y, const int incy) {
  hplcast_kernel_call(HPLCAST_DCOPY, 1, n, 1);
  if (n <= 0 || incx != 1 || incy != 1) return;
#ifdef HPLCAST_NO_CONTENT
  if (hplcast_without_content(y)) return;
#endif
  memmove(y, x, (size_t)n * sizeof *y);
}

/* Only the check of the result would look at the index; the pivot search has its own replacement (HPL_dlocmax). */
WRAP(CBLAS_INDEX, cblas_idamax, const int n, const double* x, const int incx) {
  hplcast_kernel_call(HPLCAST_IDAMAX, 1, n, 1);
  return 0;
}

/* --- the pivot search and the swap of the pivot row inside a panel, without a matrix ------------------------------ */

/* The candidate of each rank is the maximum of as many uniform numbers as the rank has rows left, so that the greatest
 * of the candidates of a process column belongs to each of all rows with the same probability. HPL's own exchange
 * (HPL_pdmxswp) then makes the ranks of the column agree on it.
 * work[0..3]: the local maximum, its local row counted from `ii`, its global row, and the process row that has it. */
WRAP(void, HPL_dlocmax, HPL_T_panel* panel, const int n, const int ii, const int jj, double* work) {
  (void)jj;
  if (n <= 0) {
    work[0] = work[1] = work[2] = 0.0;
    work[3] = panel->grid->nprow; /* a row that nobody has: never chosen */
    return;
  }
  int row = 0;
  int global_row = 0;
  hplcast_kernel_call(HPLCAST_IDAMAX, 1, n, 1);
  work[0] = hplcast_pivot(n, &row);
  const int local_row = panel->ii + ii + row;
  Mindxl2g(global_row, local_row, panel->nb, panel->nb, panel->grid->myrow, 0, panel->grid->nprow);
  work[1] = row;
  work[2] = global_row;
  work[3] = panel->grid->myrow;
}

/* Of the work of HPL_dlocswpN/T only this entry of the pivot row is looked at later. */
static void swap_row(hplcast_kernel kernel, const HPL_T_panel* panel, int jj, double* work) {
  hplcast_kernel_call(kernel, 1, panel->jb, 1);
  work[4 + jj] = work[0];
}

WRAP(void, HPL_dlocswpN, HPL_T_panel* panel, const int ii, const int jj, double* work) {
  (void)ii;
  swap_row(HPLCAST_DLOCSWPN, panel, jj, work);
}

WRAP(void, HPL_dlocswpT, HPL_T_panel* panel, const int ii, const int jj, double* work) {
  (void)ii;
  swap_row(HPLCAST_DLOCSWPT, panel, jj, work);
}
