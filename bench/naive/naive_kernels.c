/* What a kernel does in the simulated HPL without any of hplcast's techniques: it sleeps, each call for itself. Sizes
 * and models are the same (modelled_kernels.c). */
#include <unistd.h>

#include "hplcast/smpi_models/hplcast_smpi.h"
#include "wrap.h"

WRAP(void, hplcast_kernel_call, hplcast_kernel kernel, double m, double n, double k) {
  __real_hplcast_kernel_call(kernel, m, n, k);
  const double duration_us = hplcast_take_delay() * 1e6;
  if (duration_us >= 1) (void)usleep((useconds_t)duration_us);
}
