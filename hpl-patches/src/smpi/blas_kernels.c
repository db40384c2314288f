/* The BLAS and the copying kernels of HPL in the simulated program: each call costs its modelled time and does nothing.
 */
#include <string.h>

#include "hplcast/smpi_models/hplcast_smpi.h"
#include "kernels.h"
#include "wrap.h"
#ifdef HPLCAST_NO_CONTENT
#include "shared_panel.h"
#endif

#define SIMULATE_NUMBERS(NAME, function, result, parameters, arguments, m_, n_, k_) \
  __typeof__(function) __wrap_##function;                                           \
  void __wrap_##function parameters {                                               \
    hplcast_kernel_call(HPLCAST_##NAME, m_, n_, k_);                                \
  }
#define SIMULATE_CONTROL(...) /* below, or in pivot.c */
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

/* Only the check of the result would look at the index; the pivot search has its own replacement (pivot.c). */
WRAP(CBLAS_INDEX, cblas_idamax, const int n, const double* x, const int incx) {
  hplcast_kernel_call(HPLCAST_IDAMAX, 1, n, 1);
  return 0;
}
