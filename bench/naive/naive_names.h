/* Put before all sources of the yardstick: kernels go to naive_kernels.c. */
#ifndef HPLCAST_NAIVE_NAMES_H
#define HPLCAST_NAIVE_NAMES_H

#include "hplcast/smpi_models/hplcast_smpi.h"

void naive_kernel_call(hplcast_kernel kernel, double m, double n, double k);
#define hplcast_kernel_call(kernel, m, n, k) naive_kernel_call(kernel, m, n, k)

#endif
