/* What a kernel does in the simulated HPL without any of hplcast's techniques: it sleeps, each call for itself.
 * blas_kernels.c and pivot.c call this in place of hplcast_kernel_call (naive_names.h): sizes and models are the same.
 */
#include <unistd.h>

#undef hplcast_kernel_call

void naive_kernel_call(hplcast_kernel kernel, double m, double n, double k) {
  hplcast_kernel_call(kernel, m, n, k);
  const double duration_us = hplcast_take_delay() * 1e6;
  if (duration_us >= 1) (void)usleep((useconds_t)duration_us);
}
